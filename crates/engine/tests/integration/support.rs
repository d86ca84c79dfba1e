//! Two parties over real TLS on loopback, each with its own files, in one process.

// Each test file uses a part of this one.
#![allow(dead_code, unreachable_pub)]

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use vesica_agreement::Agreement;
use vesica_engine::{
    Error, Event, Finished, Job, MEMORY_BYTES_DEFAULT, Observer, Report, Silent, StateOptions,
};
use vesica_link::{CancelToken, Endpoint, Identity, LinkEvent, LinkOptions};
use vesica_tables::{OutputOptions, ReadOptions, Source};

/// Two parties, `one` (the receiver, listening) and `two`, in a directory of their own.
pub struct Pair {
    pub directory: tempfile::TempDir,
    pub keys: [PathBuf; 2],
    pub identities: [String; 2],
}

impl Pair {
    pub fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let make = |name: &str| {
            let identity = Identity::generate().unwrap();
            let path = directory.path().join(name);
            identity.save(&path).unwrap();
            (path, identity.public().to_string())
        };
        let ((key_1, id_1), (key_2, id_2)) = (make("one.key"), make("two.key"));
        Self { keys: [key_1, key_2], identities: [id_1, id_2], directory }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn agreement(&self, terms: &Terms) -> Agreement {
        let text = format!(
            r#"
version = 2
title = "{}"
operation = "intersection"
receives = "{}"
security = "semi-honest"
protocol = "{}"
hide_sizes = {}

[[key]]
name = "email"
profile = "email"

[party.one]
identity = "{}"
max_rows = {}
min_rows = {}

[party.two]
identity = "{}"
max_rows = {}
"#,
            terms.title,
            terms.receives,
            terms.protocol,
            terms.hide_sizes,
            self.identities[0],
            terms.max_rows,
            terms.min_rows,
            self.identities[1],
            terms.max_rows,
        );
        Agreement::parse(&text).unwrap()
    }

    pub fn job(&self, party: usize, terms: &Terms, endpoint: Endpoint) -> Job {
        self.job_of(party, self.agreement(terms), endpoint)
    }

    /// An agreement of `one` and `two`, possibly under other names, with these lines at its head,
    /// these tables after it, and the limits of each.
    pub fn agreement_of(&self, head: &str, tables: &str, limits: [&str; 2]) -> Agreement {
        self.agreement_named(["one", "two"], head, tables, limits)
    }

    pub fn agreement_named(
        &self,
        names: [&str; 2],
        head: &str,
        tables: &str,
        limits: [&str; 2],
    ) -> Agreement {
        let mut text = format!("version = 2\ntitle = \"test\"\n{head}\n{tables}\n");
        for ((name, identity), limits) in names.iter().zip(&self.identities).zip(limits) {
            text += &format!("[party.{name}]\nidentity = \"{identity}\"\n{limits}\n");
        }
        Agreement::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    /// The job of the party with key file number `party`, under any name in the agreement.
    pub fn job_of(&self, party: usize, agreement: Agreement, endpoint: Endpoint) -> Job {
        let name = ["one", "two"][party];
        let identity = self.identities[party].parse().unwrap();
        let receives = agreement.is_receiver_of_result(agreement.party_of(&identity).unwrap());
        let ending = match agreement.operation() {
            _ if agreement.question.computed().is_some() => "csv",
            vesica_protocols::Operation::Shares | vesica_protocols::Operation::SharedValues => {
                "json"
            }
            _ => "csv",
        };
        let path = self.path(&format!("{name}.out.{ending}"));
        let output = receives.then_some(OutputOptions { path, force: false });
        Job {
            agreement,
            identity: Identity::load(&self.keys[party]).unwrap(),
            source: Source::open(self.path(&format!("{name}.csv")), &ReadOptions::default())
                .unwrap(),
            columns: BTreeMap::new(),
            output,
            mark: None,
            order: None,
            refused: None,
            link: LinkOptions {
                endpoint,
                wait: Duration::from_secs(8),
                idle: Duration::from_secs(20),
                total: None,
                proxy: None,
            },
            threads: NonZeroUsize::new(2).unwrap(),
            memory_bytes: MEMORY_BYTES_DEFAULT,
            scratch: None,
            store: None,
            workers: None,
            state: StateOptions::default(),
            allow_insecure: false,
            strict: false,
        }
    }

    /// Runs both parties under their own terms; `one` listens, `two` connects.
    pub fn run(&self, one: &Terms, two: &Terms) -> [Result<Report, Error>; 2] {
        self.run_both([self.agreement(one), self.agreement(two)])
    }

    /// The same under one agreement, which both complete.
    pub fn complete(&self, agreement: &Agreement) -> [Report; 2] {
        self.run_both([agreement.clone(), agreement.clone()])
            .map(|report| report.unwrap_or_else(|error| panic!("{error}")))
    }

    pub fn run_both(&self, agreements: [Agreement; 2]) -> [Result<Report, Error>; 2] {
        let job = |party: usize, endpoint| self.job_of(party, agreements[party].clone(), endpoint);
        both_finish(job).map(|result| result.map(|finished| finished.report))
    }
}

/// Runs a job and returns only its report.
pub fn run(job: Job, observer: Arc<dyn Observer>, cancel: &CancelToken) -> Result<Report, Error> {
    vesica_engine::run(job, observer, cancel).map(|finished| finished.report)
}

/// Runs the jobs of both parties; `one` listens, `two` connects.
pub fn both_finish(job: impl Fn(usize, Endpoint) -> Job + Sync) -> [Result<Finished, Error>; 2] {
    let (told, address) = std::sync::mpsc::channel();
    let observer = Arc::new(Listening(Mutex::new(told)));
    std::thread::scope(|scope| {
        let listening = scope.spawn(|| {
            let job = job(0, Endpoint::Listen("127.0.0.1:0".into()));
            vesica_engine::run(job, observer, &CancelToken::new())
        });
        let address = address.recv_timeout(Duration::from_secs(20));
        // Without an address the listener ended early and the other has no party to meet.
        let address = address.unwrap_or_else(|_| "127.0.0.1:1".into());
        let job = job(1, Endpoint::Connect(address));
        let connecting = vesica_engine::run(job, Arc::new(Silent), &CancelToken::new());
        [listening.join().unwrap(), connecting]
    })
}

#[derive(Clone)]
pub struct Terms {
    pub title: &'static str,
    pub receives: &'static str,
    pub protocol: &'static str,
    pub hide_sizes: bool,
    pub max_rows: u64,
    pub min_rows: u64,
}

pub const TERMS: Terms = Terms {
    title: "test",
    receives: "one",
    protocol: "dh",
    hide_sizes: false,
    max_rows: 1000,
    min_rows: 1,
};

pub struct Listening(pub Mutex<std::sync::mpsc::Sender<String>>);

impl Observer for Listening {
    fn event(&self, event: &Event<'_>) {
        if let Event::Link(LinkEvent::Listening { address }) = event {
            let _ = self.0.lock().unwrap().send(address.to_string());
        }
    }
}

pub fn write(path: &Path, rows: &[&str]) {
    fs::write(path, format!("id,email\n{}\n", rows.join("\n"))).unwrap();
}

pub fn small_files(pair: &Pair) {
    write(
        &pair.path("one.csv"),
        &[
            "1,ann@example.com",
            "2, Bob@Example.com ",
            "3,carl@example.com",
            "4,",
            "5,BOB@example.com",
        ],
    );
    write(&pair.path("two.csv"), &["a,bob@example.com", "b,dora@example.com", "c,ann@EXAMPLE.com"]);
}

pub fn no_leftovers(pair: &Pair) {
    let stray: Vec<_> = fs::read_dir(pair.directory.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.contains("partial") || name.contains(".out."))
        .collect();
    assert!(stray.is_empty(), "{stray:?}");
}
