//! One run of an agreement: read, meet, match, check, write.

use crate::disk;
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
use crate::{Error, Event, Job, Observer, Phase};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;
use vesica_agreement::Agreement;
use vesica_core::Operation;
use vesica_link::{CancelToken, Identity, LinkOptions};
use vesica_net::Meter;
use vesica_scratch::{FolderScratch, Scratch};
use vesica_tables::OutputOptions;

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
        ControlFlow::Continue(reply) => way.end().map(|()| reply),
        ControlFlow::Break(reply) => Ok(reply),
    }
}
