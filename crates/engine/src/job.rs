//! One run of an agreement: read, meet, agree, match, check, write.

use crate::agreement::{Agreement, PartyTerms};
use crate::answer::text_limit;
use crate::clock::PhaseClock;
use crate::error::ConfigFault;
use crate::meeting::Purpose;
use crate::report::{self, InputReport};
use crate::resources::Stopwatch;
use crate::results;
use crate::run::{Run, Seats, Steps, context};
use crate::word::leave_word;
use crate::{Error, Event, Observer, Phase, Report};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;
use vesica_core::hash::ItemHash;
use vesica_link::{CancelToken, Identity, LinkOptions};
use vesica_net::Meter;
use vesica_protocols::Security;
use vesica_records::{Beside, KeyColumn, KeyItems, KeyLimits, OutputOptions, Source, ValueColumns};

pub(crate) const ITEM_LABEL: &str = "vesica v1 item";

/// Everything one side brings to a run.
pub struct Job {
    /// What was agreed.
    pub agreement: Agreement,
    /// This side's secret identity; it also says which party this is.
    pub identity: Identity,
    /// This side's rows.
    pub source: Source,
    /// For a key or a column of values of the agreement the column of the file that holds it, where the
    /// names differ.
    pub columns: BTreeMap<String, String>,
    /// Where the result goes, when this side receives it: rows, keys, identifiers and shares always, a count,
    /// an answer or a sum if wished.
    pub output: Option<OutputOptions>,
    /// Where the peer is.
    pub link: LinkOptions,
    /// CPU threads to use.
    pub threads: NonZeroUsize,
    /// Whether an insecure protocol that the agreement names may run.
    pub allow_insecure: bool,
    /// Whether a refused value is an error rather than a skipped and counted row.
    pub strict: bool,
}

/// The key columns of `agreement` as they are named in the file of `party`, where that is known.
///
/// # Errors
/// [`ConfigFault::UnknownKey`] when `columns` names neither a key of the agreement nor a column
/// of values that may be this party's.
pub fn key_columns(
    agreement: &Agreement,
    party: Option<&str>,
    columns: &BTreeMap<String, String>,
) -> Result<Vec<KeyColumn>, Error> {
    let mut known: Vec<String> = agreement.keys.iter().map(|key| key.name.clone()).collect();
    if let Some(values) = agreement.question.values()
        && party.is_none_or(|party| party == values.of)
    {
        known.extend(values.columns.iter().cloned());
    }
    if let Some(given) = columns.keys().find(|name| !known.contains(name)) {
        return Err(ConfigFault::UnknownKey { given: given.clone(), known }.into());
    }
    Ok(agreement
        .keys
        .iter()
        .map(|key| KeyColumn {
            name: key.name.clone(),
            column: named_here(&key.name, columns),
            profile: key.profile,
        })
        .collect())
}

/// The columns whose values `party` brings, as they are named in its file; `None` when it brings none.
pub fn value_columns(
    agreement: &Agreement,
    party: &str,
    columns: &BTreeMap<String, String>,
) -> Option<ValueColumns> {
    let values = agreement.values_of(party)?;
    Some(ValueColumns {
        columns: values.columns.iter().map(|column| named_here(column, columns)).collect(),
        bits: values.bits,
        signed: values.signed,
        duplicates: values.duplicates,
    })
}

/// What is read beside the keys under `agreement`, `values` being this party's.
pub fn beside<'a>(agreement: &Agreement, values: Option<&'a ValueColumns>) -> Beside<'a> {
    let texts = text_limit(agreement);
    // A result that names keys says which rows they are of.
    Beside { values, texts, rows: texts.is_some() }
}

pub(crate) fn named_here(name: &str, columns: &BTreeMap<String, String>) -> String {
    columns.get(name).map_or(name, String::as_str).to_owned()
}

/// What a file under `terms` must keep to.
pub fn key_limits(terms: &PartyTerms, strict: bool) -> KeyLimits {
    KeyLimits { max_rows: Some(terms.max_rows), strict, may_be_empty: terms.min_rows == 0 }
}

/// How encoded keys become items under `agreement`: the integers that they are where
/// [`Agreement::integer_items`] says so, digests otherwise.
///
/// A digest is bound to the agreement, not the session, so that a file can be read before the peer is there;
/// the protocols bind the session.
pub fn key_items(agreement: &Agreement, columns: &[KeyColumn]) -> KeyItems {
    let integers = agreement
        .integer_items()
        .and_then(|integers| KeyItems::integers(columns, integers.key_mark()));
    integers.unwrap_or_else(|| {
        KeyItems::digests(ItemHash::new(ITEM_LABEL, &[agreement.hash().as_bytes()]))
    })
}

/// Meets the peer and compares the agreements, without reading data or running anything. The peer
/// must do the same at the same time.
///
/// # Errors
/// Any [`Error`].
pub fn reach(
    agreement: &Agreement,
    identity: &Identity,
    link: &LinkOptions,
    observer: &dyn Observer,
    cancel: &CancelToken,
) -> Result<(), Error> {
    let seats = Seats::find(agreement, identity)?;
    let run = Run::new(cancel);
    let session = run.connect(agreement, identity, link, &seats, observer)?;
    let mut ctx = context(&session, seats.seat, &seats.peer, NonZeroUsize::MIN, &Meter::new())
        .map_err(|error| run.fail(&session, error))?;
    let result = run.agree(&mut ctx, agreement, &seats, Purpose::Check, observer);
    run.end(&session, &seats, result)
}

/// What a run needs of its files and its agreement before it reads and connects.
struct Prepared {
    key: Vec<KeyColumn>,
    values: Option<ValueColumns>,
    hash: KeyItems,
    limits: KeyLimits,
}

fn prepare(job: &Job, seats: &Seats) -> Result<Prepared, Error> {
    let Job { agreement, source, columns, output, .. } = job;
    let insecure = agreement.candidates().iter().find(|row| row.security == Security::Insecure);
    if let (Some(row), false) = (insecure, job.allow_insecure) {
        return Err(ConfigFault::Insecure { protocol: row.id }.into());
    }
    let party = || seats.party.clone();
    match (seats.learns(agreement), output) {
        (true, None) if results::must_be_kept(agreement) => {
            return Err(ConfigFault::OutputMissing { party: party() }.into());
        }
        (false, Some(_)) => return Err(ConfigFault::OutputNotLearned { party: party() }.into()),
        (true, Some(output)) => results::check(agreement, source, output)?,
        _ => {}
    }
    let key = key_columns(agreement, Some(&seats.party), columns)?;
    let values = value_columns(agreement, &seats.party, columns);
    let hash = key_items(agreement, &key);
    let limits = key_limits(agreement.terms_of(&seats.party), job.strict);
    Ok(Prepared { key, values, hash, limits })
}

/// Runs `job` to its end: on success the result file is in place and both sides have said that
/// they are done.
///
/// # Errors
/// Any [`Error`]; no result file, or part of one, is left behind.
pub fn run(job: Job, observer: Arc<dyn Observer>, cancel: &CancelToken) -> Result<Report, Error> {
    let started_at = jiff::Timestamp::now();
    let stopwatch = Stopwatch::start();
    observer.event(&Event::Phase(Phase::Preparing));
    let seats = Seats::find(&job.agreement, &job.identity)?;
    let prepared = prepare(&job, &seats).inspect_err(|error| {
        leave_word(&job.agreement, &job.identity, &job.link, error.stop_reason(), cancel);
    })?;
    let Prepared { key, values, hash, limits } = prepared;
    let Job { agreement, identity, source, output, link, threads, .. } = job;
    let terms = agreement.terms_of(&seats.party);

    // Reading and meeting the peer take their time side by side; a failure of one ends the other.
    let run = Run::new(cancel);
    let mut clock = PhaseClock::default();
    let meter = Meter::new();
    let (keys, met) = std::thread::scope(|scope| {
        let reading = scope.spawn(|| {
            let start = Instant::now();
            let read = (&*key, beside(&agreement, values.as_ref()));
            let keys = run.read(&source, read, &hash, &limits, terms.min_rows, &*observer);
            if let Err(error) = &keys {
                run.abort(error.stop_reason());
            }
            (keys, start.elapsed())
        });
        let start = Instant::now();
        let met =
            run.connect(&agreement, &identity, &link, &seats, &*observer).and_then(|session| {
                clock.add(Phase::Connecting, start.elapsed());
                let mut ctx = context(&session, seats.seat, &seats.peer, threads, &meter)
                    .map_err(|error| run.fail(&session, error))?;
                ctx.set_progress(Arc::new(Steps { observer: Arc::clone(&observer) }));
                let agreed = run.agree(&mut ctx, &agreement, &seats, Purpose::Run, &*observer);
                match agreed {
                    Ok(()) => Ok((session, ctx)),
                    Err(error) => Err(run.fail(&session, error)),
                }
            });
        if met.is_err() {
            run.stop_reading();
        }
        let (keys, elapsed) = match reading.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        clock.add(Phase::Reading, elapsed);
        (keys, met)
    });
    let (mut keys, session, mut ctx) = run.first_failure(keys, met)?;

    let rows = keys.rows.take();
    let (counts, fingerprint) = (keys.counts.clone(), keys.fingerprint);
    let matching = run.match_sets(&mut ctx, &session, &agreement, &seats, keys, &*observer);
    let done = match matching {
        Ok(done) => done,
        Err(error) => return Err(run.fail(&session, error)),
    };
    drop(ctx);
    run.close(&session, &*observer)?;
    let matched = done.check(&agreement, &seats, &*observer)?;

    let mut rows_written = None;
    if let (Some(output), Some(answer)) = (&output, &matched.answer) {
        observer.event(&Event::Phase(Phase::Writing));
        let start = Instant::now();
        let mut progress = |progress: vesica_records::Progress| {
            observer.event(&Event::Writing {
                bytes_done: progress.bytes_done,
                bytes_total: progress.bytes_total,
                rows: progress.rows,
            });
            run.go_on()
        };
        let made = results::Made {
            agreement: &agreement,
            role: matched.role,
            session: matched.params.session(),
            source: &source,
            key: &key,
            hash: &hash,
            fingerprint: &fingerprint,
            rows: rows.as_ref(),
        };
        rows_written = made.write(answer, output, &mut progress)?;
        clock.add(Phase::Writing, start.elapsed());
    }

    Ok(report::Parts {
        agreement: &agreement,
        identity: identity.public(),
        seats: &seats,
        started_at,
        matched: &matched,
        input: InputReport::new(source.format().to_string(), &counts),
        rows_written,
        wire_bytes: session.wire_bytes(),
        clock: &clock,
        meter: &meter,
        threads,
        used: stopwatch.read(),
    }
    .report())
}
