//! The command line. What stands here is what `--help`, the completions and the manual say.

use crate::asked::AskedArgs;
use crate::bench::{BenchArgs, PartyArgs};
use crate::demo::DemoArgs;
use crate::helper::HelperArgs;
use crate::settings::{
    ByteSize, ColumnChoice, Delimiter, TimeLimit, day, idle_limit, listen_address, peer_address,
};
use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use jiff::civil::Date;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use vesica_engine::{MEMORY_BYTES_DEFAULT, StateOptions};
use vesica_records::Format;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// Match data with another organisation and learn only what both agreed on.
///
/// Two organisations each hold a file. They learn which rows they have in common, and nothing
/// else about each other's file. Where that is more than is needed, the answer can be a count, a
/// yes or no, or a sum; where it is something else, the union of the keys, identifiers of them, or
/// shares for a later computation. With a helper, up to sixteen organisations find the rows that all
/// of them have. Start with `vesica demo`.
#[derive(Debug, Parser)]
#[command(name = "vesica", version, styles = STYLES, max_term_width = 100)]
#[command(after_help = "\
Exit codes: 0 done, 1 done without an answer (outside the agreed bounds), 2 usage,
3 your data or settings, 4 the peer or helper, 5 the network, 70 a defect of Vesica,
130 interrupted here.

Example:
  vesica demo")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Keygen(KeygenArgs),
    Agree(AgreeArgs),
    Explain(ExplainArgs),
    Check(CheckArgs),
    Run(Box<RunArgs>),
    Helper(Box<HelperArgs>),
    Combine(CombineArgs),
    Protocols(ProtocolsArgs),
    Bench(BenchArgs),
    #[command(hide = true)]
    BenchParty(PartyArgs),
    Demo(DemoArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}

/// Make a key: a secret file for you, and a public identity for the other side.
///
/// Prints the public identity. The secret file is written with mode 0600 and never overwritten.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  vesica keygen shop.key")]
pub(crate) struct KeygenArgs {
    /// Where the secret key goes [default: vesica.key]
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,
    /// The same as FILE
    #[arg(long, value_name = "FILE", conflicts_with = "file", hide = true)]
    pub(crate) out: Option<PathBuf>,
}

/// Write, check or show an agreement.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  vesica agree new agreement.toml")]
pub(crate) struct AgreeArgs {
    #[command(subcommand)]
    pub(crate) what: AgreeCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AgreeCommand {
    New(Box<AgreeNewArgs>),
    Check(AgreeCheckArgs),
    Show(AgreeShowArgs),
}

/// Write a new agreement with comments, for both sides to complete.
///
/// Asks for nothing. What is not given here is filled in with an example to be replaced. With
/// --helper it is an agreement of two to sixteen parties with a helper, which finds the keys that all
/// of them have, and which they trust to collude with none of them, but not with their keys.
#[derive(Args, Debug)]
#[command(after_help = "\
Example:
  vesica agree new agreement.toml --party shop=vesica1... --party publisher=vesica1... \\
      --key email=email --receives shop
  vesica agree new count.toml --operation cardinality --min-matches 100
  vesica agree new three.toml --helper cloud=vesica1... --party north --party south --party east")]
pub(crate) struct AgreeNewArgs {
    /// The file to write; without it the agreement is printed
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,
    /// A name for the people who read it
    #[arg(long, default_value = "Customers in common")]
    pub(crate) title: String,
    /// A party, and its identity if you have it; give two, or up to sixteen with --helper
    #[arg(long = "party", value_name = "NAME[=IDENTITY]")]
    pub(crate) parties: Vec<String>,
    /// A key column, and its profile; repeat for a key of several columns [default: email=email]
    #[arg(long = "key", value_name = "COLUMN[=PROFILE]")]
    pub(crate) keys: Vec<String>,
    /// Who receives the result: a party's name, several with commas, or "all" [default: the first
    /// party; with --helper, or where each gets a result of its own, all]
    #[arg(long, value_name = "PARTY")]
    pub(crate) receives: Option<String>,
    /// With a helper: its identity if you have it, and a name for people
    #[arg(long, value_name = "[NAME=]IDENTITY")]
    pub(crate) helper: Option<String>,
    /// The least security that all accept [default: the strongest; with --helper, against the helper,
    /// semi-honest]
    #[arg(long, value_name = "SECURITY")]
    pub(crate) security: Option<String>,
    /// The protocol, an id out of `vesica protocols` [default: by what else is agreed]
    #[arg(long, value_name = "ID")]
    pub(crate) protocol: Option<String>,
    /// Most rows that a party may bring [default: 1000000]
    #[arg(long, value_name = "N")]
    pub(crate) max_rows: Option<u64>,
    #[command(flatten)]
    pub(crate) question: AskedArgs,
    /// The last day on which it may run, as 2027-06-30
    #[arg(long, value_name = "DATE", value_parser = day)]
    pub(crate) expires: Option<Date>,
    /// Replace an existing file
    #[arg(long)]
    pub(crate) force: bool,
}

/// Check an agreement and say what is wrong with it, and where.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  vesica agree check agreement.toml")]
pub(crate) struct AgreeCheckArgs {
    /// The agreement
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) agreement: PathBuf,
}

/// Show the canonical form of an agreement, and its hash.
///
/// Two files with the same hash say the same; comments, order and written defaults do not count.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  vesica agree show agreement.toml")]
pub(crate) struct AgreeShowArgs {
    /// The agreement
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) agreement: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Say in plain words what an agreement means.
///
/// Who learns what, what is assumed, which protocol with which parameters, what it costs, and
/// what is not protected.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  vesica explain agreement.toml")]
pub(crate) struct ExplainArgs {
    /// The agreement
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) agreement: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Look at your data before a run, without showing a value; optionally meet the other side.
///
/// Prints how many rows have a key and what the values look like. With --listen or --connect it
/// also meets the other side, which must do the same, and compares the agreements; no data moves.
/// With a helper, --connect asks it whether it would take this party's run, and who is there.
#[derive(Args, Debug)]
#[command(after_help = "\
Example:
  vesica check agreement.toml --key shop.key --input customers.csv")]
pub(crate) struct CheckArgs {
    /// The agreement
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) agreement: PathBuf,
    /// Your key file; it says which party you are
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) key: Option<PathBuf>,
    /// The party you are, to be sure of it
    #[arg(long = "as", value_name = "PARTY")]
    pub(crate) party: Option<String>,
    /// Rows whose shapes are shown
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    pub(crate) rows: u64,
    /// Meet the other side: with --listen or --connect it is met anyway
    #[arg(long, hide = true)]
    pub(crate) reach: bool,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    #[command(flatten)]
    pub(crate) talk: TalkArgs,
}

/// Match your file with the other side's, or with the others'.
///
/// Both sides run this command with the same agreement; one listens and one connects, whichever
/// suits, in any order. With a helper all parties connect to it, each when it suits; a run that was
/// interrupted goes on where it was when the same command is given again. Only a side that receives the result gives --output. The result file
/// appears whole or not at all. Where the answer is a count, a yes or no, or a sum, it is printed;
/// --output is then optional and holds it as a table of one row. A union or identifiers are a table
/// of keys, which needs --output. Shares do too, and go to a file that ends in .json.
#[derive(Args, Debug)]
#[command(after_help = "\
Example:
  vesica run agreement.toml --key shop.key --input customers.csv --output matched.csv \\
      --connect publisher.example:7400
  vesica run three.toml --key north.key --input accounts.parquet --output common.parquet \\
      --connect helper.example:7500")]
pub(crate) struct RunArgs {
    /// The agreement
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) agreement: PathBuf,
    /// Your key file; it says which party you are
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) key: PathBuf,
    /// The party you are, to be sure of it
    #[arg(long = "as", value_name = "PARTY")]
    pub(crate) party: Option<String>,
    /// Where your matching rows go, or whatever else the result is; its ending says the format
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    /// Replace an existing output file
    #[arg(long)]
    pub(crate) force: bool,
    /// Where a report of the run goes, as JSON; an earlier one is replaced
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) report: Option<PathBuf>,
    /// CPU threads [default: all cores]
    #[arg(long, value_name = "N", value_parser = thread_count)]
    pub(crate) threads: Option<NonZeroUsize>,
    /// Allow the insecure protocol that the agreement names
    #[arg(long)]
    pub(crate) insecure: bool,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    #[command(flatten)]
    pub(crate) state: StateArgs,
    #[command(flatten)]
    pub(crate) talk: TalkArgs,
}

/// Put two files of shares together.
///
/// Reads the files that both sides' runs wrote and gives what was shared, a row for each entry: the
/// item of a common key as 32 hexadecimal digits, and the values as numbers. Whoever does this
/// learns the intersection, or whose values are no defaults: that is what shares are there to keep
/// from either side.
#[derive(Args, Debug)]
#[command(after_help = "\
Example:
  vesica combine shop.json publisher.json --output common.csv")]
// They are about the file of keys.
#[command(mut_arg("delimiter", |arg| arg.requires("keys").help_heading("The file of keys")))]
#[command(mut_arg("no_header", |arg| arg.requires("keys").help_heading("The file of keys")))]
#[command(mut_arg("format", |arg| arg.requires("keys").help_heading("The file of keys")))]
pub(crate) struct CombineArgs {
    /// One side's file
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) one: PathBuf,
    /// The other side's file
    #[arg(value_name = "OTHER", value_hint = ValueHint::FilePath)]
    pub(crate) other: PathBuf,
    /// Where the table goes; its ending says the format [default: printed as CSV]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    /// Name the entries that are keys of this file: its key columns are put beside them
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "agreement")]
    pub(crate) keys: Option<PathBuf>,
    /// The agreement of the run, for --keys
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "keys")]
    pub(crate) agreement: Option<PathBuf>,
    /// The column of the file of keys that holds a key, where the names differ; repeatable
    #[arg(long = "column", value_name = "KEY=COLUMN", requires = "keys")]
    pub(crate) columns: Vec<ColumnChoice>,
    #[command(flatten)]
    pub(crate) form: FormArgs,
    /// Replace an existing output file
    #[arg(long)]
    pub(crate) force: bool,
}

/// Your data.
#[derive(Args, Debug)]
#[command(next_help_heading = "Data")]
pub(crate) struct DataArgs {
    /// Your file: CSV, TSV (also .gz, .zst) or Parquet
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) input: PathBuf,
    /// The column of your file that holds a key, or values, where the names differ; repeatable
    #[arg(long = "column", value_name = "KEY=COLUMN")]
    pub(crate) columns: Vec<ColumnChoice>,
    #[command(flatten)]
    pub(crate) form: FormArgs,
    /// Stop at the first value that its profile refuses, rather than skip and count the row
    #[arg(long)]
    pub(crate) strict: bool,
}

/// How a file of rows is written.
#[derive(Args, Debug)]
pub(crate) struct FormArgs {
    /// What separates the fields: one character, or "tab" [default: found in the file]
    #[arg(long, value_name = "CHARACTER")]
    pub(crate) delimiter: Option<Delimiter>,
    /// The first row is data; columns are then called 1, 2, 3 and so on
    #[arg(long)]
    pub(crate) no_header: bool,
    /// The format [default: by the file's name]
    #[arg(long, value_enum)]
    pub(crate) format: Option<FormatName>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum FormatName {
    Csv,
    Tsv,
    Parquet,
}

impl From<FormatName> for Format {
    fn from(name: FormatName) -> Self {
        match name {
            FormatName::Csv => Format::Csv,
            FormatName::Tsv => Format::Tsv,
            FormatName::Parquet => Format::Parquet,
        }
    }
}

/// Where the other side or the helper is.
#[derive(Args, Debug)]
#[command(next_help_heading = "Network")]
pub(crate) struct PlaceArgs {
    /// Wait for the other side on this address
    #[arg(long, value_name = "HOST:PORT", conflicts_with = "connect",
        value_parser = listen_address)]
    pub(crate) listen: Option<String>,
    /// Connect to the other side, or to the helper, at this address
    #[arg(long, value_name = "HOST:PORT", value_parser = peer_address)]
    pub(crate) connect: Option<String>,
    /// How long to wait for the other side to appear, with a helper for it and for each of the other
    /// parties; 0 for no limit [default: 60s; a run with a helper 24h]
    #[arg(long, value_name = "TIME")]
    pub(crate) wait: Option<TimeLimit>,
    /// How long the other side may be silent, at least 1s
    #[arg(long, visible_alias = "idle-timeout", value_name = "TIME", default_value = "60s",
        value_parser = idle_limit)]
    pub(crate) idle: TimeLimit,
    /// How long the session may last; 0 for no limit
    #[arg(long, visible_alias = "timeout", value_name = "TIME", default_value = "0")]
    pub(crate) total: TimeLimit,
}

/// What a run with a helper keeps.
#[derive(Args, Debug)]
#[command(next_help_heading = "With a helper")]
pub(crate) struct StateArgs {
    /// The folder for intermediate data, and for what an interrupted run needs to go on; it is made,
    /// and removed with the run's end [default: vesica-run-HASH-PARTY]
    #[arg(long, value_name = "DIRECTORY", value_hint = ValueHint::DirPath)]
    state: Option<PathBuf>,
    /// About how much memory intermediate data takes before it goes to that folder [default: 512MiB]
    #[arg(long, value_name = "SIZE")]
    memory: Option<ByteSize>,
    /// Forget a run that was interrupted, end it for the others, and begin a new one
    #[arg(long)]
    restart: bool,
}

impl StateArgs {
    /// An option that was given, which only goes with a helper.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let given = [
            ("--state", self.state.is_some()),
            ("--memory", self.memory.is_some()),
            ("--restart", self.restart),
        ];
        given.into_iter().find(|(_, is_given)| *is_given).map(|(name, _)| name)
    }

    pub(crate) fn options(&self) -> StateOptions {
        StateOptions {
            folder: self.state.clone(),
            memory_bytes: self.memory.map_or(MEMORY_BYTES_DEFAULT, ByteSize::bytes),
            restart: self.restart,
        }
    }
}

/// What is told while it goes on.
#[derive(Args, Debug)]
#[command(next_help_heading = "Messages")]
pub(crate) struct TalkArgs {
    /// Log lines instead of progress; they hold no key, item or result
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub(crate) log: Option<LogFormat>,
    /// Where the log goes [default: standard error]; it is appended to
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) log_file: Option<PathBuf>,
    /// No progress and no summary; errors and warnings only
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// One line an event
    Text,
    /// One JSON object a line
    Json,
}

/// Show the protocols: who learns what, under which assumption, at which cost.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  vesica protocols dh")]
pub(crate) struct ProtocolsArgs {
    /// One protocol, in full
    #[arg(value_name = "ID")]
    pub(crate) id: Option<String>,
    /// List the protocols too that run only where an agreement names them
    #[arg(long, conflicts_with = "id")]
    pub(crate) all: bool,
    /// Print JSON: all of them, or the one
    #[arg(long)]
    pub(crate) json: bool,
}

/// Print completions for a shell.
#[derive(Args, Debug)]
#[command(after_help = "\
Example:
  vesica completions bash > ~/.local/share/bash-completion/completions/vesica")]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

/// Print the manual page, or write the pages of all commands.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  vesica man --out /usr/local/share/man/man1")]
pub(crate) struct ManArgs {
    /// The directory for the pages of all commands; without it the main page is printed
    #[arg(long, value_name = "DIRECTORY", value_hint = ValueHint::DirPath)]
    pub(crate) out: Option<PathBuf>,
}

/// More threads than any machine has cores help nobody and can stop a machine.
const MAX_THREADS: usize = 1024;

#[derive(Debug, thiserror::Error)]
#[error("a number of threads goes from 1 to {MAX_THREADS}")]
pub(crate) struct ThreadCountError;

/// Parses a number of CPU threads.
pub(crate) fn thread_count(text: &str) -> Result<NonZeroUsize, ThreadCountError> {
    let count: NonZeroUsize = text.parse().map_err(|_| ThreadCountError)?;
    if count.get() <= MAX_THREADS { Ok(count) } else { Err(ThreadCountError) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thread_counts_have_both_ends() {
        assert_eq!(thread_count("1").unwrap().get(), 1);
        assert_eq!(thread_count("1024").unwrap().get(), 1024);
        for bad in ["0", "1025", "1000000000", "-1", "", "x"] {
            assert!(thread_count(bad).is_err(), "{bad}");
        }
    }
}
