//! A helper and its parties in one process, over 127.0.0.1.

#![allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use vesica_core::{Error, Refusal, Result};
use vesica_helper::{Keeping, MetricsOptions, PartyLimits, Service, ServiceOptions};
use vesica_helper_client::{Remote, RemoteEvent, RemoteOptions};
use vesica_link::{CancelToken, Endpoint, Identity, LinkOptions};
use vesica_net::{Meter, Pool};
use vesica_server_aided::kmrs14::{Board, Boards, Kind, Memory, PartySpec, Slot, Spec, Variant};

pub const SOON: Duration = Duration::from_secs(20);
pub const MAX_ROWS: u64 = 1000;

pub fn pool() -> Pool {
    Pool::new(NonZeroUsize::new(2).unwrap()).unwrap()
}

/// A helper, running or not, and its parties.
pub struct Fixture {
    pub helper: Identity,
    pub parties: Vec<Identity>,
    pub dir: TempDir,
    pub pool: Pool,
}

impl Fixture {
    pub fn new(parties: usize) -> Self {
        let identity = || Identity::generate().unwrap();
        let dir = tempfile::tempdir().unwrap();
        let parties = (0..parties).map(|_| identity()).collect();
        Self { helper: identity(), parties, dir, pool: pool() }
    }

    pub fn state(&self) -> &Path {
        self.dir.path()
    }

    /// Options of a service for all parties.
    pub fn options(&self) -> ServiceOptions {
        let names = (0..).map(|number| format!("party-{number}"));
        let parties = names.zip(&self.parties);
        let disk = format!("disk:{}", self.state().display());
        ServiceOptions {
            identity: self.helper.clone(),
            listen: "127.0.0.1:0".into(),
            parties: parties.map(|(name, own)| PartyLimits::new(name, own.public())).collect(),
            backend: vesica_label_joins::open(&disk, self.pool.clone(), 1 << 28).unwrap(),
            keeping: Keeping::Files,
            state_dir: self.state().to_path_buf(),
            keep: Duration::from_secs(3600),
            idle: SOON,
            pool: self.pool.clone(),
            workers: 2,
            memory_bytes: 1 << 28,
            max_stored_bytes: None,
            max_stored_percent: 100,
            keep_free_bytes: 0,
            metrics: None,
        }
    }

    pub fn start(&self) -> Service {
        Service::start(self.options()).unwrap()
    }

    pub fn start_with(&self, change: impl FnOnce(&mut ServiceOptions)) -> Service {
        let mut options = self.options();
        change(&mut options);
        Service::start(options).unwrap()
    }

    /// A run of the first `parties`.
    pub fn spec(&self, parties: usize) -> Spec {
        self.spec_of(&(0..parties).collect::<Vec<_>>(), 9)
    }

    pub fn spec_of(&self, parties: &[usize], agreement: u8) -> Spec {
        let party = |party: &usize| PartySpec {
            identity: *self.parties[*party].public().as_bytes(),
            max_rows: MAX_ROWS,
            min_rows: 0,
            receives: true,
        };
        let spec = Spec {
            variant: Variant::SemiHonest,
            agreement: [agreement; 32],
            parties: parties.iter().map(party).collect(),
            copies: 1,
            dummies: 16,
        };
        assert!(spec.is_sound());
        spec
    }

    pub fn remote_options(&self, service: &Service, party: usize, spec: &Spec) -> RemoteOptions {
        RemoteOptions {
            identity: self.parties[party].clone(),
            helper: self.helper.public(),
            address: service.addresses()[0].to_string(),
            link: LinkOptions {
                endpoint: Endpoint::Connect(String::new()),
                wait: SOON,
                idle: SOON,
                total: None,
                proxy: None,
            },
            spec: spec.clone(),
            lanes: 2,
            instance: None,
            pool: self.pool.clone(),
            meter: Meter::new(),
            cancel: CancelToken::new(),
            on_event: Arc::new(|_| ()),
        }
    }

    pub fn remote(&self, service: &Service, party: usize, spec: &Spec) -> Remote {
        Remote::new(self.remote_options(service, party, spec))
    }

    /// A [`Remote`] that records its events.
    pub fn recording_remote(
        &self,
        service: &Service,
        party: usize,
        spec: &Spec,
    ) -> (Remote, Arc<Mutex<Vec<RemoteEvent>>>) {
        let events: Arc<Mutex<Vec<RemoteEvent>>> = Arc::default();
        let recorded = Arc::clone(&events);
        let mut options = self.remote_options(service, party, spec);
        options.on_event = Arc::new(move |event| recorded.lock().unwrap().push(event));
        (Remote::new(options), events)
    }
}

/// A party that remembers nothing of what the helper showed it.
pub struct Trusting;

impl Memory for Trusting {
    fn is_same(&self, _: Kind, _: &[u8; 32]) -> Result<bool> {
        Ok(true)
    }
}

pub fn hello(party: u8) -> Vec<u8> {
    [&[11][..], &[party; 100]].concat()
}

pub fn slot(kind: Kind, party: u8) -> Slot {
    Slot::new(kind, party)
}

/// A small protocol: everybody sends a hello, gets all, puts a share, gets all.
pub fn exchange_slots(remote: &Remote, party: u8, parties: u8) -> Result<Vec<Vec<u8>>> {
    let mut board = remote.open()?;
    board.put(slot(Kind::Hello, party), &hello(party))?;
    let mut received = Vec::new();
    for other in 0..parties {
        received.push(board.get(slot(Kind::Hello, other), Slot::HELLO_MAX_LEN)?);
    }
    board.put(slot(Kind::Share, party), &[party; 77])?;
    for other in 0..parties {
        received.push(board.get(slot(Kind::Share, other), Slot::SHARE_MAX_LEN)?);
    }
    Ok(received)
}

/// All parties of a run after their hellos.
pub fn put_hellos(remotes: &[Remote]) -> Vec<Box<dyn Board>> {
    (0..)
        .zip(remotes)
        .map(|(party, remote)| {
            let mut board = remote.open().unwrap();
            board.put(slot(Kind::Hello, party), &hello(party)).unwrap();
            board.sync().unwrap();
            board
        })
        .collect()
}

pub fn refusal<T>(result: Result<T>) -> Refusal {
    match result {
        Err(Error::Refused(refusal)) => refusal,
        Err(error) => panic!("{error:?}"),
        Ok(_) => panic!("not refused"),
    }
}

pub fn with_pages(options: &mut ServiceOptions) {
    options.metrics = Some(MetricsOptions { listen: "127.0.0.1:0".into(), allow_remote: false });
}

/// The answer of the HTTP pages.
pub fn ask_page(service: &Service, request: &[u8]) -> String {
    let mut socket = TcpStream::connect(service.metrics_address().unwrap()).unwrap();
    // A dropped client cannot send everything.
    let _ = socket.write_all(request);
    let mut answer = String::new();
    let _ = socket.read_to_string(&mut answer);
    answer
}

pub fn until(what: &str, reached: impl Fn() -> bool) {
    let started = Instant::now();
    while !reached() {
        assert!(started.elapsed() < SOON, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
