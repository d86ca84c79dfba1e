//! Passes changes of the accepted peers to the thread that owns the port.

use crate::locks::{Guard, Lock, Rank};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;
use vesica_link::{CancelToken, PublicIdentity};

/// Time limit for that thread to apply a change.
const PATIENCE: Duration = Duration::from_secs(10);

/// A change for the thread that owns the port.
struct Change {
    peers: Vec<PublicIdentity>,
    is_done: Sender<()>,
}

#[derive(Default)]
struct State {
    /// Cancels the current wait for a connection.
    round: CancelToken,
    change: Option<Change>,
}

/// The way to the thread that owns the port.
pub(super) struct Gate {
    state: Lock<State>,
}

impl Gate {
    /// Also wakes the thread when `cancel` is cancelled.
    pub(super) fn new(cancel: &CancelToken) -> Arc<Self> {
        let gate = Arc::new(Self { state: Lock::new(Rank::Leaf, State::default()) });
        let for_cancel = Arc::downgrade(&gate);
        cancel.on_cancel(move || {
            let gate = for_cancel.upgrade();
            let round = gate.map(|gate| gate.state().round.clone());
            round.inspect(CancelToken::cancel);
        });
        gate
    }

    /// Accepts only `peers` from now on; returns whether that holds on return.
    pub(super) fn let_in(&self, peers: Vec<PublicIdentity>) -> bool {
        let (is_done, done) = channel();
        let round = {
            let mut state = self.state();
            state.change = Some(Change { peers, is_done });
            state.round.clone()
        };
        round.cancel();
        done.recv_timeout(PATIENCE).is_ok()
    }

    /// Called by the thread before it waits again: passes a change to `take`, and returns the token
    /// that ends the wait.
    pub(super) fn next(&self, take: impl FnOnce(&[PublicIdentity])) -> CancelToken {
        let (round, change) = {
            let mut state = self.state();
            state.round = CancelToken::new();
            (state.round.clone(), state.change.take())
        };
        if let Some(change) = change {
            take(&change.peers);
            let _ = change.is_done.send(());
        }
        round
    }

    fn state(&self) -> Guard<'_, State> {
        self.state.lock()
    }
}
