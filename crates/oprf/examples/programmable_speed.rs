//! Wall time per step and bytes of the programmable OPRF and of equality, with one thread per
//! party: `programmable_speed [log2 of n] [vole|fast|kkrt|all] [store|polynomial|equality|all]
//! [log2 of n_x]`.

use rand::{Rng, SeedableRng, rngs::StdRng};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};
use vesica_core::{Block, Item, Result, Role, Runs, SessionId};
use vesica_net::{Context, Meter, Pool, Shape, Streams, memory};
use vesica_oprf::equality::{self, Form};
use vesica_oprf::programmable::{Hint, Oprf, Plan, program, receive};

const SESSION: SessionId = SessionId::from_bytes([1; 32]);

fn party(
    peer: Role,
    streams: Arc<dyn Streams>,
    party: impl FnOnce(&mut Context) -> Result<()>,
) -> Meter {
    let pool = Pool::new(NonZeroUsize::MIN).expect("a thread");
    let meter = Meter::new();
    let seed = [if peer == Role::Sender { 1 } else { 2 }; 32];
    let mut ctx = Context::new(vec![(peer, streams)], seed, pool, meter.clone()).expect("streams");
    party(&mut ctx).expect("it runs");
    ctx.finish().expect("an open connection");
    meter
}

#[allow(clippy::print_stdout)]
fn measure(
    name: &str,
    sender: impl FnOnce(&mut Context) -> Result<()> + Send,
    receiver: impl FnOnce(&mut Context) -> Result<()>,
) {
    let (sender_end, receiver_end) = memory::pair_with(Shape::LOOPBACK, Duration::from_secs(60));
    let start = Instant::now();
    let meters = std::thread::scope(|scope| {
        let sending = scope.spawn(|| party(Role::Receiver, sender_end, sender));
        let receiving = party(Role::Sender, receiver_end, receiver);
        [sending.join().expect("it ends"), receiving]
    });
    let wall = start.elapsed().as_secs_f64();
    let bytes: Vec<u64> = meters.iter().map(|meter| meter.bytes_under("").0).collect();
    println!("{name}: {wall:.3} s, {} bytes forth, {} back", bytes[0], bytes[1]);
    for (meter, party) in meters.iter().zip(["sender", "receiver"]) {
        let steps: Vec<String> = meter
            .report()
            .iter()
            .filter(|span| !span.wall.is_zero())
            .map(|span| format!("{} {:.0}", span.label, 1e3 * span.wall.as_secs_f64()))
            .collect();
        println!("  {party:9} ms: {}", steps.join(", "));
    }
}

fn items(len: usize, seed: u64) -> Vec<Item> {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut item = || {
        let mut bytes = [0; Item::LEN];
        rng.fill_bytes(&mut bytes);
        Item::from_bytes(bytes)
    };
    (0..len).map(|_| item()).collect()
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize| arguments.get(i).and_then(|argument| argument.parse::<u32>().ok());
    let n_y = 1_usize << number(0).unwrap_or(20);
    let n_x = number(3).map_or(n_y, |log| 1 << log);
    let wanted = |i: usize, name| arguments.get(i).is_none_or(|is| is == name || is == "all");
    let bits = 61;
    let (x, y) = (items(n_x, 1), items(n_y, 2));
    let forms = [
        (Oprf::Vole, Form::Vole, "vole"),
        (Oprf::VoleFast, Form::VoleFast, "fast"),
        (Oprf::Kkrt, Form::Kkrt, "kkrt"),
    ];
    for (oprf, form, name) in forms {
        for (hint, of_hint) in [(Hint::Store, "store"), (Hint::Polynomial, "polynomial")] {
            if !wanted(1, name) || !wanted(2, of_hint) {
                continue;
            }
            let plan = Plan::new(oprf, hint, n_x, n_y, bits, Runs::ONE);
            let mut values = vec![Block::ZERO; plan.bins()];
            StdRng::seed_from_u64(3).fill_bytes(Block::as_bytes_mut(&mut values));
            measure(
                &format!("{name}, {of_hint}"),
                |ctx| program(ctx, &SESSION, &plan, &y, |entry| values[entry.bin as usize]),
                |ctx| receive(ctx, &SESSION, &plan, &x).map(|_| ()),
            );
        }
        if wanted(1, name) && wanted(2, "equality") {
            let (x, y) = (vec![Block::ONE; n_y], vec![Block::ONE; n_y]);
            measure(
                &format!("{name}, equality"),
                |ctx| equality::send(ctx, &SESSION, form, Runs::ONE, &x),
                |ctx| equality::receive(ctx, &SESSION, form, Runs::ONE, &y).map(|_| ()),
            );
        }
    }
}
