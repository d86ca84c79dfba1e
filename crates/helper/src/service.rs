//! The helper as a service.
//!
//! ```text
//!   Listener ──▶ connection (a thread for each)    ──▶ Run ◀── worker (a few threads): the steps, the backend
//!                  │ put, get                              │
//!                  ▼                                       ▼
//!                Channel                                 Store
//! ```
//!
//! The order of all locks is [`Rank`](crate::locks::Rank). Nothing waits, for a thread, a party or
//! the disk, while it holds a lock that parties of other runs need; debug builds check both.

mod connection;
mod connections;
mod core;
mod ending;
mod error;
mod gate;
mod holding;
mod http;
mod log_names;
mod members;
mod memory;
mod metrics;
mod options;
mod queue;
mod recovery;
mod room;
mod run;
mod run_slots;
mod runs;
mod workers;

pub use error::StartError;
pub use members::Changed;
pub use options::{MetricsOptions, PartyLimits, ServiceOptions};

use crate::store::{Disk, Store, StoreError};
use core::Core;
use gate::Gate;
use http::Pages;
use room::DiskLimits;
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;
use vesica_core::{Refusal, StopReason};
use vesica_link::{
    CancelToken, LinkError, LinkEvent, ListenOptions, Listener, PublicIdentity, Session,
};
use vesica_net::Streams;

/// Longest interval between checks for runs that are too old.
const EXPIRE_EVERY: Duration = Duration::from_secs(60);

/// A helper that serves its parties on its own threads until it is shut down.
///
/// Dropping it without [`shutdown`](Service::shutdown) closes all connections at once.
pub struct Service {
    core: Arc<Core>,
    gate: Arc<Gate>,
    own: PublicIdentity,
    cancel: CancelToken,
    addresses: Vec<SocketAddr>,
    pages: Option<Pages>,
    threads: Vec<JoinHandle<()>>,
}

impl Service {
    /// Opens the directory, the backend and the ports, and starts serving. Runs of an earlier
    /// service in the directory continue.
    ///
    /// # Errors
    /// Any [`StartError`].
    pub fn start(options: ServiceOptions) -> Result<Self, StartError> {
        Self::start_on(options, Disk::default())
    }

    pub(crate) fn start_on(options: ServiceOptions, disk: Disk) -> Result<Self, StartError> {
        let own = options.identity.public();
        are_sound(&options.parties, &own)?;
        let (store, found) = Store::open(&options.state_dir, options.keeping, disk)?;
        options.backend.check()?;
        let peers: Vec<_> = options.parties.iter().map(|party| party.identity).collect();
        let listening = ListenOptions { idle: options.idle, total: None };
        let listener = Listener::bind(&options.identity, &peers, &options.listen, listening)?;
        let addresses = listener.addresses();
        let workers = options.workers.max(1);
        let (sweeper, remains) = mpsc::channel();
        let unusable = |error: std::io::Error| StoreError::Unusable {
            path: options.state_dir.clone(),
            kind: error.kind(),
        };
        let ended = store.find_ended().map_err(unusable)?;
        let disk = DiskLimits {
            max_stored_bytes: options.max_stored_bytes,
            max_stored_percent: options.max_stored_percent,
            keep_free_bytes: options.keep_free_bytes,
        };
        let core = Arc::new(Core::new(
            options.parties,
            store,
            options.keeping,
            options.backend,
            options.pool,
            workers,
            options.memory_bytes,
            options.keep,
            disk,
            sweeper,
        ));
        let pages = match &options.metrics {
            Some(metrics) => Some(Pages::open(metrics, Arc::clone(&core))?),
            None => None,
        };
        core.runs.adopt_ended(ended);
        core.adopt(found);
        let cancel = CancelToken::new();
        let gate = Gate::new(&cancel);
        let for_thread = Arc::clone(&gate);
        // From here on, dropping it ends what was started.
        let threads = Vec::new();
        let mut service = Self { core, gate, own, cancel, addresses, pages, threads };
        for _ in 0..workers {
            service.spawn("vesica-steps", |core, _| workers::work(&core))?;
        }
        let every = (options.keep / 10).clamp(Duration::from_millis(20), EXPIRE_EVERY);
        service.spawn("vesica-sweep", move |core, _| core.sweep(&remains, every))?;
        service.spawn("vesica-accept", move |core, cancel| {
            accept(listener, &core, &for_thread, &cancel);
        })?;
        let parties = service.core.members.all_served().len();
        let addresses: Vec<String> = service.addresses.iter().map(SocketAddr::to_string).collect();
        let addresses = addresses.join(", ");
        tracing::info!(addresses, parties, "helper started");
        Ok(service)
    }

    /// The addresses of the port for parties.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// The address of health and metrics.
    pub fn metrics_address(&self) -> Option<SocketAddr> {
        self.pages.as_ref().map(Pages::address)
    }

    /// Serves only `parties` from now on, with these disk limits. On return the change is complete:
    /// new parties are accepted; parties that are not in the list have no connections, and their
    /// runs are ended for all, except runs that no party may end.
    ///
    /// # Errors
    /// [`StartError::SameParty`] and [`StartError::OwnIdentity`]; nothing has changed then.
    pub fn serve(
        &self,
        parties: Vec<PartyLimits>,
        max_stored_bytes: Option<u64>,
        max_stored_percent: u8,
        keep_free_bytes: u64,
    ) -> Result<Changed, StartError> {
        are_sound(&parties, &self.own)?;
        let core = &self.core;
        core.ledger.set_limits(DiskLimits {
            max_stored_bytes,
            max_stored_percent,
            keep_free_bytes,
        });
        let peers = parties.iter().map(|party| party.identity).collect();
        let changed = core.members.replace(parties);
        // New connections are checked against the new list.
        if !self.gate.let_in(peers) {
            tracing::error!("the port still uses the earlier parties");
        }
        core.connections.close_those(|member| !core.members.get(member).is_served());
        for run in core.runs.open() {
            core.end_if_revoked(&run);
        }
        let list = |names: &[String]| names.join(", ");
        let (added, limits, revoked) =
            (list(&changed.added), list(&changed.changed), list(&changed.revoked));
        let parties = core.members.all_served().len();
        tracing::info!(parties, added, changed = limits, revoked, "settings read again");
        Ok(changed)
    }

    /// Accepts no more connections, notifies waiting parties, ends computations, and returns when
    /// everything has stopped, at the latest some seconds after `grace`. Returns whether it has;
    /// runs continue when a service is started again.
    pub fn shutdown(mut self, grace: Duration) -> bool {
        self.end(grace)
    }

    fn end(&mut self, grace: Duration) -> bool {
        if self.threads.is_empty() {
            return true;
        }
        tracing::info!("helper is shutting down");
        self.core.stop();
        self.cancel.cancel();
        if let Some(pages) = &mut self.pages {
            pages.close();
        }
        let are_gone = self.core.connections.close_all(grace);
        // A backend that hangs must not block the process; it keeps the lock, and its threads end
        // with the process.
        let deadline = std::time::Instant::now() + grace.max(Duration::from_secs(3));
        while std::time::Instant::now() < deadline
            && !self.threads.iter().all(JoinHandle::is_finished)
        {
            std::thread::sleep(Duration::from_millis(5));
        }
        let are_finished = self.threads.iter().all(JoinHandle::is_finished);
        if are_finished {
            self.threads.drain(..).for_each(|thread| drop(thread.join()));
            self.core.store.unlock();
        } else {
            self.threads.clear();
        }
        crate::locks::assert_kept();
        let is_quiet = are_gone && are_finished;
        if is_quiet {
            tracing::info!("helper is shut down");
        } else {
            tracing::warn!("helper is shut down, but some of its threads have not ended");
        }
        is_quiet
    }

    fn spawn(
        &mut self,
        name: &str,
        run: impl FnOnce(Arc<Core>, CancelToken) + Send + 'static,
    ) -> Result<(), StartError> {
        let (core, cancel) = (Arc::clone(&self.core), self.cancel.clone());
        let thread = std::thread::Builder::new()
            .name(name.into())
            .spawn(move || run(core, cancel))
            .map_err(|error| StartError::NoThread(error.kind()))?;
        self.threads.push(thread);
        Ok(())
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.end(Duration::ZERO);
    }
}

impl std::fmt::Debug for Service {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Service").field("addresses", &self.addresses).finish_non_exhaustive()
    }
}

/// Checks that parties are distinct.
fn are_sound(parties: &[PartyLimits], own: &PublicIdentity) -> Result<(), StartError> {
    let (mut names, mut identities) = (BTreeSet::new(), BTreeSet::new());
    for party in parties {
        if !names.insert(&party.name) || !identities.insert(party.identity) {
            return Err(StartError::SameParty { name: party.name.clone() });
        }
        if party.identity == *own {
            return Err(StartError::OwnIdentity { name: party.name.clone() });
        }
    }
    Ok(())
}

fn accept(mut listener: Listener, core: &Arc<Core>, gate: &Gate, cancel: &CancelToken) {
    let next = AtomicU64::new(0);
    let on_event = |event: LinkEvent| {
        if let LinkEvent::Rejected { from, reason, count } = event {
            core.metrics.refused(Refusal::UnknownIdentity);
            match reason {
                LinkError::WrongIdentity { presented: identity } => {
                    let what = "connection rejected: not in the settings";
                    tracing::info!(%from, %identity, count, "{what}");
                }
                reason => tracing::info!(%from, %reason, count, "a connection was rejected"),
            }
        }
    };
    loop {
        let round = gate.next(|peers| listener.set_peers(peers));
        if cancel.is_cancelled() {
            return;
        }
        let Ok(session) = listener.accept(&on_event, &round) else { continue };
        start_connection(core, session, next.fetch_add(1, Ordering::Relaxed));
    }
}

/// Serves `session` on its own thread.
fn start_connection(core: &Arc<Core>, session: Session, number: u64) {
    let Some(member) = core.members.served(&session.peer()) else { return };
    let party = core.members.get(member);
    let max_connections = party.limits().max_connections;
    let standing = party.connections.fetch_add(1, Ordering::AcqRel);
    let guard = ConnectionGuard { core: Arc::clone(core), number, member };
    // Some connections over the limit are told so; a peer that does not read must not cost a
    // thread.
    if standing >= max_connections.saturating_mul(2).saturating_add(2) {
        return;
    }
    let crowded = standing >= max_connections;
    core.connections.add(number, member, session.clone());
    let serve = move || {
        let core = &guard.core;
        let served = catch_unwind(AssertUnwindSafe(|| {
            connection::serve(core, &session, number, member, crowded);
        }));
        if served.is_err() {
            tracing::error!("serving a connection panicked");
            core.metrics.refused(Refusal::Internal);
            session.abort(StopReason::Internal);
        }
    };
    if let Err(error) = std::thread::Builder::new().name("vesica-connection".into()).spawn(serve) {
        tracing::error!(error = %error.kind(), "the machine has no thread for a connection");
    }
}

/// Deregisters a connection after any kind of end.
struct ConnectionGuard {
    core: Arc<Core>,
    number: u64,
    member: usize,
}

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        self.core.members.get(self.member).connections.fetch_sub(1, Ordering::AcqRel);
        self.core.connections.remove(self.number);
    }
}
