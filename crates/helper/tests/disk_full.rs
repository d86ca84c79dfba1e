//! A full disk.

#[path = "integration/common.rs"]
mod common;

use common::{Fixture, ask_page, hello, slot, until, with_pages};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use std::process::Command;
use std::time::Duration;
use vesica_core::{Error, Refusal};
use vesica_helper_client::{Remote, RemoteEvent};

use vesica_server_aided::kmrs14::{Boards, Kind};

const CHILD: &str = "VESICA_TEST_DISK_FULL_CHILD";

/// The limit on the size of files holds for the whole process, and raises a signal: the test needs
/// its own process.
#[test]
fn a_full_disk_is_reported_and_the_run_continues_when_there_is_space() {
    if std::env::var_os(CHILD).is_some() {
        return in_a_process_of_its_own();
    }
    let name = "a_full_disk_is_reported_and_the_run_continues_when_there_is_space";
    let done = Command::new("sh")
        .args(["-c", "trap '' XFSZ; exec \"$0\" --exact \"$1\" --nocapture"])
        .arg(std::env::current_exe().unwrap())
        .arg(name)
        .env(CHILD, "1")
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&done.stdout) + String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success() && printed.contains("1 passed"), "{printed}");
}

/// Limits the size of files to this many bytes.
fn limit_files(bytes: u64) {
    let (_, hard) = getrlimit(Resource::RLIMIT_FSIZE).unwrap();
    setrlimit(Resource::RLIMIT_FSIZE, bytes.min(hard), hard).unwrap();
}

fn in_a_process_of_its_own() {
    let fixture = Fixture::new(2);
    let service = fixture.start_with(with_pages);
    let health = || ask_page(&service, b"GET /healthz HTTP/1.1\r\n\r\n");
    assert!(health().ends_with("ok\n"));
    let spec = fixture.spec(2);
    let (remote, events) = fixture.recording_remote(&service, 0, &spec);
    let other = fixture.remote(&service, 1, &spec);
    let mut others = other.open().unwrap();
    others.put(slot(Kind::Hello, 1), &hello(1)).unwrap();
    others.sync().unwrap();
    let mut board = remote.open().unwrap();
    board.put(slot(Kind::Hello, 0), &hello(0)).unwrap();
    board.sync().unwrap();
    // Small slots fit, a share of 20,000 bytes does not.
    limit_files(10_000);
    let full = Error::Refused(Refusal::Storage);
    let mut impatient = fixture.remote_options(&service, 0, &spec);
    impatient.link.wait = Duration::from_secs(1);
    let impatient = Remote::new(impatient);
    let mut gives_up = impatient.open().unwrap();
    gives_up.put(slot(Kind::Share, 0), &[7; 20_000]).unwrap();
    assert_eq!(gives_up.sync(), Err(full.clone()));
    // Although there is space for the write test.
    assert!(health().ends_with("failing: store\n"));
    std::thread::scope(|scope| {
        let waiting = scope.spawn(move || {
            board.put(slot(Kind::Share, 0), &[7; 20_000]).unwrap();
            board.sync()
        });
        until("the party is refused", || {
            let events = events.lock().unwrap();
            events.iter().any(
                |event| matches!(event, RemoteEvent::Reconnecting { error, .. } if *error == full),
            )
        });
        // Others are served.
        others.put(slot(Kind::Share, 1), b"small").unwrap();
        others.sync().unwrap();
        assert_eq!(others.get(slot(Kind::Hello, 0), 200).unwrap(), hello(0));
        limit_files(u64::MAX);
        waiting.join().unwrap().unwrap();
    });
    assert_eq!(others.get(slot(Kind::Share, 0), 30_000).unwrap(), [7; 20_000]);
    assert!(events.lock().unwrap().contains(&RemoteEvent::Resumed));
    // Nothing remains of what did not fit.
    let run = std::fs::read_dir(fixture.state().join("runs")).unwrap().next().unwrap().unwrap();
    let names = std::fs::read_dir(run.path()).unwrap();
    let temporary = names
        .filter(|file| file.as_ref().unwrap().file_name().to_string_lossy().starts_with(".new"));
    assert_eq!(temporary.count(), 0);
}
