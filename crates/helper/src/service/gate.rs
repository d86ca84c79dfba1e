//! Who comes in at the port: told to the thread that has it.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use vesica_link::{CancelToken, PublicIdentity};

/// How long the thread may take to hear of a change.
const PATIENCE: Duration = Duration::from_secs(10);

/// What waits for the thread that has the port.
struct Change {
    peers: Vec<PublicIdentity>,
    is_done: Sender<()>,
}

#[derive(Default)]
struct State {
    /// Ends the present wait for a connection.
    round: CancelToken,
    change: Option<Change>,
}

/// The way to the thread that has the port.
#[derive(Default)]
pub(super) struct Gate {
    state: Mutex<State>,
}

impl Gate {
    /// One whose thread is woken when `cancel` is thrown, too.
    pub(super) fn new(cancel: &CancelToken) -> Arc<Self> {
        let gate = Arc::new(Self::default());
        let for_cancel = Arc::downgrade(&gate);
        cancel.on_cancel(move || {
            let gate = for_cancel.upgrade();
            let round = gate.map(|gate| gate.state().round.clone());
            round.inspect(CancelToken::cancel);
        });
        gate
    }

    /// Lets `peers` in from now on, and nobody else; says whether that holds when it returns.
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

    /// Before the thread waits again: hands a change to `take`, and gives what ends the wait.
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

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
