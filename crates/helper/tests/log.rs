//! The contents of the log.

#[path = "integration/aided.rs"]
mod aided;
#[path = "integration/common.rs"]
mod common;

use aided::run_all;
use common::{Fixture, MAX_ROWS, hello, refusal, slot};
use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use vesica_core::Refusal;
use vesica_server_aided::kmrs14::{Boards, Kind, Spec, Variant};

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Lines {
    /// All lines that contain `what`.
    fn of(&self, what: &str) -> Vec<String> {
        let logged = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        logged.lines().filter(|line| line.contains(what)).map(str::to_owned).collect()
    }

    fn one(&self, what: &str) -> String {
        let found = self.of(what);
        assert_eq!(found.len(), 1, "{what}: {found:?}");
        found[0].clone()
    }
}

// The whole process has one log, so there is one test.
#[test]
fn runs_are_named_by_their_instance_and_endings_by_who_ended_them() {
    let lines = Lines::default();
    let written = lines.clone();
    tracing_subscriber::fmt().with_ansi(false).with_writer(move || written.clone()).init();
    let fixture = Fixture::new(3);
    let service = fixture.start();
    let started = lines.one("helper started");
    assert!(started.contains(&format!("addresses=\"{}\"", service.addresses()[0])), "{started}");

    let spec = fixture.spec(2);
    let [first, second] = [0, 1].map(|party| fixture.remote(&service, party, &spec));
    let mut board = first.open().unwrap();
    board.put(slot(Kind::Hello, 0), &hello(0)).unwrap();
    board.sync().unwrap();
    drop(second.open().unwrap());
    second.end().unwrap();
    let short = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let run = format!("run={} ", short(&first.instance().unwrap()[..6]));
    let opened = lines.one("run opened");
    let agreement = format!("agreement=\"{}\"", short(&[9; 8]));
    assert!(opened.contains(&run) && opened.contains(&agreement), "{opened}");
    assert!(opened.contains("parties=\"party-0, party-1\""), "{opened}");
    let ended = lines.one("run ended and forgotten");
    assert!(ended.contains(&run) && ended.contains("age_s=0"), "{ended}");
    assert!(ended.contains("reason=\"ended\" by=\"party-1\""), "{ended}");

    // Of no run.
    let stranger = fixture.remote(&service, 2, &spec);
    assert_eq!(refusal(stranger.open()), Refusal::NotAParty);
    let refused = lines.one("refused");
    assert!(refused.contains("party=\"party-2\" reason=\"not_a_party\""), "{refused}");

    let spec = Spec { variant: Variant::SizeHiding, ..fixture.spec_of(&[0, 1], 4) };
    run_all(&fixture, &service, &spec, &[0, 1], MAX_ROWS);
    lines.one("labels replaced by new ones");
    lines.one("places of the labels released");
    run_all(&fixture, &service, &fixture.spec_of(&[0, 1], 5), &[0, 1], MAX_ROWS);
    let compared = lines.one("lists compared");
    let labels = MAX_ROWS + 32;
    assert!(compared.contains(&format!("labels=\"{labels}, {labels}\"")), "{compared}");
    assert!(service.shutdown(Duration::from_secs(5)));
    lines.one("helper is shut down");
    assert!(lines.of("vesica1").is_empty());
}
