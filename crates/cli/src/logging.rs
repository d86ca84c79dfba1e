//! Log lines for machines and for people who read them later.

use crate::args::groups::TalkArgs;
use crate::failure::Failure;
use crate::messages;
use crate::settings::LogFormat;
use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt;
use tracing_subscriber::layer::SubscriberExt;

/// The crates that may log.
const OURS: [&str; 5] =
    ["vesica", "vesica_label_joins", "vesica_engine", "vesica_helper", "vesica_link"];

/// Where log lines go.
#[derive(Clone)]
enum Target {
    Stderr,
    File(Arc<LogFile>),
}

/// A log file, and whether a failure to write it has been reported.
struct LogFile {
    file: File,
    failed: AtomicBool,
}

impl LogFile {
    /// A log that cannot be written does not end a run. The first failure is reported on standard
    /// error.
    fn write(&self, bytes: &[u8]) {
        if let Err(error) = (&self.file).write_all(bytes)
            && !self.failed.swap(true, Ordering::Relaxed)
        {
            let kind = error.kind();
            let _ = writeln!(
                io::stderr(),
                "warning: the log cannot be written ({kind}); some lines are lost"
            );
        }
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Target::Stderr => io::stderr().write(bytes),
            Target::File(file) => {
                file.write(bytes);
                Ok(bytes.len())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Starts the log of a service: by default on standard error, unless `--quiet` is given.
pub(crate) fn start_service(talk: &TalkArgs) -> Result<(), Failure> {
    if talk.log.is_none() && talk.log_file.is_none() && !talk.quiet {
        return open(LogFormat::Text, None);
    }
    start(talk)
}

/// Starts the log that the options ask for, if any. Only our own crates write to it: they log
/// counts, names, addresses and phases, never a key, an item or a result.
pub(crate) fn start(talk: &TalkArgs) -> Result<(), Failure> {
    let format = match (talk.log, &talk.log_file) {
        (Some(format), _) => format,
        (None, Some(_)) => LogFormat::Text,
        (None, None) => return Ok(()),
    };
    open(format, talk.log_file.as_deref())
}

fn open(format: LogFormat, file: Option<&Path>) -> Result<(), Failure> {
    let target = match file {
        Some(path) => {
            let file =
                OpenOptions::new().append(true).create(true).open(path).map_err(|error| {
                    let (path, kind) = (path.to_path_buf(), error.kind());
                    Failure::Unwritable { what: "log", path, kind }
                })?;
            Target::File(Arc::new(LogFile { file, failed: AtomicBool::new(false) }))
        }
        None => {
            messages::log_is_on_stderr(format);
            Target::Stderr
        }
    };
    let colour = matches!(target, Target::Stderr)
        && io::stderr().is_terminal()
        && std::env::var_os("NO_COLOR").is_none();
    let make = move || target.clone();
    let ours = Targets::new().with_targets(OURS.map(|target| (target, LevelFilter::INFO)));
    let registry = tracing_subscriber::registry().with(ours);
    // A log that was started earlier in this process stays.
    let _ = match format {
        LogFormat::Text => {
            let lines = fmt::layer().with_writer(make).with_ansi(colour).with_target(false);
            tracing::subscriber::set_global_default(registry.with(lines))
        }
        LogFormat::Json => {
            let lines = fmt::layer().json().flatten_event(true).with_writer(make);
            let lines = lines.with_target(false).with_current_span(false).with_span_list(false);
            tracing::subscriber::set_global_default(registry.with(lines))
        }
    };
    Ok(())
}
