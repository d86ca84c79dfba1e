//! A helper and parties in a temporary directory.

#![allow(unreachable_pub)]

use crate::support::{Running, free_port, vesica};
use std::cell::Cell;
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use vesica_agreement::Agreement;
use vesica_engine::{Job, StateOptions};
use vesica_link::{Endpoint, Identity, LinkOptions};
use vesica_tables::{ReadOptions, Source};

/// The longest time that a test waits for an event.
const LIMIT: Duration = Duration::from_secs(60);

/// The parts of an agreement that tests vary.
#[derive(Clone, Copy)]
pub struct Terms<'a> {
    pub title: &'a str,
    pub receives: &'a str,
    pub security: &'a str,
    pub protocol: &'a str,
    pub parties: &'a [&'a str],
    pub max_rows: u64,
}

pub const TERMS: Terms<'static> = Terms {
    title: "test",
    receives: "\"all\"",
    security: "semi-honest",
    protocol: "server_aided",
    parties: &["a", "b"],
    max_rows: 10_000_000,
};

/// A directory with keys for a helper and parties, and the helper's addresses.
pub struct Scene {
    directory: tempfile::TempDir,
    pub address: String,
    pub metrics: String,
    state: Cell<usize>,
}

/// Keys of the helper and of parties `a` to `f`: key files, and what they print.
fn keys() -> &'static [(String, String, String)] {
    static KEYS: OnceLock<Vec<(String, String, String)>> = OnceLock::new();
    KEYS.get_or_init(|| {
        let directory = tempfile::tempdir().unwrap();
        let key = |name: &str| {
            let path = directory.path().join(name);
            let made = vesica().arg("keygen").arg(&path).output().unwrap();
            assert!(made.status.success(), "{made:?}");
            let public = String::from_utf8(made.stdout).unwrap().trim().to_owned();
            (name.to_owned(), fs::read_to_string(path).unwrap(), public)
        };
        ["helper", "a", "b", "c", "d", "e", "f"].map(key).into()
    })
}

/// The public identity of the helper or a party.
pub fn identity(name: &str) -> &'static str {
    &keys().iter().find(|(known, ..)| known == name).unwrap().2
}

impl Scene {
    /// A scene with settings of a helper that serves parties `a` to `e`.
    pub fn new() -> Self {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        for (name, secret, _) in keys() {
            let path = directory.path().join(format!("{name}.key"));
            fs::write(&path, secret).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        }
        let [address, metrics] = [(); 2].map(|()| format!("127.0.0.1:{}", free_port()));
        let scene = Self { directory, address, metrics, state: Cell::new(0) };
        let parties = ["a", "b", "c", "d", "e"];
        let tables =
            parties.map(|name| format!("[party.{name}]\nidentity = \"{}\"\n", identity(name)));
        scene.write("helper.toml", tables.concat());
        scene
    }

    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn agreement(&self, name: &str, terms: &Terms<'_>) {
        let Terms { title, receives, security, protocol, parties, max_rows } = terms;
        let helper = identity("helper");
        let party = |name: &&str| {
            let identity = identity(name);
            format!("\n[party.{name}]\nidentity = \"{identity}\"\nmax_rows = {max_rows}\n")
        };
        let parties: String = parties.iter().map(party).collect();
        self.write(
            name,
            format!(
                "version = 2\ntitle = \"{title}\"\noperation = \"intersection\"\n\
                 receives = {receives}\nsecurity = \"{security}\"\nprotocol = \"{protocol}\"\n\n\
                 [helper]\nname = \"cloud\"\nidentity = \"{helper}\"\n\n\
                 [[key]]\nname = \"email\"\nprofile = \"email\"\n{parties}"
            ),
        );
    }

    /// `vesica helper` in a shell, after `before`.
    pub fn helper_after(&self, before: &str, options: &[&str]) -> Running {
        let mut command = Command::new("sh");
        let script = format!("{before} exec \"$0\" \"$@\"");
        command.arg("-c").arg(script).arg(vesica().get_program());
        self.start_helper(command, options)
    }

    /// `vesica helper`. Returns when it listens.
    pub fn helper(&self, options: &[&str]) -> Running {
        self.start_helper(vesica(), options)
    }

    fn start_helper(&self, mut command: Command, options: &[&str]) -> Running {
        command.args(["helper", "--key", "helper.key", "--config", "helper.toml"]);
        command.args(["--listen", &self.address, "--metrics", &self.metrics]);
        // `--state` would override the directory in the settings.
        if !self.read("helper.toml").contains("disk:") {
            command.args(["--state", "kept"]);
        }
        command.args(["--threads", "1"]).args(options).current_dir(self.directory());
        let mut helper = Running::start(command);
        let start = Instant::now();
        while !helper.printed().contains("\nmetrics ") {
            if helper.has_ended() || start.elapsed() > LIMIT {
                panic!("{:#?}", helper.wait());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        helper
    }

    /// `vesica run` of a party, with input and output files named after the party.
    pub fn party(&self, agreement: &str, party: &str) -> Command {
        self.party_without(agreement, party, &["--output", &format!("{party}.out.csv")])
    }

    /// The same without an output file, and with more options.
    pub fn party_without(&self, agreement: &str, party: &str, options: &[&str]) -> Command {
        let mut command = vesica();
        command.args(["run", agreement, "--key", &format!("{party}.key")]);
        command.args(["--input", &format!("{party}.csv"), "--connect", &self.address]);
        command.args(["--wait", "40s", "--idle", "20s", "--threads", "2"]).args(options);
        command.current_dir(self.directory());
        command
    }

    /// The party's job without an output file, for a run in this process, with a new state folder.
    pub fn job(&self, agreement: &str, party: &str) -> Job {
        let wait = Duration::from_secs(20);
        let endpoint = Endpoint::Connect(self.address.clone());
        Job {
            agreement: Agreement::parse(&self.read(agreement)).unwrap(),
            identity: Identity::load(self.path(&format!("{party}.key"))).unwrap(),
            source: Source::open(self.path(&format!("{party}.csv")), &ReadOptions::default())
                .unwrap(),
            columns: BTreeMap::new(),
            output: None,
            mark: None,
            order: None,
            refused: None,
            link: LinkOptions { endpoint, wait, idle: wait, total: None, proxy: None },
            threads: NonZeroUsize::MIN,
            state: StateOptions { folder: Some(self.path(&self.fresh_state())), restart: false },
            memory_bytes: 1 << 28,
            scratch: None,
            store: None,
            workers: None,
            allow_insecure: false,
            strict: false,
        }
    }

    /// The name of a new state folder.
    pub fn fresh_state(&self) -> String {
        self.state.set(self.state.get() + 1);
        format!("state-{}", self.state.get())
    }

    /// The state folders that exist.
    pub fn states(&self) -> Vec<String> {
        let entries = fs::read_dir(self.directory()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.starts_with("vesica-run-") || name.starts_with("state-")).collect()
    }

    /// Whether the helper keeps a slot of the kind with this number of a party.
    pub fn keeps(&self, kind: u8, party: u8) -> bool {
        let runs = fs::read_dir(self.path("kept/runs")).into_iter().flatten().flatten();
        let slots = runs.flat_map(|run| fs::read_dir(run.path()).into_iter().flatten().flatten());
        let start = format!("{kind:02x}-{party:02x}-");
        slots.into_iter().any(|slot| slot.file_name().to_string_lossy().starts_with(&start))
    }

    /// The answer to `GET path` at the address for health and metrics.
    pub fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.metrics).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: helper\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

/// Waits until `is_so` returns true.
#[track_caller]
pub fn until(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < LIMIT, "timed out waiting until {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Waits until a process prints `what` on standard error.
#[track_caller]
pub fn until_told(running: &mut Running, what: &str) {
    let start = Instant::now();
    while !running.told().contains(what) {
        let ended = running.has_ended();
        assert!(!ended && start.elapsed() < LIMIT, "did not print {what:?}: {}", running.told());
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A CSV file with `id,email` of people `range`.
pub fn people(range: Range<u64>) -> String {
    let mut csv = String::from("id,email\n");
    for i in range {
        // Every third address is spelled differently, every hundredth is there twice.
        let email = if i % 3 == 0 { "User{}@Example.com " } else { "user{}@example.com" };
        let email = email.replace("{}", &i.to_string());
        csv.push_str(&format!("{i},{email}\n"));
        if i % 100 == 0 {
            csv.push_str(&format!("again-{i},{email}\n"));
        }
    }
    csv
}

/// The rows of `of` whose key is in all of `others`, by a plain join.
pub fn joined(of: &str, others: &[&str]) -> String {
    let key = |row: &str| row.split(',').nth(1).unwrap().trim().to_lowercase();
    let sets: Vec<HashSet<String>> =
        others.iter().map(|csv| csv.lines().skip(1).map(key).collect()).collect();
    let mut lines = of.lines();
    let mut out = format!("{}\n", lines.next().unwrap());
    for row in lines.filter(|row| sets.iter().all(|set| set.contains(&key(row)))) {
        out.push_str(row);
        out.push('\n');
    }
    out
}
