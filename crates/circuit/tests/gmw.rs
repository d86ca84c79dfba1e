//! Computation on shares: every gadget gives the same values as in the clear, within the formulas
//! for bytes and flights.

#[path = "../../ot/tests/integration/support.rs"]
mod support;

use support::{Outcomes, SESSION, run};
use vesica_circuit::gadgets::{
    at_least, equal, greater, hamming_weight, merge_bitonic, sort, sum_of_lanes,
};
use vesica_circuit::gmw::{self, Gmw};
use vesica_circuit::{
    Bins, BitLanes, Clear, Computation, Cost, Count, Gates, InBins, Known, Lanes, Reveal, word,
};
use vesica_core::{Error, Result, Role};
use vesica_ot::Bits;

const WIDTH: usize = 9;
const LEN: usize = 150;

fn numbers(seed: u128) -> Vec<u128> {
    (0..LEN as u128).map(|i| (i * 0x9e37_79b9 + seed * 77) >> 3 & 511).collect()
}

fn control() -> Bits {
    (0..LEN).map(|i| i * i % 11 < 5).collect()
}

/// A circuit with every kind of gate.
fn circuit<G: Gates>(
    g: &mut G,
    x: &[G::Wires],
    y: &[G::Wires],
    known: Known<'_>,
) -> Result<Vec<G::Wires>> {
    let mut out = vec![equal(g, x, y)?, greater(g, x, y)?];
    let mut all_lanes: Vec<_> =
        x.iter().zip(y).map(|(x, y)| G::Wires::concat(&[x.clone(), y.clone()])).collect();
    sort(g, WIDTH, &mut all_lanes)?;
    merge_bitonic(g, WIDTH, &mut all_lanes)?;
    out.extend(all_lanes);
    let weight = hamming_weight(g, &x[0])?;
    out.push(at_least(g, &weight, 70, 1)?);
    out.extend(weight);
    out.extend(sum_of_lanes(g, y)?);
    let [first, second] = [x, y].map(|word| word.iter().collect::<Vec<_>>());
    let lists = g.and_known(&[(known, &first), (known, &second[..3])])?;
    out.extend(lists.into_iter().flatten());
    let (one, zero) = (g.constant(true, LEN), g.constant(false, LEN));
    out.push(g.xor(&one, &x[1]));
    out.push(g.not(&zero));
    Ok(out)
}

fn cost(to: Reveal) -> Cost {
    let mut g = gmw::counting();
    let word = |g: &mut vesica_circuit::Counting, of| g.input(of, None, WIDTH, LEN).unwrap();
    let (x, y) = (word(&mut g, Role::Sender), word(&mut g, Role::Receiver));
    let out = circuit(&mut g, &x, &y, Known::Theirs { len: LEN }).unwrap();
    g.reveal(&out, to).unwrap();
    g.cost().clone()
}

fn in_clear() -> Vec<Bits> {
    let lanes = |seed| -> Vec<BitLanes> {
        word::bits_of(numbers(seed).into_iter(), WIDTH).iter().map(BitLanes::from).collect()
    };
    let known = control();
    let mut g = Clear::like(usize::MAX, true);
    let out = circuit(&mut g, &lanes(1), &lanes(2), Known::Mine(&known)).unwrap();
    out.iter().map(Bits::from).collect()
}

fn party(ctx: &mut vesica_net::Context, role: Role, to: Reveal) -> Result<Option<Vec<Bits>>> {
    evaluated(Gmw::new(ctx, &SESSION, role, Role::Sender, &cost(to))?, to)
}

fn party_over_iknp(
    ctx: &mut vesica_net::Context,
    role: Role,
    to: Reveal,
) -> Result<Option<Vec<Bits>>> {
    evaluated(Gmw::over_iknp(ctx, &SESSION, role, &cost(to))?, to)
}

fn evaluated(mut g: Gmw<'_>, to: Reveal) -> Result<Option<Vec<Bits>>> {
    let role = g.role();
    let own =
        |of: Role, seed| (of == role).then(|| word::bits_of(numbers(seed).into_iter(), WIDTH));
    let x = g.input(Role::Sender, own(Role::Sender, 1).as_deref(), WIDTH, LEN)?;
    let y = g.input(Role::Receiver, own(Role::Receiver, 2).as_deref(), WIDTH, LEN)?;
    let control = control();
    let known = match role {
        Role::Sender => Known::Mine(&control),
        _ => Known::Theirs { len: LEN },
    };
    let out = circuit(&mut g, &x, &y, known)?;
    g.reveal(&out, to)
}

#[test]
fn shares_compute_the_same_values_as_in_the_clear() {
    let expected = in_clear();
    for to in [Reveal::Receiver, Reveal::Sender, Reveal::Both] {
        let Outcomes { sender, receiver, traffic, flights, .. } =
            run(|ctx| party(ctx, Role::Sender, to), |ctx| party(ctx, Role::Receiver, to));
        let of = |role| to.includes(role).then(|| expected.clone());
        assert!(sender == Ok(of(Role::Sender)), "{to:?}");
        assert!(receiver == Ok(of(Role::Receiver)), "{to:?}");
        assert_eq!(traffic, gmw::bytes(&cost(to), Role::Sender));
        assert_eq!(flights, gmw::flights(&cost(to), Role::Sender));
    }
}

#[test]
fn shares_over_iknp_compute_the_same_values_as_in_the_clear() {
    let expected = in_clear();
    for to in [Reveal::Receiver, Reveal::Sender, Reveal::Both] {
        let run = run(
            |ctx| party_over_iknp(ctx, Role::Sender, to),
            |ctx| party_over_iknp(ctx, Role::Receiver, to),
        );
        let of = |role| to.includes(role).then(|| expected.clone());
        assert!(run.sender == Ok(of(Role::Sender)), "{to:?}");
        assert!(run.receiver == Ok(of(Role::Receiver)), "{to:?}");
        assert_eq!(run.traffic, gmw::iknp::bytes(&cost(to)));
        assert_eq!(run.flights, gmw::iknp::flights(&cost(to)));
    }
}

/// As "Phasing" counts: κ bits and two more of each party for a gate, with 127 for κ here.
#[test]
fn a_gate_over_iknp_takes_129_bits_of_each_party() {
    let of_words = |words| Cost { count: Count { words, ..Count::default() }, ..Cost::default() };
    let (none, some) = (gmw::iknp::bytes(&of_words(0)), gmw::iknp::bytes(&of_words(1000)));
    let more = 1000 * 64 * 129 / 8;
    assert_eq!(some.sender_to_receiver - none.sender_to_receiver, more);
    assert_eq!(some.receiver_to_sender - none.receiver_to_sender, more);
}

#[test]
fn a_wrong_length_over_iknp_is_an_error() {
    let cost = Cost { count: Count { words: 1, ..Count::default() }, ..Cost::default() };
    let party = |ctx: &mut vesica_net::Context, role| {
        let mut g = Gmw::over_iknp(ctx, &SESSION, role, &cost)?;
        let wire = BitLanes::constant(true, 64);
        g.and(&[(&wire, &wire)])
    };
    support::wrong_lengths_are_errors(|setting| {
        setting.run(|ctx| party(ctx, Role::Sender), |ctx| party(ctx, Role::Receiver))
    });
}

/// Values of bins and their candidates: bin i holds i, 3·i, …, and some bins contain the receiver's
/// value.
fn bins_run(bins: Bins) -> (BitLanes, Outcomes<Vec<BitLanes>, Vec<BitLanes>>) {
    let mask = if bins.width == 128 { u128::MAX } else { (1 << bins.width) - 1 };
    let spread = |i: u128| i.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835) >> 3 & mask;
    let filled = move |bin: usize| bin * 7 % (bins.slots + 1);
    let candidate = move |bin: usize, slot: usize| spread((bin * 1000 + slot) as u128);
    let values: Vec<u128> = (0..bins.count)
        .map(|bin| match filled(bin) {
            0 => spread(bin as u128),
            n if bin % 5 == 1 => candidate(bin, bin % n),
            n => candidate(bin, bin % n) ^ 1 << (bin % bins.width),
        })
        .collect();
    let expected = (0..bins.count)
        .flat_map(|bin| (0..bins.slots).map(move |slot| (bin, slot)))
        .map(|(bin, slot)| slot < filled(bin) && candidate(bin, slot) == values[bin])
        .collect();
    let mut g = gmw::counting();
    g.equal_in_bins(&bins, None, 0, &mut |_, _, _| Ok(())).unwrap();
    let cost = g.cost().clone();
    let compare = |ctx: &mut vesica_net::Context, role, mine| {
        let mut g = Gmw::new(ctx, &SESSION, role, Role::Receiver, &cost)?;
        let mut parts = Vec::new();
        g.equal_in_bins(&bins, Some(mine), 0, &mut |_, first, lanes| {
            assert_eq!(first, 0);
            parts.push(lanes);
            Ok(())
        })?;
        Ok(parts)
    };
    let candidates = move |bin: usize, out: &mut Vec<u128>| {
        out.extend((0..filled(bin)).map(|slot| candidate(bin, slot)));
    };
    let run = run(
        |ctx| compare(ctx, Role::Sender, InBins::Candidates(&candidates)),
        |ctx| compare(ctx, Role::Receiver, InBins::Values(&values)),
    );
    assert_eq!(run.traffic, gmw::bytes(&cost, Role::Receiver), "{bins:?}");
    let most = gmw::flights(&cost, Role::Receiver);
    // The crate includes this file with extensions so short that a computation takes several.
    if module_path!().contains("short_extensions") {
        assert!(run.flights <= most, "{bins:?}: {} of {most}", run.flights);
    } else {
        assert_eq!(run.flights, most, "{bins:?}");
    }
    (expected, run)
}

#[test]
fn a_computation_that_uses_more_transfers_than_announced_fails() {
    let mut little = cost(Reveal::Both);
    little.count.words = 1;
    for announced in [Cost::default(), little] {
        let party = |ctx: &mut vesica_net::Context, role| {
            let mut g = Gmw::new(ctx, &SESSION, role, Role::Sender, &announced)?;
            let word = vec![BitLanes::constant(true, 1 << 16); WIDTH];
            equal(&mut g, &word, &word)
        };
        let over_iknp = |ctx: &mut vesica_net::Context, role| {
            let mut g = Gmw::over_iknp(ctx, &SESSION, role, &announced)?;
            let word = vec![BitLanes::constant(true, 1 << 16); WIDTH];
            equal(&mut g, &word, &word)
        };
        for run in [
            run(|ctx| party(ctx, Role::Sender), |ctx| party(ctx, Role::Receiver)),
            run(|ctx| over_iknp(ctx, Role::Sender), |ctx| over_iknp(ctx, Role::Receiver)),
        ] {
            assert!(matches!(run.sender, Err(Error::Bug(_))), "{:?}", run.sender);
            assert!(run.receiver.is_err());
        }
    }
}

#[test]
fn bins_are_compared_slot_by_slot() {
    for (count, slots, width) in [
        (1, 1, 1),
        (1, 128, 128),
        (10, 3, 4),
        (100, 18, 13),
        (2000, 20, 12),
        (5, 7, 33),
        (300, 64, 61),
        // More pieces of OTs than an extension has in unit tests.
        (30_000, 2, 16),
    ] {
        let bins = Bins { count, slots, width };
        let (expected, run) = bins_run(bins);
        let (mut sender, mut receiver) = (run.sender.unwrap(), run.receiver.unwrap());
        let found = sender.remove(0).xor(&receiver.remove(0));
        assert_eq!(found, expected, "{bins:?}");
        assert!(found.iter().any(|bit| bit) || count < 5, "{bins:?}");
    }
    let too_many = Bins { count: 1, slots: Bins::MAX_SLOTS + 1, width: 4 };
    let refused = run(
        |ctx| Gmw::new(ctx, &SESSION, Role::Sender, Role::Receiver, &Cost::default()).map(|_| ()),
        |ctx| {
            let mut g = Gmw::new(ctx, &SESSION, Role::Receiver, Role::Receiver, &Cost::default())?;
            g.equal_in_bins(&too_many, Some(InBins::Values(&[0])), 0, &mut |_, _, _| Ok(()))
        },
    );
    assert!(refused.receiver.is_err());
}
