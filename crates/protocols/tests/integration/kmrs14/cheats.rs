//! Helpers and parties that do not follow the protocol.

use crate::kmrs14::board::{Cheat, Helper, Way, run_all, spec};
use crate::kmrs14::laws::{SMALL, assert_plain, items};
use rand::seq::SliceRandom;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use std::sync::{Arc, Mutex};
use vesica_core::hash::derive;
use vesica_core::{Error, Item, Items, Misbehaviour, Refusal, Result, TransportError};
use vesica_protocols::kmrs14::{Board, Boards, Check, Kind, Outcome, Slot, Variant};

fn is_caught(outcome: &Result<Outcome>) -> bool {
    let checks = [
        Misbehaviour::CommonMissing,
        Misbehaviour::OwnFound,
        Misbehaviour::CopiesDiffer,
        Misbehaviour::InvalidValue,
    ];
    matches!(outcome, Err(Error::PeerMisbehaved(found)) if checks.contains(found))
}

/// How the helper changes the bits of party 0's answer, `len` of them.
fn with_answer(len: u64, change: impl Fn(&mut Vec<bool>) + Send + Sync + 'static) -> Cheat {
    Arc::new(move |slot, body| {
        if slot != Slot::new(Kind::Answer, 0) {
            return body;
        }
        let mut bits: Vec<bool> =
            (0..len).map(|i| body[(i / 8) as usize] >> (i % 8) & 1 == 1).collect();
        change(&mut bits);
        let mut out = vec![0; len.div_ceil(8) as usize];
        bits.iter().enumerate().for_each(|(i, bit)| out[i / 8] |= u8::from(*bit) << (i % 8));
        out
    })
}

fn sets() -> [Vec<Item>; 2] {
    [items(0..40), items(20..70)]
}

const LENS: [u64; 2] = [40, 50];

fn run_with(variant: Variant, check: Check, cheat: Cheat) -> Vec<Result<Outcome>> {
    let mut helper = Helper::new(spec(variant, &LENS, check));
    helper.cheat = Some(cheat);
    run_all(helper, &sets(), 1).0
}

fn list_len(check: Check, items: u64) -> u64 {
    check.labels(items)
}

/// A helper, or another party, that made the answer what it is would learn from anything else
/// whether it hit something.
#[test]
fn a_party_that_refuses_its_answer_sends_the_same_as_any_other() {
    let check = Check { copies: 3, dummies: 64 };
    for variant in [Variant::SemiHonest, Variant::Malicious] {
        let seen = |cheat: Cheat| {
            let mut helper = Helper::new(spec(variant, &LENS, check));
            helper.cheat = Some(cheat);
            let (outcomes, helper) = run_all(helper, &sets(), 1);
            let traffic = helper.traffic.lock().unwrap().clone();
            (outcomes[0].is_ok(), outcomes[1].is_ok(), traffic)
        };
        let honest = seen(Arc::new(|_, body| body));
        let cheated = seen(with_answer(list_len(check, LENS[0]), |bits| bits.fill(true)));
        assert_eq!((honest.0, honest.1), (true, true));
        assert_eq!((cheated.0, cheated.1), (false, true), "the other party does not hear of it");
        assert_eq!(honest.2, cheated.2);
    }
}

#[test]
fn a_helper_that_returns_nothing_everything_or_another_answer_is_caught() {
    type Change = (&'static str, fn(&mut Vec<bool>));
    let changes: [Change; 4] = [
        ("nothing", |bits| bits.fill(false)),
        ("everything", |bits| bits.fill(true)),
        ("the opposite", |bits| bits.iter_mut().for_each(|bit| *bit ^= true)),
        ("the answer moved by one", |bits| bits.rotate_left(1)),
    ];
    for check in [SMALL, Check { copies: 1, dummies: 16 }] {
        for (what, change) in changes {
            let len = list_len(check, 40);
            let variant = if check.copies == 1 { Variant::SemiHonest } else { Variant::Malicious };
            let outcomes = run_with(variant, check, with_answer(len, change));
            assert!(is_caught(&outcomes[0]), "{what}: {:?}", outcomes[0]);
            let other = &outcomes[1];
            assert!(other.is_ok() || matches!(other, Err(Error::Refused(_))), "{what}");
        }
    }
}

/// The best that a helper can do is to guess which c labels of its list are the copies of one item.
/// That succeeds as often as `Check::bits` says; with more copies than dummies far more often than
/// the published t^-(c-1) (Theorem 2).
///
/// About 24 runs of each check stay unnoticed, or 900 runs are made.
#[test]
fn dropping_and_adding_is_caught_as_often_as_the_check_says() {
    let dropping = CHECKS.map(|check| (check, false));
    let adding = [((2, 2), true), ((3, 4), true)];
    let runs = |check: &Check| (24.0 * check.bits(1).exp2()).min(900.0) as u64;
    caught_as_often_as_the_check_says(dropping.into_iter().chain(adding), runs);
}

#[test]
#[ignore = "slow: three thousand runs of each check"]
fn dropping_and_adding_is_caught_as_often_as_the_check_says_in_many_runs() {
    let cases = CHECKS.into_iter().flat_map(|check| [false, true].map(|adding| (check, adding)));
    caught_as_often_as_the_check_says(cases, |_| 3000);
}

/// Numbers of copies and of dummies.
const CHECKS: [(u32, u32); 5] = [(2, 2), (2, 4), (2, 16), (3, 4), (9, 2)];

/// `cases` are checks, each with whether the helper adds an item to the answer or drops one from
/// it.
fn caught_as_often_as_the_check_says(
    cases: impl Iterator<Item = ((u32, u32), bool)>,
    runs: impl Fn(&Check) -> u64,
) {
    for ((copies, dummies), adding) in cases {
        let check = Check { copies, dummies };
        let runs = runs(&check);
        let mut unnoticed = 0;
        for seed in 0..runs {
            // One item of party 0: with nothing else in its list the helper knows most.
            let common = if adding { 0 } else { 1 };
            let sets = [items([seed + 1]), items([if common == 1 { seed + 1 } else { 1 << 40 }])];
            let len = check.labels(1);
            let rng = Mutex::new(ChaCha20Rng::seed_from_u64(seed));
            let mut helper = Helper::new(spec(Variant::Malicious, &[1, 1], check));
            helper.cheat = Some(with_answer(len, move |bits| {
                let mut candidates: Vec<usize> =
                    (0..bits.len()).filter(|at| bits[*at] != adding).collect();
                candidates.shuffle(&mut *rng.lock().unwrap());
                candidates.iter().take(copies as usize).for_each(|at| bits[*at] = adding);
            }));
            let helper = Arc::new(helper);
            let scales = crate::kmrs14::board::meet(&helper, &[1, 1]);
            let secret = ChaCha20Rng::seed_from_u64(!seed).next_u32() as u8;
            let outcomes: Vec<_> = [1, 0_u8]
                .into_iter()
                .map(|party| {
                    let way =
                        crate::kmrs14::board::Way { helper: Arc::clone(&helper), party, lanes: 1 };
                    (party, way)
                })
                .collect();
            let outcome = std::thread::scope(|scope| {
                let threads: Vec<_> = outcomes
                    .iter()
                    .map(|(party, way)| {
                        let (set, scales) = (&sets[usize::from(*party)], &scales);
                        scope.spawn(move || {
                            crate::kmrs14::board::run_party(way, scales, secret, set, 1 << 12)
                        })
                    })
                    .collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).next_back().unwrap()
            });
            match outcome {
                Ok(outcome) => {
                    // Unnoticed, and the answer is wrong.
                    assert_eq!(outcome.matched.unwrap().items, u64::from(adding));
                    unnoticed += 1;
                }
                Err(_) => assert!(is_caught(&outcome)),
            }
        }
        // It must hit the c copies among c + t labels.
        let expected = runs as f64 * (-check.bits(1)).exp2();
        let spread = 5.0 * expected.sqrt() + 3.0;
        assert!(
            (unnoticed as f64 - expected).abs() < spread,
            "{check:?}: {unnoticed} of {expected}"
        );
        assert!(unnoticed > 0 || expected < 20.0, "{check:?}: {unnoticed} of {expected}");
    }
}

#[test]
fn a_helper_that_swaps_two_labels_of_different_kinds_is_caught() {
    for seed in 0..20 {
        let check = Check { copies: 2, dummies: 1 << 10 };
        let rng = Mutex::new(ChaCha20Rng::seed_from_u64(seed));
        let cheat = with_answer(check.labels(40), move |bits| {
            let mut rng = rng.lock().unwrap();
            let pick = |value: bool, rng: &mut ChaCha20Rng| {
                let mut all: Vec<usize> = (0..bits.len()).filter(|at| bits[*at] == value).collect();
                all.shuffle(rng);
                all[0]
            };
            let (one, zero) = (pick(true, &mut rng), pick(false, &mut rng));
            bits.swap(one, zero);
        });
        let outcomes = run_with(Variant::Malicious, check, cheat);
        assert!(is_caught(&outcomes[0]), "{:?}", outcomes[0]);
    }
}

#[test]
fn answers_of_another_length_or_with_bits_beyond_the_end_are_refused() {
    for change in [
        |body: &mut Vec<u8>| body.truncate(3),
        |body: &mut Vec<u8>| body.push(0),
        |body: &mut Vec<u8>| *body.last_mut().unwrap() |= 0x80,
    ] {
        let cheat: Cheat = Arc::new(move |slot, mut body| {
            if slot == Slot::new(Kind::Answer, 0) {
                change(&mut body);
            }
            body
        });
        let check = Check { copies: 3, dummies: 6 };
        let outcomes = run_with(Variant::Malicious, check, cheat);
        assert!(matches!(outcomes[0], Err(Error::PeerMisbehaved(_))), "{:?}", outcomes[0]);
    }
}

#[test]
fn a_helper_that_opens_another_answer_than_it_committed_to_is_caught() {
    for kind in [Kind::Answer, Kind::Opening, Kind::Commitment] {
        let cheat: Cheat = Arc::new(move |slot, mut body| {
            if slot == Slot::new(kind, 0) {
                body[0] ^= 1;
            }
            body
        });
        let outcomes = run_with(Variant::Fair, SMALL, cheat);
        // With other commitments the other party may be the first to see it.
        let broken = Err(Misbehaviour::CommitmentBroken.into());
        assert!(outcomes[0].is_err() && outcomes.contains(&broken), "{kind:?} {outcomes:?}");
    }
}

/// The fair protocol: a party that sends a list that is not built as required is detected before
/// the answer is opened, and no party learns anything.
#[test]
fn a_party_that_opens_other_items_than_it_sent_leaves_both_without_an_answer() {
    for kind in [Kind::Opened, Kind::OuterSecret, Kind::Labels] {
        let helper = Arc::new(Helper::new(spec(Variant::Fair, &LENS, SMALL)));
        let scales = crate::kmrs14::board::meet(&helper, &LENS);
        let sets = sets();
        let outcomes = std::thread::scope(|scope| {
            let honest =
                crate::kmrs14::board::Way { helper: Arc::clone(&helper), party: 0, lanes: 1 };
            let liar =
                Lying { way: crate::kmrs14::board::Way { party: 1, ..honest.clone() }, kind };
            let (scales, sets) = (&scales, &sets);
            let honest = scope.spawn(move || {
                crate::kmrs14::board::run_party(&honest, scales, 7, &sets[0], 1 << 14)
            });
            let liar = scope.spawn(move || liar.run(scales, &sets[1]));
            [honest.join().unwrap(), liar.join().unwrap()]
        });
        for outcome in outcomes {
            let expected = [Refusal::OpenedOther { party: 1 }, Refusal::OpenedDifferently];
            assert!(
                matches!(outcome, Err(Error::Refused(found)) if expected.contains(&found)),
                "{kind:?} {outcome:?}"
            );
        }
        assert!(
            helper.slots().keys().all(|slot| !matches!(slot.kind, Kind::Answer | Kind::Opening))
        );
    }
}

/// A party can search for an inner label whose outer one is a dummy of the other's: both lists are
/// as they should be, and only the other would find a fault in its answer. The search takes too
/// long for a test; its effect is a bit of the answer that does not follow from the lists.
#[test]
fn an_answer_that_would_fail_a_partys_checks_is_opened_to_no_party() {
    let len = list_len(SMALL, LENS[0]);
    for at in (0..len).step_by(5) {
        let mut helper = Helper::new(spec(Variant::Fair, &LENS, SMALL));
        helper.slip = Some(Arc::new(move |slot, mut body| {
            if slot == Slot::new(Kind::Kept, 0) {
                body[(at / 8) as usize] ^= 1 << (at % 8);
            }
            body
        }));
        let (outcomes, helper) = run_all(helper, &sets(), 1);
        for outcome in outcomes {
            assert_eq!(outcome, Err(Error::Refused(Refusal::AtOdds)), "{at}");
        }
        assert!(
            helper.slots().keys().all(|slot| !matches!(slot.kind, Kind::Answer | Kind::Opening))
        );
    }
}

/// A helper that cuts a party off and shows it other data when it returns would learn from what the
/// party sends for each. In the fair protocol it could commit again after seeing what is opened; in
/// the size-hiding one the sealed answers to two lists would tell it whether they differ in a
/// common label.
#[test]
fn a_helper_that_shows_a_returning_party_other_data_is_detected() {
    let flipped = |kind: Kind| -> Cheat {
        Arc::new(move |slot, mut body| {
            if slot.kind == kind {
                *body.last_mut().unwrap() ^= 1;
            }
            body
        })
    };
    // The places of two labels exchanged: of these both are common, or neither.
    let exchanged: Cheat = Arc::new(|slot, mut body| {
        if slot.kind == Kind::Places {
            body[..10].rotate_left(5);
        }
        body
    });
    let tossed: Cheat = Arc::new(|slot, body| match slot.kind {
        Kind::TossCommitment => {
            derive("vesica kmrs14 2026 toss commitment v1", &[&[9; 32]]).to_vec()
        }
        Kind::TossOpening => vec![9; 32],
        _ => body,
    });
    let honest: Cheat = Arc::new(|_, body| body);
    for (variant, party, shown, cut_at) in [
        (Variant::Fair, 0, flipped(Kind::Commitment), Some(Kind::Opening)),
        (Variant::SizeHiding, 0, flipped(Kind::Relabelled), Some(Kind::Places)),
        (Variant::SizeHiding, 0, exchanged, None),
        (Variant::SizeHiding, 1, tossed, Some(Kind::TossOpening)),
    ] {
        let helper = Arc::new(Helper::new(spec(variant, &LENS, SMALL)));
        let (scales, sets) = (crate::kmrs14::board::meet(&helper, &LENS), sets());
        let way = |party| Way { helper: Arc::clone(&helper), party, lanes: 1 };
        std::thread::scope(|scope| {
            let (other, scales, sets) = (way(1 - party), &scales, &sets);
            scope.spawn(move || {
                crate::kmrs14::board::run_party(
                    &other,
                    scales,
                    7,
                    &sets[usize::from(1 - party)],
                    1 << 14,
                )
            });
            let visit = |cut_at, shown: &Cheat| {
                let bent = Bent { way: way(party), cut_at, shown: Arc::clone(shown) };
                let set = &sets[usize::from(party)];
                crate::kmrs14::board::run_party_over(&way(party), &bent, scales, 7, set, 1 << 14)
            };
            assert_eq!(visit(cut_at, &honest).is_ok(), cut_at.is_none(), "{variant:?} {cut_at:?}");
            let outcome = visit(None, &shown);
            let broken = [Misbehaviour::CommitmentBroken, Misbehaviour::InvalidValue];
            assert!(
                matches!(&outcome, Err(Error::PeerMisbehaved(found)) if broken.contains(found)),
                "{variant:?} {cut_at:?}: {outcome:?}"
            );
            // A helper that shows the same again is believed.
            visit(None, &honest).unwrap();
        });
    }
}

/// A way to a helper that shows a party other bytes, or cuts it off before it gets a slot of some
/// kind.
#[derive(Clone)]
struct Bent {
    way: Way,
    cut_at: Option<Kind>,
    shown: Cheat,
}

impl Boards for Bent {
    fn lanes(&self, _: u64) -> usize {
        1
    }
    fn open(&self) -> Result<Box<dyn Board>> {
        Ok(Box::new(self.clone()))
    }
}

impl Board for Bent {
    fn put(&mut self, slot: Slot, body: &[u8]) -> Result<()> {
        self.way.put(slot, body)
    }
    fn sync(&mut self) -> Result<()> {
        self.way.sync()
    }
    fn get(&mut self, slot: Slot, max_len: usize) -> Result<Vec<u8>> {
        if self.cut_at == Some(slot.kind) {
            return Err(TransportError::Closed.into());
        }
        self.way.get(slot, max_len).map(|body| (self.shown)(slot, body))
    }
    fn filled(&mut self, kind: Kind, parts: u32) -> Result<Vec<bool>> {
        self.way.filled(kind, parts)
    }
}

/// A party whose words on one slot are not what its data say.
struct Lying {
    way: crate::kmrs14::board::Way,
    kind: Kind,
}

impl Lying {
    fn run(self, scales: &[u32], set: &[Item]) -> Result<Outcome> {
        use vesica_protocols::kmrs14::{Means, RunFacts, run};
        struct Liar(crate::kmrs14::board::Way, Kind);
        impl Boards for Liar {
            fn lanes(&self, _: u64) -> usize {
                1
            }
            fn open(&self) -> Result<Box<dyn Board>> {
                Ok(Box::new(Liar(self.0.clone(), self.1)))
            }
        }
        impl Board for Liar {
            fn put(&mut self, slot: Slot, body: &[u8]) -> Result<()> {
                let mut body = body.to_vec();
                if slot.kind == self.1 {
                    // The last byte of a list is of its last label; such a list is still in order.
                    *body.last_mut().unwrap() ^= 1;
                }
                self.0.put(slot, &body)
            }
            fn sync(&mut self) -> Result<()> {
                self.0.sync()
            }
            fn get(&mut self, slot: Slot, max_len: usize) -> Result<Vec<u8>> {
                self.0.get(slot, max_len)
            }
            fn filled(&mut self, kind: Kind, parts: u32) -> Result<Vec<bool>> {
                self.0.filled(kind, parts)
            }
        }
        let pool = vesica_net::Pool::new(std::num::NonZeroUsize::MIN).unwrap();
        let quiet = crate::kmrs14::board::Quiet;
        let scratch = vesica_scratch::MemoryScratch;
        let means =
            Means { scratch: &scratch, memory_bytes: 1 << 14, pool: &pool, progress: &quiet };
        let secret = vesica_core::Secret::new([7; 32]);
        let facts = RunFacts {
            spec: &self.way.helper.spec,
            party: 1,
            scales,
            secret: &secret,
            own_secret: &secret,
            seal: &crate::kmrs14::board::PlainSeal,
            memory: &self.way,
        };
        let spec = self.way.helper.spec.clone();
        assert_eq!(spec.variant, Variant::Fair);
        run(&facts, &set as &dyn Items, &means, &Liar(self.way.clone(), self.kind))
    }
}

/// The size-hiding protocol: what the helper hands on, changed in any byte, ends the run, or
/// changes nothing where it is of a label that is not common; never a wrong answer.
#[test]
fn a_helper_that_changes_what_it_hands_on_in_the_size_hiding_protocol_is_caught() {
    let check = Check { copies: 3, dummies: 1 << 10 };
    for (kind, party) in [
        (Kind::TossCommitment, 1),
        (Kind::TossOpening, 1),
        (Kind::Relabelled, 0),
        (Kind::Relayed, 1),
        (Kind::Found, 0),
        (Kind::Places, 0),
    ] {
        let mut caught = 0;
        for seed in 0..6 {
            let rng = Mutex::new(ChaCha20Rng::seed_from_u64(seed));
            let cheat: Cheat = Arc::new(move |slot, mut body| {
                if slot == Slot::new(kind, party) {
                    let at = rng.lock().unwrap().random_range(0..body.len());
                    body[at] ^= 1 << (seed % 8);
                }
                body
            });
            let outcomes = run_with(Variant::SizeHiding, check, cheat);
            caught += u32::from(outcomes.iter().any(Result::is_err));
            for (outcome, set) in outcomes.into_iter().zip(sets()) {
                if let Ok(outcome) = outcome {
                    let plain = crate::kmrs14::laws::expected(&set, &sets());
                    let matched = outcome.matched.unwrap();
                    assert_eq!((matched.rows, matched.items), plain);
                }
            }
        }
        let may_be_of_no_use = matches!(kind, Kind::Relabelled | Kind::Places);
        assert!(caught == 6 || may_be_of_no_use && caught > 0, "{kind:?}: {caught}");
    }
}

/// Lists of several segments: the helper knows the outer key, and could count what falls where.
#[test]
fn what_a_helper_sees_of_the_size_hiding_protocol_has_the_same_lengths_whatever_is_common() {
    const ROWS: u64 = 150_000;
    let lens = |common: u64| {
        let sets = [items(0..ROWS), items(ROWS - common..2 * ROWS - common)];
        let helper = Helper::new(spec(Variant::SizeHiding, &[ROWS, ROWS], SMALL));
        let (outcomes, helper) = run_all(helper, &sets, 1);
        assert_plain(outcomes, &sets);
        let relayed = |(slot, _): &(&Slot, &Vec<u8>)| {
            slot.kind != Kind::Relabelled && slot.kind != Kind::Labels
        };
        let slots = helper.slots();
        slots.iter().filter(relayed).map(|(slot, body)| (*slot, body.len())).collect::<Vec<_>>()
    };
    let disjoint = lens(0);
    assert!(disjoint.iter().filter(|(slot, _)| slot.kind == Kind::Relayed).count() > 2);
    assert_eq!(disjoint, lens(ROWS));
    assert_eq!(disjoint, lens(17));
}

/// Were a party to open its list to a helper that is not bound to the other's answer yet, the
/// helper could make that answer with what it was shown.
#[test]
fn nothing_is_opened_to_a_helper_that_shows_the_parties_different_commitments() {
    let mut helper = Helper::new(spec(Variant::Fair, &LENS, SMALL));
    helper.cheat = Some(Arc::new(|slot, mut body| {
        if slot == Slot::new(Kind::Commitment, 1) {
            body[40] ^= 1;
        }
        body
    }));
    let (outcomes, helper) = run_all(helper, &sets(), 1);
    let broken = Err(Misbehaviour::CommitmentBroken.into());
    assert!(outcomes.contains(&broken) && outcomes.iter().all(Result::is_err), "{outcomes:?}");
    assert!(
        helper.slots().keys().all(|slot| !matches!(slot.kind, Kind::Opened | Kind::OuterSecret))
    );
}

#[test]
fn a_list_longer_than_the_scale_that_was_announced_or_shorter_than_agreed_is_refused() {
    let check = Check { copies: 1, dummies: 8 };
    let submit = |min_rows: u64, announced: u64| {
        let mut spec = spec(Variant::SemiHonest, &[300, 300], check);
        spec.parties[0].min_rows = min_rows;
        let helper = Arc::new(Helper::new(spec));
        let scales = crate::kmrs14::board::meet(&helper, &[announced, 300]);
        let way = crate::kmrs14::board::Way { helper: Arc::clone(&helper), party: 0, lanes: 1 };
        let outcome = std::thread::scope(|scope| {
            let (ending, way) = (Arc::clone(&helper), &way);
            let party = scope.spawn(move || {
                crate::kmrs14::board::run_party(way, &scales, 7, &items(0..300), 1 << 14)
            });
            // The other party never comes.
            std::thread::sleep(std::time::Duration::from_millis(200));
            ending.fail(Refusal::Ended { party: 1 });
            party.join().unwrap()
        });
        outcome.unwrap_err()
    };
    assert_eq!(submit(0, 300), Error::Refused(Refusal::Ended { party: 1 }));
    assert_eq!(submit(300, 300), Error::Refused(Refusal::Ended { party: 1 }));
    assert_eq!(submit(0, 100), Error::Refused(Refusal::Malformed { party: 0 }));
    // One key twice would do.
    let mut spec = spec(Variant::SemiHonest, &[300, 300], check);
    spec.parties[0].min_rows = 300;
    let helper = Arc::new(Helper::new(spec));
    let scales = crate::kmrs14::board::meet(&helper, &[300, 300]);
    let way = crate::kmrs14::board::Way { helper, party: 0, lanes: 1 };
    let mut repeated = items(0..299);
    repeated.push(repeated[0]);
    let outcome = crate::kmrs14::board::run_party(&way, &scales, 7, &repeated, 1 << 14);
    assert_eq!(outcome, Err(Error::Refused(Refusal::TooFew { party: 0 })));
}
