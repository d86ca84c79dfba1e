//! The fair protocol at a real service: a party that has its answer cannot keep the other from having it.

mod common;

use common::*;
use vesica_core::{Error, Item, Refusal, Result, Secret};
use vesica_labels::MemoryScratch;
use vesica_net::Progress;
use vesica_protocols::kmrs14::{
    Board, Boards, Items, Kind, Means, Run, Seal, Slot, Spec, Variant, run,
};

struct NoSeal;

impl Seal for NoSeal {
    fn seal(&self, _: Kind, _: u32, body: Vec<u8>) -> Result<Vec<u8>> {
        Ok(body)
    }

    fn open(&self, _: Kind, _: u32, body: Vec<u8>) -> Result<Vec<u8>> {
        Ok(body)
    }
}

struct Silent;

impl Progress for Silent {
    fn step(&self, _: &str, _: u64, _: u64) {}
}

fn say_hello(board: &mut dyn Board, spec: &Spec, party: u8) -> Result<Vec<u32>> {
    let scales: Vec<u32> = (0..2).map(|party| spec.largest_scale(party)).collect();
    let hello = |party: u8| vec![scales[usize::from(party)] as u8; 50];
    board.put(Slot::new(Kind::Hello, party), &hello(party))?;
    board.get(Slot::new(Kind::Hello, 1 - party), 50)?;
    Ok(scales)
}

/// Runs a party to its answer, and tells the number of common items; then does `last`.
fn take_part(
    remote: vesica_helper::Remote,
    spec: &Spec,
    party: u8,
    last: impl FnOnce(&vesica_helper::Remote) -> Result<()>,
) -> (Result<u64>, Result<()>) {
    let found = remote.open().and_then(|mut board| {
        let scales = say_hello(&mut *board, spec, party)?;
        let (secret, own_secret) = (Secret::new([5; 32]), Secret::new([party; 32]));
        let facts = Run {
            spec,
            party,
            scales: &scales,
            secret: &secret,
            own_secret: &own_secret,
            seal: &NoSeal,
            memory: &Trusting,
        };
        let pool = pool();
        let means = Means {
            scratch: &MemoryScratch,
            memory_bytes: 1 << 28,
            pool: &pool,
            progress: &Silent,
        };
        let items: Vec<Item> = (1..900).map(Item::from_integer).collect();
        let outcome = run(&facts, &&items[..] as &dyn Items, &means, &remote)?;
        Ok(outcome.matched.map_or(0, |matched| matched.items))
    });
    let told = last(&remote);
    (found, told)
}

fn fair(house: &House, agreement: u8) -> Spec {
    let mut spec = house.spec_of(&[0, 1], agreement);
    (spec.variant, spec.copies, spec.dummies) = (Variant::Fair, 4, 200);
    assert!(spec.is_sound());
    spec
}

#[test]
fn a_party_that_has_its_answer_cannot_end_the_run_for_the_other() {
    let house = House::new(2);
    let service = house.start();
    for round in 0..5 {
        let spec = fair(&house, round);
        let remotes = [0, 1].map(|party| house.remote(&service, party, &spec));
        let [first, second] = remotes;
        let (hasty, honest) = std::thread::scope(|scope| {
            let hasty = scope.spawn(|| take_part(first, &spec, 0, |remote| remote.end()));
            let honest = scope.spawn(|| take_part(second, &spec, 1, |remote| remote.done()));
            (hasty.join().unwrap(), honest.join().unwrap())
        });
        assert_eq!(hasty.0, Ok(899));
        // It may also come when both are through.
        assert!(matches!(hasty.1, Ok(()) | Err(Error::Refused(Refusal::TooLate))), "{hasty:?}");
        assert_eq!(honest, (Ok(899), Ok(())), "round {round}");
    }
}

#[test]
fn before_both_have_opened_a_party_may_end_it() {
    let house = House::new(2);
    let service = house.start();
    let spec = fair(&house, 9);
    let first = house.remote(&service, 0, &spec);
    let mut board = first.open().unwrap();
    board.put(Slot::new(Kind::Hello, 0), &[spec.largest_scale(0) as u8; 50]).unwrap();
    board.sync().unwrap();
    assert_eq!(first.end(), Ok(()));
}
