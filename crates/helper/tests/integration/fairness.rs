//! The fair protocol at a real service: a party that has its answer cannot deny the other its own.

use crate::common::*;
use std::sync::Arc;
use std::time::{Duration, Instant};
use vesica_core::{Error, Item, Items, Refusal, Result, Secret, TransportError};
use vesica_helper_client::Remote;
use vesica_net::Progress;
use vesica_scratch::MemoryScratch;
use vesica_server_aided::kmrs14::{
    Board, Boards, Kind, Means, RunFacts, Seal, Slot, Spec, Variant, run,
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

fn put_hellos(board: &mut dyn Board, spec: &Spec, party: u8) -> Result<Vec<u32>> {
    let scales: Vec<u32> = (0..2).map(|party| spec.largest_scale(party)).collect();
    let hello = |party: u8| vec![scales[usize::from(party)] as u8; 50];
    board.put(Slot::new(Kind::Hello, party), &hello(party))?;
    board.get(Slot::new(Kind::Hello, 1 - party), 50)?;
    Ok(scales)
}

/// Runs a party to its answer, and returns the number of common items; then does `last`.
fn take_part(
    remote: Remote,
    spec: &Spec,
    party: u8,
    last: impl FnOnce(&Remote) -> Result<()>,
) -> (Result<u64>, Result<()>) {
    let found = common_items(&remote, spec, party);
    let result = last(&remote);
    (found, result)
}

/// Runs a party on these boards to its answer, and returns the number of common items.
fn common_items(boards: &dyn Boards, spec: &Spec, party: u8) -> Result<u64> {
    let scales = put_hellos(&mut *boards.open()?, spec, party)?;
    let (secret, own_secret) = (Secret::new([5; 32]), Secret::new([party; 32]));
    let facts = RunFacts {
        spec,
        party,
        scales: &scales,
        secret: &secret,
        own_secret: &own_secret,
        seal: &NoSeal,
        memory: &Trusting,
    };
    let pool = pool();
    let means =
        Means { scratch: &MemoryScratch, memory_bytes: 1 << 28, pool: &pool, progress: &Silent };
    let items: Vec<Item> = (1..900).map(Item::from_integer).collect();
    let outcome = run(&facts, &&items[..] as &dyn Items, &means, boards)?.checked()?;
    Ok(outcome.matched.map_or(0, |matched| matched.items))
}

/// Boards that call a function before each put, and lose the connection at each get of one kind of
/// slot.
#[derive(Clone)]
struct Bent {
    remote: Arc<Remote>,
    before: Arc<dyn Fn(Slot) + Send + Sync>,
    lost: Option<Kind>,
}

impl Boards for Bent {
    fn lanes(&self, _: u64) -> usize {
        1
    }

    fn open(&self) -> Result<Box<dyn Board>> {
        Ok(Box::new(BentBoard { board: self.remote.open()?, bent: self.clone() }))
    }
}

struct BentBoard {
    board: Box<dyn Board>,
    bent: Bent,
}

impl Board for BentBoard {
    fn put(&mut self, slot: Slot, body: &[u8]) -> Result<()> {
        (self.bent.before)(slot);
        self.board.put(slot, body)
    }

    fn sync(&mut self) -> Result<()> {
        self.board.sync()
    }

    fn get(&mut self, slot: Slot, max_len: usize) -> Result<Vec<u8>> {
        if self.bent.lost == Some(slot.kind) {
            self.board.sync()?;
            return Err(TransportError::Closed.into());
        }
        self.board.get(slot, max_len)
    }

    fn filled(&mut self, kind: Kind, parts: u32) -> Result<Vec<bool>> {
        self.board.filled(kind, parts)
    }
}

fn fair(fixture: &Fixture, agreement: u8) -> Spec {
    let mut spec = fixture.spec_of(&[0, 1], agreement);
    (spec.variant, spec.copies, spec.dummies) = (Variant::Fair, 4, 200);
    assert!(spec.is_sound());
    spec
}

#[test]
fn a_party_that_has_its_answer_cannot_end_the_run_for_the_other() {
    let fixture = Fixture::new(2);
    let service = fixture.start();
    for round in 0..5 {
        let spec = fair(&fixture, round);
        let remotes = [0, 1].map(|party| fixture.remote(&service, party, &spec));
        let [first, second] = remotes;
        let (hasty, honest) = std::thread::scope(|scope| {
            let hasty = scope.spawn(|| take_part(first, &spec, 0, |remote| remote.end()));
            let honest = scope.spawn(|| take_part(second, &spec, 1, |remote| remote.done()));
            (hasty.join().unwrap(), honest.join().unwrap())
        });
        assert_eq!(hasty.0, Ok(899));
        // It may also arrive when both are finished.
        assert!(matches!(hasty.1, Ok(()) | Err(Error::Refused(Refusal::TooLate))), "{hasty:?}");
        assert_eq!(honest, (Ok(899), Ok(())), "round {round}");
    }
}

#[test]
fn before_both_have_opened_a_party_may_end_it() {
    let fixture = Fixture::new(2);
    let service = fixture.start();
    let spec = fair(&fixture, 9);
    let first = fixture.remote(&service, 0, &spec);
    let mut board = first.open().unwrap();
    board.put(Slot::new(Kind::Hello, 0), &[spec.largest_scale(0) as u8; 50]).unwrap();
    board.sync().unwrap();
    assert_eq!(first.end(), Ok(()));
}

#[test]
fn a_party_away_when_both_had_opened_has_the_whole_time_for_its_answer() {
    let fixture = Fixture::new(2);
    let keep = Duration::from_secs(4);
    let service = fixture.start_with(|options| options.keep = keep);
    let spec = fair(&fixture, 7);
    let [first, second] = [0, 1].map(|party| Arc::new(fixture.remote(&service, party, &spec)));
    let start = Instant::now();
    // One leaves before it reads; the other opens just before the run is too old.
    let waits = move |slot: Slot| {
        if slot.kind == Kind::OuterSecret {
            let late = keep - Duration::from_millis(700);
            std::thread::sleep(late.saturating_sub(start.elapsed()));
        }
    };
    let away =
        Bent { remote: Arc::clone(&first), before: Arc::new(|_| ()), lost: Some(Kind::Opening) };
    let late = Bent { remote: second, before: Arc::new(waits), lost: None };
    std::thread::scope(|scope| {
        let away = scope.spawn(|| common_items(&away, &spec, 0));
        assert_eq!(common_items(&late, &spec, 1), Ok(899));
        assert_eq!(away.join().unwrap(), Err(TransportError::Closed.into()));
    });
    std::thread::sleep((keep + Duration::from_secs(1)).saturating_sub(start.elapsed()));
    let mut options = fixture.remote_options(&service, 0, &spec);
    options.instance = first.instance();
    let back = Remote::new(options);
    assert_eq!(common_items(&back, &spec, 0), Ok(899));
    // It is not kept forever.
    let runs = fixture.state().join("runs");
    until("it expires", || std::fs::read_dir(&runs).unwrap().count() == 0);
}

#[test]
fn an_end_that_meets_the_opening_leaves_both_with_an_answer_or_none() {
    let fixture = Fixture::new(2);
    let service = fixture.start();
    for round in 0..24 {
        let spec = fair(&fixture, round);
        let [first, second] = [0, 1].map(|party| Arc::new(fixture.remote(&service, party, &spec)));
        let ending = Arc::clone(&second);
        let ends = move |slot: Slot| {
            if slot.kind == Kind::OuterSecret {
                // A connection that is open.
                drop(ending.open());
                let ending = Arc::clone(&ending);
                std::thread::spawn(move || {
                    std::thread::sleep(Duration::from_micros(60 * u64::from(round)));
                    ending.end()
                });
            }
        };
        let cheat = Bent { remote: second, before: Arc::new(ends), lost: None };
        let (honest, cheat) = std::thread::scope(|scope| {
            let honest = scope.spawn(|| common_items(&*first, &spec, 0));
            let cheat = common_items(&cheat, &spec, 1);
            (honest.join().unwrap(), cheat)
        });
        assert!(cheat.is_err() || honest.is_ok(), "round {round}: {honest:?} {cheat:?}");
    }
}
