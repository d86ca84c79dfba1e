//! The law of power failures: at any time of the failure, and with any loss of unsynced data, the
//! helper continues where it was. Each party ends with the right answer, whether it stayed
//! connected, was killed, or has its answer already and never returns. No party is blamed, and no
//! party sees other data than before.

#[path = "../../tests/integration/aided.rs"]
mod aided;

use crate::Service;
use crate::common::{Fixture, until};
use crate::store::Disk;
use crate::store::power::{Loss, Power};
use aided::{is_right, run_party_that_remembers};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use vesica_core::{Error, Refusal, Result, TransportError};
use vesica_helper::ServiceOptions;
use vesica_helper_client::{Remote, RemoteOptions};
use vesica_link::CancelToken;
use vesica_server_aided::kmrs14::{Kind, Memory, Spec, Variant};

const VARIANTS: [Variant; 5] =
    [Variant::SemiHonest, Variant::Malicious, Variant::Fair, Variant::SizeHiding, Variant::Pet];

/// Time limit for each step on a busy machine.
const PATIENCE: Duration = Duration::from_secs(240);

/// The fault of a case.
#[derive(Clone, Copy, Debug)]
enum Fault {
    None,
    /// The power fails after this many changes of the directory.
    Power {
        after: u64,
        loss: Loss,
    },
    /// The disk refuses one change.
    Disk {
        after: u64,
    },
}

/// The behaviour of a party.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    /// Stays connected to the end.
    Stays,
    /// Is killed at the power failure, and returns.
    IsKilled,
    /// Sends nothing after it has its answer.
    Leaves,
}

#[derive(Clone, Copy, Debug)]
struct Case {
    variant: Variant,
    fault: Fault,
    manners: [Manner; 2],
}

/// The address of the current helper, and its power.
type Target = Arc<Mutex<Option<(SocketAddr, Arc<Power>)>>>;

/// The network between parties and helper, which connects to one service after the other; nothing
/// that a helper sends after its power failed arrives.
struct Wire {
    address: SocketAddr,
    target: Target,
    standing: Arc<Mutex<Vec<TcpStream>>>,
    is_over: Arc<AtomicBool>,
}

impl Wire {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let target: Target = Arc::default();
        let is_over = Arc::new(AtomicBool::new(false));
        let standing: Arc<Mutex<Vec<TcpStream>>> = Arc::default();
        let (to, over, all) = (Arc::clone(&target), Arc::clone(&is_over), Arc::clone(&standing));
        std::thread::spawn(move || {
            for party in listener.incoming().map_while(Result::ok) {
                if over.load(Ordering::SeqCst) {
                    return;
                }
                let to = to.lock().unwrap();
                let Some((helper, power)) = to.clone() else { continue };
                let Ok(helper) = TcpStream::connect(helper) else { continue };
                let ends = [&party, &helper].map(|end| end.try_clone().unwrap());
                all.lock().unwrap().push(party.try_clone().unwrap());
                drop(to);
                std::thread::spawn(move || carry(&party, &helper, || false));
                std::thread::spawn(move || carry(&ends[1], &ends[0], || power.is_off()));
            }
        });
        Self { address, target, standing, is_over }
    }

    /// Connects to nothing from now on.
    fn cut(&self) {
        *self.target.lock().unwrap() = None;
        for party in self.standing.lock().unwrap().drain(..) {
            let _ = party.shutdown(Shutdown::Both);
        }
    }

    fn lead_to(&self, service: &Service, power: &Arc<Power>) {
        *self.target.lock().unwrap() = Some((service.addresses()[0], Arc::clone(power)));
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
    }
}

fn carry(mut from: &TcpStream, mut to: &TcpStream, is_cut: impl Fn() -> bool) {
    let mut bytes = [0; 1 << 16];
    while let Ok(len) = from.read(&mut bytes) {
        if len == 0 || is_cut() || to.write_all(&bytes[..len]).is_err() {
            break;
        }
    }
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}

#[derive(Default)]
struct Remembers(Mutex<BTreeMap<Kind, [u8; 32]>>);

impl Memory for Remembers {
    fn is_same(&self, kind: Kind, digest: &[u8; 32]) -> Result<bool> {
        Ok(self.0.lock().unwrap().entry(kind).or_insert(*digest) == digest)
    }
}

fn rows_of(variant: Variant) -> u64 {
    if variant == Variant::Pet { 1 } else { 60 }
}

fn spec_of(fixture: &Fixture, variant: Variant) -> Spec {
    let mut spec = fixture.spec(2);
    spec.variant = variant;
    (spec.copies, spec.dummies) = match variant {
        Variant::SemiHonest => (1, 16),
        _ => (4, 100),
    };
    // Lists of few labels, in several segments each.
    let max_rows = if variant == Variant::Pet { 1 } else { 1 << 19 };
    spec.parties.iter_mut().for_each(|party| party.max_rows = max_rows);
    assert!(spec.is_sound());
    spec
}

struct ScriptedParty<'a> {
    fixture: &'a Fixture,
    wire: &'a Wire,
    spec: &'a Spec,
    number: usize,
    manner: Manner,
    /// Cancelled to kill the party.
    kill: CancelToken,
}

impl ScriptedParty<'_> {
    fn remote(&self, service: &Service, cancel: &CancelToken) -> RemoteOptions {
        let mut options = self.fixture.remote_options(service, self.number, self.spec);
        options.address = self.wire.address.to_string();
        options.link.wait = PATIENCE;
        options.link.idle = PATIENCE / 4;
        options.cancel = cancel.clone();
        options
    }

    fn run(&self, first: &Service) -> Result<()> {
        let rows = rows_of(self.spec.variant);
        let memory = Remembers::default();
        let (mut has_answer, mut instance, mut cancel) = (false, None, self.kill.clone());
        let mut options = self.remote(first, &cancel);
        loop {
            options.instance = instance;
            let again = {
                let mut again = self.remote(first, &cancel);
                again.instance = instance;
                again
            };
            let remote = Remote::new(std::mem::replace(&mut options, again));
            let found = run_party_that_remembers(&remote, self.spec, self.number, rows, &memory);
            let ended = found.and_then(|matched| {
                assert!(is_right(&matched, rows), "party {}: {matched:?}", self.number);
                has_answer = true;
                if self.manner == Manner::Leaves { Ok(()) } else { remote.done() }
            });
            instance = remote.instance().or(instance);
            match ended {
                Err(Error::Transport(TransportError::CancelledHere)) if cancel.is_cancelled() => {
                    cancel = CancelToken::new();
                    options = self.remote(first, &cancel);
                }
                // Its last message had arrived, and the other's.
                Err(Error::Refused(Refusal::Expired)) if has_answer => return Ok(()),
                ended => return ended,
            }
        }
    }
}

fn options_at(fixture: &Fixture, dir: &std::path::Path) -> ServiceOptions {
    let mut options = fixture.options();
    options.state_dir = dir.to_path_buf();
    let disk = format!("disk:{}", dir.display());
    options.backend = vesica_label_joins::open(&disk, fixture.pool.clone(), 1 << 28).unwrap();
    options
}

/// Runs a case, and returns the number of changes after the start.
fn play(case: Case) -> u64 {
    let fixture = Fixture::new(2);
    let spec = spec_of(&fixture, case.variant);
    let wire = Wire::new();
    let power = Arc::new(Power::new(fixture.state()));
    let disk = Disk { power: Some(Arc::clone(&power)) };
    let service = Service::start_on(options_at(&fixture, fixture.state()), disk).unwrap();
    let at_start = power.changes();
    match case.fault {
        Fault::None => {}
        Fault::Power { after, .. } => power.fail_after(after),
        Fault::Disk { after } => power.refuse_after(after),
    }
    wire.lead_to(&service, &power);
    let parties: Vec<ScriptedParty<'_>> = (0..2)
        .map(|number| ScriptedParty {
            fixture: &fixture,
            wire: &wire,
            spec: &spec,
            number,
            manner: case.manners[number],
            kill: CancelToken::new(),
        })
        .collect();
    let after_failure = tempfile::tempdir().unwrap();
    let mut last = None;
    std::thread::scope(|scope| {
        let runs: Vec<_> = parties
            .iter()
            .map(|party| {
                let service = &service;
                scope.spawn(move || party.run(service))
            })
            .collect();
        let started = Instant::now();
        while !power.is_off() && !runs.iter().all(|run| run.is_finished()) {
            assert!(started.elapsed() < PATIENCE, "{case:?}: neither an end nor a failure");
            std::thread::sleep(Duration::from_millis(1));
        }
        if let (true, Fault::Power { loss, after }) = (power.is_off(), case.fault) {
            let is_killed = |party: &&ScriptedParty<'_>| party.manner == Manner::IsKilled;
            parties.iter().filter(is_killed).for_each(|party| party.kill.cancel());
            wire.cut();
            let mut drawn = after.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
            power.leave(after_failure.path(), loss, &mut || {
                drawn ^= drawn << 13;
                drawn ^= drawn >> 7;
                drawn ^= drawn << 17;
                drawn >> 20
            });
            let next = Service::start(options_at(&fixture, after_failure.path())).unwrap();
            wire.lead_to(&next, &Arc::new(Power::new(after_failure.path())));
            last = Some(next);
        }
        for (number, run) in runs.into_iter().enumerate() {
            let ended = run.join().unwrap_or_else(|_| panic!("{case:?}: party {number}"));
            assert_eq!(ended, Ok(()), "{case:?}: party {number}");
        }
    });
    // Nothing remains of a finished run.
    if !case.manners.contains(&Manner::Leaves) {
        let dir = if last.is_some() { after_failure.path() } else { fixture.state() };
        // Without power nothing more can be removed.
        if last.is_some() || !power.is_off() && !matches!(case.fault, Fault::Disk { .. }) {
            until("the run is removed", || {
                std::fs::read_dir(dir.join("runs")).unwrap().count() == 0
            });
        }
    }
    power.changes() - at_start
}

/// Runs all cases, some in parallel: they mostly wait.
fn play_all(cases: Vec<Case>) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    play(*case);
                }
            });
        }
    });
}

const MANNERS: [[Manner; 2]; 4] = [
    [Manner::Stays, Manner::Stays],
    [Manner::Leaves, Manner::IsKilled],
    [Manner::IsKilled, Manner::Stays],
    [Manner::IsKilled, Manner::Leaves],
];

/// The number of changes of a whole run of each protocol.
fn changes(variant: Variant) -> u64 {
    play(Case { variant, fault: Fault::None, manners: MANNERS[0] })
}

#[test]
fn a_power_failure_at_some_changes_loses_nothing_confirmed() {
    let mut cases = Vec::new();
    for variant in VARIANTS {
        let (changes, points) = (changes(variant), 20);
        for point in 0..points {
            let loss = Loss::ALL[point as usize % Loss::ALL.len()];
            let manners = MANNERS[point as usize % MANNERS.len()];
            let fault = Fault::Power { after: point * changes / points, loss };
            cases.push(Case { variant, fault, manners });
        }
    }
    play_all(cases);
}

#[test]
fn a_disk_fault_at_some_changes_is_retried() {
    let mut cases = Vec::new();
    for variant in VARIANTS {
        let (changes, points) = (changes(variant), 8);
        for point in 0..points {
            let fault = Fault::Disk { after: point * changes / points };
            cases.push(Case { variant, fault, manners: MANNERS[0] });
        }
    }
    play_all(cases);
}

#[test]
#[ignore = "slow: minutes"]
fn a_power_failure_at_any_change_loses_nothing_confirmed() {
    let mut cases = Vec::new();
    for variant in VARIANTS {
        for after in 0..changes(variant) + 8 {
            for (number, loss) in Loss::ALL.into_iter().enumerate() {
                let manners = MANNERS[(after as usize + number) % MANNERS.len()];
                cases.push(Case { variant, fault: Fault::Power { after, loss }, manners });
            }
            let manners = MANNERS[0];
            cases.push(Case { variant, fault: Fault::Disk { after }, manners });
        }
    }
    play_all(cases);
}
