//! A party that deviates chooses its items for later partitions by the result of an earlier one.
//!
//! The keys of the honest party are all keys of one block out of twenty. A set fixed in advance
//! contains one in twenty of its guesses; one that follows the first result finds nearly all keys.

use super::*;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;
use vesica_core::{SessionId, StopReason, TransportError};
use vesica_detached::{PartRun, StepOutcome};
use vesica_own_rows::self_check::shared_items;
use vesica_protocols::rr22_malicious;

const BLOCKS: u64 = 20;

/// Keys of a block, and of each set.
const KEYS: u64 = 2_000;

/// The block of the honest party.
const SECRET_BLOCK: u64 = 13;

const SHARED: usize = 4;
const PARTITION_LEN: u64 = 300;

/// How long the deviating party waits for a first result. An honest one would send it in
/// milliseconds.
const PATIENCE: Duration = Duration::from_millis(1500);

/// When the deviating party leaves.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    /// After the last partition.
    Whole,
    /// Before the last message that fixes its set.
    AfterCommitting,
    /// After it has waited for the result of the first partition.
    AfterFirst,
}

fn params(learns: Learns) -> PsiParams {
    let len = KEYS + SHARED as u64;
    let params = PsiParams::new(SessionId::from_bytes([9; 32]), len, len, learns).unwrap();
    params.with_partition_len(PARTITION_LEN).with_shared(SHARED as u64).unwrap()
}

fn item(block: u64, number: u64) -> Item {
    Item::from_integer(u128::from(block * KEYS + number) << 3)
}

/// A party that deviates.
struct Deviating<'a> {
    session: &'a dyn Connection,
    run: PartRun<'a>,
    splitter: Splitter,
    shared: Vec<Vec<Item>>,
    room: usize,
}

impl Deviating<'_> {
    /// Guesses in a partition: the guesses of a block, or equally many of each block.
    fn guesses(&self, index: u64, block: Option<u64>) -> Vec<Item> {
        let here = |item: &Item| {
            let mut prefixes = Vec::new();
            self.splitter.prefixes(std::slice::from_ref(item), &mut prefixes);
            self.run.plan.partition_of(prefixes[0]) == index
        };
        let room = self.room - self.shared[index as usize].len();
        let (blocks, each) = match block {
            Some(block) => (block..block + 1, room),
            None => (0..BLOCKS, room / BLOCKS as usize),
        };
        blocks
            .flat_map(|block| (0..KEYS).map(move |n| item(block, n)).filter(here).take(each))
            .collect()
    }

    /// The block of most of the common items.
    fn block_of(items: &[Item], common: &[bool]) -> Option<u64> {
        let mut of = [0; BLOCKS as usize];
        for (item, _) in items.iter().zip(common).filter(|(_, common)| **common) {
            of[((item.integer() >> 3) as u64 / KEYS) as usize] += 1;
        }
        (0..BLOCKS).max_by_key(|block| of[*block as usize]).filter(|block| of[*block as usize] > 1)
    }

    /// The findings of the receiver, which waits for the result of the first partition before it
    /// fixes the others.
    fn receive(&self, ctx: &mut Context, end: End) -> Result<Found> {
        let steps = rr22_malicious::STEPS;
        let [mut committing, mut comparing, _] = self.forks(ctx)?;
        let first = self.guesses(0, None);
        let shared = &self.shared;
        let stepped = self.run.commit(&mut committing[0], 0, first.clone(), &shared[0])?.0;
        let (told, result) = channel();
        let (zeroth, others) = comparing.split_at_mut(1);
        let given = |compared| match compared {
            StepOutcome::Output(given) => given.own.unwrap(),
            StepOutcome::Values(_) => panic!("the receiver alone learns"),
        };
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let compared = self.run.compare(steps, &mut zeroth[0], 0, stepped);
                // A receiver that has left needs no result.
                let _ = told.send(compared.map(given));
            });
            let early = Self::first_result(&result)?;
            let mut found = Found { early: early.is_some(), keys: 0 };
            let block = early.as_ref().and_then(|common| Self::block_of(&first, common));
            if end == End::AfterFirst {
                return self.leave(found);
            }
            let mut committed = Vec::new();
            let all = if end == End::AfterCommitting { 7 } else { 8 };
            for (index, ctx) in (1..all).zip(&mut committing[1..]) {
                let items = self.guesses(index, block);
                committed.push(self.run.commit(ctx, index, items, &shared[index as usize])?.0);
            }
            if end == End::AfterCommitting {
                return self.leave(found);
            }
            for (index, (stepped, ctx)) in (1..).zip(committed.into_iter().zip(others)) {
                found.add(&given(self.run.compare(steps, ctx, index, stepped)?));
            }
            found.add(&early.map_or_else(|| result.recv().unwrap(), Ok)?);
            Ok(found)
        })
    }

    /// The findings of the sender, which waits for the proofs of the first partition before it
    /// sends the tags of others.
    fn send(&self, ctx: &mut Context, end: End) -> Result<Found> {
        let steps = rr22_malicious::STEPS;
        let [mut committing, mut comparing, mut answering] = self.forks(ctx)?;
        let first = self.guesses(0, None);
        let mut committed = Vec::new();
        for (index, ctx) in (0..).zip(&mut committing) {
            // Its messages do not depend on its items yet.
            let items = self.guesses(index, None);
            committed.push(self.run.commit(ctx, index, items, &self.shared[index as usize])?.0);
        }
        if end == End::AfterCommitting {
            return self.leave(Found::default());
        }
        let answers = |compared| match compared {
            StepOutcome::Values(stepped) => stepped,
            StepOutcome::Output(_) => panic!("both learn"),
        };
        let mut committed = committed.into_iter();
        let stepped = committed.next().unwrap();
        let stepped = answers(self.run.compare(steps, &mut comparing[0], 0, stepped)?);
        let (told, result) = channel();
        let (zeroth, others) = answering.split_at_mut(1);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let given = self.run.answer(steps, &mut zeroth[0], 0, stepped);
                // A sender that has left needs no result.
                let _ = told.send(given.map(|given| given.own.unwrap()));
            });
            let early = Self::first_result(&result)?;
            let mut found = Found { early: early.is_some(), keys: 0 };
            if end == End::AfterFirst {
                return self.leave(found);
            }
            let mut claims = Vec::new();
            for (index, stepped) in (1..).zip(committed) {
                let compared =
                    self.run.compare(steps, &mut comparing[index as usize], index, stepped);
                claims.push(answers(compared?));
            }
            for (index, (stepped, ctx)) in (1..).zip(claims.into_iter().zip(others)) {
                found.add(&self.run.answer(steps, ctx, index, stepped)?.own.unwrap());
            }
            let of_first = early.map_or_else(|| result.recv().unwrap(), Ok)?;
            assert_eq!(of_first.len(), first.len());
            found.add(&of_first);
            Ok(found)
        })
    }

    fn leave(&self, found: Found) -> Result<Found> {
        self.session.abort(StopReason::Cancelled);
        Ok(found)
    }

    /// The contexts of each step in all partitions.
    fn forks(&self, ctx: &mut Context) -> Result<[Vec<Context>; 3]> {
        let mut step = || {
            let fork = |_| ctx.fork_detached().map(|(fork, _)| fork);
            (0..self.run.plan.partitions()).map(fork).collect::<Result<Vec<_>>>()
        };
        let both = self.run.params.learns() == Learns::Both;
        Ok([step()?, step()?, if both { step()? } else { Vec::new() }])
    }

    /// The result of the first partition, if it arrives in time.
    fn first_result(result: &Receiver<Result<Vec<bool>>>) -> Result<Option<Vec<bool>>> {
        match result.recv_timeout(PATIENCE) {
            Ok(common) => common.map(Some),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(error) => panic!("{error}"),
        }
    }
}

/// The findings of a deviating party.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Found {
    /// Whether it had a result before it had fixed its set.
    early: bool,
    /// Keys of the other party.
    keys: u64,
}

impl Found {
    fn add(&mut self, common: &[bool]) {
        self.keys += count(common);
    }
}

/// The findings of the deviating party in the `role`, and how the honest party's run ends.
fn attack(role: Role, end: End) -> (Found, Result<()>) {
    let learns = if role == Role::Sender { Learns::Both } else { Learns::Receiver };
    let (row, params) = (&rr22_malicious::ROW, params(learns));
    let plan = vesica_agreement::split::plan(row, &params);
    assert_eq!(plan.partitions(), 8);
    let found = Mutex::new(Found::default());
    let shared = shared_items(&[5; 32], SHARED);
    let [first, second] = sides([Role::Receiver, Role::Sender], |own, session, ctx| {
        let label = "matching";
        let splitting = Splitting::new(session, b"", &MemoryScratch, 1 << 30, NonZeroUsize::MIN);
        let matched = Matched { row, role: own, params: &params, plan };
        if own == role {
            let splitter = Splitter::new(splitting.secret());
            let shared = splitting.shared_of(plan, &shared);
            let room = plan.bound(KEYS + SHARED as u64) as usize;
            let run = matched.part_run(label);
            let deviating = Deviating { session, run, splitter, shared, room };
            *found.lock().unwrap() = match role {
                Role::Sender => deviating.send(ctx, end)?,
                _ => deviating.receive(ctx, end)?,
            };
            return match end {
                End::Whole => Ok(()),
                _ => Err(TransportError::CancelledHere.into()),
            };
        }
        let keys: Vec<Item> = (0..KEYS).map(|number| item(SECRET_BLOCK, number)).collect();
        let pieces = splitting.group(&RowItems::from(keys), plan.partitions())?;
        let done = splitting.run(ctx, pieces, matched, label, &shared, &|_| ());
        done.map(drop).inspect_err(|error| session.abort(error.stop_reason()))
    });
    let honest = if role == Role::Receiver { second } else { first };
    (found.into_inner().unwrap(), honest)
}

/// A fixed set finds one in twenty of its guesses; padding allows up to twice as many guesses as
/// keys.
fn is_of_a_fixed_set(found: Found) -> bool {
    !found.early && found.keys <= 2 * KEYS / BLOCKS
}

#[test]
fn a_receiver_has_no_result_before_it_has_fixed_its_whole_set() {
    let (found, honest) = attack(Role::Receiver, End::Whole);
    assert!(is_of_a_fixed_set(found) && found.keys > KEYS / BLOCKS / 2, "{found:?}");
    assert_eq!(honest, Ok(()));
}

#[test]
fn a_sender_has_no_proof_before_it_has_sent_the_tags_of_its_whole_set() {
    let (found, honest) = attack(Role::Sender, End::Whole);
    assert!(is_of_a_fixed_set(found) && found.keys > KEYS / BLOCKS / 2, "{found:?}");
    assert_eq!(honest, Ok(()));
}

#[test]
fn a_party_that_stops_early_has_found_no_more_than_at_the_end() {
    for role in [Role::Receiver, Role::Sender] {
        for end in [End::AfterCommitting, End::AfterFirst] {
            let (found, honest) = attack(role, end);
            assert_eq!(found, Found::default(), "{role:?} {end:?}");
            assert!(honest.is_err(), "{role:?} {end:?}");
        }
    }
}
