//! How many messages a party sends to its peer before it waits for an answer.

use std::collections::VecDeque;
use std::time::{Duration, Instant};
use vesica_core::Result;

/// The window of a party: how many messages it sends over the network before it waits for the
/// answer to the first of them.
///
/// A party that waits for each answer leaves the network idle for one round trip per message. One
/// that never waits learns nothing from the answers. The best size lies in between: a *measured*
/// window is 1.5 times the number of messages that the network holds. It starts with the given
/// size, and adapts to how long the answers take:
///
/// * If all answers of a window were there before the party asked for them, the window shrinks by
///   one.
/// * If an answer was not there yet, the window moves to 1.5 · (shortest time to an answer) ·
///   (answers a second) + 1: it grows at once, to at most twice its size plus one, and shrinks one
///   by one.
#[derive(Debug)]
pub struct Window {
    ahead: usize,
    measured: Option<Measured>,
}

#[derive(Debug, Default)]
struct Measured {
    /// When the messages without an answer were sent.
    sent: VecDeque<Instant>,
    /// When the latest answers came.
    came: VecDeque<Instant>,
    /// How many answers in a row were already there when the party asked for them.
    were_there: usize,
    /// The shortest time to an answer, of those that the party waited for.
    shortest: Option<Duration>,
}

/// An answer counts as already there if the party waited for it at most this long, or at most this
/// share of the time since the previous answer.
const WAS_THERE: Duration = Duration::from_micros(20);
const SHARE: u32 = 8;

impl Window {
    /// A window of always `ahead` messages.
    pub fn fixed(ahead: usize) -> Self {
        Self { ahead, measured: None }
    }

    /// A window that follows what the network holds; `first` messages before anything is known.
    ///
    /// What the party sends then depends on time, so a party that runs again ([`crate::Replay`])
    /// must not use it.
    pub fn measured(first: usize) -> Self {
        Self { ahead: first.max(1), measured: Some(Measured::default()) }
    }

    /// How many messages may wait for their answers when the next is sent.
    pub fn ahead(&self) -> usize {
        self.ahead
    }

    /// Notes that a message was sent.
    pub fn sent(&mut self) {
        if let Some(measured) = &mut self.measured {
            measured.sent.push_back(Instant::now());
        }
    }

    /// Has `receive` wait for the answer to the oldest unanswered message, and returns it.
    ///
    /// # Errors
    /// The errors of `receive`.
    pub fn answer<T>(&mut self, receive: impl FnOnce() -> Result<T>) -> Result<T> {
        let asked = Instant::now();
        let answer = receive()?;
        self.answered(asked, Instant::now());
        Ok(answer)
    }

    fn answered(&mut self, asked: Instant, now: Instant) {
        let Some(measured) = &mut self.measured else { return };
        let Some(sent) = measured.sent.pop_front() else { return };
        let (response, waited) = (now - sent, now - asked);
        let worked = measured.came.back().map_or(Duration::ZERO, |before| asked - *before);
        if waited <= WAS_THERE.max(worked / SHARE) {
            measured.were_there += 1;
            if measured.were_there > self.ahead {
                measured.were_there = 0;
                self.ahead = (self.ahead - 1).max(1);
            }
        } else {
            measured.were_there = 0;
            let shortest = measured.shortest.map_or(response, |shortest| shortest.min(response));
            measured.shortest = Some(shortest);
            if let Some(first) = measured.came.front() {
                let span = (now - *first).as_secs_f64().max(1e-9);
                let rate = measured.came.len() as f64 / span;
                let holds = (1.5 * shortest.as_secs_f64() * rate) as usize + 1;
                self.ahead = if holds > self.ahead {
                    holds.min(2 * self.ahead + 1)
                } else {
                    self.ahead - usize::from(holds < self.ahead)
                };
            }
        }
        measured.came.push_back(now);
        while measured.came.len() > self.ahead + 1 {
            measured.came.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Pacer, Shape};

    /// Messages that a party computes one after the other, and sends to a peer that answers at
    /// once.
    struct Run {
        shape: Shape,
        messages: usize,
        message_len: usize,
        /// How long a message takes to compute.
        work: Duration,
        /// The party stalls after this message, for this long.
        stall: Option<(usize, Duration)>,
    }

    /// When the last answer came, and the size of the window at the end.
    fn run(mut window: Window, run: &Run) -> (Duration, usize) {
        let start = Instant::now();
        let mut there = Pacer::new(run.shape);
        let mut back = Pacer::new(run.shape);
        let (mut now, mut answers) = (start, VecDeque::new());
        let mut end = 0;
        for i in 0..=run.messages {
            let ahead = if i == run.messages { 0 } else { window.ahead() };
            while answers.len() > ahead {
                let asked = now;
                now = now.max(answers.pop_front().unwrap());
                window.answered(asked, now);
                if i < run.messages && answers.len() <= window.ahead() {
                    break;
                }
            }
            if i == run.messages {
                break;
            }
            now += run.work;
            if let Some((_, stall)) = run.stall.filter(|(at, _)| *at == i) {
                now += stall;
            }
            let arrived = there.release_at(now, run.message_len);
            answers.push_back(back.release_at(arrived, 16));
            if let Some(measured) = &mut window.measured {
                measured.sent.push_back(now);
            }
            end = window.ahead();
        }
        (now - start, end)
    }

    /// The time that all messages and one round trip take.
    fn least(of: &Run) -> Duration {
        let mut pacer = Pacer::new(of.shape);
        let start = Instant::now();
        let sent = pacer.release_at(start, of.messages * of.message_len) - start;
        sent.max(of.work * of.messages as u32) + of.shape.one_way_delay
    }

    const KIB: usize = 1 << 10;

    fn at(megabits: u64, round_trip_ms: u64, messages: usize, message_len: usize) -> Run {
        let one_way_delay = Duration::from_micros(500 * round_trip_ms);
        let shape = Shape { bits_per_second: Some(megabits * 1_000_000), one_way_delay };
        Run { shape, messages, message_len, work: Duration::from_micros(40), stall: None }
    }

    #[test]
    fn a_measured_window_takes_no_longer_than_one_without_end() {
        for (run_of, first) in [
            (at(50, 80, 128, 32 * KIB), 16),
            (at(50, 80, 528, 127 * KIB), 4),
            (at(50, 80, 528, 127 * KIB), 2),
            (at(1000, 1, 528, 127 * KIB), 2),
            (at(10_000, 0, 528, 127 * KIB), 4),
            (at(1000, 80, 8000, 127 * KIB), 4),
        ] {
            let (took, ahead) = run(Window::measured(first), &run_of);
            let least = least(&run_of);
            let (shape, most) = (run_of.shape, least.as_secs_f64() * 1.05);
            assert!(took.as_secs_f64() < most, "{shape:?}: {took:?} for {least:?}");
            // Twice what the network holds, plus one.
            let bytes = run_of.shape.bits_per_second.unwrap() as f64 / 8.0;
            let holds = bytes * 2.0 * shape.one_way_delay.as_secs_f64() / run_of.message_len as f64;
            assert!(
                ahead as f64 <= 2.0 * holds + 4.0,
                "{shape:?}: a window of {ahead}, but the network holds {holds}"
            );
        }
    }

    #[test]
    fn a_fixed_window_waits_for_the_network() {
        let run_of = at(50, 80, 128, 32 * KIB);
        let (took, ahead) = run(Window::fixed(1), &run_of);
        assert_eq!(ahead, 1);
        assert!(took > 4 * least(&run_of), "{took:?}");
    }

    #[test]
    fn a_window_of_any_first_size_finds_that_of_the_network() {
        let of = at(50, 80, 2000, 127 * KIB);
        let sizes = [1, 2, 5, 40, 1000].map(|first| run(Window::measured(first), &of).1);
        // The network holds four messages.
        assert!(sizes.iter().all(|size| (4..=9).contains(size)), "{sizes:?}");
    }

    #[test]
    fn a_party_that_stands_still_once_soon_goes_on_as_before() {
        for at_message in [0, 1, 5, 100] {
            let mut of = at(50, 80, 528, 127 * KIB);
            let before = run(Window::measured(4), &of).0;
            let stall = Duration::from_millis(300);
            of.stall = Some((at_message, stall));
            let (took, ahead) = run(Window::measured(4), &of);
            assert!(took < before + stall + before / 20, "{at_message}: {took:?} {before:?}");
            assert!((4..=12).contains(&ahead), "{at_message}: {ahead}");
        }
    }

    #[test]
    fn a_network_without_delay_leaves_the_smallest_window() {
        let of = Run { shape: Shape::LOOPBACK, ..at(1, 0, 500, 32 * KIB) };
        assert!(run(Window::measured(16), &of).1 <= 2);
    }
}
