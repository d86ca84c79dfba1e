//! What a helper does with a run of which something was lost, and what its parties then get.

use crate::kmrs14::board::{Helper, run_all, spec};
use crate::kmrs14::laws::{assert_plain, items};
use std::io;
use vesica_core::{Item, Refusal};
use vesica_labels::{Bits, List};
use vesica_net::Pool;
use vesica_protocols::kmrs14::helper::{
    CommonFailure, HelperStore, advance, is_out, left, may_be_ended,
};
use vesica_protocols::kmrs14::{Check, Kind, Slot, Variant};
use vesica_scratch::Scratch;

const VARIANTS: [Variant; 5] =
    [Variant::SemiHonest, Variant::Malicious, Variant::Fair, Variant::SizeHiding, Variant::Pet];

/// A run of this variant that all parties have their answers of, and their sets.
fn finished(variant: Variant) -> (Helper, Vec<Vec<Item>>) {
    let sets = match variant {
        Variant::Pet => vec![items([5]), items([5])],
        _ => vec![items(1..40), items(20..70)],
    };
    let check = match variant {
        Variant::SemiHonest => Check { copies: 1, dummies: 16 },
        _ => Check { copies: 3, dummies: 40 },
    };
    let rows: Vec<u64> = sets.iter().map(|set| set.len() as u64).collect();
    let (outcomes, helper) = run_all(Helper::new(spec(variant, &rows, check)), &sets, 1);
    assert_plain(outcomes, &sets);
    (helper.without(&[]), sets)
}

/// As a helper does at its start.
fn salvage(helper: &Helper) {
    let left = left(&helper.spec, helper).unwrap();
    let slots = helper.slots();
    let useless = slots.keys().filter(|slot| left.useless.contains(&(slot.kind, slot.party)));
    useless.for_each(|slot| helper.lose(*slot));
    for _ in 0..10 {
        match advance(&helper.spec, helper) {
            Ok(false) => return,
            Ok(true) => {}
            Err(refusal) => panic!("{:?}: {refusal:?}", helper.spec.variant),
        }
    }
    panic!("{:?}: the steps come to no end", helper.spec.variant);
}

#[test]
fn whatever_is_lost_nobody_is_blamed_and_whoever_comes_again_has_the_same_answer() {
    for variant in VARIANTS {
        let (helper, sets) = finished(variant);
        let slots: Vec<Slot> = helper.slots().into_keys().collect();
        for (at, one) in slots.iter().enumerate() {
            for other in &slots[at..] {
                let rest = helper.without(&[*one, *other]);
                salvage(&rest);
                let (outcomes, _) = run_all(rest, &sets, 1);
                let outcomes = outcomes.into_iter().map(|outcome| {
                    outcome.map_err(|error| panic!("{variant:?} {one:?} {other:?}: {error:?}"))
                });
                assert_plain(outcomes.collect(), &sets);
            }
        }
    }
}

#[test]
fn an_answer_of_a_fair_run_stays_whatever_it_was_made_of() {
    let (helper, _) = finished(Variant::Fair);
    for (lost, _) in helper.slots() {
        let rest = helper.without(&[lost]);
        salvage(&rest);
        for party in 0..2 {
            for kind in [Kind::Answer, Kind::Opening] {
                let slot = Slot::new(kind, party);
                assert!(is_out(&rest.spec, &rest, slot), "{slot:?} without {lost:?}");
                assert_eq!(rest.slots()[&slot], helper.slots()[&slot]);
            }
        }
        assert!(!may_be_ended(&rest.spec, &rest), "without {lost:?}");
    }
}

#[test]
fn the_end_of_a_list_without_the_list_blames_no_party() {
    for variant in VARIANTS {
        let (helper, sets) = finished(variant);
        let lists = [Kind::Labels, Kind::Opened, Kind::Relayed];
        let made = |kind: Kind| !kind.is_written_by_party();
        let slots = helper.slots();
        let lost: Vec<Slot> = slots
            .keys()
            .copied()
            .filter(|slot| made(slot.kind) || lists.contains(&slot.kind) && slot.party == 0)
            .collect();
        let rest = helper.without(&lost);
        // Also before `salvage` has looked at what is left.
        assert!(advance(&rest.spec, &rest).is_ok(), "{variant:?}");
        salvage(&rest);
        let (outcomes, _) = run_all(rest, &sets, 1);
        assert_plain(outcomes, &sets);
    }
}

/// A desk with a slot that cannot be read.
struct Unreadable<'a>(&'a Helper, Slot);

impl HelperStore for Unreadable<'_> {
    fn read(&self, slot: Slot) -> io::Result<Vec<u8>> {
        if slot == self.1 {
            Err(io::Error::other("a fault of the disk"))
        } else {
            self.0.read(slot)
        }
    }
    fn write(&self, slot: Slot, body: &[u8]) -> io::Result<()> {
        self.0.write(slot, body)
    }
    fn is_filled(&self, slot: Slot) -> bool {
        self.0.is_filled(slot)
    }
    fn secret(&self) -> io::Result<[u8; 32]> {
        self.0.secret()
    }
    fn scratch(&self) -> &dyn Scratch {
        self.0.scratch()
    }
    fn memory_bytes(&self) -> u64 {
        self.0.memory_bytes()
    }
    fn pool(&self) -> &Pool {
        self.0.pool()
    }
    fn stop(&self) -> bool {
        false
    }
    fn common(&self, lists: &[List<'_>]) -> Result<Option<Vec<Bits>>, CommonFailure> {
        self.0.common(lists)
    }
}

#[test]
fn an_unreadable_slot_is_reported_as_a_fault_of_the_disk() {
    for variant in VARIANTS {
        let (helper, _) = finished(variant);
        let slots = helper.slots();
        let made: Vec<Slot> =
            slots.keys().copied().filter(|slot| !slot.kind.is_written_by_party()).collect();
        for (unreadable, _) in slots {
            let rest = helper.without(&made);
            let slots = Unreadable(&rest, unreadable);
            loop {
                match advance(&rest.spec, &slots) {
                    Ok(true) => {}
                    Ok(false) | Err(Refusal::Storage) => break,
                    Err(refusal) => panic!("{variant:?} {unreadable:?}: {refusal:?}"),
                }
            }
        }
    }
}
