//! Groups of options that several commands take, and what they set. Doc comments here are the text
//! of `--help`.

use crate::failure::Failure;
use crate::settings::{
    ColumnChoice, CommentMark, Delimiter, FormatName, LogFormat, MAX_IDLE, MAX_TIME, TimeLimit,
    column_choices, idle_limit, listen_address, peer_address,
};
use clap::{Args, ValueHint};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use vesica_agreement::Agreement;
use vesica_diagnostics::arguments::ArgumentFault;
use vesica_diagnostics::memory::MemorySize;
use vesica_engine::{MemoryDefault, StateOptions};
use vesica_link::{Endpoint, LinkOptions, ProxyChoice};
use vesica_store_session::Store;
use vesica_tables::{OutputOptions, ReadOptions};

/// How long to wait for the other side of a run between two parties, by default.
const WAIT_DEFAULT: Duration = Duration::from_secs(60);

/// How long to wait in a run that keeps a state, by default: the parties may start at any time, and
/// may compute for hours.
const WAIT_DEFAULT_KEPT: Duration = Duration::from_secs(24 * 3600);

/// How long a run with `--once` waits for objects that may arrive in a moment.
const ONCE: Duration = Duration::from_secs(1);

/// Your data.
#[derive(Args, Debug)]
#[command(next_help_heading = "Data")]
pub(crate) struct DataArgs {
    /// Your file: CSV, TSV (also .gz, .zst) or Parquet; or a folder of such files
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) input: PathBuf,
    /// The column of your file that holds a key or values, if the names differ; repeatable
    #[arg(long = "column", value_name = "KEY=COLUMN")]
    pub(crate) columns: Vec<ColumnChoice>,
    #[command(flatten)]
    pub(crate) form: FormArgs,
    /// Stop at the first value that its profile refuses; otherwise such rows are skipped and
    /// counted
    #[arg(long)]
    pub(crate) strict: bool,
    /// The file for a list of the rows that are refused, with line or row, column and reason, but
    /// no value; an existing one is replaced
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) refused: Option<PathBuf>,
}

impl DataArgs {
    /// The file for the list of refused rows.
    pub(crate) fn refused_output(&self) -> Option<OutputOptions> {
        self.refused.clone().map(|path| OutputOptions { path, force: true })
    }

    pub(crate) fn column_choices(&self) -> Result<BTreeMap<String, String>, Failure> {
        column_choices(&self.columns)
    }
}

/// The format of a file of rows.
#[derive(Args, Debug)]
pub(crate) struct FormArgs {
    /// The character between fields, or "tab" [default: detected in the file]
    #[arg(long, value_name = "CHARACTER")]
    pub(crate) delimiter: Option<Delimiter>,
    /// How many lines to skip at the top of a text file, before the row with the column names
    #[arg(long, value_name = "NUMBER")]
    pub(crate) skip_rows: Option<u64>,
    /// Skip lines that begin with this character too, at the top of a text file; later ones are
    /// rows
    #[arg(long, value_name = "CHARACTER")]
    pub(crate) comment: Option<CommentMark>,
    /// The first row is data; columns are then named 1, 2, 3 and so on
    #[arg(long)]
    pub(crate) no_header: bool,
    /// The file format [default: by the file's name]
    #[arg(long, value_enum)]
    pub(crate) format: Option<FormatName>,
}

impl FormArgs {
    pub(crate) fn read_options(&self) -> ReadOptions {
        ReadOptions {
            delimiter: self.delimiter.map(Delimiter::byte),
            skip_rows: self.skip_rows.unwrap_or_default(),
            comment: self.comment.map(CommentMark::byte),
            header: !self.no_header,
            format: self.format.map(Into::into),
        }
    }
}

/// How to reach the other side or the helper.
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
    /// Connect through this proxy, http://HOST:PORT or socks5://HOST:PORT, also with USER:PASSWORD@
    /// before the host; "none" for no proxy [default: that of HTTPS_PROXY or ALL_PROXY, unless
    /// NO_PROXY lists the host]
    #[arg(long, value_name = "URL", conflicts_with = "listen")]
    pub(crate) proxy: Option<ProxyChoice>,
    /// How long to wait for the other side to connect, or for the helper and each of the other
    /// parties; 0 for no limit. Without a helper and --state, a lost connection must be replaced
    /// within this time, at most 60s; with --state, each next message of the other side must arrive
    /// within it [default: 60s; 24h with a helper or --state]
    #[arg(long, value_name = "TIME")]
    pub(crate) wait: Option<TimeLimit>,
    /// How long the other side may send nothing, at least 1s
    #[arg(long, visible_alias = "idle-timeout", value_name = "TIME", default_value = "60s",
        value_parser = idle_limit)]
    pub(crate) idle: TimeLimit,
    /// How long the session may last; 0 for no limit
    #[arg(long, visible_alias = "timeout", value_name = "TIME", default_value = "0")]
    pub(crate) total: TimeLimit,
}

impl PlaceArgs {
    /// The endpoint and its limits; `None` when no address is given.
    ///
    /// # Errors
    /// [`ArgumentFault::BadProxy`].
    fn link_options(&self) -> Result<Option<LinkOptions>, Failure> {
        let endpoint = match (&self.listen, &self.connect) {
            (Some(address), _) => Endpoint::Listen(address.clone()),
            (None, Some(address)) => Endpoint::Connect(address.clone()),
            (None, None) => return Ok(None),
        };
        let choice = self.proxy.clone().unwrap_or_default();
        let proxy = match &endpoint {
            Endpoint::Connect(address) => choice.to(address, |name| std::env::var_os(name)),
            _ => Ok(None),
        }
        .map_err(|(variable, why)| {
            Failure::from(ArgumentFault::BadProxy { variable: Some(variable), why })
        })?;
        Ok(Some(LinkOptions { proxy, ..self.options(endpoint, WAIT_DEFAULT) }))
    }

    /// The endpoint and its limits for a run of `agreement`. With a helper, the endpoint is the
    /// helper. There, and where a state is kept, the party waits longer by default for the others.
    ///
    /// # Errors
    /// [`ArgumentFault::ListenWithHelper`] for `--listen` with a helper;
    /// [`ArgumentFault::BadProxy`].
    pub(crate) fn link_options_for(
        &self,
        agreement: &Agreement,
        is_kept: bool,
    ) -> Result<Option<LinkOptions>, Failure> {
        let link = self.link_options_for_check(agreement)?;
        Ok(if agreement.helper.is_some() || is_kept {
            link.map(|link| LinkOptions {
                proxy: link.proxy,
                ..self.options(link.endpoint, WAIT_DEFAULT_KEPT)
            })
        } else {
            link
        })
    }

    /// The endpoint and its limits for checking whether the peer or the helper is there.
    ///
    /// # Errors
    /// As [`PlaceArgs::link_options_for`].
    pub(crate) fn link_options_for_check(
        &self,
        agreement: &Agreement,
    ) -> Result<Option<LinkOptions>, Failure> {
        match (&agreement.helper, &self.listen) {
            (Some(_), Some(_)) => Err(ArgumentFault::ListenWithHelper.into()),
            _ => self.link_options(),
        }
    }

    fn options(&self, endpoint: Endpoint, wait: Duration) -> LinkOptions {
        LinkOptions {
            endpoint,
            wait: self.wait.map_or(wait, |wait| wait.limit().unwrap_or(MAX_TIME)),
            idle: self.idle.limit().unwrap_or(MAX_IDLE),
            total: self.total.limit(),
            proxy: None,
        }
    }
}

/// A shared folder or store in place of a connection.
#[derive(Args, Debug)]
#[command(next_help_heading = "Network")]
pub(crate) struct ExchangeArgs {
    /// Exchange messages through this place, which both sides can reach, instead of a connection: a
    /// folder, or a URL s3://BUCKET/PREFIX, gs://BUCKET/PREFIX, az://CONTAINER/PREFIX or
    /// sftp://USER@HOST/FOLDER
    #[arg(long, value_name = "PLACE", conflicts_with_all = ["connect", "listen"],
        value_hint = ValueHint::DirPath)]
    exchange: Option<OsString>,
    /// With --exchange: do what is possible now, and end with exit code 75 if the run is not
    /// finished; with --quiet, print nothing then
    #[arg(long, requires = "exchange", conflicts_with = "wait")]
    once: bool,
}

impl ExchangeArgs {
    /// The place as an endpoint, with the limits of `place`; `None` when no place is given.
    pub(crate) fn link_options(&self, place: &PlaceArgs) -> Option<LinkOptions> {
        let endpoint = Endpoint::Store(vesica_store_backends::shown(self.exchange.as_ref()?));
        let link = place.options(endpoint, WAIT_DEFAULT_KEPT);
        let wait = if self.once { ONCE } else { link.wait };
        Some(LinkOptions { wait, ..link })
    }

    /// Whether the run does only what is possible now, and is called again for the rest.
    pub(crate) fn is_once(&self) -> bool {
        self.once
    }

    /// The store that --exchange names.
    ///
    /// # Errors
    /// [`Failure::Place`].
    pub(crate) fn store(&self) -> Result<Option<Arc<dyn Store>>, Failure> {
        self.exchange.as_deref().map(open_store).transpose()
    }
}

/// The store at `place`.
///
/// # Errors
/// [`Failure::Place`].
pub(crate) fn open_store(place: &OsStr) -> Result<Arc<dyn Store>, Failure> {
    vesica_store_backends::open(place)
        .map_err(|error| Failure::Place { shown: vesica_store_backends::shown(place), error })
}

/// Where a run keeps its state.
#[derive(Args, Debug)]
#[command(next_help_heading = "Interrupted runs")]
pub(crate) struct StateArgs {
    /// The folder for intermediate data and for the state with which an interrupted run resumes; it
    /// is created, and removed at the end of the run. Two parties that connect keep a state only if
    /// both give one [default with a helper or --exchange: vesica-run-HASH-PARTY]
    #[arg(long, value_name = "DIRECTORY", value_hint = ValueHint::DirPath)]
    state: Option<PathBuf>,
    /// Abandon an interrupted run, end it for the other parties, and start a new one
    #[arg(long)]
    restart: bool,
}

impl StateArgs {
    pub(crate) fn options(&self) -> StateOptions {
        StateOptions { folder: self.state.clone(), restart: self.restart }
    }
}

/// What a run may take of this machine.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Memory")]
pub(crate) struct MemoryArgs {
    /// About how much memory a run may take, for files of any size; data beyond it goes to unnamed
    /// temporary files. MB or M is 10^6 bytes; MiB, Mi or m is 2^20; and so on with K, G and T
    /// [default: 1GiB, or half of what the container or the machine has if that is less]
    #[arg(long, value_name = "SIZE")]
    memory: Option<MemorySize>,
    /// The folder for these files [default: the current one; with a helper, that of --state]
    #[arg(long, value_name = "DIRECTORY", value_hint = ValueHint::DirPath)]
    pub(crate) scratch: Option<PathBuf>,
}

impl MemoryArgs {
    pub(crate) fn bytes(&self) -> u64 {
        self.memory.map_or_else(|| MemoryDefault::find().bytes, MemorySize::bytes)
    }

    /// The default, where none is given.
    pub(crate) fn default(&self) -> Option<MemoryDefault> {
        self.memory.is_none().then(MemoryDefault::find)
    }
}

/// Progress and log.
#[derive(Args, Debug)]
#[command(next_help_heading = "Messages")]
pub(crate) struct TalkArgs {
    /// Print log lines instead of progress; they contain no key, item or result
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub(crate) log: Option<LogFormat>,
    /// The file that log lines are appended to [default: standard error]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) log_file: Option<PathBuf>,
    /// Print errors and warnings only, no progress and no summary
    #[arg(long, short)]
    pub(crate) quiet: bool,
}
