//! A run over one session, without a state.

use super::{PeerLink, Way};
use crate::{Error, Event, Observer};
use std::sync::Arc;
use std::time::Duration;
use vesica_link::{OnEvent, establish, establish_mendable};
use vesica_net::Connection;

/// How long a run waits, at most, for a lost connection to come back: the process at the other end
/// may have died with all that it knew.
const MEND_LIMIT: Duration = Duration::from_secs(60);

/// One session.
pub(crate) struct LiveLink;

impl PeerLink for LiveLink {
    fn connect(&self, way: &Way<'_>) -> Result<Arc<dyn Connection>, Error> {
        let identity = way.agreement.peer_of(&way.participants.party).identity;
        let on_event = |event| way.observer.event(&Event::Link(&event));
        let session = establish(way.identity, &[identity], way.link, &on_event, &way.cancel);
        Ok(Arc::new(session.map_err(|error| Error::from_link(error, &way.participants.peer))?))
    }
}

/// One session whose connection is mended when it is lost.
pub(crate) struct MendedLink {
    /// Hears of the connection for as long as the run lasts.
    pub(crate) observer: Arc<dyn Observer>,
}

impl PeerLink for MendedLink {
    fn connect(&self, way: &Way<'_>) -> Result<Arc<dyn Connection>, Error> {
        let identity = way.agreement.peer_of(&way.participants.party).identity;
        let observer = Arc::clone(&self.observer);
        let on_event: OnEvent = Arc::new(move |event| observer.event(&Event::Link(&event)));
        let limit = way.link.wait.min(MEND_LIMIT);
        let session =
            establish_mendable(way.identity, &[identity], way.link, limit, &on_event, &way.cancel);
        Ok(Arc::new(session.map_err(|error| Error::from_link(error, &way.participants.peer))?))
    }
}
