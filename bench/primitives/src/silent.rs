//! Silent correlations: setup alone, then extension and stream together.

use crate::measure::{Bench, BenchError, SESSION, Steps, both};
use std::hint::black_box;
use vesica_core::{Block, Malicious, Security, SemiHonest};
use vesica_ot::silent::cot;
use vesica_ot::silent::vole::{Receiver, Sender, Values};

/// Correlations taken from a stream at a time.
const PIECE: usize = 1 << 14;

pub(crate) fn measure(bench: &mut Bench) -> Result<(), BenchError> {
    setup::<SemiHonest>(bench)?;
    setup::<Malicious>(bench)?;
    for &len in bench.sizes() {
        vole::<SemiHonest>(bench, "full", len, Values::Full)?;
        vole::<Malicious>(bench, "full", len, Values::Full)?;
        cot::<SemiHonest>(bench, len)?;
        cot::<Malicious>(bench, len)?;
        vole::<SemiHonest>(bench, "80 bits", len, Values::Subfield16 { dim: 5 })?;
    }
    Ok(())
}

fn setup<S: Security>(bench: &mut Bench) -> Result<(), BenchError> {
    let name = format!("silent VOLE setup {}", S::NAME);
    bench.measure(&name, "setups", 1, || {
        both(
            Steps::new(
                |_| Ok(()),
                |ctx, ()| Sender::<S>::setup(ctx, &SESSION).map(|it| drop(black_box(it))),
            ),
            Steps::new(
                |_| Ok(()),
                |ctx, ()| Receiver::<S>::setup(ctx, &SESSION).map(|it| drop(black_box(it))),
            ),
        )
    })
}

fn vole<S: Security>(
    bench: &mut Bench,
    kind: &str,
    len: usize,
    values: Values,
) -> Result<(), BenchError> {
    let name = format!("silent VOLE {kind} {}", S::NAME);
    bench.measure(&name, "correlations", len as u64, || {
        both(
            Steps::new(
                |ctx| Sender::<S>::setup(ctx, &SESSION),
                |ctx, mut sender| {
                    let mut stream = sender.extend(ctx, len, values)?;
                    let mut b = vec![Block::ZERO; PIECE];
                    while stream.left() > 0 {
                        let n = PIECE.min(stream.left());
                        stream.fill(ctx.pool(), &mut b[..n])?;
                        black_box(&b);
                    }
                    Ok(())
                },
            ),
            Steps::new(
                |ctx| Receiver::<S>::setup(ctx, &SESSION),
                |ctx, mut receiver| {
                    let mut stream = receiver.extend(ctx, len, values)?;
                    let (mut a, mut c) = (vec![Block::ZERO; PIECE], vec![Block::ZERO; PIECE]);
                    while stream.left() > 0 {
                        let n = PIECE.min(stream.left());
                        stream.fill(ctx.pool(), &mut a[..n], &mut c[..n])?;
                        black_box((&a, &c));
                    }
                    Ok(())
                },
            ),
        )
    })
}

fn cot<S: Security>(bench: &mut Bench, len: usize) -> Result<(), BenchError> {
    let name = format!("silent COT {}", S::NAME);
    bench.measure(&name, "correlations", len as u64, || {
        both(
            Steps::new(
                |ctx| cot::Sender::<S>::setup(ctx, &SESSION),
                |ctx, mut sender| {
                    let mut stream = sender.extend(ctx, len)?;
                    let mut keys = vec![Block::ZERO; PIECE];
                    while stream.left() > 0 {
                        let n = PIECE.min(stream.left());
                        stream.fill(ctx.pool(), &mut keys[..n])?;
                        black_box(&keys);
                    }
                    Ok(())
                },
            ),
            Steps::new(
                |ctx| cot::Receiver::<S>::setup(ctx, &SESSION),
                |ctx, mut receiver| {
                    let mut stream = receiver.extend(ctx, len)?;
                    let mut blocks = vec![Block::ZERO; PIECE];
                    while stream.left() > 0 {
                        let n = PIECE.min(stream.left());
                        stream.fill(ctx.pool(), &mut blocks[..n])?;
                        black_box(&blocks);
                    }
                    Ok(())
                },
            ),
        )
    })
}
