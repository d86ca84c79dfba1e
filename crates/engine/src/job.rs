//! One run of an agreement: read, meet, match, check, write.

use crate::disk::{self, SCRATCH_DEFAULT};
use crate::early_refusal::leave_word;
use crate::error::ConfigFault;
use crate::matching::{HelperRun, Match, Run, SessionRun};
use crate::meeting::Purpose;
use crate::output::{self, Finished};
use crate::participants::Participants;
use crate::peer::{LiveLink, Peer};
use crate::reading::Reader;
use crate::report::Parts;
use crate::terms::own_position;
use crate::{Error, Event, Observer, Phase};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use vesica_agreement::Agreement;
use vesica_core::Operation;
use vesica_detached::Workers;
use vesica_link::{CancelToken, Identity, LinkOptions};
use vesica_net::Meter;
use vesica_scratch::{FolderScratch, Scratch};
use vesica_store_session::Store;
use vesica_tables::{OutputOptions, Source};

/// All inputs of one side of a run.
pub struct Job {
    /// What was agreed.
    pub agreement: Agreement,
    /// This side's secret identity; it also says which party this is.
    pub identity: Identity,
    /// This side's rows.
    pub source: Source,
    /// For a key or a column of values of the agreement the column of the file that holds it, if
    /// the names differ.
    pub columns: BTreeMap<String, String>,
    /// The file for the result, if one is wanted; only if this side receives the result. The result
    /// is returned as an [`RunResult`](crate::RunResult) in any case.
    pub output: Option<OutputOptions>,
    /// The name of an additional column of the result file, which then has all rows of the file:
    /// `1` or `0`, or a boolean in Parquet, says which of them have a key in common. Only for an
    /// intersection, and only if this side receives it.
    pub mark: Option<String>,
    /// The file for what this side knows of the order of its shares, if one is wanted; only if the
    /// result is shares. See [`SharesOrder`](crate::SharesOrder).
    pub order: Option<OutputOptions>,
    /// The file for a list of the rows whose key is refused, if one is wanted. It is written after
    /// all rows have been read, even if the run later ends without a result; it replaces a file of
    /// that name if `force` says so.
    pub refused: Option<OutputOptions>,
    /// The address of the peer, or of the helper, to which a party connects. With a helper the
    /// waiting time counts whenever the helper cannot be reached.
    pub link: LinkOptions,
    /// The store through which the two parties meet instead of a connection: the endpoint names it
    /// then, and the waiting time applies to each object of the peer.
    pub store: Option<Arc<dyn Store>>,
    /// Workers for detached partitions, which have this party's rows, if the parties meet in a
    /// store and the result is an intersection; then `source` is not read.
    pub workers: Option<Arc<dyn Workers>>,
    /// CPU threads to use; with a helper, connections to it too.
    pub threads: NonZeroUsize,
    /// Memory limit of a run in bytes, for files of any size: data beyond it goes to files. Between
    /// two parties it applies to runs that are split into partitions.
    pub memory_bytes: u64,
    /// The folder for these files, which have no names; by default the current one, and with a
    /// helper the folder of the run's state. An intersection that may need files in a folder in
    /// which none can be created ends before it contacts another party.
    pub scratch: Option<PathBuf>,
    /// How an interrupted run continues. Between two parties over a connection a run is stored only
    /// if this names the folder, at both sides.
    pub state: StateOptions,
    /// Whether an insecure protocol that the agreement names may run.
    pub allow_insecure: bool,
    /// Whether a refused value is an error rather than a skipped and counted row.
    pub strict: bool,
}

/// Characters of the agreement's hash in the name of a folder.
const HASH_CHARS: usize = 16;

/// What a party stores of a run with a helper, so that it can continue after an interruption.
#[derive(Clone, Debug, Default)]
pub struct StateOptions {
    /// The folder for that, and for intermediate data; by default `vesica-run-HASH-PARTY` in the
    /// current folder. The run creates it if it does not exist, and removes it at the end.
    pub folder: Option<PathBuf>,
    /// Deletes an interrupted run, ends it for the other parties, and begins a new one.
    pub restart: bool,
}

impl Job {
    /// The folder for intermediate data of a run between two parties.
    pub(crate) fn scratch_folder(&self) -> PathBuf {
        self.scratch.clone().unwrap_or_else(|| SCRATCH_DEFAULT.into())
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
    let participants = Participants::of(agreement, own_position(agreement, identity)?);
    let peer =
        Peer::new(agreement, identity, link, participants, observer, cancel, Box::new(LiveLink));
    let session = peer.connect()?;
    let ctx = peer.agree(&session, NonZeroUsize::MIN, &Meter::new(), Purpose::Check)?;
    drop(ctx);
    session.close().map_err(|error| peer.error(error.into(), Phase::Checking))
}

/// Runs `job` to its end and returns what this party has learned. On success the result file, if
/// the job names one, is in place, and the peer, or the helper, has received the message that this
/// party is done.
///
/// # Errors
/// Any [`Error`]; no result file, or part of one, is left behind. With a helper, the same job then
/// continues the run, and so do the other parties' jobs.
///
/// # Example
/// Both parties of an intersection in one process, without a result file.
///
/// ```
/// # use std::{collections::BTreeMap, fs, net::TcpListener, num::NonZeroUsize, sync::Arc, thread, time::Duration};
/// use vesica_agreement::Agreement;
/// use vesica_engine::{Job, Silent, StateOptions, run};
/// use vesica_link::{CancelToken, Endpoint, Identity, LinkOptions};
/// use vesica_tables::{ReadOptions, Source};
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
///         mark: None,
///         order: None,
///         refused: None,
///         link: LinkOptions { endpoint, wait: 20 * second, idle: 20 * second, total: None, proxy: None },
///         store: None,
///         workers: None,
///         threads: NonZeroUsize::MIN,
///         memory_bytes: vesica_engine::MEMORY_BYTES_DEFAULT,
///         scratch: None,
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
/// With a helper, the folder of the run holds the answer until `say` returns and is removed then,
/// unless `say` returns [`Break`](ControlFlow::Break): no party has received the result. In that
/// case, and if a process is killed before, the same job returns the result again, even when the
/// helper has forgotten the run. If a process is killed while it removes the folder, the next one
/// learns that the run was finished ([`Error::AlreadyFinished`]).
///
/// # Errors
/// As [`run`].
pub fn run_and<R>(
    job: Job,
    observer: Arc<dyn Observer>,
    cancel: &CancelToken,
    say: impl FnOnce(Finished) -> ControlFlow<R, R>,
) -> Result<R, Error> {
    let run = Run::new(&job, &observer, cancel)?;
    run.event(&Event::Phase(Phase::Preparing));
    match job.agreement.with_helper() {
        Some(agreement) => follow(&run, HelperRun::open(&run, agreement)?, say),
        None => follow(&run, SessionRun::open(&run)?, say),
    }
}

/// Refuses a folder for intermediate data in which no file can be created, if the run may need one
/// there. Creates the folder that the job names.
fn check_scratch(job: &Job, party: &str) -> Result<(), Error> {
    match &job.scratch {
        Some(folder) if job.agreement.operation() == Operation::Intersection => {
            let created = FolderScratch::new(folder.clone()).create().map(drop);
            created.map_err(|error| ConfigFault::scratch(folder, error.kind()))
        }
        // The workers have the rows.
        _ if job.workers.is_some() => Ok(()),
        scratch => {
            let (agreement, scratch) = (&job.agreement, scratch.as_deref());
            let party = Some(party);
            Ok(disk::check_scratch(agreement, party, &job.source, job.memory_bytes, scratch)?)
        }
    }
}

/// Runs all steps of a run, for any way of matching.
pub(crate) fn follow<M: Match, R>(
    run: &Run<'_>,
    way: M,
    say: impl FnOnce(Finished) -> ControlFlow<R, R>,
) -> Result<R, Error> {
    let job = run.job;
    let overwrites = way.may_have_written();
    let reader = Reader::new(job, &run.terms().name, overwrites, &**run.observer)
        .and_then(|reader| check_scratch(job, &run.terms().name).map(|()| reader));
    let reader = reader.inspect_err(|error| {
        leave_word(&job.agreement, &job.identity, &job.link, error.stop_reason(), run.cancel);
    })?;
    way.begin();

    // Reading and meeting run in parallel; a failure of one ends the other.
    let (set, met) = std::thread::scope(|scope| {
        let reading = scope.spawn(|| {
            let start = Instant::now();
            let set = way.read(&reader).inspect_err(|error| way.reading_failed(error));
            (set, start.elapsed())
        });
        let met = way.meet();
        let (set, elapsed) = match reading.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        run.clock.add(Phase::Reading, elapsed);
        way.both(set, met)
    })?;
    let answer = way.run(set, met)?;
    // No other party sees what follows, or that it fails.
    run.event(&Event::LastMessage);
    let checked = way.check(answer)?;

    let start = Instant::now();
    let [output, order] = [&job.output, &job.order].map(|file| {
        let forced = |file: &OutputOptions| file.force || overwrites;
        file.as_ref().map(|file| OutputOptions { force: forced(file), ..file.clone() })
    });
    let results = output::Results { output, mark: job.mark.as_deref(), order };
    let go_on = || way.go_on();
    let written = checked.output.keep(&job.source, &results, &**run.observer, go_on)?;
    run.clock.add(Phase::Writing, start.elapsed());
    let parts = Parts {
        agreement: &job.agreement,
        party: run.position,
        started_at: run.started_at,
        format: job.source.format().to_string(),
        written,
        is_marked: job.mark.is_some(),
        clock: &run.clock,
        meter: &run.meter,
        threads: job.threads,
        used: run.stopwatch.read(),
        peak_scratch_bytes: way.peak_scratch_bytes(),
    };
    let report = way.report(parts, &checked);
    match say(Finished { report, output: checked.output }) {
        ControlFlow::Continue(said) => way.end().map(|()| said),
        ControlFlow::Break(said) => Ok(said),
    }
}
