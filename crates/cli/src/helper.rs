//! `vesica helper`: the service that parties meet at.

use crate::args::{TalkArgs, thread_count};
use crate::commands::run::cancel_on_interrupt;
use crate::failure::{Failure, HelperFailure, HelperPlaces};
use crate::logging;
use crate::settings::{ByteSize, keep_hours};
use clap::{Args, ValueHint};
use nix::sys::signal::{SigSet, Signal};
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;
use vesica_helper::{MetricsOptions, Service, Settings};
use vesica_link::Identity;

/// What `--metrics` says for none.
const OFF: &str = "off";

/// What an address of a backend in a directory begins with.
const DISK: &str = "disk:";

/// How long parties that wait have to hear that the helper ends.
const GRACE: Duration = Duration::from_secs(5);

/// Serve parties as the helper of their runs.
///
/// Finds the keys that all parties of a run have, without the keys: it gets labels, which say nothing
/// without a secret that the parties alone know. Serves the parties that the settings name, many runs
/// at once, on one port; runs go on after a restart. Ctrl-C or SIGTERM ends it in good order, a second
/// one at once. SIGHUP has it read its settings again: parties come and go without a restart.
///
/// The settings are a TOML file with a table for each party:
///
///     [helper]                        # all of it optional; options win over it
///     listen = "0.0.0.0:7500"
///     backend = "disk:/var/lib/vesica"  # or memory:, redis://..., postgres://...
///     metrics = "127.0.0.1:7501"      # /healthz, /readyz and /metrics, or "off"
///
///     [party.north]
///     identity = "vesica1..."
///     max_rows = 100000000            # most rows in a run; this and other limits are optional
#[derive(Args, Debug)]
#[command(about = "Serve parties as the helper of their runs", verbatim_doc_comment)]
#[command(after_help = "\
Example:
  vesica helper --key helper.key --config helper.toml")]
pub(crate) struct HelperArgs {
    /// The helper's key file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    key: PathBuf,
    /// The settings: whom it serves
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    config: PathBuf,
    /// Where parties reach it [default: 0.0.0.0:7500]
    #[arg(long, value_name = "HOST:PORT")]
    listen: Option<String>,
    /// Where it intersects: memory:, disk:DIR, redis://... or postgres://... [default: disk:]; an
    /// address with a password belongs into the settings, where other users do not see it
    #[arg(long, value_name = "URL")]
    backend: Option<String>,
    /// Its directory, unless the backend is a directory [default: vesica-helper]
    #[arg(long, value_name = "DIRECTORY", value_hint = ValueHint::DirPath)]
    state: Option<PathBuf>,
    /// Where it answers /healthz, /readyz and /metrics, or "off" [default: 127.0.0.1:7501]
    #[arg(long, value_name = "HOST:PORT")]
    metrics: Option<String>,
    /// How long a run is kept that is not finished [default: 168]
    #[arg(long, value_name = "HOURS", value_parser = keep_hours)]
    keep: Option<Duration>,
    /// About how much memory computing takes, and lists with memory: [default: 1GiB]
    #[arg(long, value_name = "SIZE")]
    memory: Option<ByteSize>,
    /// CPU threads [default: all cores]
    #[arg(long, value_name = "N", value_parser = thread_count)]
    threads: Option<NonZeroUsize>,
    #[command(flatten)]
    talk: TalkArgs,
}

pub(crate) fn run(args: &HelperArgs, out: &mut impl Write) -> Result<(), Failure> {
    // Before there is another thread, so that all of them leave it to the one that waits for it.
    let hangups = Hangups::catch();
    logging::start_service(&args.talk)?;
    let settings = args.over(Settings::load(&args.config).map_err(HelperFailure::Settings)?)?;
    let identity = Identity::load(&args.key)?;
    let public = identity.public();
    let at = places(&settings);
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
    let (told, news) = mpsc::channel();
    hangups.tell(told.clone());
    cancel.on_cancel(move || drop(told.send(News::Stop)));
    while let Ok(News::Reload) = news.recv() {
        reload(args, &settings, &service);
    }
    let is_quiet = service.shutdown(GRACE);
    if !args.talk.quiet {
        writeln!(
            out,
            "{}",
            match is_quiet {
                true => "ended in good order; runs go on when the helper is started again",
                false => "ended while something was still busy; runs go on all the same",
            }
        )?;
    }
    Ok(())
}

/// What the helper is told while it runs.
enum News {
    /// To read its settings again.
    Reload,
    /// To end.
    Stop,
}

/// The signals by which a service is told that its settings have changed: SIGHUP, which ends nothing here.
struct Hangups(SigSet);

impl Hangups {
    /// Has this thread, and all that it starts, leave the signal to [`tell`](Self::tell).
    fn catch() -> Self {
        let mut signals = SigSet::empty();
        signals.add(Signal::SIGHUP);
        // Should the system not let us, the signal ends the process in good order, as SIGTERM does.
        let _ = signals.thread_block();
        Self(signals)
    }

    /// Tells of each on a thread of its own.
    fn tell(self, told: mpsc::Sender<News>) {
        let wait = move || {
            while self.0.wait().is_ok() && told.send(News::Reload).is_ok() {}
        };
        if let Err(error) = std::thread::Builder::new().name("vesica-hangup".into()).spawn(wait) {
            tracing::warn!(error = %error.kind(), "settings cannot be read again without a restart");
        }
    }
}

/// Reads the settings again: the parties and their limits, and those of the disk. What is wrong with them is said in
/// the log, and nothing changes.
fn reload(args: &HelperArgs, before: &Settings, service: &Service) {
    let new = match Settings::load(&args.config) {
        Ok(new) => new,
        Err(error) => {
            tracing::error!(%error, "settings not taken, those from before hold");
            return;
        }
    };
    let Ok(new) = args.over(new) else {
        tracing::error!("settings not taken, those from before hold");
        return;
    };
    let same = Settings {
        parties: before.parties.clone(),
        max_stored_bytes: before.max_stored_bytes,
        keep_free_bytes: before.keep_free_bytes,
        ..new.clone()
    };
    if same != *before {
        tracing::warn!("some of the new settings hold when the helper is started again");
    }
    if let Err(error) = service.serve(new.parties, new.max_stored_bytes, new.keep_free_bytes) {
        tracing::error!(%error, "settings not taken, those from before hold");
    }
}

/// What a helper learns, for whoever runs it to know what is on the machine.
const SEES: &str = "\
This helper sees, of every run: the parties' identities and addresses, and when each comes; how many
different keys each of them has; how many keys are common, and which parties have how many in common,
except in size-hiding runs and comparisons of one value.
It does not see: anybody's keys, nor a row. It gets labels, which a cipher makes of keys under a secret
of the run that the parties alone know.
The parties rely on it to collude with none of them: with the secret of one it could test every guess
of a key against the labels of all others.";

impl HelperArgs {
    /// `settings` with what the command line says in their place.
    fn over(&self, mut settings: Settings) -> Result<Settings, Failure> {
        let is_disk = |url: &str| url.starts_with(DISK);
        if self.state.is_some() && self.backend.as_deref().is_some_and(is_disk) {
            let (option, other) = ("--state", "--backend disk:DIR");
            return Err(HelperFailure::Conflict { option, other }.into());
        }
        if let Some(listen) = &self.listen {
            settings.listen.clone_from(listen);
        }
        if let Some(state) = &self.state {
            settings.state.clone_from(state);
            // Else the directory of the settings' backend would win over the one that is asked for.
            settings.backend = settings.backend.take().filter(|url| !is_disk(url));
        }
        match self.backend.as_deref() {
            // In the helper's own directory.
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
        settings.memory_bytes = self.memory.map_or(settings.memory_bytes, ByteSize::bytes);
        settings.threads = self.threads.or(settings.threads);
        Ok(settings)
    }
}

fn places(settings: &Settings) -> HelperPlaces {
    HelperPlaces {
        listen: settings.listen.clone(),
        metrics: settings.metrics.as_ref().map_or(OFF, |metrics| &metrics.listen).to_owned(),
        backend: match &settings.backend {
            Some(url) => vesica_backends::redacted(url),
            None => format!("{DISK}{}", settings.state.display()),
        },
    }
}
