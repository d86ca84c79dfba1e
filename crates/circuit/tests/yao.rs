//! Garbled circuits: the same values as in the clear, the byte formulas, and parties that deviate.

#[path = "../../ot/tests/integration/support.rs"]
mod support;
#[path = "yao/threads.rs"]
mod threads;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use support::{Outcomes, SESSION, Setting, run};
use vesica_circuit::yao::{self, Evaluator, Garbler};
use vesica_circuit::{BitLanes, Clear, Computation, Cost, Gates, Known, Lanes, Reveal, gadgets};
use vesica_core::{Error, Misbehaviour, Result, Role};
use vesica_net::Context;
use vesica_ot::{Bits, Traffic};

fn random_bits(rng: &mut StdRng, len: usize) -> Bits {
    (0..len).map(|_| rng.random()).collect()
}

fn random_word(seed: u64, width: usize, len: usize) -> Vec<Bits> {
    let rng = &mut StdRng::seed_from_u64(seed);
    (0..width).map(|_| random_bits(rng, len)).collect()
}

/// A circuit for any evaluator.
trait Circuit: Copy + Send + Sync {
    /// `generator`: whether this evaluator has the bits that the generator knows.
    fn evaluate<G: Gates>(
        self,
        g: &mut G,
        wires: Vec<G::Wires>,
        generator: bool,
    ) -> Result<Vec<G::Wires>>;
}

/// Random gates of every kind; returns all wires.
#[derive(Clone, Copy)]
struct RandomGates(u64);

impl Circuit for RandomGates {
    fn evaluate<G: Gates>(
        self,
        g: &mut G,
        mut wires: Vec<G::Wires>,
        generator: bool,
    ) -> Result<Vec<G::Wires>> {
        let rng = &mut StdRng::seed_from_u64(self.0);
        let len = wires[0].len();
        for _ in 0..12 {
            let picks: [usize; 6] = std::array::from_fn(|_| rng.random_range(0..wires.len()));
            let [a, b, c, d, e, f] = picks.map(|i| wires[i].clone());
            let new = match rng.random_range(0..6) {
                0 => vec![g.xor(&a, &b)],
                1 => vec![g.not(&a)],
                2 => vec![g.constant(picks[0].is_multiple_of(2), len)],
                3 => g.and(&[(&a, &b)])?,
                4 => g.and(&[(&a, &b), (&c, &d), (&e, &e)])?,
                _ => {
                    let bits = [random_bits(rng, len), random_bits(rng, len)];
                    let known = bits.each_ref().map(|bits| {
                        if generator { Known::Mine(bits) } else { Known::Theirs { len } }
                    });
                    let lists: [(Known<'_>, &[&G::Wires]); 3] =
                        [(known[0], &[&a, &b]), (known[1], &[]), (known[1], &[&f])];
                    let results = g.and_known(&lists)?;
                    assert_eq!(results.iter().map(Vec::len).collect::<Vec<_>>(), [2, 0, 1]);
                    results.concat()
                }
            };
            wires.extend(new);
        }
        Ok(wires)
    }
}

/// The inputs of both parties, unchanged.
#[derive(Clone, Copy)]
struct Inputs;

impl Circuit for Inputs {
    fn evaluate<G: Gates>(self, _: &mut G, w: Vec<G::Wires>, _: bool) -> Result<Vec<G::Wires>> {
        Ok(w)
    }
}

/// The conjunction of all inputs, lane by lane.
#[derive(Clone, Copy)]
struct All;

impl Circuit for All {
    fn evaluate<G: Gates>(self, g: &mut G, w: Vec<G::Wires>, _: bool) -> Result<Vec<G::Wires>> {
        Ok(vec![gadgets::all(g, w)?])
    }
}

/// One private word of each party, the sender's first.
fn input<C: Computation>(
    c: &mut C,
    [x, y]: [Option<&[Bits]>; 2],
    [x_width, y_width]: [usize; 2],
    len: usize,
) -> Result<Vec<C::Wires>> {
    let mut wires = c.input(Role::Sender, x, x_width, len)?;
    wires.extend(c.input(Role::Receiver, y, y_width, len)?);
    Ok(wires)
}

type Values = Option<Vec<Bits>>;

/// How the result is revealed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Opening {
    To(Reveal),
    Checked,
}

fn open<C: Computation>(c: &mut C, wires: &[C::Wires], opening: Opening) -> Result<Values> {
    match opening {
        Opening::To(to) => c.reveal(wires, to),
        Opening::Checked => c.reveal_checked(wires).map(Some),
    }
}

/// Input, circuit and result.
fn program<C: Computation>(
    c: &mut C,
    circuit: impl Circuit,
    words: [Option<&[Bits]>; 2],
    widths: [usize; 2],
    len: usize,
    opening: Opening,
) -> Result<Values> {
    let generator = c.role() == Role::Sender;
    let wires = input(c, words, widths, len)?;
    let wires = circuit.evaluate(c, wires, generator)?;
    open(c, &wires, opening)
}

fn cost(circuit: impl Circuit, widths: [usize; 2], len: usize, opening: Opening) -> Cost {
    let mut counting = yao::counting();
    program(&mut counting, circuit, [None; 2], widths, len, opening).unwrap();
    counting.cost().clone()
}

fn garbled(
    circuit: impl Circuit,
    x: &[Bits],
    y: &[Bits],
    opening: Opening,
) -> Outcomes<Values, Values> {
    garbled_in(&Setting::default(), circuit, x, y, opening)
}

fn garbled_in(
    setting: &Setting,
    circuit: impl Circuit,
    x: &[Bits],
    y: &[Bits],
    opening: Opening,
) -> Outcomes<Values, Values> {
    let (len, widths) = (x[0].len(), [x.len(), y.len()]);
    let cost = cost(circuit, widths, len, opening);
    setting.run(
        |ctx| {
            let mut garbler = Garbler::new(ctx, &SESSION, &cost)?;
            program(&mut garbler, circuit, [Some(x), None], widths, len, opening)
        },
        |ctx| {
            let mut evaluator = Evaluator::new(ctx, &SESSION, &cost)?;
            program(&mut evaluator, circuit, [None, Some(y)], widths, len, opening)
        },
    )
}

fn clear(circuit: impl Circuit, x: &[Bits], y: &[Bits]) -> Vec<Bits> {
    let wires = x.iter().chain(y).map(BitLanes::from).collect();
    let wires = circuit.evaluate(&mut Clear::default(), wires, true).unwrap();
    wires.iter().map(Bits::from).collect()
}

/// Runs the circuit, and compares values, bytes and flights with the expected ones.
fn check(circuit: impl Circuit, x: &[Bits], y: &[Bits], opening: Opening) {
    let len = x[0].len();
    let run = garbled(circuit, x, y, opening);
    let cost = cost(circuit, [x.len(), y.len()], len, opening);
    assert_eq!(run.traffic, yao::bytes(&cost), "{opening:?}, {len} lanes");
    if cost.count.ands > 0 {
        assert_eq!(run.flights, yao::flights(&cost), "{opening:?}, {len} lanes");
    }
    let (sender, receiver) = (run.sender.unwrap(), run.receiver.unwrap());
    let expected = clear(circuit, x, y);
    for (role, values) in [(Role::Sender, sender), (Role::Receiver, receiver)] {
        let learns = match opening {
            Opening::To(to) => to.includes(role),
            Opening::Checked => true,
        };
        assert_eq!(values.is_some(), learns, "{role}, {opening:?}");
        assert!(values.is_none_or(|values| values == expected), "{role}, {opening:?}, {len} lanes");
    }
}

const OPENINGS: [Opening; 4] = [
    Opening::To(Reveal::Receiver),
    Opening::To(Reveal::Sender),
    Opening::To(Reveal::Both),
    Opening::Checked,
];

#[test]
fn random_circuits_match_clear_evaluation_and_the_byte_formulas() {
    for seed in 0..24 {
        let len = [1, 2, 7, 16, 33, 130][seed as usize % 6];
        let (x, y) = (random_word(seed, 3, len), random_word(!seed, 2, len));
        check(RandomGates(seed), &x, &y, OPENINGS[seed as usize % 4]);
    }
}

#[test]
fn every_input_of_a_gate_is_correct_for_every_way_to_reveal() {
    let (x, y) = ([0, 0, 1, 1].map(|bit| bit == 1), [0, 1, 0, 1].map(|bit| bit == 1));
    let bits = |bits: [bool; 4]| vec![bits.into_iter().collect::<Bits>()];
    for opening in OPENINGS {
        check(Inputs, &bits(x), &bits(y), opening);
        check(All, &bits(x), &bits(y), opening);
    }
}

#[test]
fn gates_and_results_can_span_many_messages() {
    // More than one message of ciphertexts, of labels, and of OT labels.
    let (x, y) = (random_word(1, 2, 20_000), random_word(2, 3, 20_000));
    check(RandomGates(3), &x, &y, Opening::To(Reveal::Both));
    check(All, &x, &y, Opening::Checked);
    let (x, y) = (random_word(3, 1, 2_200_000), Vec::new());
    check(Inputs, &x, &y, Opening::To(Reveal::Both));
}

#[test]
fn the_evaluator_may_have_no_input() {
    check(RandomGates(5), &random_word(1, 3, 50), &[], Opening::Checked);
}

#[test]
fn no_lanes_need_no_gates() {
    check(RandomGates(6), &random_word(1, 2, 0), &random_word(1, 2, 0), Opening::To(Reveal::Both));
}

fn bits_of_evaluator(bits: u64) -> Cost {
    Cost { receiver_inputs: vec![bits], ..Cost::default() }
}

#[test]
fn more_private_bits_than_announced_are_refused() {
    let bits = random_word(1, 1, 11);
    let run = run(
        |ctx| {
            let mut garbler = Garbler::new(ctx, &SESSION, &bits_of_evaluator(10))?;
            garbler.input(Role::Receiver, None, 1, 11).map(|_| ())
        },
        |ctx| {
            let mut evaluator = Evaluator::new(ctx, &SESSION, &bits_of_evaluator(10))?;
            evaluator.input(Role::Receiver, Some(&bits), 1, 11).map(|_| ())
        },
    );
    assert!(matches!(run.sender, Err(Error::Bug(_))));
    assert!(matches!(run.receiver, Err(Error::Bug(_))));
}

#[test]
fn a_wrong_number_of_private_bits_is_refused() {
    let refused = |of, bits: Option<&[Bits]>, width| {
        let run = run(
            |ctx| {
                Garbler::new(ctx, &SESSION, &bits_of_evaluator(0))?
                    .input(of, bits, width, 4)
                    .map(|_| ())
            },
            |ctx| Evaluator::new(ctx, &SESSION, &bits_of_evaluator(0)).map(|_| ()),
        );
        assert!(matches!(run.sender, Err(Error::Bug(_))), "{of}, {width}");
    };
    let bits = random_word(1, 2, 4);
    refused(Role::Sender, Some(&bits), 1);
    refused(Role::Sender, Some(&bits), 3);
    refused(Role::Sender, Some(&[random_word(2, 1, 3), random_word(2, 1, 4)].concat()), 2);
    refused(Role::Sender, None, 2);
    refused(Role::Receiver, Some(&bits), 2);
    refused(Role::Receiver, None, 2);
}

/// A garbler that sends `table` instead of its gates.
fn wrong_tables(table: Vec<u8>, opening: Opening) -> Outcomes<Values, Values> {
    let (x, y) = (random_word(1, 1, 100), random_word(2, 1, 100));
    run(
        |ctx| {
            let mut garbler = Garbler::new(ctx, &SESSION, &bits_of_evaluator(100))?;
            let wires = input(&mut garbler, [Some(&x), None], [1, 1], 100)?;
            garbler.context().unwrap().peer()?.send(&table)?;
            open(&mut garbler, &wires[..1], opening)
        },
        |ctx| {
            let mut evaluator = Evaluator::new(ctx, &SESSION, &bits_of_evaluator(100))?;
            let wires = input(&mut evaluator, [None, Some(&y)], [1, 1], 100)?;
            let wires = All.evaluate(&mut evaluator, wires, false)?;
            open(&mut evaluator, &wires, opening)
        },
    )
}

#[test]
fn a_garbler_that_sends_wrong_tables_ends_the_run() {
    for byte in [0, 1, 0x80, 0xff] {
        for opening in OPENINGS {
            let run = wrong_tables(vec![byte; 3200], opening);
            // Only checked labels let the garbler detect this.
            if opening == Opening::Checked {
                let expected = Error::PeerMisbehaved(Misbehaviour::InvalidValue);
                assert_eq!(run.sender.unwrap_err(), expected);
                assert!(matches!(run.receiver, Err(Error::Transport(_))));
            } else {
                assert!(run.sender.is_ok() && run.receiver.is_ok());
            }
        }
    }
    let run = wrong_tables(vec![0; 3199], Opening::To(Reveal::Receiver));
    let expected = Misbehaviour::WrongMessageLen { expected: 3200, actual: 3199 };
    assert_eq!(run.receiver.unwrap_err(), Error::PeerMisbehaved(expected));
}

#[test]
fn an_evaluator_cannot_claim_another_checked_value() {
    let x = random_word(1, 1, 100);
    let claim = |claim: fn(&mut [u8])| {
        run(
            |ctx| {
                let mut garbler = Garbler::new(ctx, &SESSION, &bits_of_evaluator(0))?;
                let wires = garbler.input(Role::Sender, Some(&x), 1, 100)?;
                garbler.reveal_checked(&wires)
            },
            |ctx: &mut Context| {
                let mut evaluator = Evaluator::new(ctx, &SESSION, &bits_of_evaluator(0))?;
                // The active labels, as the evaluator would send them.
                let wires = evaluator.input(Role::Sender, None, 1, 100)?;
                let mut labels = wires[0].as_bytes().to_vec();
                claim(&mut labels);
                let peer = evaluator.context().unwrap().peer()?;
                peer.send(&labels)?;
                peer.recv(13)
            },
        )
    };
    assert!(claim(|_| {}).sender.unwrap() == x);
    let changes: [fn(&mut [u8]); 4] = [
        |labels| labels[0] ^= 1,
        |labels| labels[1599] ^= 0x80,
        |labels| labels.fill(0),
        |labels| labels.rotate_left(16),
    ];
    for change in changes {
        let expected = Error::PeerMisbehaved(Misbehaviour::InvalidValue);
        assert_eq!(claim(change).sender.unwrap_err(), expected);
    }
}

/// docs/circuits.md: the garbler cannot check the result bits that the evaluator sends.
#[test]
fn a_garbler_cannot_check_the_result_that_the_evaluator_sends() {
    let x = random_word(1, 2, 100);
    let lie = random_word(2, 2, 100);
    for to in [Reveal::Sender, Reveal::Both] {
        let run = run(
            |ctx| {
                let mut garbler = Garbler::new(ctx, &SESSION, &bits_of_evaluator(0))?;
                let wires = garbler.input(Role::Sender, Some(&x), 2, 100)?;
                garbler.reveal(&wires, to)
            },
            |ctx| {
                let mut evaluator = Evaluator::new(ctx, &SESSION, &bits_of_evaluator(0))?;
                let wires = evaluator.input(Role::Sender, None, 2, 100)?;
                let values = match to {
                    Reveal::Both => evaluator.reveal(&wires, Reveal::Receiver)?,
                    _ => None,
                };
                // The colours that encode the chosen values, given that the garbler's colours are
                // those of x.
                let colours = wires.iter().zip(&x).zip(&lie).map(|((wires, x), lie)| {
                    let lowest = |i: usize| wires.as_bytes()[16 * i] & 1 == 1;
                    (0..100).map(|i| lowest(i) ^ x.get(i) ^ lie.get(i)).collect::<Vec<_>>()
                });
                let colours: Bits = colours.flatten().collect();
                evaluator.context().unwrap().peer()?.send(&colours.to_bytes())?;
                Ok(values)
            },
        );
        assert!(run.sender.unwrap() == Some(lie.clone()), "{to:?}: no error, and a wrong result");
        if to == Reveal::Both {
            assert!(run.receiver.unwrap() == Some(x.clone()), "the evaluator has the true result");
        }
    }
}

#[test]
fn a_session_may_hold_many_circuits() {
    let (x, y) = (random_word(1, 1, 8), random_word(2, 1, 8));
    let traffic = |runs: usize| {
        let run = run(
            |ctx| {
                for _ in 0..runs {
                    let mut garbler = Garbler::new(ctx, &SESSION, &bits_of_evaluator(8))?;
                    let wires = input(&mut garbler, [Some(&x), None], [1, 1], 8)?;
                    let wires = All.evaluate(&mut garbler, wires, true)?;
                    garbler.reveal(&wires, Reveal::Receiver)?;
                }
                Ok(())
            },
            |ctx| {
                let mut results = Vec::new();
                for _ in 0..runs {
                    let mut evaluator = Evaluator::new(ctx, &SESSION, &bits_of_evaluator(8))?;
                    let wires = input(&mut evaluator, [None, Some(&y)], [1, 1], 8)?;
                    let wires = All.evaluate(&mut evaluator, wires, false)?;
                    results.extend(evaluator.reveal(&wires, Reveal::Receiver)?);
                }
                Ok(results)
            },
        );
        assert!(run.receiver.unwrap() == vec![clear(All, &x, &y); runs]);
        run.traffic
    };
    let Traffic { sender_to_receiver, receiver_to_sender } = traffic(1);
    let twice = Traffic {
        sender_to_receiver: 2 * sender_to_receiver,
        receiver_to_sender: 2 * receiver_to_sender,
    };
    assert_eq!(traffic(2), twice);
}

/// Finds 16-byte blocks in the writable memory of this process.
#[cfg(target_os = "linux")]
mod memory {
    use std::collections::HashSet;
    use std::fs::File;
    use std::os::unix::fs::FileExt;

    /// A block to search for, with every bit negated so that it is not a copy itself.
    pub(super) type Negated = [u64; 2];

    pub(super) fn negated(block: &[u8]) -> Negated {
        let (words, _) = block.as_chunks::<8>();
        std::array::from_fn(|i| !u64::from_le_bytes(words[i]))
    }

    /// Number of `wanted` blocks found in memory outside the threads' stacks: compilers spill
    /// values to stacks, where they cannot be wiped.
    pub(super) fn found(wanted: &[Negated]) -> usize {
        let firsts: HashSet<u64> = wanted.iter().map(|block| block[0]).collect();
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let memory = File::open("/proc/self/mem").unwrap();
        let mut found = HashSet::new();
        let mut piece = vec![0; 1 << 20];
        let mut guarded = 0;
        for line in maps.lines() {
            let mut fields = line.split_whitespace();
            let (range, rights) = (fields.next().unwrap(), fields.next().unwrap());
            let (start, end) = range.split_once('-').unwrap();
            let address = |text| u64::from_str_radix(text, 16).unwrap();
            let (mut at, end) = (address(start), address(end));
            // The allocator's heaps start at multiples of 64 MiB; stacks lie above an inaccessible
            // guard page.
            let is_stack =
                line.ends_with("[stack]") || (at == guarded && !at.is_multiple_of(64 << 20));
            if rights == "---p" {
                guarded = end;
            }
            while rights.starts_with("rw") && !is_stack && at < end {
                let len = piece.len().min((end - at) as usize);
                // Memory can be unmapped in the meantime.
                let Ok(len @ 16..) = memory.read_at(&mut piece[..len], at) else { break };
                // Negated one by one: a negated copy of a negated copy would be a copy.
                let word = |at: usize| !u64::from_le_bytes(*piece[at..].first_chunk().unwrap());
                for at in (0..len - 15).step_by(8).filter(|at| firsts.contains(&word(*at))) {
                    let block = [word(at), word(at + 8)];
                    if wanted.contains(&block) {
                        found.insert(block);
                    }
                }
                // A block may straddle two pieces.
                at += len as u64 - if at + (len as u64) < end { 8 } else { 0 };
            }
        }
        // The next search must not find what this one has read.
        zeroize::Zeroize::zeroize(&mut piece);
        found.len()
    }
}

#[test]
#[cfg(target_os = "linux")]
fn labels_are_wiped() {
    use memory::{Negated, negated};
    use std::sync::Mutex;

    fn is_wiped<T: zeroize::ZeroizeOnDrop>() {}
    is_wiped::<yao::Labels>();
    is_wiped::<BitLanes>();

    // Lists large enough that the allocator keeps freed ones in place, and lanes that no later call
    // overwrites on a stack.
    let (len, lanes) = (3000, 1000..1004);
    let (x, y) = (random_word(1, 3, len), random_word(2, 3, len));
    let circuit = RandomGates(8);
    let cost = cost(circuit, [3, 3], len, Opening::To(Reveal::Both));
    let kept: Mutex<Vec<Negated>> = Mutex::default();
    let keep = |wires: &[yao::Labels], delta: Negated| {
        let mut kept = kept.lock().unwrap();
        let (inputs, inner) = wires.split_at(6);
        for (wire, i) in inner.iter().flat_map(|wire| lanes.clone().map(move |i| (wire, i))) {
            let place = 16 * i..16 * (i + 1);
            let label = &wire.as_bytes()[place.clone()];
            // A wire that only repeats or negates an input has labels that were sent, in buffers of
            // the connection.
            let found = negated(label);
            let other: Negated = std::array::from_fn(|half| found[half] ^ !delta[half]);
            let mut sent = inputs.iter().map(|input| negated(&input.as_bytes()[place.clone()]));
            if sent.any(|input| [found, other].contains(&input)) {
                continue;
            }
            // Labels of constants are zero, which is everywhere in memory.
            if label.iter().any(|byte| *byte != 0) {
                kept.push(found);
            }
        }
        // Overwrites the last value on this test's stack.
        std::hint::black_box(negated(&[0; 16]));
        let living = memory::found(&kept);
        let distinct: std::collections::HashSet<_> = kept.iter().collect();
        assert_eq!(living, distinct.len(), "labels are found while they are alive");
    };
    // Other tests of this program run at the same time. With their seed, their parties would have
    // the same Δ in memory.
    let run = Setting { seed: 77, ..Setting::default() }.run(
        |ctx| {
            let mut garbler = Garbler::new(ctx, &SESSION, &cost)?;
            let wires = input(&mut garbler, [Some(&x), None], [3, 3], len)?;
            let wires = circuit.evaluate(&mut garbler, wires, true)?;
            garbler.reveal(&wires, Reveal::Both)?;
            // Δ is the sum of the two labels of a wire.
            let [zero, one] =
                [&wires[6], &garbler.not(&wires[6])].map(|wire| negated(wire.as_bytes()));
            let delta = std::array::from_fn(|i| zero[i] ^ !one[i]);
            keep(&wires, delta);
            kept.lock().unwrap().push(delta);
            Ok(())
        },
        |ctx| {
            let mut evaluator = Evaluator::new(ctx, &SESSION, &cost)?;
            let wires = input(&mut evaluator, [None, Some(&y)], [3, 3], len)?;
            let wires = circuit.evaluate(&mut evaluator, wires, false)?;
            evaluator.reveal(&wires, Reveal::Both)?;
            Ok(())
        },
    );
    assert!(run.sender.is_ok() && run.receiver.is_ok());
    let kept = kept.into_inner().unwrap();
    assert!(kept.len() > 30, "{} blocks", kept.len());

    // Without wiping, nearly half of these would remain. A block that the compiler spilled can lie
    // on a stack that is not recognised as one; wiping does not reach those, as SECURITY.md states.
    let left = memory::found(&kept);
    assert!(left <= 4, "{left} of {} labels", kept.len());
}
