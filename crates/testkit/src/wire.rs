//! The wire law: what a party sends is a function of its seed, its input and what it received.
//!
//! It is the same with other numbers of CPU threads, with other kernels and on another network. So
//! two runs from the same seeds send the same bytes on every stream, and a recorded digest of them
//! shows any change of the wire.

mod replay;

use crate::laws::{cost, law_bits, overlapping_for, payload_len, payloads_of};
use crate::set_operations::{learners, text, values_of};
use crate::{Runner, Transcript};
use std::sync::Arc;
use std::time::Duration;
use vesica_core::{Learns, Operation, PsiParams, Query, Role, SessionId, TextLen, Values, hash};
use vesica_net::Shape;
use vesica_party::{Input, Party, Protocol};

const TRANSCRIPT_LABEL: &str = "vesica testkit transcript";

/// (sender's size, receiver's size, common).
pub type Sizes = (u64, u64, u64);

/// One run of a protocol, the same whenever it is repeated.
#[derive(Clone, Copy, Debug)]
pub struct WireRun {
    /// The query.
    pub query: Query,
    /// Who learns the result.
    pub learns: Learns,
    /// How large the sets are.
    pub sizes: Sizes,
}

impl WireRun {
    /// The runs of sets of `sizes` that `protocol` offers: each operation with each of the
    /// learners, and payloads.
    pub fn all(protocol: &Protocol, sizes: Sizes) -> Vec<Self> {
        let queries = protocol.operations.iter().map(|operation| query(protocol, *operation));
        let queries = queries.chain(protocol.payloads.then(|| Query::Payloads(payload_len(20))));
        let of_query = |query: Query| {
            learners(protocol, &query).iter().map(move |learns| Self {
                query,
                learns: *learns,
                sizes,
            })
        };
        queries.flat_map(of_query).collect()
    }

    /// Whether the run takes at most `seconds` by the row's own estimate.
    pub fn takes_at_most(&self, protocol: &Protocol, seconds: f64) -> bool {
        cost(protocol, &self.params(protocol, 0)) <= seconds
    }

    /// The parameters of the run.
    pub fn params(&self, protocol: &Protocol, seed: u8) -> PsiParams {
        let (n_x, n_y, _) = self.sizes;
        PsiParams::new(SessionId::from_bytes([seed; 32]), n_x, n_y, self.learns)
            .and_then(|params| params.with_item_bits(law_bits(protocol)))
            .expect("test sets are small")
            .with_query(self.query)
    }

    /// The party in `role`, with its set.
    ///
    /// # Panics
    /// If the protocol does not offer the run.
    pub fn party(&self, protocol: &Protocol, role: Role, seed: u8) -> Box<dyn Party> {
        let (x, y) = overlapping_for(protocol, self.sizes);
        let set = Arc::new(if role == Role::Sender { x } else { y });
        let input = match (self.query.values_of(role), self.query.text_len()) {
            (Some(values), _) => {
                let values = values_of(&set, values);
                Input::with_values(set, Arc::new(values))
            }
            (_, Some(len)) => {
                let texts = set.iter().flat_map(|item| text(item, len)).collect();
                Input::with_texts(set, Arc::new(texts))
            }
            _ => match self.query.payload_len().filter(|_| role == Role::Sender) {
                Some(len) => {
                    let payloads = payloads_of(&set, len);
                    Input::with_payloads(set, Arc::new(payloads))
                }
                None => set.into(),
            },
        };
        let params = self.params(protocol, seed);
        protocol.party(role, params, input).expect("the input fits the parameters")
    }

    /// What the sender and the receiver send in the run.
    ///
    /// # Panics
    /// If a party fails, or no party sends anything.
    pub fn transcripts(&self, protocol: &Protocol, runner: &Runner) -> [Transcript; 2] {
        let transcripts = [Role::Sender, Role::Receiver].map(Transcript::new);
        let runner = Runner { transcripts: transcripts.to_vec(), ..runner.clone() };
        let parties =
            [Role::Sender, Role::Receiver].map(|role| self.party(protocol, role, runner.seed));
        let [sender, receiver] = parties;
        let run = runner.run(sender, receiver);
        for output in [run.sender.output, run.receiver.output] {
            assert!(output.is_ok(), "{}, {self:?}: {output:?}", protocol.id);
        }
        assert!(
            transcripts.iter().any(|transcript| !transcript.messages().is_empty()),
            "{}, {self:?}: nothing is sent",
            protocol.id
        );
        transcripts
    }
}

/// A query of `operation` that `protocol` offers.
fn query(protocol: &Protocol, operation: Operation) -> Query {
    let values = Values::new(Role::Sender, 20).expect("1 to 64 bits");
    let wide = values.with_columns(2).expect("1 to 16 columns").signed();
    match operation {
        Operation::Cardinality => Query::Cardinality,
        Operation::Threshold => Query::Threshold { min: 3 },
        Operation::Sum => Query::Sum(if protocol.wide_values { wide } else { values }),
        Operation::InnerProduct => {
            Query::InnerProduct { values: wide, factors: crate::laws::factors(7) }
        }
        Operation::Union => Query::Union(TextLen::new(19).expect("1 to 4096 bytes")),
        Operation::PrivateId => Query::PrivateId,
        Operation::Shares => Query::Shares(Some(wide)),
        Operation::SharedValues => Query::SharedValues { values: wide, default: 7 },
        _ => Query::Intersection,
    }
}

/// A digest of all that was sent, stream by stream. How the streams alternated does not matter, nor
/// do the pieces in which bytes left.
pub fn digest(transcript: &Transcript) -> [u8; 32] {
    let streams = transcript.streams();
    let ids: Vec<[u8; 8]> = streams.iter().map(|(id, _)| id.as_u64().to_le_bytes()).collect();
    let parts = ids.iter().zip(&streams).flat_map(|(id, (_, bytes))| [&id[..], &bytes[..]]);
    hash::derive(TRANSCRIPT_LABEL, &parts.collect::<Vec<_>>())
}

/// Each of one, two and three CPU threads at each party, also fewer at one than at the other, on a
/// network without delay and on slow ones.
pub fn places() -> [Runner; 3] {
    let slow =
        Shape { bits_per_second: Some(1_000_000_000), one_way_delay: Duration::from_millis(1) };
    let place = |threads, receiver_threads, shape, is_uneven| Runner {
        threads,
        receiver_threads: Some(receiver_threads),
        shape,
        is_uneven,
        ..Runner::default()
    };
    [
        place(1, 1, Shape::LOOPBACK, false),
        place(2, 3, slow, true),
        place(3, 2, Shape::LOOPBACK, false),
    ]
}

/// The law: in each of `places`, both parties send the same in `run`. The digest of what each of
/// them sends.
///
/// # Panics
/// If they do not.
pub fn sent_depends_only_on_seed_input_and_received(
    protocol: &Protocol,
    run: &WireRun,
    places: &[Runner],
) -> [[u8; 32]; 2] {
    let (first, others) = places.split_first().expect("a place");
    let expected = run.transcripts(protocol, first);
    for place in others {
        let found = run.transcripts(protocol, place);
        for (expected, found) in expected.iter().zip(&found) {
            let case = || {
                let threads = (place.threads, place.receiver_threads);
                format!("{}, {run:?}, the {}, {threads:?} threads", protocol.id, found.from)
            };
            let (expected, found) = (expected.streams(), found.streams());
            let lens = |streams: &[(_, Vec<u8>)]| -> Vec<_> {
                streams.iter().map(|(id, bytes)| (*id, bytes.len())).collect()
            };
            assert_eq!(
                lens(&expected),
                lens(&found),
                "streams or their lengths differ: {}",
                case()
            );
            for ((id, expected), (_, found)) in expected.iter().zip(&found) {
                let differs = expected.iter().zip(found).position(|(a, b)| a != b);
                assert_eq!(differs, None, "other bytes on {id:?}: {}", case());
            }
        }
    }
    expected.each_ref().map(digest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::catch_unwind;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use vesica_core::{Misbehaviour, Result};
    use vesica_net::Context;
    use vesica_party::{MakeParty, Output, of_set};

    const RUN: WireRun =
        WireRun { query: Query::Intersection, learns: Learns::Receiver, sizes: (3, 2, 1) };

    /// A protocol in which the receiver sends two messages, and the sender two that are as long.
    fn with_sender(sender: MakeParty) -> Protocol {
        let receiver: MakeParty = |params, input| {
            of_set(Role::Receiver, params, input, |_, _, ctx| {
                [[1; 30], [2; 30]].iter().try_for_each(|message| ctx.peer()?.send(message))?;
                ctx.peer()?.recv(30)?;
                ctx.peer()?.recv(30)?;
                Ok(Output::Nothing)
            })
        };
        Protocol { sender, receiver, ..vesica_protocols::dh::ROW }
    }

    /// Sends one message for each that comes, after `at_once` of them have come.
    fn answer(ctx: &mut Context, at_once: usize) -> Result<Output> {
        for _ in 0..2 / at_once {
            let came = (0..at_once).map(|_| ctx.peer()?.recv(30)).collect::<Result<Vec<_>>>()?;
            came.iter().try_for_each(|message| ctx.peer()?.send(message))?;
            ctx.peer()?.flush()?;
        }
        Ok(Output::Nothing)
    }

    fn of_whole_runs(protocol: &Protocol) -> bool {
        let law = || sent_depends_only_on_seed_input_and_received(protocol, &RUN, &places());
        catch_unwind(law).is_ok()
    }

    fn in_the_middle(protocol: &Protocol) -> bool {
        let law = || RUN.sent_so_far_depends_only_on_received(protocol, Role::Sender, &[2]);
        catch_unwind(law).is_ok()
    }

    #[test]
    fn a_party_that_answers_each_message_satisfies_the_law() {
        let protocol = with_sender(|params, input| {
            of_set(Role::Sender, params, input, |_, _, ctx| answer(ctx, 1))
        });
        assert!(of_whole_runs(&protocol));
        assert!(in_the_middle(&protocol));
    }

    #[test]
    fn a_party_that_sends_its_number_of_threads_does_not() {
        let protocol = with_sender(|params, input| {
            of_set(Role::Sender, params, input, |_, _, ctx| {
                let threads = ctx.pool().len() as u8;
                ctx.peer()?.send(&[threads; 30])?;
                ctx.peer()?.send(&[0; 30])?;
                ctx.peer()?.recv(30)?;
                ctx.peer()?.recv(30)?;
                Ok(Output::Nothing)
            })
        });
        assert!(!of_whole_runs(&protocol));
        assert!(!in_the_middle(&protocol));
    }

    #[test]
    fn a_party_that_fails_or_sends_something_else_in_the_replays_does_not() {
        static RUNS: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];
        // The first is the whole run.
        fn is_replay(of: usize) -> bool {
            RUNS[of].fetch_add(1, Ordering::Relaxed) > 0
        }
        let fails: MakeParty = |params, input| {
            of_set(Role::Sender, params, input, |_, _, ctx| {
                if is_replay(0) { Err(Misbehaviour::InvalidValue.into()) } else { answer(ctx, 1) }
            })
        };
        let sends_more: MakeParty = |params, input| {
            of_set(Role::Sender, params, input, |_, _, ctx| {
                if is_replay(1) {
                    ctx.peer()?.send(&[3; 30])?;
                }
                answer(ctx, 1)
            })
        };
        assert!(!in_the_middle(&with_sender(fails)));
        assert!(!in_the_middle(&with_sender(sends_more)));
    }

    #[test]
    fn a_party_that_waits_for_a_message_a_thread_does_not() {
        let protocol = with_sender(|params, input| {
            of_set(Role::Sender, params, input, |_, _, ctx| answer(ctx, ctx.pool().len().min(2)))
        });
        // In the end it has sent the same.
        assert!(of_whole_runs(&protocol));
        assert!(!in_the_middle(&protocol));
    }
}
