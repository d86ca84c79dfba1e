//! How a party ends a run through a store.

use super::{Conversation, Run, check_own, lock};
use crate::error::ExchangeError;
use crate::object::{self, END, HELLO};
use crate::poller::{ObjectPoller, give_up};
use vesica_core::{StopReason, TransportError};

impl Conversation {
    /// Publishes that this party has sent and received everything. A party does so before it checks
    /// the result: no other party must see whether the result was refused, or how long it took to
    /// write.
    ///
    /// # Errors
    /// [`ExchangeError::Store`]; [`ExchangeError::Gone`] if the peer cannot read everything.
    pub fn publish_end(&self) -> Result<(), ExchangeError> {
        let Run { poller, own, .. } = &self.core.run;
        {
            let outbox = lock(&self.core.outbox);
            check_own(&self.core.run, outbox.next, &outbox.ids)?;
        }
        let end = object::name(&poller.run, *own, END);
        poller.options.store.put_if_absent(&end, &[]).map(drop).map_err(ExchangeError::store)
    }

    /// Tells the other side that this party abandons the run, and waits until this process may end.
    /// The other side then stops with [`ExchangeError::Stopped`]. Use it when the run would fail in
    /// the same way from the start. The reason is not sealed: anyone who can read the store can
    /// read it.
    ///
    /// # Errors
    /// [`ExchangeError::Store`]. If the other side is away, it may not learn that the run was
    /// abandoned.
    pub fn give_up(&self, reason: StopReason) -> Result<(), ExchangeError> {
        let Run { poller, own, .. } = &self.core.run;
        let ObjectPoller { options, run, peer } = poller;
        give_up(&*options.store, run, *own, reason)?;
        // The other side's hello is here already, so this waits only until the other side has the
        // objects of this one.
        let _ = options.store.settle(&object::name(run, *peer, HELLO), options.wait);
        Ok(())
    }

    /// Waits, after [`publish_end`](Self::publish_end), until this process may end.
    ///
    /// # Errors
    /// [`TransportError`] if the other side may not have everything that it needs.
    pub fn settle(&self) -> Result<(), TransportError> {
        let ObjectPoller { options, run, peer } = &self.core.run.poller;
        options.store.settle(&object::name(run, *peer, END), options.wait)
    }
}
