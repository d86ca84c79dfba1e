//! The processes of a run: one for each party, and one for any helper.

use crate::error::BenchError;
use crate::figures::{BenchReport, RunFigures};
use crate::party_figures::PartyFigures;
use crate::subject::{Row, Subject};
use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use vesica_link::{Identity, ShapedRelay};

/// The words that precede the helper's address in what it prints.
const LISTENING: &str = "listening";

/// The party that listens in a run without a helper: the receiver.
const LISTENER: usize = 1;

/// Runs all parties, `runs` times.
///
/// Each process is this program: `bench-party` with `options`, the ones of `vesica bench`, from
/// which it makes the same subject; or `helper`.
///
/// # Errors
/// A process could not be started, or failed.
pub fn measure(
    subject: &Subject,
    runs: NonZeroU32,
    options: &[OsString],
) -> Result<BenchReport, BenchError> {
    let runs = (0..runs.get()).map(|_| one_run(subject, options)).collect::<Result<Vec<_>, _>>()?;
    Ok(BenchReport::new(subject, runs))
}

/// Runs all parties once.
fn one_run(subject: &Subject, options: &[OsString]) -> Result<RunFigures, BenchError> {
    // Next to the compiled program by default: a temporary directory may be in memory.
    let place = subject.asked.scratch.clone();
    let folder = tempfile::tempdir_in(place.map_or_else(std::env::current_dir, Ok)?)?;
    let folder = folder.path();
    let make = |name: &str| -> Result<_, BenchError> {
        let identity = Identity::generate().map_err(|_| BenchError::Process)?;
        let path = folder.join(name);
        identity.save(&path).map_err(|_| BenchError::Process)?;
        Ok((path, identity.public().to_string()))
    };
    let keys = (0..subject.rows.len())
        .map(|party| make(&format!("party-{party}")))
        .collect::<Result<Vec<_>, _>>()?;
    let identities: Vec<String> = keys.iter().map(|(_, identity)| identity.clone()).collect();
    let party = |party: usize, place: [&str; 2], helper: Option<&String>| {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["bench-party", "--party", &party.to_string()]).args(place);
        command.args(["--identities", &identities.join(",")]).arg("--key").arg(&keys[party].0);
        command.arg("--folder").arg(folder.join(format!("folder-{party}")));
        helper.map(|helper| command.args(["--helper", helper]));
        command.args(options);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        Process::start(command, subject.name(party))
    };

    let (mut listener, mut helper) = (None, None);
    let address: SocketAddr = match &subject.asked.row {
        Row::TwoParties(_) => {
            let mut process = party(LISTENER, ["--listen", "127.0.0.1:0"], None)?;
            let address = process.line()?;
            listener = Some(process);
            address.parse().map_err(|_| BenchError::Party(subject.name(LISTENER)))?
        }
        Row::WithHelper(_, how) => {
            let (threads, backend) = (subject.asked.threads, how.backend.as_deref());
            let (key, identity) = make("helper")?;
            let (process, address) = start_helper(threads, backend, folder, &key, &identities)?;
            helper = Some((process, identity));
            address
        }
    };
    let shape = subject.asked.shape;
    let (mut relays, mut running) = (Vec::new(), Vec::new());
    for number in 0..keys.len() - usize::from(listener.is_some()) {
        let mut target = address;
        if !shape.is_unshaped() {
            let any = SocketAddr::from(([127, 0, 0, 1], 0));
            let relay = ShapedRelay::start(any, address, shape).map_err(|_| BenchError::Process)?;
            target = relay.address();
            relays.push(relay);
        }
        let identity = helper.as_ref().map(|(_, identity)| identity);
        running.push(party(number, ["--connect", &target.to_string()], identity)?);
    }
    running.extend(listener);
    let parties = running.into_iter().map(Process::figures).collect::<Result<Vec<_>, _>>()?;
    let (cpu_s_helper, peak_rss_bytes_helper) =
        helper.map_or((None, None), |(process, _)| used_by(process.child.id()));
    Ok(RunFigures { parties, cpu_s_helper, peak_rss_bytes_helper })
}

/// Starts `vesica helper`, and waits for its address.
fn start_helper(
    threads: NonZeroUsize,
    backend: Option<&str>,
    folder: &Path,
    key: &Path,
    identities: &[String],
) -> Result<(Process, SocketAddr), BenchError> {
    let settings: String = identities
        .iter()
        .enumerate()
        .map(|(party, identity)| format!("[party.p{party}]\nidentity = \"{identity}\"\n"))
        .collect();
    let config = folder.join("helper.toml");
    std::fs::write(&config, settings)?;
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("helper").arg("--key").arg(key).arg("--config").arg(&config);
    command.args(["--listen", "127.0.0.1:0", "--metrics", "off"]);
    command.arg("--threads").arg(threads.to_string());
    command.arg("--state").arg(folder.join("state"));
    if let Some(backend) = backend {
        command.args(["--backend", backend]);
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut serving = Process::start(command, "helper")?;
    loop {
        let line = serving.line()?;
        if let Some(address) = line.strip_prefix(LISTENING) {
            let address = address.trim().parse().map_err(|_| BenchError::Party("helper"))?;
            return Ok((serving, address));
        }
    }
}

/// A party's process; killed when dropped, so that a failed run leaves nothing behind.
struct Process {
    child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
    role: &'static str,
}

impl Process {
    fn start(mut command: Command, role: &'static str) -> Result<Self, BenchError> {
        let mut child = command.spawn()?;
        let stdout = child.stdout.take().ok_or(BenchError::Process)?;
        Ok(Self { child, lines: BufReader::new(stdout).lines(), role })
    }

    fn line(&mut self) -> Result<String, BenchError> {
        self.lines.next().ok_or(BenchError::Party(self.role))?.map_err(BenchError::from)
    }

    fn figures(mut self) -> Result<PartyFigures, BenchError> {
        let line = self.line()?;
        let figures = serde_json::from_str(&line).map_err(|_| BenchError::Party(self.role))?;
        let status = self.child.wait()?;
        if status.success() { Ok(figures) } else { Err(BenchError::Party(self.role)) }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// CPU seconds and peak memory of a running process, if `/proc` shows them.
fn used_by(process: u32) -> (Option<f64>, Option<u64>) {
    let read = |name: &str| std::fs::read_to_string(format!("/proc/{process}/{name}")).ok();
    let seconds = read("stat").and_then(|stat| {
        // The name of the program may hold anything. After it, the 12th and 13th field are the
        // ticks.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks: u64 =
            fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
        // The kernel reports hundredths of a second, independent of its own clock rate.
        Some(ticks as f64 / 100.0)
    });
    let peak = read("status").and_then(|status| {
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        let kibibytes: u64 = peak.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kibibytes * 1024)
    });
    (seconds, peak)
}
