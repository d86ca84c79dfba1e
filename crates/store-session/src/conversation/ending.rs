//! The last words of a party on a run.

use super::{Conversation, Run, check_own, lock};
use crate::error::ExchangeError;
use crate::object::{self, END, HELLO};
use crate::poller::{ObjectPoller, give_up};
use vesica_core::{StopReason, TransportError};

impl Conversation {
    /// Says that this party has heard and said all. It comes before the result is checked: whether that is refused, and how
    /// long it takes to write, nobody else must see.
    ///
    /// # Errors
    /// [`ExchangeError::Store`]; [`ExchangeError::Gone`] if the peer cannot read all.
    pub fn say_end(&self) -> Result<(), ExchangeError> {
        let Run { poller, own, .. } = &self.core.run;
        {
            let outbox = lock(&self.core.outbox);
            check_own(&self.core.run, outbox.next, &outbox.ids)?;
        }
        let end = object::name(&poller.run, *own, END);
        poller.options.store.put_if_absent(&end, &[]).map(drop).map_err(ExchangeError::store)
    }

    /// Tells the other side that this party gives the run up, and waits until this process may end. The other side then
    /// ends with [`ExchangeError::Stopped`]. Use it when the run would fail in the same way from the start. The reason is
    /// not sealed: anyone who can read the store can read it.
    ///
    /// # Errors
    /// [`ExchangeError::Store`]. If the other side is away, it may not hear of it.
    pub fn give_up(&self, reason: StopReason) -> Result<(), ExchangeError> {
        let Run { poller, own, .. } = &self.core.run;
        let ObjectPoller { options, run, peer } = poller;
        give_up(&*options.store, run, *own, reason)?;
        // The other side's hello is there.
        let _ = options.store.settle(&object::name(run, *peer, HELLO), options.wait);
        Ok(())
    }

    /// Waits, after the [end](Self::say_end), until this process may end.
    ///
    /// # Errors
    /// [`TransportError`] if the other side may not have all that it needs.
    pub fn settle(&self) -> Result<(), TransportError> {
        let ObjectPoller { options, run, peer } = &self.core.run.poller;
        options.store.settle(&object::name(run, *peer, END), options.wait)
    }
}
