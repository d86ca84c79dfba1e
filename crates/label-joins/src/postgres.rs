//! In a PostgreSQL server: copies the labels of each list into a table, and a join finds those in
//! all tables.
//!
//! The lists are cut into slices of a hundred thousand labels and more. Each slice is one query of
//! several statements,
//!
//! ```text
//! COPY vesica_0 FROM STDIN; COPY vesica_1 FROM STDIN; …
//! COPY (SELECT label FROM vesica_0 WHERE EXISTS (… vesica_1 …) AND …) TO STDOUT
//! ```
//!
//! and so one transaction, which empties the tables at its end. The joined tables fit the server's
//! memory, however long the lists. Slices use as many connections as there are threads, up to
//! [`MOST_CONNECTIONS`]. The tables are temporary: each connection has its own, they are not
//! logged, and they end with the connection, however it ends. So nothing remains; but a server may
//! detect late that a helper's machine is gone, and [`Backend::forget`] ends connections of the
//! same run.
//!
//! A label is a `uuid`, PostgreSQL's type for 16 bytes. Tables are read with hash joins, with any
//! settings of the server. The user needs the right to connect and to create temporary tables,
//! which all users have by default.

mod session;

use crate::backend::{Answers, Backend, RunName, Stop};
use crate::error::{BackendError, BadUrl};
use crate::slices::{Slices, threads_within};
use crate::socket::Endpoint;
use crate::url::Url;
use session::Session;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use vesica_core::Secret;
use vesica_labels::{Bits, Label, List, Ranges, set_common};

/// Labels of all lists together in a slice: tables of about 12 MB.
const SLICE_LABELS: usize = 1 << 18;

/// More connections would burden a server's other users.
pub(crate) const MOST_CONNECTIONS: usize = 8;

const DEFAULT_PORT: u16 = 5432;

/// A PostgreSQL server.
#[derive(Debug)]
pub(crate) struct Postgres {
    endpoint: Endpoint,
    user: String,
    password: Option<Secret<String>>,
    database: String,
    threads: usize,
    memory_bytes: u64,
}

impl Postgres {
    pub(crate) fn at(url: Url) -> Result<Self, BadUrl> {
        let (mut directory, mut port) = (None, url.port);
        for (name, value) in &url.parameters {
            match (name.as_str(), value.as_str()) {
                ("host", directory_of_socket) if directory_of_socket.starts_with('/') => {
                    directory = Some(PathBuf::from(directory_of_socket));
                }
                ("port", number) => port = Some(number.parse().map_err(|_| BadUrl::Port)?),
                ("sslmode", "disable") => {}
                ("sslmode", _) => return Err(BadUrl::Encrypted),
                _ => return Err(BadUrl::Parameter),
            }
        }
        let endpoint = match directory {
            Some(_) if !url.host.is_empty() => return Err(BadUrl::Host),
            Some(directory) => {
                let port = port.unwrap_or(DEFAULT_PORT);
                Endpoint::Unix(directory.join(format!(".s.PGSQL.{port}")))
            }
            None => url.endpoint(port.unwrap_or(DEFAULT_PORT))?,
        };
        let user = url.user.ok_or(BadUrl::User)?;
        let database = if url.path.is_empty() { user.clone() } else { url.path };
        if database.contains('/') {
            return Err(BadUrl::Database);
        }
        // Names end with a zero byte in the protocol.
        if user.contains('\0') || database.contains('\0') {
            return Err(BadUrl::Encoding);
        }
        let password = url.password;
        Ok(Self { endpoint, user, password, database, threads: 1, memory_bytes: u64::MAX })
    }

    pub(crate) fn with_threads(self, threads: usize, memory_bytes: u64) -> Self {
        Self { threads: threads.min(MOST_CONNECTIONS), memory_bytes, ..self }
    }

    /// A connection that the server's administrator sees as `name`.
    fn connect(&self, name: &str) -> Result<Session, BackendError> {
        let socket = self.endpoint.connect()?;
        let password = self.password.as_ref().map(Secret::expose);
        Session::start(socket, &self.user, password.map(String::as_str), &self.database, name)
    }
}

impl Backend for Postgres {
    fn name(&self) -> &'static str {
        "postgres"
    }

    fn common(&self, run: &RunName, lists: &[List<'_>], stop: Stop<'_>) -> Answers {
        if lists.is_empty() {
            return Ok(Some(Vec::new()));
        }
        self.forget(run)?;
        let work = Work {
            lists,
            bits: lists.iter().map(|list| Mutex::new(Bits::new(list.len()))).collect(),
            next: AtomicU32::new(0),
            ended: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
            stop,
        };
        let ranges = Ranges::new(lists).len();
        let threads = threads_within(lists, self.threads, self.memory_bytes).min(ranges as usize);
        let outcomes: Vec<Result<(), BackendError>> = thread::scope(|scope| {
            let one = || {
                let outcome =
                    self.connect(&session_name(run)).and_then(|session| work.take(session));
                if outcome.is_err() {
                    work.ended.store(true, Ordering::Relaxed);
                }
                outcome
            };
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(one)).collect();
            let own = one();
            let others = others
                .into_iter()
                .map(|other| other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            [own].into_iter().chain(others).collect()
        });
        outcomes.into_iter().collect::<Result<(), _>>()?;
        if work.stopped.into_inner() {
            return Ok(None);
        }
        let bits = work.bits.into_iter();
        let bits = bits.map(|bits| bits.into_inner().unwrap_or_else(|bad| bad.into_inner()));
        Ok(Some(bits.collect()))
    }

    fn check(&self) -> Result<(), BackendError> {
        let mut session = self.connect("vesica check")?;
        let usable = session.query(
            "SELECT has_database_privilege(current_database(), 'TEMP') AND NOT pg_is_in_recovery()",
        )?;
        match &usable[..] {
            b"t" => Ok(()),
            b"f" => Err(BackendError::Refused),
            _ => Err(BackendError::Nonsense),
        }
    }

    fn forget(&self, run: &RunName) -> Result<(), BackendError> {
        let mut session = self.connect("vesica forget")?;
        let name = session_name(run);
        let ended = session.query(&format!(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
             WHERE application_name = '{name}' AND usename = current_user \
             AND pid <> pg_backend_pid()"
        ));
        match ended {
            // No other connection is ours to end.
            Err(BackendError::Refused) => Ok(()),
            other => other.map(drop),
        }
    }
}

fn session_name(run: &RunName) -> String {
    format!("vesica {run}")
}

/// State shared by the connections.
struct Work<'a> {
    lists: &'a [List<'a>],
    bits: Vec<Mutex<Bits>>,
    /// The next range that no connection has taken.
    next: AtomicU32,
    /// Whether another connection has failed.
    ended: AtomicBool,
    stopped: AtomicBool,
    stop: Stop<'a>,
}

impl Work<'_> {
    /// Processes ranges until none are left.
    fn take(&self, mut session: Session) -> Result<(), BackendError> {
        let mut set_up = false;
        let mut ranges = Ranges::new(self.lists);
        loop {
            let range = self.next.fetch_add(1, Ordering::Relaxed);
            if range >= ranges.len() || self.must_stop() {
                return Ok(());
            }
            ranges.seek(range).map_err(BackendError::of_list)?;
            if ranges.lacks_any() {
                continue;
            }
            let all = ranges.all();
            for piece in Slices::new(&all, SLICE_LABELS / self.lists.len()) {
                if piece.iter().any(|part| part.is_empty()) {
                    continue;
                }
                if self.must_stop() {
                    return Ok(());
                }
                if !set_up {
                    session.query(&preparation(self.lists.len()))?;
                    set_up = true;
                }
                let labels: Vec<&[Label]> =
                    all.iter().zip(&piece).map(|(labels, part)| &labels[part.clone()]).collect();
                let mut found = session.intersect(&intersection(labels.len()), &labels)?;
                found.sort_unstable();
                for (list, (labels, part)) in labels.iter().zip(&piece).enumerate() {
                    let place = ranges.place(list) + part.start as u64;
                    let mut bits = self.bits[list].lock().unwrap_or_else(|bad| bad.into_inner());
                    if set_common(&mut bits, place, labels, &found) != found.len() {
                        return Err(BackendError::Nonsense);
                    }
                }
            }
        }
    }

    fn must_stop(&self) -> bool {
        if (self.stop)() {
            self.stopped.store(true, Ordering::Relaxed);
        }
        self.stopped.load(Ordering::Relaxed) || self.ended.load(Ordering::Relaxed)
    }
}

/// Settings of a connection, and its tables.
fn preparation(lists: usize) -> String {
    // Buffers and hash tables hold a slice. Without statistics of just filled tables, the planner
    // assumes few distinct labels, and would first remove duplicates; compiling a short query first
    // would slow it down.
    let settings = "SET temp_buffers = '32MB'; SET work_mem = '64MB'; SET enable_nestloop = off; \
                    SET enable_mergejoin = off; SET enable_hashagg = off; SET enable_sort = off; \
                    SET jit = off;";
    let tables = (0..lists).map(|list| {
        format!("CREATE TEMPORARY TABLE vesica_{list} (label uuid NOT NULL) ON COMMIT DELETE ROWS;")
    });
    settings.to_owned() + &tables.collect::<String>()
}

/// The statements for a slice.
fn intersection(lists: usize) -> String {
    let copies =
        (0..lists).map(|list| format!("COPY pg_temp.vesica_{list} FROM STDIN (FORMAT binary);"));
    let others = (1..lists).map(|list| {
        format!(
            " AND EXISTS (SELECT FROM pg_temp.vesica_{list} other WHERE other.label = first.label)"
        )
    });
    let (copies, others): (String, String) = (copies.collect(), others.collect());
    format!(
        "{copies} COPY (SELECT label FROM pg_temp.vesica_0 first WHERE true{others}) \
         TO STDOUT (FORMAT binary)"
    )
}
