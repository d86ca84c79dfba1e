//! A party that is run again from its seed on what it has received.

use super::WireRun;
use crate::Runner;
use std::num::NonZeroUsize;
use vesica_core::{Error, Result, Role, Secret};
use vesica_net::{Context, Flight, Pool, Replay, SentDigests, StreamId, Turn, TurnOutcome};
use vesica_party::{Output, Protocol};

/// What a party has received and sent.
#[derive(Default)]
struct Past {
    received: Flight,
    sent: SentDigests,
}

impl WireRun {
    /// The law, also in the middle of a run: until the party in `role` waits for more, it has sent
    /// the same with one CPU thread as with three, wherever what it received ends.
    ///
    /// One stream at a time ends after each number of `thirds` of its bytes, while the others are
    /// whole.
    ///
    /// # Panics
    /// If it sends other bytes, or more or fewer of them.
    pub fn sent_so_far_depends_only_on_received(
        &self,
        protocol: &Protocol,
        role: Role,
        thirds: &[usize],
    ) {
        let [sender, receiver] = self.transcripts(protocol, &Runner::default());
        let (own, peer) =
            if role == Role::Sender { (sender, receiver) } else { (receiver, sender) };
        let own: Flight = own.streams().into_iter().collect();
        let whole = peer.streams();
        for (id, bytes) in &whole {
            for third in thirds {
                let end = third * bytes.len() / 3;
                if end == bytes.len() {
                    continue;
                }
                let cut = |of: &Vec<u8>, at: usize| of[..at].to_vec();
                let received = whole
                    .iter()
                    .map(|(other, of)| (*other, cut(of, if other == id { end } else { of.len() })));
                let past = Past { received: received.collect(), sent: SentDigests::default() };
                let case = format!(
                    "{}, {self:?}, the {role}, {end} of {} bytes on {id:?}",
                    protocol.id,
                    bytes.len()
                );
                let [one, three] = [1, 3].map(|threads| {
                    let turned = self.turn(protocol, role, threads, &past);
                    turned.unwrap_or_else(|error| panic!("{error}: {case}"))
                });
                assert!(one.next == three.next, "something else was sent: {case}");
                // Two that end at once would agree as well.
                assert!(
                    one.turn == Turn::Waits && three.turn == Turn::Waits,
                    "it ended without what it had not received: {case}"
                );
                let mut sent = one.next.iter();
                assert!(
                    sent.all(|(id, sent)| own.of(id).starts_with(sent)),
                    "not what the whole run sent: {case}"
                );
            }
        }
    }

    /// The law of a run in turns: two parties of which none stays alive between its flights, each
    /// with other numbers of threads from turn to turn, say byte for byte what they say in a live
    /// run, and end with the same. `before` is called before each turn with its number. How many
    /// turns it took.
    ///
    /// # Panics
    /// If they do not.
    pub fn turns_agree_with_a_live_run(
        &self,
        protocol: &Protocol,
        before: &dyn Fn(usize),
    ) -> usize {
        let roles = [Role::Receiver, Role::Sender];
        let case = format!("{}, {self:?}", protocol.id);
        let runner = Runner::default();
        let [receiver, sender] = roles.map(|role| self.party(protocol, role, runner.seed));
        let live = runner.run(sender, receiver);
        let live = [live.receiver.output, live.sender.output]
            .map(|output| output.unwrap_or_else(|error| panic!("{error}: {case}")));
        let [sent, received] = self.transcripts(protocol, &runner);
        let transcripts: [Flight; 2] =
            [received, sent].map(|transcript| transcript.streams().into_iter().collect());

        let mut pasts: [Past; 2] = Default::default();
        let mut flights: [Flight; 2] = Default::default();
        let mut outputs: [Option<Output>; 2] = [None, None];
        let (mut turns, mut silent) = (0, 0);
        while outputs.contains(&None) {
            before(turns);
            let own = turns % 2;
            turns += 1;
            if outputs[own].is_some() {
                continue;
            }
            let turned = self.turn(protocol, roles[own], 1 + turns % 3, &pasts[own]);
            let TurnOutcome { turn, next, sent: all, .. } =
                turned.unwrap_or_else(|error| panic!("{error}, turn {turns}: {case}"));
            silent = if next.is_empty() && turn == Turn::Waits { silent + 1 } else { 0 };
            assert!(silent < 2, "both wait, turn {turns}: {case}");
            pasts[own].sent = all;
            pasts[1 - own].received.extend(&next);
            flights[own].extend(&next);
            if let Turn::Ends(output) = turn {
                outputs[own] = Some(output);
            }
        }
        assert!(flights == transcripts, "other bytes than in a live run: {case}");
        assert_eq!(outputs, live.map(Some), "{case}");
        turns
    }

    /// What the party in `role` says next.
    fn turn(
        &self,
        protocol: &Protocol,
        role: Role,
        threads: usize,
        past: &Past,
    ) -> Result<TurnOutcome<Output>> {
        let runner = Runner::default();
        let (peer, seed) = match role {
            Role::Sender => (Role::Receiver, runner.seed),
            _ => (Role::Sender, !runner.seed),
        };
        let threads = NonZeroUsize::new(threads).ok_or(Error::Bug("a party has a thread"))?;
        let (root, seed) = (StreamId::ROOT, Secret::new([seed; 32]));
        let replay = Replay { peer, root, seed, pool: Pool::new(threads)? };
        let party = self.party(protocol, role, runner.seed);
        replay.turn(&past.received, &past.sent, |ctx: &mut Context| party.run(ctx)?.checked())
    }
}
