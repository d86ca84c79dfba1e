//! Base transfers, and SoftSpoken extension.

use crate::measure::{Bench, BenchError, SESSION, Steps, both};
use std::hint::black_box;
use vesica_core::{Malicious, Security, SemiHonest};
use vesica_ot::base;
use vesica_ot::softspoken::{FieldBits, Receiver, Request, Sender};

/// Transfers of one extension; more of them take several. 2 MiB of output, as a consumer that works
/// in the cache would request.
const PIECE: usize = 1 << 17;

pub(crate) fn measure(bench: &mut Bench) -> Result<(), BenchError> {
    bench.measure("base transfers", "transfers", 128, || {
        both(
            Steps::new(
                |_| Ok(()),
                |ctx, ()| base::send(ctx, &SESSION, 128).map(|out| drop(black_box(out))),
            ),
            Steps::new(
                |_| Ok(()),
                |ctx, ()| {
                    let choices = (0..128).map(|i| i % 3 == 0);
                    let sent = base::Receiver::send(ctx, &SESSION, choices)?;
                    sent.receive(ctx).map(|out| drop(black_box(out)))
                },
            ),
        )
    })?;
    for bits in FieldBits::ALL {
        for &len in bench.sizes() {
            softspoken::<SemiHonest>(bench, bits, len)?;
            softspoken::<Malicious>(bench, bits, len)?;
        }
    }
    Ok(())
}

fn softspoken<S: Security>(
    bench: &mut Bench,
    bits: FieldBits,
    len: usize,
) -> Result<(), BenchError> {
    let name = format!("softspoken k={} {}", bits.k(), S::NAME);
    let pieces = || (0..len).step_by(PIECE).map(move |first| PIECE.min(len - first));
    bench.measure(&name, "transfers", len as u64, || {
        both(
            Steps::new(
                |ctx| Sender::<S>::setup(ctx, &SESSION, bits),
                |ctx, mut sender| {
                    for len in pieces() {
                        black_box(sender.extend(ctx, Request::cots(len))?);
                    }
                    Ok(())
                },
            ),
            Steps::new(
                |ctx| Receiver::<S>::setup(ctx, &SESSION, bits),
                |ctx, mut receiver| {
                    for len in pieces() {
                        black_box(receiver.extend(ctx, Request::cots(len))?);
                    }
                    Ok(())
                },
            ),
        )
    })
}
