//! Which message of a run of two parties had to wait for which: the flights of the run.
//!
//! A party that answers a stream block by block changes between sending and receiving more often
//! than it waits for the other one. So flights are not counted at one end: each end records its
//! messages in order, and the two records together show which message had to wait for which.

use std::collections::VecDeque;

/// Messages that one end of a stream sent, or received, in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Run {
    Sent(u64),
    Received(u64),
    /// Both ends sent at the same time.
    Exchanged,
}

/// Adds `more` messages to the `order` of an end.
pub(crate) fn note(order: &mut Vec<Run>, more: Run) {
    match (order.last_mut(), more) {
        (Some(Run::Sent(messages)), Run::Sent(more))
        | (Some(Run::Received(messages)), Run::Received(more)) => *messages += more,
        _ => order.push(more),
    }
}

/// The messages that one of two parties sent and received, stream by stream, in the order of that
/// party.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageOrder {
    pub(crate) own: Vec<Run>,
    pub(crate) joined: Vec<[MessageOrder; 2]>,
}

impl MessageOrder {
    /// The number of flights of the run in which one party recorded this order and the other
    /// `peer`: the longest sequence of messages each of which was sent after the one before it had
    /// arrived. Parts that ran in parallel count as the longest of them.
    pub fn flights(&self, peer: &MessageOrder) -> u64 {
        let joined = self.joined.iter().zip(&peer.joined);
        let longest = |(parts, of_peer): (&[MessageOrder; 2], &[MessageOrder; 2])| {
            let each = parts.iter().zip(of_peer).map(|(part, of_peer)| part.flights(of_peer));
            each.max().unwrap_or(0)
        };
        flights_of_stream([&self.own, &peer.own]) + joined.map(longest).sum::<u64>()
    }
}

/// One end of a stream, and how far its record has been followed.
struct End<'a> {
    left: VecDeque<&'a Run>,
    /// Messages that this end sent and the other has not read yet, each with its flight.
    on_the_way: VecDeque<(u64, u64)>,
    /// The last flight of which this end has received a message.
    last_received: u64,
    /// How many messages of the first run in `left` this end has already read.
    read: u64,
}

/// The flights on one stream, from the records of its two ends. An exchange is one flight, which
/// starts when both ends have reached it.
fn flights_of_stream(ends: [&[Run]; 2]) -> u64 {
    let mut ends = ends.map(|runs| End {
        left: runs.iter().collect(),
        on_the_way: VecDeque::new(),
        last_received: 0,
        read: 0,
    });
    let mut flights = 0;
    let mut goes_on = true;
    while goes_on {
        goes_on = false;
        if ends.iter().all(|end| end.left.front() == Some(&&Run::Exchanged)) {
            let flight = ends.iter().map(|end| end.last_received).max().unwrap_or(0) + 1;
            flights = flights.max(flight);
            for end in &mut ends {
                end.last_received = flight;
                end.left.pop_front();
            }
            goes_on = true;
        }
        for this in 0..2 {
            while let Some(run) = ends[this].left.front() {
                match **run {
                    Run::Exchanged => break,
                    Run::Sent(messages) => {
                        let flight = ends[this].last_received + 1;
                        flights = flights.max(flight);
                        ends[this].on_the_way.push_back((messages, flight));
                    }
                    Run::Received(messages) => {
                        let wanted = messages - ends[this].read;
                        if wanted > 0 {
                            let Some((there, flight)) = ends[1 - this].on_the_way.pop_front()
                            else {
                                break;
                            };
                            let taken = wanted.min(there);
                            if taken < there {
                                ends[1 - this].on_the_way.push_front((there - taken, flight));
                            }
                            ends[this].last_received = ends[this].last_received.max(flight);
                            ends[this].read += taken;
                            goes_on = true;
                            continue;
                        }
                        ends[this].read = 0;
                    }
                }
                ends[this].left.pop_front();
                goes_on = true;
            }
        }
    }
    flights
}

#[cfg(test)]
mod tests {
    use super::Run::{Exchanged, Received, Sent};
    use super::*;

    #[test]
    fn a_message_waits_for_those_that_came_before_it() {
        for (one, other, expected) in [
            (vec![], vec![], 0),
            (vec![Sent(3)], vec![Received(3)], 1),
            (vec![Sent(1), Received(1)], vec![Received(1), Sent(1)], 2),
            (vec![Sent(1), Received(1)], vec![Sent(1), Received(1)], 1),
            // One end sends all blocks at once, and the other answers block by block.
            (
                vec![Sent(3), Received(3)],
                vec![Received(1), Sent(1), Received(1), Sent(1), Received(1), Sent(1)],
                2,
            ),
            // One end sends only one block ahead of the answers, so the other waits for the blocks.
            (
                vec![Sent(2), Received(1), Sent(1), Received(2)],
                vec![Received(1), Sent(1), Received(1), Sent(1), Received(1), Sent(1)],
                4,
            ),
            // An exchange, after which the end that was ahead sends more.
            (vec![Sent(1), Exchanged, Sent(1)], vec![Received(1), Exchanged, Received(1)], 3),
            (vec![Exchanged, Exchanged], vec![Exchanged, Exchanged], 2),
            // A run that was abandoned before the answer.
            (vec![Sent(1), Received(1)], vec![Received(1)], 1),
        ] {
            assert_eq!(flights_of_stream([&one, &other]), expected, "{one:?} {other:?}");
            assert_eq!(flights_of_stream([&other, &one]), expected, "{other:?} {one:?}");
        }
    }

    #[test]
    fn parallel_parts_take_as_long_as_the_longer_one() {
        let order = |own: &[Run]| MessageOrder { own: own.to_vec(), joined: Vec::new() };
        let asks = order(&[Sent(1), Received(1)]);
        let answers = order(&[Received(1), Sent(1)]);
        let one = MessageOrder { joined: vec![[asks.clone(), order(&[])]], ..asks.clone() };
        let other = MessageOrder { joined: vec![[answers.clone(), order(&[])]], ..answers };
        assert_eq!(one.flights(&other), 4);
    }
}
