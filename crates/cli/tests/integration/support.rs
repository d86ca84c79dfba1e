//! Two `vesica` processes in a temporary directory.

// Each test file uses a part of this one.
#![allow(dead_code, unreachable_pub)]

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Longest time any single process of a test may take.
pub const LIMIT: Duration = Duration::from_secs(120);

/// The command under test.
pub fn vesica() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vesica"));
    command.stdin(Stdio::null()).env_remove("VESICA_SIMD").env("NO_COLOR", "1");
    command
}

/// `command` under a limit, given as arguments of the shell's `ulimit`.
pub fn limited(limit: &str, command: &Command) -> Running {
    let mut shell = Command::new("bash");
    shell.arg("-c").arg(format!("ulimit {limit}; exec \"$0\" \"$@\"")).arg(command.get_program());
    shell.args(command.get_args());
    Running::start(shell)
}

/// A port of 127.0.0.1 that was free a moment ago.
pub fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}

/// Forwards connections to port `to`, and cuts the first `cuts` of them after `after[0]` bytes from
/// the connecting side or `after[1]` bytes from the listening side. Ends with the process.
pub fn cutting_relay(to: u16, cuts: usize, after: [usize; 2]) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let mut number = 0;
        for near in listener.incoming() {
            let near = near.unwrap();
            // Not there yet: the connecting side tries again.
            let Ok(far) = TcpStream::connect(("127.0.0.1", to)) else { continue };
            let [there, back] = if number < cuts { after } else { [usize::MAX; 2] };
            number += 1;
            for (from, into, mut left) in [(&near, &far, there), (&far, &near, back)] {
                let (mut from, mut into) = (from.try_clone().unwrap(), into.try_clone().unwrap());
                std::thread::spawn(move || {
                    let mut bytes = [0; 4096];
                    while let Ok(read @ 1..) = from.read(&mut bytes) {
                        let passed = read.min(left);
                        left -= passed;
                        if into.write_all(&bytes[..passed]).is_err() || left == 0 {
                            break;
                        }
                    }
                    let _ = (from.shutdown(Shutdown::Both), into.shutdown(Shutdown::Both));
                });
            }
        }
    });
    port
}

/// How a process ended.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    pub took: Duration,
}

impl Ended {
    #[track_caller]
    pub fn assert_code(&self, code: i32) -> &Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    /// Every failure has an `error:` and a `hint:` line.
    #[track_caller]
    pub fn assert_failed(&self, code: i32, says: &str) -> &Self {
        self.assert_code(code);
        let has = |start: &str| self.stderr.lines().any(|line| line.starts_with(start));
        assert!(has("error: ") && has("hint: "), "{self:#?}");
        assert!(self.stderr.contains(says), "does not say {says:?}: {self:#?}");
        self
    }
}

/// A running process; killed when dropped.
pub struct Running {
    child: Child,
    output: [Printed; 2],
    start: Instant,
}

/// The output of a process, read while it runs.
struct Printed {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
}

impl Printed {
    fn of(mut from: impl Read + Send + 'static) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let into = Arc::clone(&bytes);
        let reader = std::thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(len @ 1..) = from.read(&mut piece) {
                into.lock().unwrap().extend_from_slice(&piece[..len]);
            }
        });
        Self { bytes, reader: Some(reader) }
    }

    fn so_far(&self) -> String {
        String::from_utf8_lossy(&self.bytes.lock().unwrap()).into_owned()
    }

    fn all(&mut self) -> String {
        if let Some(reader) = self.reader.take() {
            reader.join().unwrap();
        }
        self.so_far()
    }
}

impl Running {
    pub fn start(mut command: Command) -> Self {
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let output =
            [Printed::of(child.stdout.take().unwrap()), Printed::of(child.stderr.take().unwrap())];
        Self { child, output, start: Instant::now() }
    }

    /// Standard output so far.
    pub fn printed(&self) -> String {
        self.output[0].so_far()
    }

    /// Standard error so far.
    pub fn told(&self) -> String {
        self.output[1].so_far()
    }

    pub fn pid(&self) -> nix::unistd::Pid {
        nix::unistd::Pid::from_raw(self.child.id() as i32)
    }

    pub fn signal(&self, signal: nix::sys::signal::Signal) {
        let _ = nix::sys::signal::kill(self.pid(), signal);
    }

    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Whether the process has closed its standard error, which happens when it ends.
    pub fn is_over(&self) -> bool {
        self.output[1].reader.as_ref().is_none_or(JoinHandle::is_finished)
    }

    #[track_caller]
    pub fn wait(self) -> Ended {
        self.wait_within(LIMIT)
    }

    #[track_caller]
    pub fn wait_within(mut self, limit: Duration) -> Ended {
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(self.start.elapsed() < limit, "the process did not end within {limit:?}");
            std::thread::sleep(Duration::from_millis(5));
        };
        let took = self.start.elapsed();
        let [stdout, stderr] = self.output.each_mut().map(Printed::all);
        Ended { code: status.code(), stdout, stderr, took }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A directory with the keys of two parties, `one` and `two`.
pub struct Place {
    directory: tempfile::TempDir,
    pub identities: [String; 2],
}

/// The parts of an agreement that tests vary.
pub struct Terms<'a> {
    pub title: &'static str,
    pub operation: &'static str,
    pub receives: &'static str,
    pub security: &'static str,
    pub protocol: &'static str,
    pub key: &'static str,
    pub profile: &'static str,
    pub max_rows: u64,
    pub min_rows: u64,
    pub more: &'a str,
}

pub const TERMS: Terms<'static> = Terms {
    title: "test",
    operation: "intersection",
    receives: "one",
    security: "semi-honest",
    protocol: "auto",
    key: "email",
    profile: "email",
    max_rows: 10_000_000,
    min_rows: 1,
    more: "",
};

impl Place {
    pub fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let keygen = |name: &str| {
            let path = directory.path().join(name);
            let made = vesica().arg("keygen").arg("--out").arg(&path).output().unwrap();
            assert!(made.status.success(), "{made:?}");
            let text = fs::read_to_string(&path).unwrap();
            let at = text.find("vesica1").expect("the key file names the public identity");
            text[at..].split_whitespace().next().unwrap().to_owned()
        };
        let identities = [keygen("one.key"), keygen("two.key")];
        Self { identities, directory }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, content).unwrap();
        path
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Writes the agreement of `terms` under `name`.
    pub fn agreement(&self, name: &str, terms: &Terms<'_>) -> PathBuf {
        let Terms { title, operation, receives, security, protocol, .. } = terms;
        let Terms { key, profile, max_rows, min_rows, more, .. } = terms;
        let [one, two] = &self.identities;
        self.write(
            name,
            format!(
                "version = 2\ntitle = \"{title}\"\noperation = \"{operation}\"\n\
                 receives = \"{receives}\"\nsecurity = \"{security}\"\nprotocol = \"{protocol}\"\n\
                 {more}\n[[key]]\nname = \"{key}\"\nprofile = \"{profile}\"\n\n\
                 [party.one]\nidentity = \"{one}\"\nmax_rows = {max_rows}\n\
                 min_rows = {min_rows}\n\n\
                 [party.two]\nidentity = \"{two}\"\nmax_rows = {max_rows}\nmin_rows = {min_rows}\n"
            ),
        )
    }

    /// `vesica run` of one party, without an address, with time limits that no working run reaches.
    pub fn run(&self, agreement: &str, party: &str, input: &str, output: Option<&str>) -> Command {
        self.run_within(["30s", "20s"], agreement, party, input, output)
    }

    /// `vesica run` of one party with short time limits.
    pub fn run_brief(
        &self,
        agreement: &str,
        party: &str,
        input: &str,
        output: Option<&str>,
    ) -> Command {
        self.run_within(["3s", "2s"], agreement, party, input, output)
    }

    /// `vesica run` of one party with these limits on waiting for the peer and on its silence.
    pub fn run_within(
        &self,
        [wait, idle]: [&str; 2],
        agreement: &str,
        party: &str,
        input: &str,
        output: Option<&str>,
    ) -> Command {
        let mut command = vesica();
        command
            .arg("run")
            .arg(self.path(agreement))
            .arg("--key")
            .arg(self.path(&format!("{party}.key")))
            .arg("--input")
            .arg(self.path(input))
            .args(["--wait", wait, "--idle-timeout", idle, "--threads", "1"]);
        if let Some(output) = output {
            command.arg("--output").arg(self.path(output));
        }
        command
    }

    /// Runs both commands, `one` listening and `two` connecting.
    #[track_caller]
    pub fn run_both(&self, mut one: Command, mut two: Command) -> [Ended; 2] {
        let address = format!("127.0.0.1:{}", free_port());
        one.args(["--listen", &address]);
        two.args(["--connect", &address]);
        let (one, two) = (Running::start(one), Running::start(two));
        [one.wait(), two.wait()]
    }

    /// Fails if the directory has one of `outputs`, or a part of a result.
    #[track_caller]
    pub fn assert_no_leftovers(&self, outputs: &[&str]) {
        for entry in fs::read_dir(self.directory.path()).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(!name.contains("partial"), "{name} was left behind");
            assert!(!outputs.contains(&name.as_str()), "{name} was left behind");
        }
    }
}

/// A CSV file with `id,email` of people `range`.
pub fn people(range: std::ops::Range<u64>) -> String {
    let mut csv = String::from("id,email\n");
    for i in range {
        csv.push_str(&format!("{i},user{i}@example.com\n"));
    }
    csv
}

/// Where the Debian packages `wamerican-huge` and `wbritish-huge` put their lists.
pub fn word_list(name: &str) -> PathBuf {
    let directory = std::env::var("VESICA_WORD_LISTS").unwrap_or("/usr/share/dict".into());
    let path = Path::new(&directory).join(name);
    assert!(
        path.exists(),
        "{} is missing: run the tests with `make test`, which fetches the word lists",
        path.display()
    );
    path
}
