//! The figures of a benchmark: every run, and the medians.

use super::{BenchArgs, Sizes};
use serde::Serialize;
use std::io::{self, Write};
use vesica_core::{Item, PsiParams, Query, Role, SessionId};
use vesica_engine::bench::{BenchFigures, PhaseFigures};
use vesica_protocols::Protocol;

/// One run, both parties.
#[derive(Debug, Serialize)]
pub(super) struct RunFigures {
    pub(super) sender: BenchFigures,
    pub(super) receiver: BenchFigures,
}

/// All runs and their medians.
#[derive(Debug, Serialize)]
pub(super) struct BenchReport {
    schema: &'static str,
    vesica_version: &'static str,
    protocol: &'static str,
    sizes: SizesReport,
    operation: &'static str,
    /// With the operation threshold: the number of common items from which the answer is yes.
    threshold: Option<u64>,
    /// With the operation sum: length of a value.
    value_bits: Option<u32>,
    min_matches: Option<u64>,
    max_matches: Option<u64>,
    item_bits: u32,
    network: &'static str,
    threads: usize,
    kernels: &'static str,
    pub(super) result_ok: bool,
    /// The maximum, where the number of bytes depends on the result.
    formula_bytes: Option<u64>,
    bytes_depend_on_result: bool,
    /// As in the catalogue; tests compare the catalogue with runs.
    flights: u64,
    median: Median,
    runs: Vec<RunFigures>,
}

#[derive(Debug, Serialize)]
struct SizesReport {
    sender: u64,
    receiver: u64,
    common: u64,
}

/// Medians over the runs.
#[derive(Debug, Serialize)]
struct Median {
    /// From both parties ready to the later result.
    wall_s: f64,
    /// Both parties together.
    cpu_s: f64,
    cpu_s_sender: f64,
    cpu_s_receiver: f64,
    /// CPU time of a party divided by the size of its set; the mean of both parties.
    cpu_us_per_item_and_party: f64,
    /// Payload both ways.
    bytes_total: u64,
    bytes_sender_to_receiver: u64,
    bytes_receiver_to_sender: u64,
    /// Over TCP both ways, TLS and the handshakes included.
    wire_bytes_total: u64,
    /// The smaller number of the two parties. Large runs answer blocks while others are still being sent.
    direction_changes: u64,
    /// The larger of both parties.
    peak_rss_bytes: u64,
    peak_rss_bytes_sender: u64,
    peak_rss_bytes_receiver: u64,
    /// Times by part of the protocol.
    phases_sender: Vec<PhaseFigures>,
    phases_receiver: Vec<PhaseFigures>,
}

impl BenchReport {
    pub(super) fn new(protocol: &Protocol, args: &BenchArgs, runs: Vec<RunFigures>) -> Self {
        let sizes: Sizes = args.size;
        let real = |of: &dyn Fn(&RunFigures) -> f64| median(runs.iter().map(of), f64::total_cmp);
        let whole = |of: &dyn Fn(&RunFigures) -> u64| median(runs.iter().map(of), u64::cmp);
        let per_item = |cpu_s: f64, n: u64| 1e6 * cpu_s / n.max(1) as f64;
        let median = Median {
            wall_s: real(&|run| run.sender.wall_s.max(run.receiver.wall_s)),
            cpu_s: real(&|run| run.sender.cpu_s + run.receiver.cpu_s),
            cpu_s_sender: real(&|run| run.sender.cpu_s),
            cpu_s_receiver: real(&|run| run.receiver.cpu_s),
            cpu_us_per_item_and_party: real(&|run| {
                let sender = per_item(run.sender.cpu_s, sizes.sender);
                let receiver = per_item(run.receiver.cpu_s, sizes.receiver);
                (sender + receiver) / 2.0
            }),
            bytes_total: whole(&|run| run.sender.bytes_sent + run.receiver.bytes_sent),
            bytes_sender_to_receiver: whole(&|run| run.sender.bytes_sent),
            bytes_receiver_to_sender: whole(&|run| run.receiver.bytes_sent),
            wire_bytes_total: whole(&|run| run.sender.wire_sent + run.receiver.wire_sent),
            direction_changes: whole(&|run| {
                run.sender.direction_changes.min(run.receiver.direction_changes)
            }),
            peak_rss_bytes: whole(&|run| {
                run.sender.peak_rss_bytes.max(run.receiver.peak_rss_bytes)
            }),
            peak_rss_bytes_sender: whole(&|run| run.sender.peak_rss_bytes),
            peak_rss_bytes_receiver: whole(&|run| run.receiver.peak_rss_bytes),
            phases_sender: phases(&runs, |run| &run.sender),
            phases_receiver: phases(&runs, |run| &run.receiver),
        };
        let session = SessionId::from_bytes([0; 32]);
        let params = PsiParams::new(session, sizes.sender, sizes.receiver, args.question.learns())
            .and_then(|params| params.with_item_bits(args.item_bits));
        let query = args.question.query(sizes);
        let bounds = args.question.bounds().unwrap_or_default();
        let params = params.map(|params| params.with_query(query).with_bounds(bounds));
        let (min_matches, max_matches) = args.question.matches();
        Self {
            schema: "vesica-bench/1",
            vesica_version: env!("CARGO_PKG_VERSION"),
            protocol: protocol.id,
            sizes: SizesReport {
                sender: sizes.sender,
                receiver: sizes.receiver,
                common: args.question.common(sizes),
            },
            operation: query.operation().name(),
            threshold: match query {
                Query::Threshold { min } => Some(min),
                _ => None,
            },
            value_bits: query.values_of(Role::Sender).map(|values| values.bits()),
            min_matches,
            max_matches,
            item_bits: args.item_bits,
            network: args.network.name(),
            threads: args.threads.get(),
            kernels: vesica_simd::Backend::active().name(),
            result_ok: runs.iter().all(|run| run.sender.result_ok && run.receiver.result_ok),
            flights: params.as_ref().map_or(0, |params| (protocol.flights)(params)),
            bytes_depend_on_result: protocol.bytes_depend_on_result,
            formula_bytes: params.ok().map(|params| (protocol.bytes)(&params).total()),
            median,
            runs,
        }
    }

    /// Outside bounds the result itself is not sent.
    fn is_bounded(&self) -> bool {
        self.min_matches.or(self.max_matches).is_some()
    }

    /// The medians as text.
    pub(super) fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let m = &self.median;
        let mb = |bytes: u64| bytes as f64 / 1e6;
        let SizesReport { sender, receiver, common } = self.sizes;
        writeln!(
            out,
            "{}: {}sender {sender}, receiver {receiver} items{}; {}, {} thread(s) per party, {} run(s), kernels {}",
            self.protocol,
            match self.operation {
                "intersection" => String::new(),
                operation => format!("{operation} with {common} in common; "),
            },
            match self.item_bits {
                Item::BITS => String::new(),
                bits => format!(" of {bits} bits"),
            },
            self.network,
            self.threads,
            self.runs.len(),
            self.kernels
        )?;
        let result = if self.result_ok { "exact in every run" } else { "WRONG" };
        writeln!(out, "  result        {result}")?;
        writeln!(out, "  wall          {:.3} s", m.wall_s)?;
        writeln!(
            out,
            "  CPU           {:.3} s sender, {:.3} s receiver; {:.2} µs per item and party",
            m.cpu_s_sender, m.cpu_s_receiver, m.cpu_us_per_item_and_party
        )?;
        let formula = match self.formula_bytes {
            Some(formula) if formula == m.bytes_total => "equal to the formula".to_owned(),
            Some(formula) if self.bytes_depend_on_result || self.is_bounded() => {
                format!("the formula says at most {formula}")
            }
            Some(formula) => format!("the formula says {formula}"),
            None => "no formula".to_owned(),
        };
        writeln!(
            out,
            "  payload       {} B: {} to the receiver, {} to the sender; {formula}",
            m.bytes_total, m.bytes_sender_to_receiver, m.bytes_receiver_to_sender
        )?;
        writeln!(out, "  on the wire   {:.3} MB with TLS", mb(m.wire_bytes_total))?;
        writeln!(out, "  flights       {}", self.flights)?;
        writeln!(
            out,
            "  peak memory   {:.1} MB sender, {:.1} MB receiver",
            mb(m.peak_rss_bytes_sender),
            mb(m.peak_rss_bytes_receiver)
        )?;
        for (party, phases) in [("sender", &m.phases_sender), ("receiver", &m.phases_receiver)] {
            let parts: Vec<String> =
                phases.iter().map(|part| format!("{} {:.4} s", part.name, part.wall_s)).collect();
            writeln!(out, "  {party:<13} {}", parts.join(", "))?;
        }
        Ok(())
    }
}

/// The median of each part of one party; the parts are the same in every run.
fn phases(runs: &[RunFigures], party: impl Fn(&RunFigures) -> &BenchFigures) -> Vec<PhaseFigures> {
    let Some(first) = runs.first() else { return Vec::new() };
    let of_part = |part: &PhaseFigures| {
        let walls = runs.iter().flat_map(|run| &party(run).phases);
        let walls = walls.filter(|other| other.name == part.name).map(|other| other.wall_s);
        PhaseFigures { wall_s: median(walls, f64::total_cmp), ..part.clone() }
    };
    party(first).phases.iter().map(of_part).collect()
}

fn median<T: Copy>(
    values: impl Iterator<Item = T>,
    order: impl Fn(&T, &T) -> std::cmp::Ordering,
) -> T {
    let mut values: Vec<T> = values.collect();
    values.sort_by(order);
    values[values.len() / 2]
}
