//! The settings of a helper: a TOML file that names the parties it serves.
//!
//! ```toml
//! [helper]                          # all of it optional
//! listen = "0.0.0.0:7500"           # where parties reach it
//! backend = "disk:vesica-helper"    # where it intersects: memory:, disk:DIR, redis://…, postgres://…
//! state = "vesica-helper"           # its directory, where the backend names none
//! metrics = "127.0.0.1:7501"        # health and metrics, or "off"
//! metrics_for_others = false        # whether other machines may reach them
//! keep_hours = 168                  # how long an unfinished run is kept
//! memory_mb = 1024                  # for computing, and for the lists with memory:
//! threads = 8                       # for computing; as many as the machine has
//! runs_at_once = 2                  # runs computed at once
//! max_stored_percent = 80           # most of the disk for all runs
//! max_stored_mb = 1000000           # the same in megabytes, which counts if it is there
//! keep_free_mb = 1024               # left free on the disk
//!
//! [party.acme]
//! identity = "vesica1…"
//! max_rows = 100000000              # optional limits
//! max_runs = 64
//! max_runs_a_minute = 240
//! max_connections = 64
//! max_stored_mb = 262144
//! ```

mod error;

pub use error::{SettingsError, SettingsFault};

use crate::{Keeping, MetricsOptions, PartyLimits, ServiceOptions};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;
use vesica_core::Error;
use vesica_label_joins::{BackendError, Place};
use vesica_link::{Identity, PublicIdentity};
use vesica_net::Pool;
use vesica_server_aided::kmrs14::MAX_ROWS;
use vesica_strict_toml::{At, Field, document};

/// Longest settings file, in bytes: some thousand parties.
const MAX_FILE_BYTES: u64 = 1 << 20;

const FIELD_NAMES: &[&str] = &["helper", "party"];

const HELPER_FIELD_NAMES: &[&str] = &[
    "listen",
    "backend",
    "state",
    "metrics",
    "metrics_for_others",
    "keep_hours",
    "memory_mb",
    "threads",
    "runs_at_once",
    "max_stored_mb",
    "max_stored_percent",
    "keep_free_mb",
];

const PARTY_FIELDS: &[Field] =
    &[Field { name: "identity", meaning: "its public identity, as `vesica keygen` prints it" }];

const PARTY_FIELD_NAMES: &[&str] =
    &["identity", "max_rows", "max_runs", "max_runs_a_minute", "max_connections", "max_stored_mb"];

type Table<'a> = vesica_strict_toml::Table<'a, SettingsFault>;

/// The settings of a helper, with defaults for missing ones.
///
/// ```
/// use vesica_helper::Settings;
/// use vesica_link::Identity;
///
/// let identity = Identity::generate()?.public();
/// let text = format!("[helper]\nkeep_hours = 24\n\n[party.acme]\nidentity = \"{identity}\"\n");
/// let settings = Settings::parse(&text)?;
/// assert_eq!(settings.listen, Settings::LISTEN);
/// assert_eq!(settings.keep.as_secs(), 24 * 3600);
/// assert_eq!(settings.parties[0].name, "acme");
///
/// let error = Settings::parse("[helper]\nkeep_days = 1\n").unwrap_err();
/// assert!(error.to_string().contains("unknown field \"helper.keep_days\""));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The address for parties.
    pub listen: String,
    /// The address of the backend; `None` for files in the helper's directory. May hold a password.
    pub backend: Option<String>,
    /// The helper's directory, unless the backend names one.
    pub state: PathBuf,
    /// Where health and metrics are served; `None` if they are not.
    pub metrics: Option<MetricsOptions>,
    /// How long an unfinished run is kept.
    pub keep: Duration,
    /// Approximate memory for computations, and for lists that are kept in memory.
    pub memory_bytes: u64,
    /// The threads for computations; `None` for as many as the machine has.
    pub threads: Option<NonZeroUsize>,
    /// Runs computed at once.
    pub runs_at_once: usize,
    /// Most bytes of the disk for all runs together; `None` for no limit but the disk.
    pub max_stored_bytes: Option<u64>,
    /// The share of the disk's size for all runs together, in percent, unless `max_stored_bytes`
    /// says it.
    pub max_stored_percent: u8,
    /// Bytes of the disk to leave free.
    pub keep_free_bytes: u64,
    /// The parties it serves, at least one.
    pub parties: Vec<PartyLimits>,
}

/// Why settings could not become a service's options.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionsError {
    /// The backend's address.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// The threads.
    #[error(transparent)]
    Threads(#[from] Error),
}

impl Settings {
    /// The default address for parties.
    pub const LISTEN: &'static str = "0.0.0.0:7500";
    /// The default address for health and metrics.
    pub const METRICS: &'static str = "127.0.0.1:7501";
    /// The default directory.
    pub const STATE: &'static str = "vesica-helper";
    /// The default memory in megabytes.
    pub const MEMORY_MB: u64 = 1024;

    /// Reads a settings file.
    ///
    /// # Errors
    /// Any [`SettingsError`], with the file's path.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, SettingsError> {
        vesica_strict_toml::load(path.as_ref(), MAX_FILE_BYTES, Self::parse)
    }

    /// Reads settings.
    ///
    /// # Errors
    /// Any [`SettingsError`].
    pub fn parse(text: &str) -> Result<Self, SettingsError> {
        let document = document(text)?;
        let root = Table::new(text, String::new(), document.get_ref(), document.span(), &[]);
        root.refuse_unknown(FIELD_NAMES)?;
        let mut settings = match root.table("helper")? {
            Some(At { value, span, .. }) => {
                of_helper(&Table::new(text, "helper.".into(), value, span, &[]))?
            }
            None => of_helper(&Table::new(text, String::new(), &Default::default(), 0..0, &[]))?,
        };
        if let Some(At { value, span, .. }) = root.table("party")? {
            let parties = Table::new(text, "party.".into(), value, span, &[]);
            for (name, table) in parties.named_tables(PARTY_FIELDS)? {
                let party = of_party(name, &table)?;
                let same = settings.parties.iter().find(|other| other.identity == party.identity);
                if let Some(other) = same {
                    let (one, other) = (other.name.clone(), name.to_owned());
                    return Err(table.error_here(SettingsFault::SameIdentity { one, other }));
                }
                settings.parties.push(party);
            }
        }
        if settings.parties.is_empty() {
            return Err(root.error_here(SettingsFault::NoParty));
        }
        Ok(settings)
    }

    /// The options of a service with these settings.
    ///
    /// # Errors
    /// Any [`OptionsError`].
    pub fn options(&self, identity: Identity) -> Result<ServiceOptions, OptionsError> {
        let machine = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let pool = Pool::new(self.threads.unwrap_or(machine))?;
        let disk = format!("disk:{}", self.state.display());
        let url = self.backend.as_deref().unwrap_or(&disk);
        let backend = vesica_label_joins::open(url, pool.clone(), self.memory_bytes)?;
        let (keeping, state_dir) = match Place::of(url)? {
            Place::Memory => {
                (Keeping::Memory { limit_bytes: self.memory_bytes }, self.state.clone())
            }
            Place::Directory(directory) => (Keeping::Files, directory),
            Place::Default => (Keeping::Files, self.state.clone()),
        };
        Ok(ServiceOptions {
            identity,
            listen: self.listen.clone(),
            parties: self.parties.clone(),
            backend,
            keeping,
            state_dir,
            keep: self.keep,
            idle: ServiceOptions::IDLE,
            pool,
            workers: self.runs_at_once,
            memory_bytes: self.memory_bytes,
            max_stored_bytes: self.max_stored_bytes,
            max_stored_percent: self.max_stored_percent,
            keep_free_bytes: self.keep_free_bytes,
            metrics: self.metrics.clone(),
        })
    }
}

fn of_helper(table: &Table<'_>) -> Result<Settings, SettingsError> {
    table.refuse_unknown(HELPER_FIELD_NAMES)?;
    let text = |name, otherwise: &str| -> Result<String, SettingsError> {
        Ok(table.text(name)?.map_or(otherwise, |text| text.value).to_owned())
    };
    let number = |name, range| -> Result<Option<u64>, SettingsError> {
        Ok(table.number(name, range)?.map(|number| number.value))
    };
    let backend = match table.text("backend")? {
        None => None,
        Some(At { value, span, .. }) => {
            // Its errors are reported here, without the address, which may contain a password.
            Place::of(value).map_err(|error| table.error(span, SettingsFault::Backend(error)))?;
            Some(value.to_owned())
        }
    };
    let listen = text("metrics", Settings::METRICS)?;
    let allow_remote = table.flag("metrics_for_others")?.is_some_and(|flag| flag.value);
    let threads = number("threads", 1..=1024)?;
    Ok(Settings {
        listen: text("listen", Settings::LISTEN)?,
        backend,
        state: text("state", Settings::STATE)?.into(),
        metrics: (listen != "off").then_some(MetricsOptions { listen, allow_remote }),
        keep: number("keep_hours", 1..=24 * 366)?
            .map_or(ServiceOptions::KEEP, |hours| Duration::from_secs(hours * 3600)),
        memory_bytes: number("memory_mb", 64..=1 << 24)?.unwrap_or(Settings::MEMORY_MB) << 20,
        threads: threads.and_then(|threads| NonZeroUsize::new(threads as usize)),
        runs_at_once: number("runs_at_once", 1..=64)?
            .map_or(ServiceOptions::WORKERS, |runs| runs as usize),
        max_stored_bytes: number("max_stored_mb", 1..=1 << 40)?.map(|mb| mb << 20),
        max_stored_percent: number("max_stored_percent", 1..=100)?
            .and_then(|percent| u8::try_from(percent).ok())
            .unwrap_or(ServiceOptions::MAX_STORED_PERCENT),
        keep_free_bytes: number("keep_free_mb", 0..=1 << 40)?
            .map_or(ServiceOptions::KEEP_FREE_BYTES, |mb| mb << 20),
        parties: Vec::new(),
    })
}

fn of_party(name: &str, table: &Table<'_>) -> Result<PartyLimits, SettingsError> {
    let is_name = |byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_');
    if name.is_empty() || name.len() > 32 || !name.bytes().all(is_name) {
        return Err(table.error_here(SettingsFault::PartyName { name: name.to_owned() }));
    }
    table.refuse_unknown(PARTY_FIELD_NAMES)?;
    let At { value, span, .. } = table.required("identity", |table, name| table.text(name))?;
    let identity: PublicIdentity = value.parse().map_err(|error| {
        table.error(span, SettingsFault::Identity { name: name.to_owned(), error })
    })?;
    let usual = PartyLimits::new(name, identity);
    let number = |field, range| -> Result<Option<u64>, SettingsError> {
        Ok(table.number(field, range)?.map(|number| number.value))
    };
    let small = |field, usual: u32| -> Result<u32, SettingsError> {
        let number = number(field, 1..=1 << 20)?;
        Ok(number.and_then(|number| u32::try_from(number).ok()).unwrap_or(usual))
    };
    Ok(PartyLimits {
        max_rows: number("max_rows", 1..=MAX_ROWS)?.unwrap_or(usual.max_rows),
        max_runs: small("max_runs", usual.max_runs)?,
        max_runs_a_minute: small("max_runs_a_minute", usual.max_runs_a_minute)?,
        max_connections: small("max_connections", usual.max_connections)?,
        max_stored_bytes: number("max_stored_mb", 1..=1 << 40)?
            .map_or(usual.max_stored_bytes, |mb| mb << 20),
        ..usual
    })
}
