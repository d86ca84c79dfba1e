//! Until its last message a party acts the same whether all keys are common, none are, or the
//! answer is wrong. Neither the helper nor the other party can distinguish these cases, no matter
//! what the party does with its result later.

use crate::aided::scene::{Scene, TERMS, Terms, identity, joined, people, until};
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use vesica_core::hash::derive;
use vesica_engine::{Error, Event, Observer, Phase, Silent, run};
use vesica_helper::{Keeping, MetricsOptions, PartyLimits, Service, ServiceOptions};
use vesica_helper_client::RemoteEvent;
use vesica_label_joins::{Answers, Backend, BackendError, RunName, Stop};
use vesica_labels::List;
use vesica_link::CancelToken;
use vesica_net::Pool;
use vesica_protocols::Security;
use vesica_protocols::kmrs14::{Kind, Slot, aided};
use vesica_tables::OutputOptions;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Case {
    AllCommon,
    NoneCommon,
    /// Half of the keys are common, and the helper gives party a a wrong answer.
    Refused,
}

/// Finds the labels that the lists have in common, stores that answer, and instead answers that all
/// of party a's list is common.
#[derive(Debug)]
struct Lying(Box<dyn Backend>, Arc<Mutex<Vec<u8>>>);

impl Backend for Lying {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn common(&self, run: &RunName, lists: &[List<'_>], stop: Stop<'_>) -> Answers {
        let mut answers = self.0.common(run, lists, stop)?;
        if let Some(answer) = answers.iter_mut().flatten().next() {
            *self.1.lock().unwrap() = answer.as_bytes().to_vec();
            (0..answer.len()).for_each(|label| answer.set(label));
        }
        Ok(answers)
    }

    fn check(&self) -> Result<(), BackendError> {
        self.0.check()
    }

    fn forget(&self, run: &RunName) -> Result<(), BackendError> {
        self.0.forget(run)
    }
}

fn service(scene: &Scene, lies: Option<Arc<Mutex<Vec<u8>>>>) -> Service {
    let pool = Pool::new(NonZeroUsize::MIN).unwrap();
    let state_dir = scene.path("kept");
    let honest = format!("disk:{}", state_dir.display());
    let honest = vesica_label_joins::open(&honest, pool.clone(), 1 << 28).unwrap();
    let party = |name: &str| PartyLimits::new(name, identity(name).parse().unwrap());
    Service::start(ServiceOptions {
        identity: vesica_link::Identity::load(scene.path("helper.key")).unwrap(),
        listen: "127.0.0.1:0".into(),
        parties: ["a", "b"].map(party).into(),
        backend: match lies {
            Some(truth) => Box::new(Lying(honest, truth)),
            None => honest,
        },
        keeping: Keeping::Files,
        state_dir,
        keep: Duration::from_secs(3600),
        idle: Duration::from_secs(20),
        pool,
        workers: 1,
        memory_bytes: 1 << 28,
        max_stored_bytes: None,
        max_stored_percent: 100,
        keep_free_bytes: 0,
        metrics: Some(MetricsOptions { listen: "127.0.0.1:0".into(), allow_remote: false }),
    })
    .unwrap()
}

/// The helper's counts of runs, refusals, and bytes of slots.
fn counted(metrics: SocketAddr) -> Vec<String> {
    let ask = || {
        let mut stream = TcpStream::connect(metrics).unwrap();
        write!(stream, "GET /metrics HTTP/1.1\r\nHost: helper\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let is_open = |line: &str| {
        line.starts_with("vesica_helper_connections{") && !line.trim_end().ends_with(" 0")
    };
    // The bytes of a connection are counted when it ends.
    let ended = (0..500).find_map(|_| {
        let answer = Some(ask()).filter(|answer| !answer.lines().any(is_open));
        answer.or_else(|| {
            std::thread::sleep(Duration::from_millis(20));
            None
        })
    });
    let answer = ended.expect("the connections of parties that have ended end");
    let kinds =
        ["runs_total", "open_runs", "refusals_total", "labels_received", "direction=\"out\""];
    let counts = answer.lines().filter(|line| kinds.iter().any(|kind| line.contains(kind)));
    let mut counts: Vec<_> =
        counts.filter(|line| !line.starts_with('#')).map(str::to_owned).collect();
    counts.sort();
    counts
}

/// The slots of the one run that the helper keeps.
#[derive(Clone)]
struct Slots(PathBuf);

impl Slots {
    fn path(&self, name: &str) -> Option<PathBuf> {
        let mut runs = fs::read_dir(&self.0).into_iter().flatten().flatten();
        Some(runs.next()?.path().join(name))
    }

    fn file(&self, kind: Kind, party: u8) -> Option<PathBuf> {
        let Slot { kind, party, part } = Slot::new(kind, party);
        self.path(&format!("{:02x}-{party:02x}-{part:08x}", kind as u8))
            .filter(|path| path.exists())
    }

    /// Puts another body of the same length into a slot.
    fn replace(&self, kind: Kind, party: u8, change: impl FnOnce(&[u8]) -> Vec<u8>) {
        let path = self.file(kind, party).unwrap();
        let stored = fs::read(&path).unwrap();
        let (body, _) = stored.split_last_chunk::<32>().unwrap();
        let other = change(body);
        assert!(other.len() == body.len() && other != body, "{kind:?}");
        let name = path.file_name().unwrap().to_str().unwrap().as_bytes();
        let digest = derive("vesica helper 2026 stored file v1", &[name, &other]);
        // A rename, because the helper may be reading the file.
        let new = self.0.join("new");
        fs::write(&new, [&other[..], &digest].concat()).unwrap();
        fs::rename(new, path).unwrap();
    }
}

/// A helper that changes its stored data when the parties reach certain steps.
struct Meddling {
    protocol: &'static str,
    slots: Slots,
    /// The true answer for party a's list.
    truth: Arc<Mutex<Vec<u8>>>,
    may_go_on: AtomicBool,
}

impl Meddling {
    /// Called when party b takes this step.
    fn when_b(&self, step: &str) {
        match (self.protocol, step) {
            // b makes its list. The last slot that party a fetches is stored, and not yet
            // released.
            ("server_aided_size_hiding" | "pet", "labels")
                if !self.may_go_on.load(Ordering::SeqCst) =>
            {
                until("the places are there", || self.slots.file(Kind::Places, 0).is_some());
                self.slots.replace(Kind::Places, 0, |places| {
                    let backwards = places.as_chunks::<5>().0.iter().rev();
                    backwards.copied().collect::<Vec<_>>().concat()
                });
                self.may_go_on.store(true, Ordering::SeqCst);
            }
            // b opens its list: the helper has committed to the answers.
            ("server_aided_fair", "sending") if self.slots.file(Kind::Commitment, 0).is_some() => {
                until("party a waits", || self.may_go_on.load(Ordering::SeqCst));
            }
            _ => {}
        }
    }

    /// Called when party a waits for the helper. Party a reads nothing before this returns.
    fn when_a_waits(&self) {
        let has_opened = self.slots.file(Kind::OuterSecret, 0).is_some();
        if self.protocol != "server_aided_fair" || !has_opened {
            return;
        }
        if self.may_go_on.load(Ordering::SeqCst) {
            return;
        }
        // The helper has committed to the lie. It checks the lists against the truth, and then
        // opens the lie.
        let mut lie = Vec::new();
        self.slots.replace(Kind::Kept, 0, |kept| {
            lie = kept.to_vec();
            self.truth.lock().unwrap().clone()
        });
        self.may_go_on.store(true, Ordering::SeqCst);
        // The helper syncs its answers before it opens them. A race remains: see `seen`.
        until("the answer is stored", || self.slots.file(Kind::Answer, 0).is_some());
        self.slots.replace(Kind::Answer, 0, |_| lie);
    }
}

struct OfB(Option<Arc<Meddling>>);

impl Observer for OfB {
    fn event(&self, event: &Event<'_>) {
        if let (Event::Step { label, .. }, Some(helper)) = (event, &self.0) {
            helper.when_b(label);
        }
    }
}

/// What party a has done by the time its last message is sent.
#[derive(Debug, PartialEq)]
struct Before {
    /// Events of party a's own steps.
    events: Vec<String>,
    /// Bytes read from files, bytes written to files, calls that read, and calls that write, as the
    /// system counts them for the party's thread.
    files: [u64; 4],
    /// The names and lengths of the files in the run's folder.
    folder: Vec<(String, u64)>,
}

struct OfA {
    helper: Option<Arc<Meddling>>,
    slots: Slots,
    folder: PathBuf,
    output: PathBuf,
    events: Mutex<Vec<String>>,
    at_start: Mutex<[u64; 4]>,
    before: Mutex<Option<Before>>,
    /// Whether party a is killed right after its last message.
    dies: bool,
}

/// This thread's counts of reads from and writes to files, and the bytes that reading these counts
/// takes.
fn file_calls() -> ([u64; 4], u64) {
    let io = fs::read_to_string("/proc/thread-self/io").unwrap();
    let counts = ["rchar", "wchar", "syscr", "syscw"].map(|name| {
        let line = io.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        line.unwrap().parse().unwrap()
    });
    (counts, io.len() as u64)
}

fn listed(folder: &Path) -> Vec<(String, u64)> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let mut files: Vec<_> = entries
        .map(|entry| (entry.file_name().into_string().unwrap(), entry.metadata().unwrap().len()))
        .collect();
    files.sort();
    files
}

impl Observer for OfA {
    fn event(&self, event: &Event<'_>) {
        match event {
            Event::Phase(phase) => {
                if self.events.lock().unwrap().is_empty() {
                    // The text of the counts has no fixed length.
                    let (mut counts, text_len) = file_calls();
                    counts[0] += text_len;
                    *self.at_start.lock().unwrap() = counts;
                }
                self.events.lock().unwrap().push(phase.name().to_owned());
            }
            Event::Agreed => self.events.lock().unwrap().push("agreed".to_owned()),
            Event::Checked => self.events.lock().unwrap().push("checked".to_owned()),
            Event::Helper(RemoteEvent::Waiting { .. }) => {
                // On another thread, so that the helper's reads and writes do not count as the
                // party's.
                if let Some(helper) = self.helper.clone() {
                    std::thread::spawn(move || helper.when_a_waits()).join().unwrap();
                }
            }
            Event::LastMessage => {
                let ((now, _), at_start) = (file_calls(), *self.at_start.lock().unwrap());
                // The helper has received the message: it records that in the run's directory, or
                // has removed the directory.
                let is_removed = |path: &Path| !path.parent().is_some_and(Path::exists);
                let record = self.slots.path("done-00");
                let is_received = record.is_none_or(|path| path.exists() || is_removed(&path));
                assert!(is_received && !self.output.exists());
                *self.before.lock().unwrap() = Some(Before {
                    events: self.events.lock().unwrap().clone(),
                    files: std::array::from_fn(|i| now[i] - at_start[i]),
                    folder: listed(&self.folder),
                });
                if self.dies {
                    std::panic::resume_unwind(Box::new("killed"));
                }
            }
            _ => {}
        }
    }
}

/// What party a did until its last message, and the helper's counts. If `dies`, party a is killed
/// after that message and started again.
fn seen(protocol: (&'static str, &'static str), case: Case, dies: bool) -> (Before, Vec<String>) {
    // If the helper sent the true answer before it could be replaced, party a refuses it at once.
    let tries = (0..10).find_map(|_| seen_unless_too_late(protocol, case, dies));
    tries.unwrap_or_else(|| panic!("{protocol:?} {case:?}: always refused before the last message"))
}

/// `None` if party a received the true answer, which does not open the commitment to the lie.
fn seen_unless_too_late(
    (protocol, security): (&'static str, &'static str),
    case: Case,
    dies: bool,
) -> Option<(Before, Vec<String>)> {
    let mut scene = Scene::new();
    let truth = Arc::default();
    let is_backend_asked = !["server_aided_size_hiding", "pet"].contains(&protocol);
    let is_refused = case == Case::Refused;
    let lies = Some(Arc::clone(&truth)).filter(|_| is_refused && is_backend_asked);
    let service = service(&scene, lies);
    scene.address = service.addresses()[0].to_string();
    let (len, max_rows) = if protocol == "pet" { (1, 1) } else { (400, 1000) };
    scene.agreement("run", &Terms { protocol, security, max_rows, ..TERMS });
    let a = people(1..1 + len);
    let b = match case {
        Case::AllCommon => a.clone(),
        Case::NoneCommon => people(501..501 + len),
        Case::Refused => people(1 + len / 2..1 + len / 2 + len),
    };
    scene.write("a.csv", &a);
    scene.write("b.csv", &b);

    let slots = Slots(scene.path("kept/runs"));
    let meddling = is_refused.then(|| {
        let may_go_on = AtomicBool::new(false);
        Arc::new(Meddling { protocol, slots: slots.clone(), truth, may_go_on })
    });
    let job = |party: &str| {
        let mut job = scene.job("run", party);
        let path = scene.path(&format!("{party}.out.csv"));
        job.output = Some(OutputOptions { path, force: false });
        job
    };
    let [job_a, job_b, mut again] = ["a", "b", "a"].map(job);
    again.state.folder = job_a.state.folder.clone();
    let of_a = Arc::new(OfA {
        helper: meddling.clone(),
        slots,
        folder: job_a.state.folder.clone().unwrap(),
        output: scene.path("a.out.csv"),
        events: Mutex::default(),
        at_start: Mutex::default(),
        before: Mutex::default(),
        dies,
    });
    let [ended_a, ended_b] = std::thread::scope(|scope| {
        let a = scope.spawn(|| run(job_a, of_a.clone(), &CancelToken::new()));
        let b = scope.spawn(|| run(job_b, Arc::new(OfB(meddling)), &CancelToken::new()));
        [a, b].map(|party| party.join())
    });
    let ended_a = match ended_a {
        Ok(ended) => ended,
        Err(_) => {
            assert!(dies && listed(&of_a.folder).iter().any(|(name, _)| name == "answer"));
            run(again, Arc::new(Silent), &CancelToken::new())
        }
    };
    match ended_a {
        Err(Error::PeerMisbehaved { phase: Phase::Matching, .. })
            if is_refused && protocol == "server_aided_fair" =>
        {
            return None;
        }
        Err(Error::PeerMisbehaved { .. }) if is_refused => {
            assert!(!scene.path("a.out.csv").exists(), "{protocol}");
        }
        Ok(_) if !is_refused => {
            assert!(scene.read("a.out.csv") == joined(&a, &[&a, &b]), "{protocol} {case:?}");
        }
        ended => panic!("{protocol} {case:?}: {:?}", ended.map(|_| ())),
    }
    if let Err(error) = ended_b.unwrap() {
        panic!("{protocol} {case:?}: {error}");
    }
    assert!(scene.read("b.out.csv") == joined(&b, &[&a, &b]), "{protocol} {case:?}");
    assert!(scene.states().is_empty(), "{protocol} {case:?}");
    let counted = counted(service.metrics_address().unwrap());
    let finished = "vesica_helper_runs_total{outcome=\"finished\"} 1";
    assert!(counted.iter().any(|line| line == finished), "{protocol}: {counted:#?}");
    assert!(service.shutdown(Duration::from_secs(20)));
    let before = of_a.before.lock().unwrap().take().unwrap();
    Some((before, counted))
}

#[test]
fn what_is_done_before_the_last_message_does_not_depend_on_the_answer() {
    for row in aided() {
        let security = match row.helper_security {
            Security::Malicious => "malicious",
            _ => "semi-honest",
        };
        let [all, none, refused] = [Case::AllCommon, Case::NoneCommon, Case::Refused]
            .map(|case| seen((row.id, security), case, false));
        assert_eq!(all, none, "{}", row.id);
        assert_eq!(all, refused, "{}", row.id);
        let expected = ["preparing", "reading", "connecting", "meeting", "agreed", "matching"];
        assert_eq!(all.0.events, expected, "{}", row.id);
        assert!(all.0.folder.iter().any(|(name, _)| name == "answer"), "{:?}", all.0.folder);
    }
}

#[test]
fn a_party_killed_with_a_wrong_answer_refuses_it_when_it_comes_back() {
    for protocol in [("server_aided", "semi-honest"), ("server_aided_size_hiding", "malicious")] {
        // `seen` checks how the party ends. The helper's counts depend on whether it still has the
        // run when the party is started again.
        let [(killed, _), (not_killed, _)] =
            [true, false].map(|dies| seen(protocol, Case::Refused, dies));
        assert_eq!(killed, not_killed);
    }
}
