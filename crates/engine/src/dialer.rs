//! The connections of a run that keeps a state. When one is lost, this party connects again.

use crate::meeting::{self, Purpose};
use crate::participants::{Participants, context};
use crate::{Error, Event, Observer, Phase, TransportFault};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use vesica_agreement::Agreement;
use vesica_core::{StopReason, TransportError};
use vesica_link::{Identity, LinkOptions, establish};
use vesica_net::{Connection, Meter};
use vesica_store_session::{Dial, Dialled};

/// How long this party waits for the other side's hello once a session is established.
const AGREE_LIMIT: Duration = Duration::from_secs(20);

/// Why this party stops connecting, once that is known.
pub(crate) type Fault = Arc<Mutex<Option<Error>>>;

/// What is needed to connect.
struct Line {
    agreement: Agreement,
    identity: Identity,
    link: LinkOptions,
    participants: Participants,
    observer: Arc<dyn Observer>,
    start: Instant,
    fault: Fault,
    last: Mutex<Option<Arc<dyn Connection>>>,
}

/// Opens connections on demand. The error that ends the connecting goes to `fault`.
pub(crate) fn dial(
    agreement: &Agreement,
    identity: &Identity,
    link: &LinkOptions,
    participants: Participants,
    observer: &Arc<dyn Observer>,
    fault: &Fault,
) -> Dial {
    let line = Line {
        agreement: agreement.clone(),
        identity: identity.clone(),
        link: link.clone(),
        participants,
        observer: Arc::clone(observer),
        start: Instant::now(),
        fault: Arc::clone(fault),
        last: Mutex::default(),
    };
    Box::new(move |cancel| {
        line.connect(cancel).unwrap_or_else(|error| {
            *lock(&line.fault) = Some(error);
            Dialled::Never
        })
    })
}

impl Line {
    /// # Errors
    /// Errors that another attempt would not change.
    fn connect(&self, cancel: &vesica_link::CancelToken) -> Result<Dialled, Error> {
        let peer = &self.participants.peer;
        let last = lock(&self.last).take().and_then(|last| last.ended());
        if let Some(error) = last {
            self.check_worth(error)?;
            self.observer.event(&Event::Exchange(&vesica_store_session::Event::Lost(error)));
        }
        let identity = self.agreement.peer_of(&self.participants.party).identity;
        let total = self.link.total.map(|total| total.saturating_sub(self.start.elapsed()));
        let link = LinkOptions { total, ..self.link.clone() };
        let on_event = |event| self.observer.event(&Event::Link(&event));
        let session = establish(&self.identity, &[identity], &link, &on_event, cancel)
            .map_err(|error| Error::from_link(error, peer))?;
        session.expect(Some(AGREE_LIMIT));
        let link = session.clone();
        let session: Arc<dyn Connection> = Arc::new(session);
        // Once they agree, the mirror ends the session.
        let agreed = Arc::new(AtomicBool::new(false));
        let (for_cancel, has_agreed) = (Arc::downgrade(&session), Arc::clone(&agreed));
        cancel.on_cancel(move || {
            if let Some(session) = for_cancel.upgrade().filter(|_| !has_agreed.load(Relaxed)) {
                session.abort(StopReason::Cancelled);
            }
        });
        let met = context(&session, self.participants.seat, peer, NonZeroUsize::MIN, &Meter::new())
            .and_then(|mut ctx| {
                meeting::agree(&mut ctx, &self.agreement, Purpose::KeptRun, peer)?;
                ctx.finish().map_err(|error| Error::from_run(error, Phase::Agreeing, peer))
            });
        match met {
            Ok(()) => {
                agreed.store(true, Relaxed);
                link.expect(None);
                *lock(&self.last) = Some(Arc::clone(&session));
                Ok(Dialled::Connected(session))
            }
            // Both sides find the same differences and close the connection.
            Err(error @ Error::PeerIncompatible(_)) => {
                let _ = session.close();
                Err(error)
            }
            Err(Error::Transport { kind: TransportFault::Stream(error), .. }) => {
                self.check_worth(error).map(|()| Dialled::Again)
            }
            Err(error) => {
                session.stop(error.stop_reason());
                Err(error)
            }
        }
    }

    /// Whether to connect again after a connection ended with this error.
    ///
    /// # Errors
    /// That error, if it is not.
    fn check_worth(&self, ended: TransportError) -> Result<(), Error> {
        match ended {
            TransportError::PeerStopped(StopReason::Misbehaviour | StopReason::Internal)
            | TransportError::Deadline(_)
            | TransportError::PeerBrokeFraming
            | TransportError::PeerFlood => {
                Err(Error::from_run(ended.into(), Phase::Connecting, &self.participants.peer))
            }
            _ => Ok(()),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
