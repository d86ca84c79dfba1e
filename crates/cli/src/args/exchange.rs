//! The options of `vesica exchange`. Doc comments here are the text of `--help`.

use crate::settings::age;
use clap::{Args, Subcommand, ValueHint};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// Manage a shared folder: list its runs and remove old ones.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  vesica exchange status /mnt/partner")]
pub(crate) struct ExchangeCommandArgs {
    #[command(subcommand)]
    pub(crate) what: ExchangeCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ExchangeCommand {
    Status(StatusArgs),
    Clean(CleanArgs),
}

/// The folder.
#[derive(Args, Debug)]
pub(crate) struct RunsArgs {
    /// The folder, as `vesica run --exchange` names it
    #[arg(value_name = "PLACE", value_hint = ValueHint::DirPath)]
    pub(crate) place: OsString,
    /// Only the runs of this agreement, with its parties' names in place of 0 and 1
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) agreement: Option<PathBuf>,
}

/// List the runs in a folder: how far each is, and which side is next.
///
/// Reads only the names, sizes and times of files, and needs no key. For a run in progress, the
/// side whose last write is older is assumed to be next. Sorted by last write, newest last.
#[derive(Args, Debug)]
#[command(after_help = "\
Example:
  vesica exchange status /mnt/partner --agreement agreement.toml")]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    pub(crate) runs: RunsArgs,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Remove the files of old runs from a folder.
///
/// Removes the files of every run, finished or not, with no writes within AGE. An unfinished run
/// may then need --restart. The marks `end` and `given-up`, which number the runs, stay. Files with
/// other names are never touched.
#[derive(Args, Debug)]
#[command(after_help = "\
Example:
  vesica exchange clean /mnt/partner --older-than 30d --dry-run")]
pub(crate) struct CleanArgs {
    #[command(flatten)]
    pub(crate) runs: RunsArgs,
    /// Minimum time since the last write (1m or longer), for example 30d or 12h
    #[arg(long, value_name = "AGE", value_parser = age)]
    pub(crate) older_than: Duration,
    /// Only the files of this party: 0 or 1, or with --agreement its name
    #[arg(long, value_name = "PARTY")]
    pub(crate) party: Option<String>,
    /// Remove the marks too: the numbers of these runs are then used again, so use this only if
    /// neither side has a state left
    #[arg(long, conflicts_with = "party")]
    pub(crate) all: bool,
    /// Remove nothing, and print what would be removed
    #[arg(long)]
    pub(crate) dry_run: bool,
}
