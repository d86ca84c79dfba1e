//! Parties and helpers that are killed, stopped or out of space: the same commands continue and
//! give the same result.

use super::{assert_results, with_files};
use crate::aided::scene::{Scene, TERMS, Terms, until, until_told};
use crate::support::{Running, vesica};
use nix::sys::signal::Signal;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use vesica_engine::{ConfigFault, Error, Event, InputFault, Job, Observer, Phase, Silent, run};
use vesica_helper_client::RemoteEvent;
use vesica_link::CancelToken;
use vesica_tables::OutputOptions;

/// Numbers of kinds of slots.
const HELLO: u8 = 1;
const LABELS: u8 = 3;
const SIZE: u8 = 4;
const RELAYED: u8 = 14;

/// The file that a process holds while it uses a folder.
const LOCK: &str = "vesica-run.lock";

/// A tenth of each party's keys: enough that a test can kill a party in each phase of a run.
const STEP: u64 = 20_000;

fn kill(running: Running) {
    running.signal(Signal::SIGKILL);
    assert_eq!(running.wait().code, None, "it was killed");
}

/// Whether the process is writing a result file.
fn writes(scene: &Scene, running: &Running) -> bool {
    let Ok(open) = fs::read_dir(format!("/proc/{}/fd", running.pid())) else { return false };
    open.flatten().any(|entry| {
        // `/proc` shows an unnamed file as a deleted file of its directory.
        let is_unnamed = fs::read_link(entry.path()).is_ok_and(|path| {
            path.parent() == Some(scene.directory())
                && path.to_string_lossy().ends_with("(deleted)")
        });
        is_unnamed && fs::metadata(entry.path()).is_ok_and(|file| file.len() > 0)
    })
}

/// Party `a`, which waits one second for the other party.
fn impatient(scene: &Scene) -> Command {
    let mut command = vesica();
    command.args(["run", "two.toml", "--key", "a.key", "--input", "a.csv"]);
    command.args(["--output", "a.out.csv", "--connect", &scene.address, "--wait", "1s"]);
    command.current_dir(scene.directory());
    command
}

#[track_caller]
fn assert_clean(scene: &Scene) {
    assert!(scene.states().is_empty(), "{:?}", scene.states());
}

#[test]
fn runs_continue_after_a_party_is_killed_at_any_moment() {
    for (protocol, security) in
        [("server_aided", "semi-honest"), ("server_aided_size_hiding", "malicious")]
    {
        let scene = Scene::new();
        let _helper = scene.helper(&[]);
        let expected = with_files(&scene, &["a", "b"], STEP);
        scene.agreement("two.toml", &Terms { protocol, security, ..TERMS });
        let start = |party| Running::start(scene.party("two.toml", party));

        // Reading: only its folder exists.
        let mut a = start("a");
        until("a begins", || !scene.states().is_empty());
        assert!(!a.has_ended());
        kill(a);
        // Meeting.
        let mut a = start("a");
        until_told(&mut a, "waiting for b");
        assert!(scene.keeps(HELLO, 0));
        kill(a);
        // Sending, after the other party has sent its hello and stopped.
        let mut b = start("b");
        until_told(&mut b, "already connected: a");
        let a = start("a");
        until("b sends its list", || scene.keeps(LABELS, 1) || scene.keeps(RELAYED, 1));
        kill(b);
        // Waiting for the other party's list.
        until("a has sent its list", || scene.keeps(SIZE, 0));
        kill(a);
        // Writing.
        let (a, b) = (start("a"), start("b"));
        until("one of them writes", || [&a, &b].into_iter().any(|running| writes(&scene, running)));
        for running in [a, b] {
            running.signal(Signal::SIGKILL);
            drop(running.wait());
        }
        // A party without a folder had finished.
        let parties = ["a", "b"].into_iter();
        let is_left = |party: &&str| scene.states().iter().any(|name| name.ends_with(party));
        let left: Vec<Running> = parties.filter(is_left).map(start).collect();
        for running in left {
            let ended = running.wait();
            ended.assert_code(0);
            assert!(ended.stderr.contains("continuing the run in vesica-run-"), "{ended:#?}");
        }
        assert_results(&scene, &expected);
        assert_clean(&scene);
    }
}

#[test]
fn runs_continue_after_the_helper_is_killed_at_any_moment() {
    for (protocol, security) in [
        ("server_aided", "semi-honest"),
        ("server_aided_fair", "malicious"),
        ("server_aided_size_hiding", "malicious"),
    ] {
        let scene = Scene::new();
        let expected = with_files(&scene, &["a", "b"], STEP);
        scene.agreement("two.toml", &Terms { protocol, security, ..TERMS });
        let start = |party| Running::start(scene.party("two.toml", party));
        // Neither the helper nor b has started.
        let mut a = start("a");
        let helper = scene.helper(&[]);
        // Meeting.
        until_told(&mut a, "waiting for b");
        kill(helper);
        until_told(&mut a, "cloud cannot be reached");
        let helper = scene.helper(&[]);
        // Sending.
        let b = start("b");
        until("lists are sent", || scene.keeps(LABELS, 0) || scene.keeps(LABELS, 1));
        kill(helper);
        let helper = scene.helper(&[]);
        // Computing, or answering.
        until("lists are complete", || scene.keeps(SIZE, 0) && scene.keeps(SIZE, 1));
        kill(helper);
        let _helper = scene.helper(&[]);
        for running in [a, b] {
            let ended = running.wait();
            ended.assert_code(0);
        }
        assert_results(&scene, &expected);
        assert_clean(&scene);
    }
}

#[test]
fn runs_continue_after_a_clean_restart_of_the_helper() {
    let scene = Scene::new();
    let expected = with_files(&scene, &["a", "b"], 100);
    scene.agreement("two.toml", &TERMS);
    let helper = scene.helper(&[]);
    let mut a = Running::start(scene.party("two.toml", "a"));
    until_told(&mut a, "waiting for b");
    helper.signal(Signal::SIGTERM);
    let ended = helper.wait();
    ended.assert_code(0);
    assert!(ended.stdout.contains("ended cleanly"), "{ended:#?}");
    until_told(&mut a, "cloud cannot be reached (it is shutting down); trying again");
    let _helper = scene.helper(&[]);
    let b = Running::start(scene.party("two.toml", "b"));
    for running in [a, b] {
        running.wait().assert_code(0);
    }
    assert_results(&scene, &expected);
}

#[test]
fn an_interrupted_party_is_told_that_the_same_command_continues_the_run() {
    let scene = Scene::new();
    let _helper = scene.helper(&[]);
    let expected = with_files(&scene, &["a", "b"], 100);
    scene.agreement("two.toml", &TERMS);
    let mut a = Running::start(scene.party("two.toml", "a"));
    until_told(&mut a, "waiting for b");
    a.signal(Signal::SIGINT);
    a.wait().assert_failed(130, "the same command continues where the run stopped");
    // With other rows the run does not continue.
    let rows = scene.read("a.csv");
    scene.write("a.csv", format!("{rows}7,new@example.com\n"));
    Running::start(scene.party("two.toml", "a"))
        .wait()
        .assert_failed(3, "the file changed since the run");
    scene.write("a.csv", rows);
    let parties = ["a", "b"].map(|party| Running::start(scene.party("two.toml", party)));
    for running in parties {
        running.wait().assert_code(0);
    }
    assert_results(&scene, &expected);
    assert_clean(&scene);
}

#[test]
fn a_restart_ends_the_run_for_the_others_and_begins_a_new_one() {
    let scene = Scene::new();
    let _helper = scene.helper(&[]);
    with_files(&scene, &["a", "b"], 100);
    scene.agreement("two.toml", &TERMS);
    let mut a = Running::start(scene.party("two.toml", "a"));
    until_told(&mut a, "waiting for b");
    kill(a);
    let mut b = Running::start(scene.party("two.toml", "b"));
    until_told(&mut b, "already connected: a");
    // Not the rows that the first run started with.
    let expected = with_files(&scene, &["a", "b"], 50);
    let mut command = scene.party("two.toml", "a");
    command.arg("--restart");
    let a = Running::start(command);
    b.wait().assert_failed(5, "a ended the run");
    let b = Running::start(scene.party("two.toml", "b"));
    for running in [a, b] {
        running.wait().assert_code(0);
    }
    assert_results(&scene, &expected);
    assert_clean(&scene);
}

/// Interrupts a party as soon as it has joined the run.
struct Interrupts(CancelToken);

impl Observer for Interrupts {
    fn event(&self, event: &Event<'_>) {
        if matches!(event, Event::Helper(RemoteEvent::Joined { .. })) {
            self.0.cancel();
        }
    }
}

/// Until the helper confirms that the run has ended, it may hold an answer that needs the
/// secrets in the folder.
#[test]
fn an_unconfirmed_restart_leaves_the_run_unchanged() {
    let scene = Scene::new();
    let _helper = scene.helper(&[]);
    let expected = with_files(&scene, &["a", "b"], 100);
    scene.agreement("two.toml", &TERMS);
    let mut a = Running::start(scene.party("two.toml", "a"));
    until_told(&mut a, "waiting for b");
    kill(a);
    // Interrupted after it reaches the helper, and before the helper ends the run.
    let [folder] = &scene.states()[..] else { panic!("{:?}", scene.states()) };
    let cancel = CancelToken::new();
    let mut job = scene.job("two.toml", "a");
    job.output = Some(OutputOptions { path: scene.path("a.out.csv"), force: false });
    job.state.folder = Some(scene.path(folder));
    job.state.restart = true;
    let observer = Arc::new(Interrupts(cancel.clone()));
    let ended = run(job, observer, &cancel).unwrap_err();
    assert!(matches!(ended, Error::Interrupted { .. }), "{ended:?}");
    assert_eq!(scene.states().len(), 1);
    let [a, b] = ["a", "b"].map(|party| Running::start(scene.party("two.toml", party)));
    let a = a.wait();
    a.assert_code(0);
    assert!(a.stderr.contains("continuing the run in vesica-run-"), "{a:#?}");
    b.wait().assert_code(0);
    assert_results(&scene, &expected);
    assert_clean(&scene);
}

#[test]
fn a_run_that_the_helper_has_forgotten_begins_anew() {
    let scene = Scene::new();
    let expected = with_files(&scene, &["a", "b"], 100);
    scene.agreement("two.toml", &TERMS);
    let helper = scene.helper(&[]);
    let mut a = Running::start(scene.party("two.toml", "a"));
    until_told(&mut a, "waiting for b");
    kill(helper);
    fs::remove_dir_all(scene.path("kept")).unwrap();
    let _helper = scene.helper(&[]);
    a.wait().assert_failed(5, "cloud no longer has this run");
    assert_clean(&scene);
    for running in ["a", "b"].map(|party| Running::start(scene.party("two.toml", party))) {
        running.wait().assert_code(0);
    }
    assert_results(&scene, &expected);
}

#[test]
fn a_run_waits_for_a_helper_whose_disk_is_full() {
    let scene = Scene::new();
    let expected = with_files(&scene, &["a", "b"], 2000);
    scene.agreement("two.toml", &TERMS);
    // No file above some kilobytes: the messages of the meeting fit, the labels do not.
    let helper = scene.helper_after("trap '' XFSZ; ulimit -f 16;", &[]);
    let mut parties = ["a", "b"].map(|party| Running::start(scene.party("two.toml", party)));
    for party in &mut parties {
        until_told(party, "cloud cannot be reached (its disk is full or faulty); trying again");
    }
    helper.signal(Signal::SIGTERM);
    helper.wait().assert_code(0);
    let _helper = scene.helper(&[]);
    for running in parties {
        running.wait().assert_code(0);
    }
    assert_results(&scene, &expected);
}

#[test]
fn a_folder_of_another_interrupted_run_is_refused_and_unchanged() {
    let scene = Scene::new();
    let _helper = scene.helper(&[]);
    let expected = with_files(&scene, &["a", "b"], 100);
    scene.agreement("two.toml", &TERMS);
    scene.agreement("other.toml", &Terms { title: "another", ..TERMS });
    let with = |agreement: &str, party: &str, output: &str| {
        let mut command = vesica();
        let (key, input) = (format!("{party}.key"), format!("{party}.csv"));
        command.args(["run", agreement, "--key", &key, "--input", &input, "--output", output]);
        command.args(["--connect", &scene.address, "--wait", "1s", "--state", "one-folder"]);
        command.current_dir(scene.directory());
        Running::start(command).wait()
    };
    with("two.toml", "a", "a.out.csv").assert_failed(5, "b did not connect within 1 s");
    let taken = "one-folder belongs to an interrupted run of another agreement";
    with("other.toml", "a", "other.csv").assert_failed(3, taken);
    with("two.toml", "b", "b.out.csv").assert_failed(3, taken);
    let b = Running::start(scene.party("two.toml", "b"));
    let a = with("two.toml", "a", "a.out.csv");
    a.assert_code(0);
    assert!(a.stderr.contains("continuing the run in one-folder"), "{a:#?}");
    b.wait().assert_code(0);
    assert_results(&scene, &expected);
}

#[test]
fn a_party_that_gives_up_waiting_can_continue_later() {
    let scene = Scene::new();
    let _helper = scene.helper(&[]);
    let expected = with_files(&scene, &["a", "b"], 100);
    scene.agreement("two.toml", &TERMS);
    Running::start(impatient(&scene)).wait().assert_failed(5, "b did not connect within 1 s");
    let parties = ["a", "b"].map(|party| Running::start(scene.party("two.toml", party)));
    for running in parties {
        running.wait().assert_code(0);
    }
    assert_results(&scene, &expected);
}

#[test]
fn a_restart_replaces_a_folder_with_damaged_files() {
    let scene = Scene::new();
    let _helper = scene.helper(&[]);
    let expected = with_files(&scene, &["a", "b"], 100);
    scene.agreement("two.toml", &TERMS);
    for (file, bytes) in
        [("owner", &[][..]), ("owner", &[7; 31]), ("instance", &[7; 15]), ("instance", &[0; 16])]
    {
        let mut a = Running::start(scene.party("two.toml", "a"));
        until_told(&mut a, "waiting for b");
        kill(a);
        let [folder] = &scene.states()[..] else { panic!("{:?}", scene.states()) };
        scene.write(&format!("{folder}/{file}"), bytes);
        let told = "its contents are damaged: add --restart";
        Running::start(scene.party("two.toml", "a")).wait().assert_failed(3, told);
        let mut restart = scene.party("two.toml", "a");
        restart.arg("--restart");
        let (a, b) = (Running::start(restart), Running::start(scene.party("two.toml", "b")));
        // If b connects before a abandons the old run, b learns that a did.
        let b = b.wait();
        if b.code != Some(0) {
            Running::start(scene.party("two.toml", "b")).wait().assert_code(0);
        }
        a.wait().assert_code(0);
        assert_results(&scene, &expected);
        assert_clean(&scene);
        for party in ["a", "b"] {
            fs::remove_file(scene.path(&format!("{party}.out.csv"))).unwrap();
        }
    }
}

#[test]
fn a_party_killed_before_its_summary_gives_its_result_again() {
    let scene = Scene::new();
    let _helper = scene.helper(&[]);
    let expected = with_files(&scene, &["a", "b"], 100);
    scene.agreement("two.toml", &TERMS);
    // The pipe is full and has no reader, so a blocks when it prints its summary.
    let (unread, full) = std::io::pipe().unwrap();
    let mut filling = full.try_clone().unwrap();
    let filling = std::thread::spawn(move || filling.write_all(&[b' '; 1 << 21]));
    let b = Running::start(scene.party("two.toml", "b"));
    let mut a = scene.party("two.toml", "a").stdout(full).stderr(Stdio::null()).spawn().unwrap();
    b.wait().assert_code(0);
    // It is about to print its summary.
    until("the result is in place", || scene.path("a.out.csv").exists());
    a.kill().unwrap();
    a.wait().unwrap();
    drop(unread);
    assert!(filling.join().unwrap().is_err());
    let [folder] = &scene.states()[..] else { panic!("{:?}", scene.states()) };
    // The folder as it is in the middle of its removal.
    let copied = scene.path("copied");
    fs::create_dir(&copied).unwrap();
    for (name, from) in [("finished", "owner"), ("owner", "owner"), (LOCK, LOCK)] {
        fs::copy(scene.path(folder).join(from), copied.join(name)).unwrap();
    }
    let again = Running::start(scene.party("two.toml", "a")).wait();
    again.assert_code(0);
    assert!(again.stderr.contains("continuing the run in vesica-run-"), "{again:#?}");
    assert!(!again.stdout.contains("already finished"), "{again:#?}");
    assert_results(&scene, &expected);
    assert_clean(&scene);

    fs::set_permissions(&copied, fs::Permissions::from_mode(0o700)).unwrap();
    fs::rename(copied, scene.path(folder)).unwrap();
    let ended = Running::start(scene.party("two.toml", "a")).wait();
    ended.assert_code(0);
    assert!(
        ended.stdout.contains("the run had already finished before this command"),
        "{ended:#?}"
    );
    assert_results(&scene, &expected);
    assert_clean(&scene);
}

/// Ends a party at an event, as suddenly as a signal would.
struct Dies<F>(F);

impl<F: Fn(&Event<'_>) -> bool + Send + Sync> Observer for Dies<F> {
    fn event(&self, event: &Event<'_>) {
        if (self.0)(event) {
            std::panic::resume_unwind(Box::new("killed"));
        }
    }
}

/// Party a's job with a result file, in the folder `a`.
fn job_of_a(scene: &Scene) -> Job {
    let mut job = scene.job("two.toml", "a");
    job.output = Some(OutputOptions { path: scene.path("a.out.csv"), force: false });
    job.state.folder = Some(scene.path("state-of-a"));
    job
}

#[test]
fn a_party_killed_before_its_result_is_in_place_writes_it_later() {
    let has_sent = |event: &Event<'_>| matches!(event, Event::LastMessage);
    let writes = |event: &Event<'_>| matches!(event, Event::Phase(Phase::Writing));
    for (protocol, security) in
        [("server_aided", "semi-honest"), ("server_aided_size_hiding", "malicious")]
    {
        for dies_writing in [false, true] {
            let scene = Scene::new();
            let expected = with_files(&scene, &["a", "b"], 100);
            scene.agreement("two.toml", &Terms { protocol, security, ..TERMS });
            let helper = scene.helper(&[]);
            let b = Running::start(scene.party("two.toml", "b"));
            let dies = Dies(
                move |event: &Event<'_>| if dies_writing { writes(event) } else { has_sent(event) },
            );
            let job = job_of_a(&scene);
            let killed = std::thread::spawn(|| run(job, Arc::new(dies), &CancelToken::new()));
            assert!(killed.join().is_err());
            b.wait().assert_code(0);
            let answer = scene.path("state-of-a/answer");
            let mode = fs::metadata(&answer).unwrap().permissions().mode() & 0o777;
            assert!(mode == 0o600 && !scene.path("a.out.csv").exists());
            // The helper keeps nothing of the run. A party that knows that the helper received its
            // last message does not need the helper.
            until("the helper has removed the run", || {
                fs::read_dir(scene.path("kept/runs")).is_ok_and(|mut runs| runs.next().is_none())
            });
            let helper = if dies_writing {
                kill(helper);
                None
            } else {
                Some(helper)
            };
            // With other rows there is no result.
            let rows = scene.read("a.csv");
            scene.write("a.csv", format!("{rows}7,new@example.com\n"));
            // Other threads of the killed party may still hold its folder.
            let start = Instant::now();
            let other = loop {
                match run(job_of_a(&scene), Arc::new(Silent), &CancelToken::new()) {
                    Err(Error::Config(ConfigFault::StateInUse { .. }))
                        if start.elapsed() < Duration::from_secs(20) => {}
                    other => break other,
                }
            };
            assert!(matches!(other, Err(Error::Input(InputFault::OtherRows { .. }))), "{other:?}");
            scene.write("a.csv", rows);
            // Only the run's own result file may be replaced.
            scene.write("another.csv", "stays");
            let mut misdirected = job_of_a(&scene);
            misdirected.output =
                Some(OutputOptions { path: scene.path("another.csv"), force: false });
            let other = run(misdirected, Arc::new(Silent), &CancelToken::new());
            assert!(matches!(other, Err(Error::Input(InputFault::Output { .. }))), "{other:?}");
            assert_eq!(scene.read("another.csv"), "stays");
            fs::remove_file(scene.path("another.csv")).unwrap();
            let ended = run(job_of_a(&scene), Arc::new(Silent), &CancelToken::new()).unwrap();
            let lines = scene.read("a.out.csv").lines().count() as u64;
            assert_eq!(ended.report.result.rows_written, Some(lines - 1));
            assert_results(&scene, &expected);
            assert_clean(&scene);
            drop(helper);
        }
    }
}

/// The helper still has the run, because the other party has not received its answer.
#[test]
fn a_party_killed_after_its_last_message_may_say_it_again() {
    let scene = Scene::new();
    let _helper = scene.helper(&[]);
    let expected = with_files(&scene, &["a", "b"], 100);
    scene.agreement("two.toml", &TERMS);
    let b_is_gone = Arc::new(AtomicBool::new(false));
    let b_was = Arc::clone(&b_is_gone);
    let dies = Dies(move |event: &Event<'_>| {
        if matches!(event, Event::Step { label: "sending", .. }) {
            until("b is gone", || b_was.load(Ordering::SeqCst));
        }
        matches!(event, Event::LastMessage)
    });
    let job = job_of_a(&scene);
    let killed = std::thread::spawn(|| run(job, Arc::new(dies), &CancelToken::new()));
    let b = Running::start(scene.party("two.toml", "b"));
    until("b has sent its list", || scene.keeps(SIZE, 1));
    kill(b);
    b_is_gone.store(true, Ordering::SeqCst);
    assert!(killed.join().is_err() && !scene.path("a.out.csv").exists());
    run(job_of_a(&scene), Arc::new(Silent), &CancelToken::new()).unwrap();
    Running::start(scene.party("two.toml", "b")).wait().assert_code(0);
    assert_results(&scene, &expected);
    assert_clean(&scene);
}
