//! The command line. Doc comments here are the text of `--help`, of the completions and of the
//! manual.

pub(crate) mod exchange;
pub(crate) mod groups;

use crate::asked::AskedArgs;
use crate::bench::{BenchArgs, PartyArgs};
use crate::demo::DemoArgs;
use crate::failure::code;
use crate::helper::HelperArgs;
use crate::messages;
use crate::settings::{ColumnChoice, Excluded, column_name, count, day, thread_count};
use clap::builder::styling::{AnsiColor, Styles};
use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueHint};
use exchange::ExchangeCommandArgs;
use groups::{DataArgs, ExchangeArgs, FormArgs, MemoryArgs, PlaceArgs, StateArgs, TalkArgs};
use jiff::civil::Date;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::LazyLock;
use vesica_diagnostics::{Message, Who};
use vesica_simd::Backend;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// The version, and the vector kernels that this machine has.
fn long_version() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let fastest = Backend::detect();
        let is_slow = fastest == Backend::Portable;
        let slow = if is_slow { ", 10 to 20 times slower than avx2 or avx512" } else { "" };
        format!("{}\nkernels {}{slow}", env!("CARGO_PKG_VERSION"), fastest.name())
    });
    &TEXT
}

/// Match data with another organisation and learn only what both agreed on.
///
/// Two organisations each hold a file. They learn which rows they have in common, and nothing else
/// about each other's file. To reveal less, the answer can be a count, a yes or no, or a sum. It
/// can also be the union of the keys, a random identifier of each key, or secret shares for a later
/// computation. With a helper, up to sixteen organisations find the rows that all of them have.
/// Start with `vesica demo`.
#[derive(Debug, Parser)]
#[command(name = "vesica", version, long_version = long_version())]
#[command(styles = STYLES, max_term_width = 100)]
#[command(after_help = "\
Exit codes: 0 success, 1 no answer (outside the agreed bounds), 2 wrong usage, 3 a problem
with your data or settings, 4 with the peer or helper, 5 with the network, 70 a bug in Vesica,
75 not finished, or already running (call again later), 130 interrupted by you.

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
    Exchange(ExchangeCommandArgs),
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
    /// The file for the secret key [default: vesica.key]
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
/// Asks no questions. Fields that no option sets get an example value to be replaced. With --helper
/// the agreement is for two to sixteen parties and a helper, a server that finds the keys that all
/// of them have without seeing the keys. The parties must trust it not to collude with any of them.
#[derive(Args, Debug)]
#[command(after_help = "\
Example:
  vesica agree new agreement.toml --party shop=vesica1... --party publisher=vesica1... \\
      --key email=email --receives shop
  vesica agree new count.toml --operation cardinality --min-matches 100
  vesica agree new three.toml --helper cloud=vesica1... --party north --party south --party east")]
pub(crate) struct AgreeNewArgs {
    /// The file to write [default: print the agreement]
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,
    /// A title for readers
    #[arg(long, default_value = "Customers in common")]
    pub(crate) title: String,
    /// A party, with its identity if you have it; give two, or up to sixteen with --helper
    #[arg(long = "party", value_name = "NAME[=IDENTITY]")]
    pub(crate) parties: Vec<String>,
    /// A key column, with its profile; repeat it for a key of several columns [default:
    /// email=email]
    #[arg(long = "key", value_name = "COLUMN[=PROFILE]")]
    pub(crate) keys: Vec<String>,
    /// Key columns that match by themselves; repeat it for several rules, any of which may match
    /// [default: all key columns together]
    #[arg(long = "rule", value_name = "COLUMN[,COLUMN]...")]
    pub(crate) rules: Vec<String>,
    /// A column that the other party gets with common keys, and what it holds: "text 24" (at most
    /// 24 bytes), "integer" or "date"; repeatable. The party that does not receive the result has
    /// it, or the second party if both do [default type: text 64]
    #[arg(long = "column", value_name = "COLUMN[=TYPE]")]
    pub(crate) columns: Vec<String>,
    /// A value of a key column that is not a key, such as NULL or N/A: rows that hold it are
    /// refused; repeatable
    #[arg(long = "never", value_name = "KEY=VALUE")]
    pub(crate) never: Vec<Excluded>,
    /// Who receives the result: a party, several parties separated by commas, or "all" [default:
    /// the first party, or with values the party that does not have them; all with --helper and for
    /// operations that give each party its own result]
    #[arg(long, value_name = "PARTY")]
    pub(crate) receives: Option<String>,
    /// Use a helper: its identity if you have it, and a name for readers
    #[arg(long, value_name = "[NAME=]IDENTITY")]
    pub(crate) helper: Option<String>,
    /// The least security that all parties accept [default: the strongest available; with --helper,
    /// where it means security against the helper, semi-honest]
    #[arg(long, value_name = "SECURITY")]
    pub(crate) security: Option<String>,
    /// The protocol, an id that `vesica protocols` lists [default: auto]
    #[arg(long, value_name = "ID")]
    pub(crate) protocol: Option<String>,
    /// The most rows that a party's file may have [default: 1000000]
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) max_rows: Option<u64>,
    #[command(flatten)]
    pub(crate) question: AskedArgs,
    /// The last day on which the agreement may be used, for example 2027-06-30
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
/// Two files with the same hash mean the same. Comments, the order of fields, and whether default
/// values are written out do not change the hash.
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

/// Explain in plain words what an agreement means.
///
/// Shows on one screen who learns what, what is assumed, what it costs, and what is not protected.
/// --full adds which protocol runs with which parameters, what stays afterwards, and all other
/// details. Identities may be missing.
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  vesica explain agreement.toml\n  vesica explain agreement.toml --full"
)]
pub(crate) struct ExplainArgs {
    /// The agreement
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) agreement: PathBuf,
    /// Print all that the agreement means, for a security review
    #[arg(long, conflicts_with = "json")]
    pub(crate) full: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Check your data before a run, and optionally the connection to the other side.
///
/// Prints how many rows have a key and the shapes of the values, but no value. With --listen or
/// --connect it also connects to the other side, which must run the same command, and compares the
/// agreements; no data is sent. With a helper, --connect asks the helper whether it accepts this
/// party's run and which parties are already there.
#[derive(Args, Debug)]
#[command(after_help = "\
Example:
  vesica check agreement.toml --key shop.key --input customers.csv")]
pub(crate) struct CheckArgs {
    /// The agreement
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) agreement: PathBuf,
    /// Your key file, which shows which party you are
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) key: Option<PathBuf>,
    /// The party that you are; fails if the key file belongs to another one
    #[arg(long = "as", value_name = "PARTY")]
    pub(crate) party: Option<String>,
    /// How many rows to show the shapes of
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = count)]
    pub(crate) rows: u64,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Connect to the other side; --listen and --connect imply it
    #[arg(long, hide = true)]
    pub(crate) reach: bool,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    #[command(flatten)]
    pub(crate) memory: MemoryArgs,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    #[command(flatten)]
    pub(crate) talk: TalkArgs,
}

/// Match your file with those of the other parties.
///
/// Two parties run this command with the same agreement. One listens and the other connects; either
/// may start first. With a helper all parties connect to the helper, each at any time; the same
/// command continues an interrupted run where it stopped.
///
/// A party that receives the result gives --output; the others leave it out. The result file is
/// complete, or is not written at all. A count, a yes or no, or a sum is printed; --output is then
/// optional and gets a table of one row. A union and identifiers are tables of keys and need
/// --output. Shares need --output too, with a name that ends in .json.
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
    /// Your key file, which shows which party you are
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) key: PathBuf,
    /// The party that you are; fails if the key file belongs to another one
    #[arg(long = "as", value_name = "PARTY")]
    pub(crate) party: Option<String>,
    /// The file for the result, such as your matching rows; its ending sets the format
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    /// Write all rows of your file to --output, with one more column of this name: for an
    /// intersection 1 for the rows whose key is in common and 0 for the others, with private ids
    /// the row's identifier, for a union the number of its key in the union
    #[arg(long, value_name = "NAME", requires = "output", value_parser = column_name)]
    pub(crate) mark: Option<String>,
    /// The file for what you know of the order of your shares, for "shares" and "shared-values":
    /// the rows of your input that the entries come from, if they are yours. Keep it secret: anyone
    /// who has both sides' files knows which rows are in common
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) order: Option<PathBuf>,
    /// Replace an existing output file
    #[arg(long)]
    pub(crate) force: bool,
    /// The file for a report of the run, as JSON; an existing report is replaced
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) report: Option<PathBuf>,
    /// Number of CPU threads [default: all cores]
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
    pub(crate) exchange: ExchangeArgs,
    #[command(flatten)]
    pub(crate) memory: MemoryArgs,
    #[command(flatten)]
    pub(crate) state: StateArgs,
    #[command(flatten)]
    pub(crate) talk: TalkArgs,
}

/// Combine two files of shares.
///
/// Reads the files that both sides wrote in one run, and prints what they share, one row for each
/// entry: the item of a common key as 32 hexadecimal digits, and the values as numbers. This
/// reveals the intersection, or which values are not defaults, which the shares hide from each side
/// alone.
#[derive(Args, Debug)]
#[command(after_help = "\
Example:
  vesica combine shop.json publisher.json --output common.csv")]
// These options are about the file of keys.
#[command(mut_arg("delimiter", |arg| arg.requires("keys").help_heading("The file of keys")))]
#[command(mut_arg("skip_rows", |arg| arg.requires("keys").help_heading("The file of keys")))]
#[command(mut_arg("comment", |arg| arg.requires("keys").help_heading("The file of keys")))]
#[command(mut_arg("no_header", |arg| arg.requires("keys").help_heading("The file of keys")))]
#[command(mut_arg("format", |arg| arg.requires("keys").help_heading("The file of keys")))]
pub(crate) struct CombineArgs {
    /// One side's file
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) one: PathBuf,
    /// The other side's file
    #[arg(value_name = "OTHER", value_hint = ValueHint::FilePath)]
    pub(crate) other: PathBuf,
    /// The file for the table; its ending sets the format, and - prints it as CSV [default: print
    /// it, but not on a terminal]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    /// A file with keys: adds its key columns to the entries that are keys of it
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "agreement")]
    pub(crate) keys: Option<PathBuf>,
    /// The agreement of the run; required with --keys
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "keys")]
    pub(crate) agreement: Option<PathBuf>,
    /// The column of the file of keys that holds a key, if the names differ; repeatable
    #[arg(long = "column", value_name = "KEY=COLUMN", requires = "keys")]
    pub(crate) columns: Vec<ColumnChoice>,
    #[command(flatten)]
    pub(crate) form: FormArgs,
    /// Replace an existing output file
    #[arg(long)]
    pub(crate) force: bool,
}

/// Show the protocols: who learns what, under which assumptions, at what cost.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  vesica protocols dh")]
pub(crate) struct ProtocolsArgs {
    /// Show one protocol in full
    #[arg(value_name = "ID")]
    pub(crate) id: Option<String>,
    /// Also list the protocols that run only if an agreement names them
    #[arg(long, conflicts_with = "id")]
    pub(crate) all: bool,
    /// Print JSON, for all protocols or for the one
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
    /// The directory for the pages of all commands [default: print the main page]
    #[arg(long, value_name = "DIRECTORY", value_hint = ValueHint::DirPath)]
    pub(crate) out: Option<PathBuf>,
}

/// Prints what is wrong with the command line, or the requested help or version.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let _ = error.print();
        let message = Message {
            error: "no command is given".to_owned(),
            hint: "choose one of the commands above; `vesica demo` shows what Vesica does"
                .to_owned(),
            who: Who::Caller,
        };
        return messages::print(&message);
    }
    let text = error.render().to_string();
    let (text, _) = text.split_once("\n\nFor more information").unwrap_or((text.trim_end(), ""));
    let mut command = Arguments::command();
    let mut name = "vesica".to_owned();
    for word in std::env::args().skip(1) {
        let Some(below) = command.find_subcommand(&word) else { break };
        name = format!("{name} {word}");
        command = below.clone();
    }
    let mut stderr = io::stderr().lock();
    let _ = writeln!(stderr, "{text}");
    let _ = writeln!(stderr, "hint: `{name} --help` shows every option, with an example");
    ExitCode::from(code::USAGE)
}
