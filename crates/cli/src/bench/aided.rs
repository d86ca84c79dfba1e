//! Benchmarks of protocols with a helper: the helper and each party are separate processes.

use super::{BenchArgs, BenchError, Network, Process, Sizes};
use crate::failure::Failure;
use clap::Args;
use serde::Serialize;
use std::io::Write;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use vesica_engine::Error;
use vesica_engine::aided::bench::{AidedBenchFigures, AidedBenchParty, run_aided_bench};
use vesica_link::{CancelToken, Endpoint, Identity, LinkOptions, PublicIdentity, ShapedRelay};
use vesica_protocols::kmrs14::{AidedProtocol, Check, PartySpec, Spec, Variant};

/// Dummies of each kind where the helper is trusted to follow the protocol: the self-check.
const SELF_CHECK: u32 = 16;

/// The word before the helper's address in its output.
const LISTENING: &str = "listening";

/// Options of protocols with a helper.
#[derive(Args, Clone, Debug)]
pub(crate) struct AidedBenchArgs {
    /// With a helper: the number of parties; all but the second have the first size
    #[arg(long, default_value_t = 2, value_name = "N",
        value_parser = clap::value_parser!(u8).range(2..=16))]
    parties: u8,
    /// With a helper: its backend, as in `vesica helper` [default: disk:]
    #[arg(long, value_name = "URL")]
    backend: Option<String>,
    /// With a helper: send the items themselves, to measure what hiding them costs
    #[arg(long)]
    in_clear: bool,
    /// With a helper: copies of each item [default: the cheapest that is safe]
    #[arg(long, value_name = "C", requires = "dummies", value_parser = clap::value_parser!(u32).range(1..=64))]
    copies: Option<u32>,
    /// With a helper: dummies of each kind [default: the cheapest that is safe]
    #[arg(long, value_name = "T", requires = "copies", value_parser = clap::value_parser!(u32).range(1..))]
    dummies: Option<u32>,
    /// With a helper: memory of each party for intermediate data, in MiB; more than that goes to files
    #[arg(long, default_value_t = 512, value_name = "MIB")]
    memory: u64,
}

impl AidedBenchArgs {
    /// Copies and dummies of a run of `variant` with `rows` rows.
    fn check(&self, variant: Variant, rows: u64) -> Check {
        match (self.copies, self.dummies) {
            (Some(copies), Some(dummies)) => Check { copies, dummies },
            _ if variant == Variant::SemiHonest => Check { copies: 1, dummies: SELF_CHECK },
            _ => Check::cheapest(rows),
        }
    }
}

/// One party of a benchmark with a helper; started by `vesica bench`.
#[derive(Args, Debug)]
pub(crate) struct AidedPartyArgs {
    protocol: String,
    #[arg(long)]
    party: u8,
    #[arg(long, value_delimiter = ',')]
    rows: Vec<u64>,
    #[arg(long)]
    common: u64,
    #[arg(long)]
    copies: u32,
    #[arg(long)]
    dummies: u32,
    #[arg(long)]
    in_clear: bool,
    #[arg(long, value_delimiter = ',')]
    identities: Vec<PublicIdentity>,
    #[arg(long)]
    helper: PublicIdentity,
    #[arg(long)]
    connect: String,
    #[arg(long)]
    key: PathBuf,
    #[arg(long)]
    folder: PathBuf,
    #[arg(long)]
    threads: NonZeroUsize,
    #[arg(long)]
    memory: u64,
}

/// Runs the party; prints its figures as JSON.
pub(crate) fn run_party(args: &AidedPartyArgs, out: &mut impl Write) -> Result<(), Error> {
    let row = vesica_protocols::kmrs14::find_aided(&args.protocol)
        .map_err(|_| Error::Bug("a benchmark party was given no protocol"))?;
    let party = |(identity, rows): (&PublicIdentity, &u64)| PartySpec {
        identity: *identity.as_bytes(),
        max_rows: (*rows).max(1),
        min_rows: 0,
        receives: true,
    };
    let bench = AidedBenchParty {
        spec: Spec {
            variant: row.variant,
            agreement: [0; 32],
            parties: args.identities.iter().zip(&args.rows).map(party).collect(),
            copies: args.copies,
            dummies: args.dummies,
        },
        in_clear: args.in_clear,
        party: args.party,
        rows: args.rows[usize::from(args.party)],
        common: args.common,
        identity: Identity::load(&args.key)
            .map_err(|error| Error::Config(vesica_engine::ConfigFault::Identity(error)))?,
        helper: args.helper,
        address: args.connect.clone(),
        link: LinkOptions {
            endpoint: Endpoint::Connect(args.connect.clone()),
            wait: Duration::from_secs(120),
            idle: Duration::from_secs(60),
            total: None,
        },
        threads: args.threads,
        memory_bytes: args.memory << 20,
        folder: args.folder.clone(),
    };
    let figures = run_aided_bench(bench, &CancelToken::new())?;
    let json = serde_json::to_string(&figures).map_err(|_| Error::Bug("figures have no JSON"))?;
    writeln!(out, "{json}").map_err(|_| Error::Bug("the benchmark's figures could not be printed"))
}

/// All runs and their medians.
#[derive(Debug, Serialize)]
struct AidedBenchReport {
    schema: &'static str,
    vesica_version: &'static str,
    protocol: &'static str,
    in_clear: bool,
    rows: Vec<u64>,
    common: u64,
    copies: u32,
    dummies: u32,
    backend: String,
    network: &'static str,
    threads: usize,
    kernels: &'static str,
    result_ok: bool,
    /// From the first party's start to the last one's result: the median of the slower party.
    wall_s: f64,
    /// All parties together.
    cpu_s_parties: f64,
    cpu_s_helper: Option<f64>,
    peak_rss_bytes_party: u64,
    peak_rss_bytes_helper: Option<u64>,
    /// Bytes of slots by the catalogue's formula, the most of any party, both ways.
    formula_bytes_party: u64,
    /// The same bytes on the wire, with TLS, requests and the parties' messages to each other.
    wire_bytes_party: u64,
    runs: Vec<AidedRun>,
}

/// One run.
#[derive(Debug, Serialize)]
struct AidedRun {
    parties: Vec<AidedBenchFigures>,
    cpu_s_helper: Option<f64>,
    peak_rss_bytes_helper: Option<u64>,
}

impl AidedRun {
    fn wall_s(&self) -> f64 {
        self.parties.iter().map(|party| party.wall_s).fold(0.0, f64::max)
    }
}

/// Runs the benchmark and prints its figures on `out`.
pub(super) fn run(
    args: &BenchArgs,
    row: &'static AidedProtocol,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let Sizes { sender, receiver } = args.size;
    let parties = usize::from(args.aided.parties);
    if !row.parties.contains(&parties) {
        return Err(BenchError::Parties(row.id).into());
    }
    let mut rows = vec![sender; parties];
    rows[1] = receiver;
    let most = rows.iter().copied().max().unwrap_or(0);
    if most > row.variant.max_rows() {
        return Err(BenchError::TooManyRows { id: row.id, max: row.variant.max_rows() }.into());
    }
    let common = args.question.common(args.size);
    if common > rows.iter().copied().min().unwrap_or(0) {
        return Err(BenchError::TooManyCommon.into());
    }
    let check = args.aided.check(row.variant, most);
    let plan = Plan { args, row, rows, common, check };
    let runs = (0..args.runs.get()).map(|_| plan.one_run()).collect::<Result<Vec<_>, _>>()?;
    let report = plan.report(runs);
    if args.json {
        let json = serde_json::to_string_pretty(&report).map_err(|_| BenchError::Process)?;
        writeln!(out, "{json}")?;
    } else {
        report.print(out)?;
    }
    if report.result_ok { Ok(()) } else { Err(BenchError::WrongResult.into()) }
}

/// What to measure.
struct Plan<'a> {
    args: &'a BenchArgs,
    row: &'static AidedProtocol,
    rows: Vec<u64>,
    common: u64,
    check: Check,
}

impl Plan<'_> {
    fn one_run(&self) -> Result<AidedRun, BenchError> {
        // In the current directory: the directory for temporary files may be in memory.
        let folder = tempfile::tempdir_in(std::env::current_dir()?)?;
        let folder = folder.path();
        let make = |name: &str| -> Result<_, BenchError> {
            let identity = Identity::generate().map_err(|_| BenchError::Process)?;
            let path = folder.join(name);
            identity.save(&path).map_err(|_| BenchError::Process)?;
            Ok((path, identity.public()))
        };
        let (helper_key, helper) = make("helper")?;
        let keys = (0..self.rows.len())
            .map(|party| make(&format!("party-{party}")))
            .collect::<Result<Vec<_>, _>>()?;
        let identities: Vec<String> =
            keys.iter().map(|(_, identity)| identity.to_string()).collect();
        let (serving, address) = self.start_helper(folder, &helper_key, &identities)?;
        let network: Network = self.args.network;
        let mut relays = Vec::new();
        let mut running = Vec::new();
        for (party, (key, _)) in keys.iter().enumerate() {
            let shape = network.shape();
            let target = match shape.is_unshaped() {
                true => address,
                false => {
                    let any = SocketAddr::from(([127, 0, 0, 1], 0));
                    let relay =
                        ShapedRelay::start(any, address, shape).map_err(|_| BenchError::Process)?;
                    let target = relay.address();
                    relays.push(relay);
                    target
                }
            };
            let mut command = Command::new(std::env::current_exe()?);
            let rows: Vec<String> = self.rows.iter().map(u64::to_string).collect();
            command
                .args(["bench-aided-party", self.row.id, "--rows", &rows.join(",")])
                .args(["--party", &party.to_string(), "--common", &self.common.to_string()])
                .args(["--copies", &self.check.copies.to_string()])
                .args(["--dummies", &self.check.dummies.to_string()])
                .args(self.args.aided.in_clear.then_some("--in-clear"))
                .args(["--identities", &identities.join(",")])
                .args(["--helper", &helper.to_string(), "--connect", &target.to_string()])
                .arg("--key")
                .arg(key)
                .arg("--folder")
                .arg(folder.join(format!("folder-{party}")))
                .args(["--threads", &self.args.threads.to_string()])
                .args(["--memory", &self.args.aided.memory.to_string()])
                .stdin(Stdio::null())
                .stdout(Stdio::piped());
            running.push(Process::start(command, "party")?);
        }
        let parties = running.into_iter().map(Process::figures).collect::<Result<Vec<_>, _>>()?;
        let (cpu_s_helper, peak_rss_bytes_helper) = used_by(serving.id());
        Ok(AidedRun { parties, cpu_s_helper, peak_rss_bytes_helper })
    }

    /// Starts `vesica helper`, and waits for its address.
    fn start_helper(
        &self,
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
        command.arg("--threads").arg(self.args.threads.to_string());
        command.arg("--state").arg(folder.join("state"));
        if let Some(backend) = &self.args.aided.backend {
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

    fn report(&self, runs: Vec<AidedRun>) -> AidedBenchReport {
        let median = |mut values: Vec<f64>| {
            values.sort_by(f64::total_cmp);
            values.get(values.len() / 2).copied().unwrap_or(0.0)
        };
        let parties = || runs.iter().flat_map(|run| &run.parties);
        let helper_cpu: Vec<f64> = runs.iter().filter_map(|run| run.cpu_s_helper).collect();
        AidedBenchReport {
            schema: "vesica-aided-bench/1",
            vesica_version: env!("CARGO_PKG_VERSION"),
            protocol: self.row.id,
            in_clear: self.args.aided.in_clear,
            rows: self.rows.clone(),
            common: self.common,
            copies: self.check.copies,
            dummies: self.check.dummies,
            backend: match &self.args.aided.backend {
                Some(url) => vesica_backends::redacted(url),
                None => "disk:".to_owned(),
            },
            network: self.args.network.name(),
            threads: self.args.threads.get(),
            kernels: vesica_simd::Backend::active().name(),
            result_ok: parties().all(|party| party.result_ok),
            wall_s: median(runs.iter().map(AidedRun::wall_s).collect()),
            cpu_s_parties: median(
                runs.iter().map(|run| run.parties.iter().map(|party| party.cpu_s).sum()).collect(),
            ),
            cpu_s_helper: (!helper_cpu.is_empty()).then(|| median(helper_cpu)),
            peak_rss_bytes_party: parties().map(|party| party.peak_rss_bytes).max().unwrap_or(0),
            peak_rss_bytes_helper: runs.iter().filter_map(|run| run.peak_rss_bytes_helper).max(),
            formula_bytes_party: parties()
                .map(|party| party.formula_sent + party.formula_received)
                .max()
                .unwrap_or(0),
            wire_bytes_party: parties()
                .map(|party| party.wire_sent + party.wire_received)
                .max()
                .unwrap_or(0),
            runs,
        }
    }
}

impl AidedBenchReport {
    fn print(&self, out: &mut impl Write) -> Result<(), Failure> {
        let rows: Vec<String> = self.rows.iter().map(u64::to_string).collect();
        let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        let label = if self.in_clear { ", items in clear" } else { "" };
        writeln!(
            out,
            "{}{label}: {} rows, {} common",
            self.protocol,
            rows.join(" and "),
            self.common
        )?;
        writeln!(
            out,
            "{} on {}, {}, {} per party; {} copies, {} dummies of each kind",
            self.backend,
            self.network,
            self.kernels,
            threads(self.threads),
            self.copies,
            self.dummies
        )?;
        writeln!(out, "time           {:.3} s, median of {}", self.wall_s, self.runs.len())?;
        writeln!(out, "CPU, parties   {:.3} s, all together", self.cpu_s_parties)?;
        if let Some(seconds) = self.cpu_s_helper {
            writeln!(out, "CPU, helper    {seconds:.3} s")?;
        }
        writeln!(out, "memory, party  {:.0} MiB", mib(self.peak_rss_bytes_party))?;
        if let Some(bytes) = self.peak_rss_bytes_helper {
            writeln!(out, "memory, helper {:.0} MiB", mib(bytes))?;
        }
        writeln!(
            out,
            "bytes, party   {} by the formula, {} on the wire",
            self.formula_bytes_party, self.wire_bytes_party
        )?;
        writeln!(out, "result         {}", if self.result_ok { "right" } else { "WRONG" })?;
        Ok(())
    }
}

fn threads(count: usize) -> String {
    format!("{count} thread{}", if count == 1 { "" } else { "s" })
}

/// CPU seconds and peak memory of a running process, if the system reports them (Linux).
fn used_by(process: u32) -> (Option<f64>, Option<u64>) {
    let read = |name: &str| std::fs::read_to_string(format!("/proc/{process}/{name}")).ok();
    let seconds = read("stat").and_then(|stat| {
        // The name of the program may contain any characters. After it, the 12th and 13th fields are the
        // ticks.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks: u64 =
            fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
        // The kernel reports in hundredths of a second, independently of its own clock.
        Some(ticks as f64 / 100.0)
    });
    let peak = read("status").and_then(|status| {
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        let kibibytes: u64 = peak.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kibibytes * 1024)
    });
    (seconds, peak)
}
