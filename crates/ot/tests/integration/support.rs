//! Two parties in one process, over a plain or a tampering in-memory connection.

#![allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    reason = "a part of each test file, and each uses a part"
)]

use vesica_core::{Block, Result, Role, SessionId};
use vesica_net::Context;
use vesica_ot::Traffic;

#[path = "../../../testkit/src/two_parties/mod.rs"]
mod two_parties;

pub use two_parties::{Runner as Setting, Transcript, tamper};

/// The session of all tests.
pub const SESSION: SessionId = SessionId::from_bytes([7; 32]);

/// What both parties of a run ended with.
pub struct Outcomes<A, B> {
    pub sender: Result<A>,
    pub receiver: Result<B>,
    pub traffic: Traffic,
    /// Changes of direction of either party.
    pub direction_changes: [u64; 2],
    /// Changes of direction of the party that waits least.
    pub flights: u64,
    /// Messages that either party sent.
    pub messages: [(Role, u64); 2],
}

impl<A, B> Outcomes<A, B> {
    /// Both results of an undisturbed run.
    pub fn unwrap(self) -> (A, B) {
        match (self.sender, self.receiver) {
            (Ok(a), Ok(b)) => (a, b),
            (a, b) => panic!("sender: {:?}, receiver: {:?}", a.err(), b.err()),
        }
    }
}

impl Setting {
    pub fn run<A: Send, B: Send>(
        &self,
        sender: impl FnOnce(&mut Context) -> Result<A> + Send,
        receiver: impl FnOnce(&mut Context) -> Result<B> + Send,
    ) -> Outcomes<A, B> {
        let run = self.run_both(sender, receiver);
        Outcomes {
            traffic: Traffic {
                sender_to_receiver: run.sender_bytes(),
                receiver_to_sender: run.receiver_bytes(),
            },
            direction_changes: [run.sender.direction_changes, run.receiver.direction_changes],
            flights: run.flights(),
            messages: run.messages(),
            sender: run.sender.output,
            receiver: run.receiver.output,
        }
    }
}

/// Runs two parties without disturbance.
pub fn run<A: Send, B: Send>(
    sender: impl FnOnce(&mut Context) -> Result<A> + Send,
    receiver: impl FnOnce(&mut Context) -> Result<B> + Send,
) -> Outcomes<A, B> {
    Setting::default().run(sender, receiver)
}

/// Runs two parties once undisturbed, and then with each message of either changed in each way of
/// `changes`, one in a run; `check` gets those.
pub fn change_each_message<A, B>(
    changes: &[tamper::Change],
    attempt: impl Fn(&Setting) -> Outcomes<A, B>,
    mut check: impl FnMut(&tamper::Tampering, Outcomes<A, B>),
) -> Outcomes<A, B> {
    let setting = Setting::default();
    let undisturbed = attempt(&setting);
    for sent in undisturbed.messages {
        setting.change_each_message(sent, changes, &attempt, &mut check);
    }
    undisturbed
}

/// Every message of either party is changed in turn: a message of a wrong length, and one that is
/// missing, is an error of the party that reads it; nothing panics and nothing hangs.
pub fn wrong_lengths_are_errors<A, B>(attempt: impl Fn(&Setting) -> Outcomes<A, B>) {
    use tamper::Change;
    let lengths = [Change::Drop, Change::Truncate, Change::Grow, Change::Announce];
    let contents = [Change::Fill, Change::Zero, Change::FlipBit(12)];
    let changes = [&lengths[..], &contents].concat();
    change_each_message(&changes, attempt, |tampering, run| {
        let failed = match tampering.from {
            Role::Sender => run.receiver.is_err(),
            _ => run.sender.is_err(),
        };
        assert!(failed || contents.contains(&tampering.change), "{tampering:?}");
    });
}

/// Every bit position of the blocks is one about half of the time, and every two positions are
/// equal about half of the time: within six standard deviations.
pub fn assert_unbiased(name: &str, blocks: &[Block]) {
    let n = blocks.len();
    let bound = 6.0 * (n as f64).sqrt() / 2.0;
    // Row i: bit i of all blocks, as a bit vector.
    let rows: Vec<Vec<u64>> = (0..128)
        .map(|i| {
            let bits = blocks.chunks(64);
            bits.map(|c| c.iter().enumerate().fold(0, |w, (j, b)| w | u64::from(b.bit(i)) << j))
                .collect()
        })
        .collect();
    let near_half = |ones: u32| (f64::from(ones) - n as f64 / 2.0).abs() <= bound;
    for (i, row) in rows.iter().enumerate() {
        let ones = row.iter().map(|w| w.count_ones()).sum();
        assert!(near_half(ones), "{name}: bit {i} is one {ones} times of {n}");
        for (j, other) in rows.iter().enumerate().skip(i + 1) {
            let differ = row.iter().zip(other).map(|(a, b)| (a ^ b).count_ones()).sum();
            assert!(near_half(differ), "{name}: bits {i} and {j} differ {differ} times of {n}");
        }
    }
}
