//! The settings file.

use std::num::NonZeroUsize;
use std::time::Duration;
use vesica_helper::{Keeping, MetricsOptions, PartyLimits, Settings, SettingsFault};
use vesica_label_joins::{BackendError, BadUrl};
use vesica_link::{Identity, ParseIdentityError, PublicIdentity};
use vesica_server_aided::kmrs14::MAX_ROWS;
use vesica_strict_toml::{Position, TableFault};

fn party(name: &str, byte: u8) -> String {
    let identity = PublicIdentity::from_bytes([byte; 32]);
    format!("[party.{name}]\nidentity = \"{identity}\"\n")
}

#[test]
fn missing_settings_have_defaults() {
    let settings = Settings::parse(&party("acme", 1)).unwrap();
    let public = PublicIdentity::from_bytes([1; 32]);
    assert_eq!(settings.parties, [PartyLimits::new("acme", public)]);
    assert_eq!((&*settings.listen, settings.backend), ("0.0.0.0:7500", None));
    let loopback = MetricsOptions { listen: "127.0.0.1:7501".into(), allow_remote: false };
    assert_eq!(settings.metrics, Some(loopback));
    assert_eq!(settings.keep, Duration::from_secs(7 * 24 * 3600));
    assert_eq!((settings.memory_bytes, settings.threads), (1 << 30, None));
    assert_eq!((settings.parties[0].max_rows, settings.runs_at_once), (MAX_ROWS, 2));
    assert_eq!((settings.max_stored_bytes, settings.keep_free_bytes), (None, 1 << 30));
    assert_eq!((settings.max_stored_percent, settings.parties[0].max_runs_a_minute), (80, 240));
}

#[test]
fn every_setting_can_be_set() {
    let text = format!(
        "[helper]\nlisten = \"127.0.0.1:0\"\nbackend = \"memory:\"\nstate = \"/var/x\"\n\
         metrics = \"off\"\nmetrics_for_others = true\nkeep_hours = 2\nmemory_mb = 64\n\
         threads = 3\nruns_at_once = 1\n\
         max_stored_mb = 5\nmax_stored_percent = 6\nkeep_free_mb = 0\n\
         {}max_rows = 1_000\nmax_runs = 2\nmax_runs_a_minute = 7\n\
         max_connections = 3\n\
         max_stored_mb = 4\n{}",
        party("south", 1),
        party("north-2", 2)
    );
    let settings = Settings::parse(&text).unwrap();
    assert_eq!((&*settings.listen, &settings.metrics), ("127.0.0.1:0", &None));
    assert_eq!(settings.keep, Duration::from_secs(7200));
    assert_eq!(settings.threads, NonZeroUsize::new(3));
    assert_eq!((settings.max_stored_bytes, settings.keep_free_bytes), (Some(5 << 20), 0));
    // In the order of the text.
    let names: Vec<&str> = settings.parties.iter().map(|party| &*party.name).collect();
    assert_eq!(names, ["south", "north-2"]);
    let south = &settings.parties[0];
    let limits = (south.max_rows, south.max_runs, south.max_connections, south.max_stored_bytes);
    assert_eq!(limits, (1000, 2, 3, 4 << 20));
    assert_eq!((settings.max_stored_percent, south.max_runs_a_minute), (6, 7));
    let options = settings.options(Identity::generate().unwrap()).unwrap();
    assert_eq!(options.keeping, Keeping::Memory { limit_bytes: 64 << 20 });
    assert_eq!(options.state_dir.to_str(), Some("/var/x"));
    assert_eq!((options.backend.name(), options.workers, options.pool.len()), ("memory", 1, 3));
}

#[test]
fn the_backend_determines_where_lists_are_stored() {
    for (backend, name, directory) in [
        ("", "disk", "vesica-helper"),
        ("backend = \"disk:/data/x\"", "disk", "/data/x"),
        ("backend = \"redis://localhost\"", "redis", "vesica-helper"),
        ("backend = \"postgres://a:b@localhost\"", "postgres", "vesica-helper"),
        ("backend = \"cluster:/mnt/join\"", "cluster", "vesica-helper"),
    ] {
        let settings = Settings::parse(&format!("[helper]\n{backend}\n{}", party("a", 1)));
        let options = settings.unwrap().options(Identity::generate().unwrap()).unwrap();
        assert_eq!((options.backend.name(), options.keeping), (name, Keeping::Files));
        assert_eq!(options.state_dir.to_str(), Some(directory));
    }
}

#[test]
fn faults_are_reported_with_their_line_and_field() {
    let wrong = |field: &str, expected, found| {
        SettingsFault::Table(TableFault::WrongType { field: field.into(), expected, found })
    };
    let range = |field: &str, found, min, max| {
        SettingsFault::Table(TableFault::OutOfRange { field: field.into(), found, min, max })
    };
    let at = |line, column| Some(Position { line, column });
    let is_unknown = |text: &str, place: Option<Position>, path: &str, near: &str| {
        let error = Settings::parse(text).unwrap_err();
        let SettingsFault::Table(TableFault::UnknownField { field, nearest, .. }) = &*error.fault
        else {
            panic!("{error}");
        };
        assert_eq!((error.at, &**field, *nearest), (place, path, Some(near)));
    };
    is_unknown("[helper]\nmemory = 1\n", at(2, 1), "helper.memory", "memory_mb");
    is_unknown("[helpers]\n", at(1, 2), "helpers", "helper");
    let name = |name: &str| SettingsFault::PartyName { name: name.into() };
    for (text, place, fault) in [
        (
            "[helper]\nlisten = 7500\n",
            at(2, 10),
            wrong("helper.listen", "a text in quotes", "a whole number"),
        ),
        ("[helper]\nthreads = 0\n", at(2, 11), range("helper.threads", 0, 1, 1024)),
        (
            "[helper]\nmax_stored_percent = 101\n",
            at(2, 22),
            range("helper.max_stored_percent", 101, 1, 100),
        ),
        ("[helper]\nkeep_hours = -3\n", at(2, 14), range("helper.keep_hours", -3, 1, 24 * 366)),
        (
            "[helper]\nkeep_hours = 1.5\n",
            at(2, 14),
            wrong("helper.keep_hours", "a whole number", "a decimal number"),
        ),
        (
            "[helper]\nmetrics_for_others = \"no\"\n",
            at(2, 22),
            wrong("helper.metrics_for_others", "true or false", "a text"),
        ),
        (
            "[helper]\nbackend = \"mysql://x:secret@y\"\n",
            at(2, 11),
            SettingsFault::Backend(BackendError::BadUrl(BadUrl::Scheme)),
        ),
        ("helper = 3\n", at(1, 10), wrong("helper", "a table", "a whole number")),
        ("party = []\n", at(1, 9), wrong("party", "a table", "a list")),
        (
            "[party]\nacme = 3\n",
            at(2, 1),
            wrong("party.acme", "a table [party.NAME]", "a whole number"),
        ),
        (
            "[party.acme]\nmax_rows = 3\n",
            at(1, 8),
            SettingsFault::Table(TableFault::MissingField {
                field: "party.acme.identity".into(),
                meaning: "its public identity, as `vesica keygen` prints it",
            }),
        ),
        (
            "[party.acme]\nidentity = \"vesica1xx\"\n",
            at(2, 12),
            SettingsFault::Identity { name: "acme".into(), error: ParseIdentityError::BadChecksum },
        ),
        ("[party.Acme]\n", at(1, 8), name("Acme")),
        ("[party.\"\"]\n", at(1, 8), name("")),
        ("[helper]\n", None, SettingsFault::NoParty),
        ("", None, SettingsFault::NoParty),
    ] {
        let error = Settings::parse(text).unwrap_err();
        assert_eq!((error.at, &*error.fault), (place, &fault), "{text}");
        assert!(!error.to_string().contains("secret"), "{error}");
    }
    let twice = party("one", 5) + &party("two", 5);
    let error = Settings::parse(&twice).unwrap_err();
    let same = SettingsFault::SameIdentity { one: "one".into(), other: "two".into() };
    assert_eq!((error.at.map(|at| at.line), *error.fault), (Some(3), same));
    let error = Settings::parse("[helper\n").unwrap_err();
    assert!(
        matches!(*error.fault, SettingsFault::Table(TableFault::Syntax(_))) && error.at.is_some()
    );
    let rows = format!("{}max_rows = 99999999999\n", party("a", 1));
    let error = Settings::parse(&rows).unwrap_err();
    assert!(error.to_string().starts_with("settings, line 3, column 12: \"party.a.max_rows\""));
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let error = Settings::load("/no/such/file.toml").unwrap_err();
    assert_eq!(error.path.as_deref(), Some("/no/such/file.toml".as_ref()));
    assert_eq!(error.to_string(), "/no/such/file.toml: there is no such file");
}
