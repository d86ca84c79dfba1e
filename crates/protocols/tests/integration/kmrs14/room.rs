//! What a run takes at the helper, and at a party.

use crate::kmrs14::board::{Counting, Helper, PlainSeal, Quiet, Way, meet, run_all, spec};
use crate::kmrs14::laws::{SMALL, items};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use vesica_core::{Item, Items, Refusal, Result, Secret};
use vesica_net::Pool;
use vesica_protocols::kmrs14::helper::check_put;
use vesica_protocols::kmrs14::{
    Board, Boards, Check, Kind, Means, RunFacts, Slot, Spec, Variant, run,
};

const ALL: [Variant; 4] =
    [Variant::SemiHonest, Variant::Malicious, Variant::Fair, Variant::SizeHiding];

fn check(variant: Variant) -> Check {
    if variant == Variant::SemiHonest { Check { copies: 1, dummies: 8 } } else { SMALL }
}

/// Bytes of the slots of each party that it put, and that the helper wrote.
fn kept(helper: &Helper, overhead: u64) -> Vec<(u64, u64)> {
    let mut sums = vec![(0, 0); helper.spec.parties.len()];
    for (slot, body) in helper.slots() {
        let sum = &mut sums[usize::from(slot.party)];
        let bytes = body.len() as u64 + overhead;
        if slot.kind.is_written_by_party() { sum.0 += bytes } else { sum.1 += bytes }
    }
    sums
}

#[test]
fn no_run_takes_more_than_its_room_and_room_is_not_much_more() {
    // As many as the scale allows, and the fewest with this scale; few and many.
    for rows in [[1, 1], [40_000, 9], [9, 40_000], [65_000, 65_000], [33_000, 40_000]] {
        for variant in ALL {
            let sets = rows.map(|rows| items(0..rows));
            let helper = Helper::new(spec(variant, &rows, check(variant)));
            let (outcomes, helper) = run_all(helper, &sets, 1);
            outcomes.into_iter().for_each(|outcome| drop(outcome.unwrap()));
            let scales: Vec<u32> = rows.iter().map(|rows| helper.spec.scale(*rows)).collect();
            for overhead in [0, 4127] {
                let room = helper.spec.room(&scales, overhead);
                for (party, (put, written)) in kept(&helper, overhead).into_iter().enumerate() {
                    assert!(put <= room.put[party], "{variant:?} {rows:?} {overhead} {party}");
                    assert!(written <= room.written[party], "{variant:?} {rows:?} {party}");
                    // Hellos and shares may be longer than those here.
                    let (slack, meeting) = (put / 50 + 8 * overhead, (8 << 10) + (32 << 10) + 8);
                    assert!(room.put[party] - put <= slack + meeting, "{variant:?} {rows:?} {put}");
                    assert!(room.written[party] - written <= 2 * overhead + 32, "{variant:?}");
                }
                let peak = helper.scratch.peak.load(Ordering::SeqCst);
                assert!(peak <= room.scratch, "{variant:?} {rows:?}: {peak}");
            }
            if rows == [65_000, 65_000] && matches!(variant, Variant::Fair | Variant::SizeHiding) {
                assert!(helper.scratch.peak.load(Ordering::SeqCst) > 0, "files were needed");
            }
        }
    }
}

#[test]
fn values_and_many_parties_have_their_room_too() {
    for (variant, rows, check) in [
        (Variant::Pet, vec![1, 1], Check::cheapest(1)),
        (Variant::SemiHonest, vec![900; 16], Check { copies: 1, dummies: 16 }),
    ] {
        let sets: Vec<Vec<Item>> = rows.iter().map(|rows| items(0..*rows)).collect();
        let (outcomes, helper) = run_all(Helper::new(spec(variant, &rows, check)), &sets, 1);
        outcomes.into_iter().for_each(|outcome| drop(outcome.unwrap()));
        let scales: Vec<u32> = rows.iter().map(|rows| helper.spec.scale(*rows)).collect();
        let room = helper.spec.room(&scales, 4127);
        for (party, (put, written)) in kept(&helper, 4127).into_iter().enumerate() {
            assert!(put <= room.put[party] && written <= room.written[party], "{variant:?}");
        }
    }
}

#[test]
fn before_all_have_sent_a_hello_there_is_room_for_hellos_alone() {
    for variant in ALL {
        let helper = Helper::new(spec(variant, &[1000, 1000], check(variant)));
        helper.put(1, Slot::new(Kind::Hello, 1), &[10; 50]).unwrap();
        for (kind, party, part, len) in [
            (Kind::Share, 1, 0, 77),
            (Kind::Labels, 1, 0, 5),
            (Kind::Size, 1, 0, 8),
            (Kind::Seen, 1, 0, 32),
            (Kind::Opened, 1, 0, 5),
            (Kind::OuterSecret, 1, 0, 32),
            (Kind::TossShare, 1, 0, 32),
            (Kind::Relayed, 1, 0, 99),
            (Kind::Found, 0, 3, 1 << 20),
            (Kind::Release, 1, 0, 1),
        ] {
            let put =
                check_put(&helper.spec, &helper, Slot::part(kind, party, part), &vec![1; len]);
            assert_eq!(put, Err(Refusal::Malformed { party }), "{variant:?} {kind:?}");
        }
    }
}

/// A board that looks what intermediate data there is when its party waits for its answer.
struct Watching {
    way: Way,
    live: Arc<AtomicU64>,
    seen: Arc<AtomicU64>,
}

impl Boards for Watching {
    fn lanes(&self, _: u64) -> usize {
        1
    }
    fn open(&self) -> Result<Box<dyn Board>> {
        let (live, seen) = (Arc::clone(&self.live), Arc::clone(&self.seen));
        Ok(Box::new(Watching { way: self.way.clone(), live, seen }))
    }
}

impl Board for Watching {
    fn put(&mut self, slot: Slot, body: &[u8]) -> Result<()> {
        self.way.put(slot, body)
    }
    fn sync(&mut self) -> Result<()> {
        self.way.sync()
    }
    fn get(&mut self, slot: Slot, max_len: usize) -> Result<Vec<u8>> {
        if matches!(slot.kind, Kind::Answer | Kind::Found) {
            self.seen.fetch_max(self.live.load(Ordering::SeqCst), Ordering::SeqCst);
        }
        self.way.get(slot, max_len)
    }
    fn filled(&mut self, kind: Kind, parts: u32) -> Result<Vec<bool>> {
        self.way.filled(kind, parts)
    }
}

#[test]
fn a_party_that_has_sent_its_list_keeps_the_way_back_to_its_rows_and_nothing_else() {
    for variant in ALL {
        let rows = [20_000, 20_000];
        let sets = rows.map(|rows| items(0..rows));
        let helper = Arc::new(Helper::new(spec(variant, &rows, check(variant))));
        let scales = meet(&helper, &rows);
        std::thread::scope(|scope| {
            for (party, set) in (0..).zip(&sets) {
                let way = Way { helper: Arc::clone(&helper), party, lanes: 1 };
                let scales = &scales;
                scope.spawn(move || {
                    let (list, left, peak) = watched(&way, scales, set);
                    // Five bytes a label.
                    assert!(left <= 5 * list, "{variant:?} {party}: {left} of {list} labels");
                    assert!(peak >= 16 * list, "{variant:?} {party}: it was sorted in files");
                });
            }
        });
    }
}

/// Runs a party; gives the labels of its list, and the intermediate data when it waited for its
/// answer and at its most.
fn watched(way: &Way, scales: &[u32], set: &[Item]) -> (u64, u64, u64) {
    let (pool, scratch) = (Pool::new(NonZeroUsize::MIN).unwrap(), Counting::default());
    let means = Means { scratch: &scratch, memory_bytes: 1 << 10, pool: &pool, progress: &Quiet };
    let (secret, own_secret) = (Secret::new([7; 32]), Secret::new([way.party; 32]));
    let spec: &Spec = &way.helper.spec;
    let (seal, memory, party) = (&PlainSeal, way, way.party);
    let (secret, own_secret) = (&secret, &own_secret);
    let facts = RunFacts { spec, party, scales, secret, own_secret, seal, memory };
    let seen = Arc::new(AtomicU64::new(0));
    let live = Arc::clone(&scratch.live);
    let boards = Watching { way: way.clone(), live, seen: Arc::clone(&seen) };
    let outcome = run(&facts, &set as &dyn Items, &means, &boards).unwrap();
    let list = outcome.list_lens[usize::from(way.party)];
    (list, seen.load(Ordering::SeqCst), scratch.peak.load(Ordering::SeqCst))
}
