//! Garbled circuits: the values of clear ones, the bytes of the formulas, and parties that deviate.

mod support;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use support::{Run, SESSION, run};
use vesica_circuit::yao::{self, Evaluator, Garbler, Labels};
use vesica_circuit::{
    BitLanes, Clear, Computation, Counted, Counting, Gates, Known, Lanes, Reveal, gadgets, word,
};
use vesica_core::{Block, Error, Misbehaviour, Result, Role};
use vesica_ot::{Bits, Traffic};

fn random_bits(rng: &mut StdRng, len: usize) -> Bits {
    (0..len).map(|_| rng.random()).collect()
}

fn random_word(seed: u64, width: usize, len: usize) -> Vec<Bits> {
    let rng = &mut StdRng::seed_from_u64(seed);
    (0..width).map(|_| random_bits(rng, len)).collect()
}

/// A random circuit of every kind of gate over `wires`, and all of its wires.
fn random_circuit<G: Gates>(
    g: &mut G,
    seed: u64,
    mut wires: Vec<G::Wires>,
    generator: bool,
) -> Result<Vec<G::Wires>> {
    let rng = &mut StdRng::seed_from_u64(seed);
    let len = wires[0].len();
    for _ in 0..12 {
        let mut pick = || rng.random_range(0..wires.len());
        let picks: [usize; 6] = std::array::from_fn(|_| pick());
        let [a, b, c, d, e, f] = picks.map(|i| wires[i].clone());
        let new = match rng.random_range(0..6) {
            0 => vec![g.xor(&a, &b)],
            1 => vec![g.not(&a)],
            2 => vec![g.constant(picks[0] % 2 == 0, len)],
            3 => g.and(&[(&a, &b)])?,
            4 => g.and(&[(&a, &b), (&c, &d), (&e, &e)])?,
            _ => {
                let bits = [random_bits(rng, len), random_bits(rng, len)];
                let known = bits.each_ref().map(|bits| match generator {
                    true => Known::Mine(bits),
                    false => Known::Theirs { len },
                });
                g.and_known(&[(known[0], &[&a, &b]), (known[1], &[]), (known[1], &[&f])])?.concat()
            }
        };
        wires.extend(new);
    }
    Ok(wires)
}

/// What both inputs give: the sender's are the first words.
type Circuit<'a, G> =
    &'a dyn Fn(&mut G, Vec<<G as Gates>::Wires>) -> Result<Vec<<G as Gates>::Wires>>;

fn inputs<C: Computation>(
    c: &mut C,
    mine: &[Bits],
    theirs: usize,
    len: usize,
) -> Result<Vec<C::Wires>> {
    let (role, width) = (c.role(), mine.len());
    if role == Role::Sender {
        let own = c.input(Role::Sender, Some(mine), width, len)?;
        Ok([own, c.input(Role::Receiver, None, theirs, len)?].concat())
    } else {
        let other = c.input(Role::Sender, None, theirs, len)?;
        Ok([other, c.input(Role::Receiver, Some(mine), width, len)?].concat())
    }
}

fn garble(
    x: &[Bits],
    y_width: usize,
    circuit: Circuit<'_, Garbler<'_>>,
    to: Reveal,
) -> impl FnOnce(&mut vesica_net::Context) -> Result<Option<Vec<Bits>>> {
    move |ctx| {
        let len = x[0].len();
        let mut garbler = Garbler::new(ctx, &SESSION, y_width * len)?;
        let wires = inputs(&mut garbler, x, y_width, len)?;
        let wires = circuit(&mut garbler, wires)?;
        garbler.reveal(&wires, to)
    }
}
