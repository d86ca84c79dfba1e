//! One run of an agreement: read, meet, match, check, write.

use crate::aided;
use crate::answer::{OwnRows, text_limit};
use crate::clock::PhaseClock;
use crate::error::ConfigFault;
use crate::meeting::Purpose;
use crate::output::{self, Finished, KeyRows};
use crate::report::{self, InputReport};
use crate::resources::Stopwatch;
use crate::run::{OwnKeys, Seats, SharedState, Steps, context};
use crate::word::leave_word;
use crate::{Error, Event, Observer, Phase};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use vesica_agreement::{Agreement, PartyTerms};
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
    /// For a key or a column of values of the agreement the column of the file that holds it, if the
    /// names differ.
    pub columns: BTreeMap<String, String>,
    /// The file for the result, if one is wanted; only if this side receives the result. The result is returned as an
    /// [`RunResult`](crate::RunResult) in any case.
    pub output: Option<OutputOptions>,
    /// The address of the peer, or of the helper, to which a party connects. With a helper the waiting time counts
    /// whenever the helper cannot be reached.
    pub link: LinkOptions,
    /// CPU threads to use; with a helper, connections to it too.
    pub threads: NonZeroUsize,
    /// With a helper: how an interrupted run continues. Ignored without one.
    pub state: StateOptions,
    /// Whether an insecure protocol that the agreement names may run.
    pub allow_insecure: bool,
    /// Whether a refused value is an error rather than a skipped and counted row.
    pub strict: bool,
}

/// Memory for intermediate data by default, in bytes.
pub const MEMORY_BYTES_DEFAULT: u64 = 512 << 20;

/// Characters of the agreement's hash in the name of a folder.
const HASH_CHARS: usize = 16;

/// What a party keeps of a run with a helper, so that it can continue after an interruption.
#[derive(Clone, Debug)]
pub struct StateOptions {
    /// The folder for that, and for intermediate data; by default `vesica-run-HASH-PARTY` in the current folder. The
    /// run creates it if it does not exist, and removes it at the end.
    pub folder: Option<PathBuf>,
    /// Approximate memory for intermediate data; more than that goes to files.
    pub memory_bytes: u64,
    /// Deletes an interrupted run, ends it for the other parties, and begins a new one.
    pub restart: bool,
}

impl Default for StateOptions {
    fn default() -> Self {
        Self { folder: None, memory_bytes: MEMORY_BYTES_DEFAULT, restart: false }
    }
}

impl StateOptions {
    /// The folder of a run of `agreement` by the party of that name.
    pub fn folder_of(&self, agreement: &Agreement, party: &str) -> PathBuf {
        self.folder.clone().unwrap_or_else(|| {
            let hash = agreement.hash().to_string();
            let hash = hash.get(..HASH_CHARS).unwrap_or(&hash);
            format!("vesica-run-{hash}-{party}").into()
        })
    }
}

/// The key columns of `agreement` as the file of `party` names them, if that is known.
///
/// # Errors
/// [`ConfigFault::UnknownKey`] if `columns` names neither a key of the agreement nor a column of
/// values that may be this party's.
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

/// The columns whose values `party` brings, as its file names them; `None` if it brings none.
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

/// What a run reads beside the keys under `agreement`; `values` are this party's.
pub fn beside<'a>(agreement: &Agreement, values: Option<&'a ValueColumns>) -> Beside<'a> {
    let texts = text_limit(agreement);
    // A result that names keys also names their rows.
    Beside { values, texts, rows: texts.is_some() }
}

pub(crate) fn named_here(name: &str, columns: &BTreeMap<String, String>) -> String {
    columns.get(name).map_or(name, String::as_str).to_owned()
}

/// The limits for a file under `terms`.
pub fn key_limits(terms: &PartyTerms, strict: bool) -> KeyLimits {
    KeyLimits { max_rows: Some(terms.max_rows), strict, may_be_empty: terms.min_rows == 0 }
}

/// How encoded keys become items under `agreement`: as integers if [`Agreement::integer_items`]
/// says so, as digests otherwise.
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
    let run = SharedState::new(cancel);
    let session = run.connect(agreement, identity, link, &seats, observer)?;
    let mut ctx = context(&session, seats.seat, &seats.peer, NonZeroUsize::MIN, &Meter::new())
        .map_err(|error| run.fail(&session, error))?;
    let result = run.agree(&mut ctx, agreement, &seats, Purpose::Check, observer);
    run.end(&session, &seats, result)
}

/// The position of the party with this identity.
///
/// # Errors
/// [`ConfigFault::NotAParty`], and [`ConfigFault::Expired`] for an agreement whose last day is over.
pub(crate) fn own_position(agreement: &Agreement, identity: &Identity) -> Result<usize, Error> {
    let public = identity.public();
    let party = agreement.party_of(&public).ok_or(ConfigFault::NotAParty { identity: public })?;
    match agreement.expires {
        Some(on) if agreement.is_expired(jiff::Timestamp::now()) => {
            Err(ConfigFault::Expired { on }.into())
        }
        _ => Ok(agreement.position(party)),
    }
}

/// Refuses a file for a result that `party` does not receive.
pub(crate) fn check_place(job: &Job, party: &str) -> Result<(), Error> {
    match (job.agreement.is_receiver_of_result(party), &job.output) {
        (false, Some(_)) => Err(ConfigFault::OutputNotLearned { party: party.to_owned() }.into()),
        _ => Ok(()),
    }
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
    check_place(job, &seats.party)?;
    if let Some(output) = output {
        output::check(agreement, source, output)?;
    }
    let key = key_columns(agreement, Some(&seats.party), columns)?;
    let values = value_columns(agreement, &seats.party, columns);
    let hash = key_items(agreement, &key);
    let limits = key_limits(agreement.terms_of(&seats.party), job.strict);
    Ok(Prepared { key, values, hash, limits })
}

/// Runs `job` to its end and returns what this party has learned: on success the result file, if
/// the job names one, is in place, and the peer, or the helper, has heard that this party is done.
///
/// # Errors
/// Any [`Error`]; no result file, or part of one, is left behind. With a helper, the same job then continues the
/// run, and so do the other parties.
///
/// # Example
/// Both parties of an intersection in one process, without a result file.
///
/// ```
/// # use std::{collections::BTreeMap, fs, net::TcpListener, num::NonZeroUsize, sync::Arc, thread, time::Duration};
/// use vesica_agreement::Agreement;
/// use vesica_engine::{Job, Silent, StateOptions, run};
/// use vesica_link::{CancelToken, Endpoint, Identity, LinkOptions};
/// use vesica_records::{ReadOptions, Source};
///
/// # let folder = tempfile::tempdir()?;
/// let [clinic, register] = [Identity::generate()?, Identity::generate()?];
/// let agreement = Agreement::parse(&format!(
///     r#"
/// version = 2
/// title = "example"
/// operation = "intersection"
/// receives = "clinic"
/// security = "semi-honest"
/// [[key]]
/// name = "email"
/// profile = "email"
/// [party.clinic]
/// identity = "{}"
/// max_rows = 100
/// [party.register]
/// identity = "{}"
/// max_rows = 100
/// "#,
///     clinic.public(),
///     register.public(),
/// ))?;
/// let job = |name: &str, rows: &str, identity, endpoint| -> Result<Job, Box<dyn std::error::Error>> {
///     let path = folder.path().join(name);
///     fs::write(&path, format!("email\n{rows}"))?;
///     let second = Duration::from_secs(1);
///     Ok(Job {
///         agreement: agreement.clone(),
///         identity,
///         source: Source::open(path, &ReadOptions::default())?,
///         columns: BTreeMap::new(),
///         output: None,
///         link: LinkOptions { endpoint, wait: 20 * second, idle: 20 * second, total: None },
///         threads: NonZeroUsize::MIN,
///         state: StateOptions::default(),
///         allow_insecure: false,
///         strict: false,
///     })
/// };
/// let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string();
/// let listen = Endpoint::Listen(address.clone());
/// let one = job("clinic.csv", "ann@a.org\nbob@b.org\nBob@B.org\n", clinic, listen)?;
/// let two = job("register.csv", "bob@b.org\neve@e.org\n", register, Endpoint::Connect(address))?;
/// let register = thread::spawn(|| run(two, Arc::new(Silent), &CancelToken::new()));
/// let clinic = run(one, Arc::new(Silent), &CancelToken::new())?;
///
/// let rows = clinic.output.rows().expect("the clinic receives rows");
/// assert_eq!(rows.words(), [0b110], "the second and the third row");
/// assert_eq!(rows.keys(), 1);
/// assert!(register.join().expect("it ends")?.output.rows().is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn run(job: Job, observer: Arc<dyn Observer>, cancel: &CancelToken) -> Result<Finished, Error> {
    run_and(job, observer, cancel, ControlFlow::Continue)
}

/// Like [`run`], and passes the result to `say`, which stores it or shows it to people.
///
/// With a helper, the folder of the run holds the answer until after `say`, and is removed then, unless `say` returns
/// [`Break`](ControlFlow::Break): nobody has the result. In that case, and if a process is killed before, the same job
/// gives the result again, even when the helper has forgotten the run. If a process is killed while it removes the folder, the next one learns that the run was finished ([`Error::AlreadyFinished`]).
///
/// # Errors
/// As [`run`].
pub fn run_and<R>(
    job: Job,
    observer: Arc<dyn Observer>,
    cancel: &CancelToken,
    say: impl FnOnce(Finished) -> ControlFlow<R, R>,
) -> Result<R, Error> {
    match job.agreement.helper {
        Some(_) => aided::run(job, observer, cancel, say),
        None => two_parties(job, observer, cancel).map(|finished| match say(finished) {
            ControlFlow::Continue(said) | ControlFlow::Break(said) => said,
        }),
    }
}

fn two_parties(
    job: Job,
    observer: Arc<dyn Observer>,
    cancel: &CancelToken,
) -> Result<Finished, Error> {
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

    // Reading and meeting the peer run side by side; a failure of one ends the other.
    let run = SharedState::new(cancel);
    let mut clock = PhaseClock::default();
    let meter = Meter::new();
    let (keys, met) = std::thread::scope(|scope| {
        let reading = scope.spawn(|| {
            let start = Instant::now();
            let read = (&*key, beside(&agreement, values.as_ref()));
            let wanted = (terms.min_rows, agreement.operation());
            let keys = run.read(&source, read, &hash, &limits, wanted, &*observer);
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
    let (keys, session, mut ctx) = run.first_failure(keys, met, &seats.peer)?;

    let OwnKeys { keys: mut set, rows } = keys;
    let counts = set.counts.clone();
    let keys = set.rows.take().map(|numbers| KeyRows {
        columns: key.iter().map(|key| key.column.clone()).collect(),
        numbers,
        rows: counts.rows,
    });
    let matching = run.match_sets(&mut ctx, &session, &agreement, &seats, set, &*observer);
    let done = match matching {
        Ok(done) => done,
        Err(error) => return Err(run.fail(&session, error)),
    };
    drop(ctx);
    run.close(&session, &*observer)?;
    observer.event(&Event::LastMessage);
    let own = OwnRows { items: rows, keys };
    let matched = done.check(&agreement, &seats, own, &*observer)?;

    let mut rows_written = None;
    if let Some(options) = &output {
        let start = Instant::now();
        rows_written = matched.output.keep(&source, options, &*observer, || run.go_on())?;
        clock.add(Phase::Writing, start.elapsed());
    }

    let report = report::Parts {
        agreement: &agreement,
        party: agreement.position(&seats.party),
        started_at,
        input: InputReport::new(source.format().to_string(), &counts),
        rows_written,
        wire_bytes: session.wire_bytes(),
        clock: &clock,
        meter: &meter,
        threads,
        used: stopwatch.read(),
    }
    .of_two_parties(&matched);
    Ok(Finished { report, output: matched.output })
}
