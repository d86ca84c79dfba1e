//! The protocols with a helper: the parties' puts, and what a helper shows to a party.

mod helper_store;

use super::codes::written;
use super::{Target, no_seeds, two_party};
use crate::input::Input;
use helper_store::{Helper, Way, party};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use vesica_core::{Error, Item, Misbehaviour, Refusal, Result};
use vesica_labels::Label;
use vesica_protocols::kmrs14::helper::{advance, check_put, is_out, may_be_ended};
use vesica_protocols::kmrs14::{Board, Boards, Kind, PartySpec, Slot, Spec, Variant};

const VARIANTS: [Variant; 5] =
    [Variant::SemiHonest, Variant::Malicious, Variant::Fair, Variant::SizeHiding, Variant::Pet];

/// The slots of a run.
type Slots = BTreeMap<Slot, Vec<u8>>;

fn spec(variant: Variant) -> Spec {
    let party = |number: u8| PartySpec {
        identity: [number; 32],
        max_rows: rows(variant),
        min_rows: 0,
        receives: true,
    };
    Spec { variant, agreement: [9; 32], parties: vec![party(1), party(2)], copies: 2, dummies: 4 }
}

/// The number of items of a party.
fn rows(variant: Variant) -> u64 {
    variant.max_rows().min(4)
}

/// The items of a party: half of them are common, or the only one.
fn set(variant: Variant, number: u8) -> Vec<Item> {
    let len = u128::from(rows(variant));
    let first = 5 + u128::from(number) * (len / 2);
    (first..first + len).map(|i| Item::from_integer(i.wrapping_mul(u128::MAX / 1003))).collect()
}

/// All slots of an honest run.
fn honest(variant: Variant) -> Arc<Slots> {
    static KNOWN: OnceLock<Mutex<HashMap<u8, Arc<Slots>>>> = OnceLock::new();
    let known = KNOWN.get_or_init(Mutex::default);
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    let run = || {
        let helper = Arc::new(Helper::new(spec(variant)));
        let scale = helper.spec.scale(rows(variant));
        for number in 0..2 {
            let hello = helper.put(number, Slot::new(Kind::Hello, number), &[scale as u8]);
            hello.expect("an honest hello is accepted");
        }
        thread::scope(|scope| {
            let run = |number: u8| {
                let way = Way { helper: Arc::clone(&helper), party: number };
                let outcome = party(&helper.spec, number, scale, &set(variant, number), &way, &way);
                outcome.expect("an honest run ends well");
            };
            let other = scope.spawn(move || run(1));
            run(0);
            other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        });
        Arc::new(helper.slots())
    };
    Arc::clone(known.entry(variant as u8).or_insert_with(run))
}

pub(super) const AIDED_HELPER: Target =
    Target { name: "aided_helper", run: aided_helper, seeds: puts, tokens: &[], max_len: 1024 };

/// All puts of an honest run, in the order of their slots, which a helper accepts.
fn puts() -> Vec<Vec<u8>> {
    let of = |variant: u8| [&[variant][..], &[0; 40]].concat();
    (0..VARIANTS.len() as u8).map(of).collect()
}

/// A variant, then puts of two parties, mostly those of an honest run, changed.
fn aided_helper(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let variant = *input.one_of(&VARIANTS);
    let honest = honest(variant);
    let by_parties: Vec<(&Slot, &Vec<u8>)> =
        honest.iter().filter(|(slot, _)| slot.kind.is_written_by_party()).collect();
    let helper = Helper::new(spec(variant));
    let mut next = 0;
    while !input.is_empty() {
        let op = input.byte();
        let (slot, body) = match op % 4 {
            // The next honest one, unchanged or damaged.
            0 | 1 => {
                let Some((slot, body)) = by_parties.get(next) else { return };
                next += 1;
                let mut body = (*body).clone();
                if op % 4 == 1 {
                    input.damage(&mut body);
                }
                (**slot, body)
            }
            // Another one of them, in any slot.
            2 => {
                let (_, body) = input.one_of(&by_parties);
                (any_slot(&mut input), (*body).clone())
            }
            _ => (any_slot(&mut input), body(&helper.spec, &honest, &mut input)),
        };
        if !slot.may_be_put_by(slot.party, &helper.spec) || helper.has(slot) {
            continue;
        }
        match check_put(&helper.spec, &helper, slot, &body) {
            Ok(()) => helper.keep(slot, body),
            Err(refusal) => {
                assert!(!matches!(refusal, Refusal::Internal | Refusal::Storage), "{refusal:?}");
                continue;
            }
        }
        loop {
            match advance(&helper.spec, &helper) {
                Ok(true) => {}
                Ok(false) => break,
                Err(refusal) => {
                    let is_ours = matches!(refusal, Refusal::Internal | Refusal::Storage);
                    assert!(!is_ours, "what parties put is not the helper's fault: {refusal:?}");
                    return;
                }
            }
        }
        is_out(&helper.spec, &helper, any_slot(&mut input));
        may_be_ended(&helper.spec, &helper);
    }
}

fn any_slot(input: &mut Input<'_>) -> Slot {
    let kind = *input.one_of(Kind::ALL);
    Slot::part(kind, input.byte() % 3, u32::from(input.byte() % 8))
}

/// A well-formed segment of dishonest labels, or any bytes.
fn body(spec: &Spec, honest: &Slots, input: &mut Input<'_>) -> Vec<u8> {
    let any = |input: &mut Input<'_>| input.piece().to_vec();
    if input.byte() & 1 == 0 {
        return any(input);
    }
    let scale = |party| honest.get(&Slot::new(Kind::Hello, party)).map(|hello| u32::from(hello[0]));
    let scales: Vec<u32> = (0..2).filter_map(scale).collect();
    let Some(formats) = spec.formats(&scales) else { return any(input) };
    let mut labels: Vec<Label> = Vec::new();
    for _ in 0..input.below(24) {
        labels.push(formats[0].truncated(input.u128()));
    }
    labels.sort_unstable();
    labels.dedup();
    written(formats[0], 0, &labels).unwrap_or_default()
}

pub(super) const AIDED_PARTY: Target =
    Target { name: "aided_party", run: aided_party, seeds: no_seeds, tokens: &[], max_len: 512 };

/// A party whose helper shows it an honest run, changed.
fn aided_party(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let variant = *input.one_of(&VARIANTS);
    let number = input.byte() & 1;
    let mut slots = (*honest(variant)).clone();
    let all: Vec<Slot> = slots.keys().copied().collect();
    for _ in 0..6 {
        if input.is_empty() {
            break;
        }
        let slot = *input.one_of(&all);
        if input.byte().is_multiple_of(8) {
            slots.remove(&slot);
        } else if let Some(body) = slots.get_mut(&slot) {
            input.damage(body);
        }
    }
    let spec = spec(variant);
    let scale = spec.scale(rows(variant));
    let shown = Shown { slots: Arc::new(slots) };
    match party(&spec, number, scale, &set(variant, number), &shown, &helper_store::Forgetful) {
        Err(Error::Bug(what)) => panic!("a helper causes a bug: {what}"),
        Err(error) => drop(error.to_string()),
        Ok(_) => {}
    }
}

/// A board with all slots filled.
#[derive(Clone)]
struct Shown {
    slots: Arc<Slots>,
}

impl Boards for Shown {
    fn lanes(&self, _: u64) -> usize {
        1
    }

    fn open(&self) -> Result<Box<dyn Board>> {
        Ok(Box::new(self.clone()))
    }
}

impl Board for Shown {
    fn put(&mut self, _: Slot, _: &[u8]) -> Result<()> {
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        Ok(())
    }

    fn get(&mut self, slot: Slot, max_len: usize) -> Result<Vec<u8>> {
        let body = self.slots.get(&slot).ok_or(Refusal::Expired)?;
        if body.len() > max_len {
            let (expected, actual) = (max_len as u64, body.len() as u64);
            return Err(Misbehaviour::WrongMessageLen { expected, actual }.into());
        }
        Ok(body.clone())
    }

    fn filled(&mut self, _: Kind, parts: u32) -> Result<Vec<bool>> {
        Ok(vec![false; parts as usize])
    }
}

/// The threads of a party and of a helper.
fn pool() -> vesica_net::Pool {
    two_party::pool()
}
