//! The figures of a measurement: every run, and the medians.

use crate::error::BenchError;
use crate::party_figures::{PartyFigures, PhaseFigures};
use crate::subject::{Row, Subject};
use serde::Serialize;
use std::io::{self, Write};
use vesica_core::{EarlyReveal, Item, PsiParams, Query, Role, SessionId};
use vesica_protocols::Protocol;

/// All parties of one run: if there are two, the sender and the receiver.
#[derive(Debug, Serialize)]
pub(crate) struct RunFigures {
    pub(crate) parties: Vec<PartyFigures>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cpu_s_helper: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) peak_rss_bytes_helper: Option<u64>,
}

/// All runs and their medians.
#[derive(Debug, Serialize)]
pub struct BenchReport {
    schema: &'static str,
    vesica_version: &'static str,
    protocol: &'static str,
    /// Items of each party; if there are two, the sender's and the receiver's.
    rows: Vec<u64>,
    common: u64,
    network: &'static str,
    threads: usize,
    kernels: &'static str,
    result_ok: bool,
    /// By the catalogue's formula, in both directions: the most of any party, and the upper bound
    /// if the bytes depend on the result.
    formula_bytes: u64,
    /// With a helper: requests, replies and the parties' handshake, which the formula does not
    /// count.
    beside_formula_bytes: u64,
    /// Only between two parties.
    #[serde(flatten)]
    asked: Option<AskedReport>,
    /// Only with a helper.
    #[serde(flatten)]
    helper: Option<HelperReport>,
    median: Median,
    runs: Vec<RunFigures>,
}

/// What two parties computed.
#[derive(Debug, Serialize)]
struct AskedReport {
    operation: &'static str,
    /// With the operation threshold: the number of common items from which the answer is yes.
    threshold: Option<u64>,
    /// With the operation sum: length of a value.
    value_bits: Option<u32>,
    /// With the operation inner-product: length of a value of the receiver.
    #[serde(skip_serializing_if = "Option::is_none")]
    factor_bits: Option<u32>,
    min_matches: Option<u64>,
    max_matches: Option<u64>,
    item_bits: u32,
    bytes_depend_on_result: bool,
    /// As in the catalogue; tests compare the catalogue with runs.
    flights: u64,
}

/// How a helper was used.
#[derive(Debug, Serialize)]
struct HelperReport {
    in_clear: bool,
    copies: u32,
    dummies: u32,
    backend: String,
}

/// Medians over the runs.
#[derive(Debug, Serialize)]
struct Median {
    /// From the connection to the later result. The connection is between both parties, or between
    /// each party and the helper.
    wall_s: f64,
    /// All parties together.
    cpu_s: f64,
    /// CPU time of a party divided by the number of its items, averaged over all parties.
    cpu_us_per_item_and_party: f64,
    /// Payload in both directions, the most of any party.
    bytes_total: u64,
    /// Bytes over TCP in both directions, including TLS and the handshakes; the most of any party.
    wire_bytes_total: u64,
    /// The largest of any party.
    peak_rss_bytes: u64,
    /// The most intermediate data in files at one time, of any party.
    peak_scratch_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu_s_helper: Option<f64>,
    /// The largest of any run.
    #[serde(skip_serializing_if = "Option::is_none")]
    peak_rss_bytes_helper: Option<u64>,
    #[serde(flatten)]
    roles: Option<RolesMedian>,
}

/// The medians of the two parties.
#[derive(Debug, Serialize)]
struct RolesMedian {
    cpu_s_sender: f64,
    cpu_s_receiver: f64,
    bytes_sender_to_receiver: u64,
    bytes_receiver_to_sender: u64,
    /// The smaller of the two parties' numbers. Large runs answer blocks while others are still
    /// being sent.
    direction_changes: u64,
    peak_rss_bytes_sender: u64,
    peak_rss_bytes_receiver: u64,
    /// Times by part of the protocol.
    phases_sender: Vec<PhaseFigures>,
    phases_receiver: Vec<PhaseFigures>,
}

impl Median {
    fn new(subject: &Subject, runs: &[RunFigures]) -> Self {
        let real = |of: &dyn Fn(&RunFigures) -> f64| median(runs.iter().map(of), f64::total_cmp);
        let most = |of: &dyn Fn(&PartyFigures) -> u64| {
            let of_run = |run: &RunFigures| run.parties.iter().map(of).max().unwrap_or(0);
            median(runs.iter().map(of_run), u64::cmp)
        };
        let per_item =
            |(party, rows): (&PartyFigures, &u64)| 1e6 * party.used.cpu_s / (*rows).max(1) as f64;
        let helpers = runs.iter().all(|run| run.cpu_s_helper.is_some());
        let peaks = runs.iter().filter_map(|run| run.peak_rss_bytes_helper);
        Self {
            wall_s: real(&|run| {
                run.parties.iter().map(|party| party.used.wall_s).fold(0.0, f64::max)
            }),
            cpu_s: real(&|run| run.parties.iter().map(|party| party.used.cpu_s).sum()),
            cpu_us_per_item_and_party: real(&|run| {
                let each = run.parties.iter().zip(&subject.rows).map(per_item);
                each.sum::<f64>() / run.parties.len() as f64
            }),
            bytes_total: most(&|party| party.payload_sent + party.payload_received),
            wire_bytes_total: most(&|party| party.wire_sent + party.wire_received),
            peak_rss_bytes: most(&|party| party.used.peak_rss_bytes),
            peak_scratch_bytes: most(&|party| party.peak_scratch_bytes),
            cpu_s_helper: helpers.then(|| real(&|run| run.cpu_s_helper.unwrap_or(0.0))),
            peak_rss_bytes_helper: peaks.max(),
            roles: matches!(subject.asked.row, Row::TwoParties(_)).then(|| RolesMedian::new(runs)),
        }
    }
}

impl RolesMedian {
    fn new(runs: &[RunFigures]) -> Self {
        let cpu_s = |party: usize| {
            median(runs.iter().map(|run| run.parties[party].used.cpu_s), f64::total_cmp)
        };
        let whole = |of: &dyn Fn(&PartyFigures) -> u64, party: usize| {
            median(runs.iter().map(|run| of(&run.parties[party])), u64::cmp)
        };
        let changes = |run: &RunFigures| {
            run.parties.iter().map(|party| party.direction_changes).min().unwrap_or(0)
        };
        let [sender, receiver] = [0, 1];
        Self {
            cpu_s_sender: cpu_s(sender),
            cpu_s_receiver: cpu_s(receiver),
            bytes_sender_to_receiver: whole(&|party| party.payload_sent, sender),
            bytes_receiver_to_sender: whole(&|party| party.payload_sent, receiver),
            direction_changes: median(runs.iter().map(changes), u64::cmp),
            peak_rss_bytes_sender: whole(&|party| party.used.peak_rss_bytes, sender),
            peak_rss_bytes_receiver: whole(&|party| party.used.peak_rss_bytes, receiver),
            phases_sender: phases(runs, |run| &run.parties[sender]),
            phases_receiver: phases(runs, |run| &run.parties[receiver]),
        }
    }
}

impl AskedReport {
    fn new(subject: &Subject, protocol: &Protocol) -> Self {
        let Subject { asked, rows } = subject;
        let question = &asked.question;
        let (query, early_reveal) = (question.query, question.early_reveal);
        let session = SessionId::from_bytes([0; 32]);
        let params = PsiParams::new(session, rows[0], rows[1], question.learns)
            .and_then(|params| params.with_item_bits(asked.item_bits));
        let bounds = question.bounds().unwrap_or_default();
        let params = params.map(|params| {
            params.with_query(query).with_bounds(bounds).with_early_reveal(early_reveal)
        });
        Self {
            operation: query.operation().name(),
            threshold: match query {
                Query::Threshold { min } => Some(min),
                _ => None,
            },
            factor_bits: query.factors().map(|factors| factors.bits()),
            value_bits: query.values_of(Role::Sender).map(|values| values.bits()),
            min_matches: question.min_matches,
            max_matches: question.max_matches,
            item_bits: asked.item_bits,
            bytes_depend_on_result: protocol.bytes_depend_on_result
                && early_reveal != EarlyReveal::Never,
            flights: params.map_or(0, |params| (protocol.flights)(&params)),
        }
    }

    /// Whether the formula is an upper bound. Outside the bounds, the result itself is not sent.
    fn is_upper_bound(&self) -> bool {
        self.bytes_depend_on_result || self.min_matches.or(self.max_matches).is_some()
    }
}

impl BenchReport {
    pub(crate) fn new(subject: &Subject, runs: Vec<RunFigures>) -> Self {
        let Subject { asked: of, rows } = subject;
        let (protocol, asked, helper) = match &of.row {
            Row::TwoParties(row) => (row.id, Some(AskedReport::new(subject, row)), None),
            Row::WithHelper(row, options) => {
                let check = options.check(row.variant, of.sizes.larger());
                let helper = HelperReport {
                    in_clear: options.in_clear,
                    copies: check.copies,
                    dummies: check.dummies,
                    backend: match &options.backend {
                        Some(url) => vesica_label_joins::redacted(url),
                        None => "disk:".to_owned(),
                    },
                };
                (row.id, None, Some(helper))
            }
        };
        let parties = || runs.iter().flat_map(|run| &run.parties);
        let formula = parties().map(|party| party.formula_sent + party.formula_received);
        let payload = parties().map(|party| party.payload_sent + party.payload_received);
        let over = payload.zip(formula.clone()).map(|(sent, formula)| sent.saturating_sub(formula));
        Self {
            schema: "vesica-bench/2",
            vesica_version: env!("CARGO_PKG_VERSION"),
            protocol,
            rows: rows.clone(),
            common: of.question.common,
            network: of.network,
            threads: of.threads.get(),
            kernels: vesica_simd::Backend::active().name(),
            result_ok: parties().all(|party| party.result_ok),
            formula_bytes: formula.max().unwrap_or(0),
            beside_formula_bytes: helper.as_ref().and(over.max()).unwrap_or(0),
            asked,
            helper,
            median: Median::new(subject, &runs),
            runs,
        }
    }

    /// Whether every run gave every party exactly the expected result.
    pub fn result_ok(&self) -> bool {
        self.result_ok
    }

    /// One JSON object, over several lines, without a line break at its end.
    ///
    /// # Errors
    /// [`BenchError::Process`]; no report gives it.
    pub fn json(&self) -> Result<String, BenchError> {
        serde_json::to_string_pretty(self).map_err(|_| BenchError::Process)
    }

    /// The medians as text.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let m = &self.median;
        let mb = |bytes: u64| bytes as f64 / 1e6;
        write!(out, "{}: ", self.protocol)?;
        if let Some(AskedReport { operation, item_bits, .. }) = &self.asked {
            if *operation != "intersection" {
                write!(out, "{operation} of {} in common; ", self.common)?;
            }
            write!(out, "sender {}, receiver {} items", self.rows[0], self.rows[1])?;
            if *item_bits != Item::BITS {
                write!(out, " of {item_bits} bits")?;
            }
        }
        if let Some(HelperReport { in_clear, copies, dummies, backend }) = &self.helper {
            let rows: Vec<String> = self.rows.iter().map(u64::to_string).collect();
            let label = if *in_clear { "items in clear" } else { "items" };
            write!(
                out,
                "{} {label}, {} common; {backend}, {copies} copies, {dummies} dummies of each kind",
                rows.join(" and "),
                self.common
            )?;
        }
        writeln!(
            out,
            "; {}, {} thread(s) per party, {} run(s), kernels {}",
            self.network,
            self.threads,
            self.runs.len(),
            self.kernels
        )?;
        let result = if self.result_ok { "exact in every run" } else { "WRONG" };
        writeln!(out, "  result        {result}")?;
        writeln!(out, "  wall          {:.3} s", m.wall_s)?;
        let mut cpu = format!("{:.3} s all parties", m.cpu_s);
        let mut memory = format!("{:.1} MB a party", mb(m.peak_rss_bytes));
        if let Some(of) = &m.roles {
            let (sender, receiver) = (of.cpu_s_sender, of.cpu_s_receiver);
            cpu = format!("{sender:.3} s sender, {receiver:.3} s receiver");
            let (sender, receiver) = (of.peak_rss_bytes_sender, of.peak_rss_bytes_receiver);
            memory = format!("{:.1} MB sender, {:.1} MB receiver", mb(sender), mb(receiver));
        }
        if let Some(seconds) = m.cpu_s_helper {
            cpu += &format!(", {seconds:.3} s helper");
        }
        if let Some(bytes) = m.peak_rss_bytes_helper {
            memory += &format!(", {:.1} MB helper", mb(bytes));
        }
        let each = m.cpu_us_per_item_and_party;
        writeln!(out, "  CPU           {cpu}; {each:.2} µs per item and party")?;
        let formula = match self.formula_bytes {
            formula if formula == m.bytes_total => "equal to the formula".to_owned(),
            formula if self.asked.as_ref().is_some_and(AskedReport::is_upper_bound) => {
                format!("the formula says at most {formula}")
            }
            formula if self.helper.is_some() => format!("{formula} by the formula, of slots alone"),
            formula => format!("the formula says {formula}"),
        };
        let ways = match &m.roles {
            Some(of) => format!(
                "{} to the receiver, {} to the sender",
                of.bytes_sender_to_receiver, of.bytes_receiver_to_sender
            ),
            None => "a party, both ways".to_owned(),
        };
        writeln!(out, "  payload       {} B: {ways}; {formula}", m.bytes_total)?;
        writeln!(out, "  on the wire   {:.3} MB with TLS", mb(m.wire_bytes_total))?;
        if let Some(asked) = &self.asked {
            writeln!(out, "  flights       {}", asked.flights)?;
        }
        writeln!(out, "  peak memory   {memory}")?;
        if m.peak_scratch_bytes > 0 {
            writeln!(out, "  disk          {:.1} MB a party", mb(m.peak_scratch_bytes))?;
        }
        let Some(of) = &m.roles else { return Ok(()) };
        for (party, phases) in [("sender", &of.phases_sender), ("receiver", &of.phases_receiver)] {
            let parts: Vec<String> =
                phases.iter().map(|part| format!("{} {:.4} s", part.name, part.wall_s)).collect();
            writeln!(out, "  {party:<13} {}", parts.join(", "))?;
        }
        Ok(())
    }
}

/// The median of each part of one party; the parts are the same in every run.
fn phases(runs: &[RunFigures], party: impl Fn(&RunFigures) -> &PartyFigures) -> Vec<PhaseFigures> {
    let Some(first) = runs.first() else { return Vec::new() };
    let of_part = |part: &PhaseFigures| {
        let walls = runs
            .iter()
            .flat_map(|run| &party(run).phases)
            .filter(|other| other.name == part.name)
            .map(|other| other.wall_s);
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
