//! `vesica helper`: the service that parties connect to.

use crate::args::groups::TalkArgs;
use crate::failure::Failure;
use crate::interrupt::cancel_on_interrupt;
use crate::logging;
use crate::settings::{keep_hours, thread_count};
use clap::{Args, ValueHint};
use nix::sys::signal::{SigSet, Signal};
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;
use vesica_diagnostics::helper::{HelperFailure, HelperPlaces};
use vesica_diagnostics::memory::MemorySize;
use vesica_helper::{MetricsOptions, Service, Settings};
use vesica_link::Identity;

/// The value of `--metrics` that turns the pages off.
const OFF: &str = "off";

/// The scheme of a backend in a directory.
const DISK: &str = "disk:";

/// How long the helper takes to tell waiting parties that it is shutting down.
const GRACE: Duration = Duration::from_secs(5);

/// Serve parties as the helper of their runs.
///
/// Finds the keys that all parties of a run have without seeing the keys: it receives labels, which
/// reveal nothing without a secret that only the parties know. Serves the parties listed in the
/// settings, many runs at once, on one port. Runs continue after a restart. Ctrl-C or SIGTERM ends
/// it cleanly, a second one ends it at once. On SIGHUP it reads the parties and their limits again,
/// without a restart.
///
/// The settings are a TOML file with a table for each party:
///
///     [helper]                        # optional; options of the command line take precedence
///     listen = "0.0.0.0:7500"
///     backend = "disk:/var/lib/vesica"  # or memory:, redis://..., postgres://..., cluster:DIR
///     metrics = "127.0.0.1:7501"      # /healthz, /readyz and /metrics, or "off"
///
///     [party.north]
///     identity = "vesica1..."
///     max_rows = 100000000            # most rows in a run; limits are optional
#[derive(Args, Debug)]
#[command(about = "Serve parties as the helper of their runs", verbatim_doc_comment)]
#[command(after_help = "\
Example:
  vesica helper --key helper.key --config helper.toml")]
pub(crate) struct HelperArgs {
    /// The helper's key file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    key: PathBuf,
    /// The settings file, which lists the parties
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    config: PathBuf,
    /// The address that parties connect to [default: 0.0.0.0:7500]
    #[arg(long, value_name = "HOST:PORT")]
    listen: Option<String>,
    /// Where to compute the intersection: memory:, disk:DIR, redis://..., postgres://... or
    /// cluster:DIR [default: disk:]; put an address with a password into the settings, where other
    /// users cannot see it
    #[arg(long, value_name = "URL")]
    backend: Option<String>,
    /// The helper's directory, unless the backend is a directory [default: vesica-helper]
    #[arg(long, value_name = "DIRECTORY", value_hint = ValueHint::DirPath)]
    state: Option<PathBuf>,
    /// The address of the pages /healthz, /readyz and /metrics, or "off" [default: 127.0.0.1:7501]
    #[arg(long, value_name = "HOST:PORT")]
    metrics: Option<String>,
    /// How long to keep an unfinished run [default: 168]
    #[arg(long, value_name = "HOURS", value_parser = keep_hours)]
    keep: Option<Duration>,
    /// Approximate memory for computing, and for lists with the backend memory: [default: 1GiB]
    #[arg(long, value_name = "SIZE")]
    memory: Option<MemorySize>,
    /// Number of CPU threads [default: all cores]
    #[arg(long, value_name = "N", value_parser = thread_count)]
    threads: Option<NonZeroUsize>,
    #[command(flatten)]
    talk: TalkArgs,
}

pub(crate) fn run(args: &HelperArgs, out: &mut impl Write) -> Result<(), Failure> {
    // Before any other thread starts, so that all of them block the signal.
    let hangups = Hangups::catch();
    logging::start_service(&args.talk)?;
    let settings = args.over(Settings::load(&args.config).map_err(HelperFailure::Settings)?)?;
    let identity = Identity::load(&args.key)?;
    let public = identity.public();
    let at = HelperPlaces::of(&settings);
    let options = settings
        .options(identity)
        .map_err(|error| HelperFailure::Options { error, at: at.clone() })?;
    let directory = options.state_dir.clone();
    let cancel = cancel_on_interrupt();
    let service =
        Service::start(options).map_err(|error| HelperFailure::Start { error, at: at.clone() })?;
    if !args.talk.quiet {
        let parties: Vec<&str> = settings.parties.iter().map(|party| &*party.name).collect();
        writeln!(out, "{SEES}\n")?;
        writeln!(out, "identity    {public}")?;
        for address in service.addresses() {
            writeln!(out, "listening   {address}")?;
        }
        writeln!(out, "serves      {}", parties.join(", "))?;
        writeln!(out, "backend     {}", at.backend)?;
        writeln!(out, "directory   {}", directory.display())?;
        match service.metrics_address() {
            Some(address) => writeln!(out, "metrics     http://{address}/metrics")?,
            None => writeln!(out, "metrics     off")?,
        }
        out.flush()?;
    }
    let (sender, requests) = mpsc::channel();
    hangups.forward(sender.clone());
    cancel.on_cancel(move || drop(sender.send(Request::Stop)));
    while let Ok(Request::Reload) = requests.recv() {
        reload(args, &settings, &service);
    }
    let is_quiet = service.shutdown(GRACE);
    if !args.talk.quiet {
        writeln!(
            out,
            "{}",
            if is_quiet {
                "ended cleanly; runs continue when the helper is started again"
            } else {
                "ended while requests were still in progress; runs continue when the helper is \
                 started again"
            }
        )?;
    }
    Ok(())
}

/// A request to the running helper.
enum Request {
    /// Read the settings again.
    Reload,
    /// Stop.
    Stop,
}

/// The signal that makes a service read its settings again: SIGHUP, which does not end the process
/// here.
struct Hangups(SigSet);

impl Hangups {
    /// Blocks the signal in this thread and in all threads it starts, so that
    /// [`forward`](Self::forward) receives it.
    fn catch() -> Self {
        let mut signals = SigSet::empty();
        signals.add(Signal::SIGHUP);
        // If the system refuses, the signal ends the process cleanly, like SIGTERM.
        let _ = signals.thread_block();
        Self(signals)
    }

    /// Sends a request for each signal, from its own thread.
    fn forward(self, requests: mpsc::Sender<Request>) {
        let wait = move || {
            while self.0.wait().is_ok() && requests.send(Request::Reload).is_ok() {}
        };
        if let Err(error) = std::thread::Builder::new().name("vesica-hangup".into()).spawn(wait) {
            tracing::warn!(error = %error.kind(), "settings cannot be read again without a \
                                                   restart");
        }
    }
}

/// Reads the settings again: the parties and their limits, and the limits of the disk. Faulty
/// settings are logged and change nothing.
fn reload(args: &HelperArgs, before: &Settings, service: &Service) {
    let new = match Settings::load(&args.config) {
        Ok(new) => new,
        Err(error) => {
            tracing::error!(%error, "the new settings are not used; the previous ones stay in \
                                     force");
            return;
        }
    };
    let Ok(new) = args.over(new) else {
        tracing::error!("the new settings are not used; the previous ones stay in force");
        return;
    };
    let same = Settings {
        parties: before.parties.clone(),
        max_stored_bytes: before.max_stored_bytes,
        max_stored_percent: before.max_stored_percent,
        keep_free_bytes: before.keep_free_bytes,
        ..new.clone()
    };
    if same != *before {
        tracing::warn!("some of the new settings take effect only when the helper is restarted");
    }
    let (most, percent) = (new.max_stored_bytes, new.max_stored_percent);
    if let Err(error) = service.serve(new.parties, most, percent, new.keep_free_bytes) {
        tracing::error!(%error, "the new settings are not used; the previous ones stay in force");
    }
}

/// What a helper learns, printed for its operator.
const SEES: &str = "\
This helper sees of every run: the parties' identities and addresses, and when each connects; how
many different keys each of them has; how many keys are common, and how many each group of parties
has in common, except in size-hiding runs and comparisons of one value.
It does not see any party's keys or rows. It gets labels, which a cipher makes of the keys under a
secret of the run that only the parties know.
The parties rely on it not to collude with any of them: with the secret of one party it could test
every guess of a key against the labels of all others.";

impl HelperArgs {
    /// `settings`, with the options of the command line replacing theirs where given.
    fn over(&self, mut settings: Settings) -> Result<Settings, Failure> {
        let is_disk = |url: &str| url.starts_with(DISK);
        if self.state.is_some() && self.backend.as_deref().is_some_and(is_disk) {
            let (option, other) = ("--state", "--backend disk:DIR");
            return Err(Failure::HelperDirectoryTwice { option, other });
        }
        if let Some(listen) = &self.listen {
            settings.listen.clone_from(listen);
        }
        if let Some(state) = &self.state {
            settings.state.clone_from(state);
            // Otherwise the directory of the backend in the settings would take precedence.
            settings.backend = settings.backend.take().filter(|url| !is_disk(url));
        }
        match self.backend.as_deref() {
            // This is the helper's own directory.
            Some(DISK) => settings.backend = None,
            Some(url) => settings.backend = Some(url.to_owned()),
            None => {}
        }
        if let Some(listen) = &self.metrics {
            let allow_remote =
                settings.metrics.as_ref().is_some_and(|metrics| metrics.allow_remote);
            settings.metrics =
                (listen != OFF).then(|| MetricsOptions { listen: listen.clone(), allow_remote });
        }
        settings.keep = self.keep.unwrap_or(settings.keep);
        settings.memory_bytes = self.memory.map_or(settings.memory_bytes, MemorySize::bytes);
        settings.threads = self.threads.or(settings.threads);
        Ok(settings)
    }
}
