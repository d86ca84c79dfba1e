//! A PostgreSQL server.

use crate::process::{Process, free_port};
use crate::programs::program;
use nix::sys::signal::Signal;
use nix::unistd::{Uid, User};
use std::fs;
use std::io::Write;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Its administrator.
const OWNER: &str = "owner";

/// A PostgreSQL server on 127.0.0.1 and on a Unix socket, which requires a password, and a user
/// with exactly the rights that the backend needs.
#[derive(Debug)]
pub struct Postgres {
    process: Option<Process>,
    directory: TempDir,
    port: u16,
}

impl Postgres {
    /// The password of all its users.
    const PASSWORD: &str = "p:w/é@1";

    /// The password as encoded in addresses.
    const ENCODED: &str = "p%3Aw%2F%C3%A9%401";

    /// Starts a server with a database `lists` and a user `helper`.
    ///
    /// # Panics
    /// If there is no server, or it does not start.
    pub fn start() -> Self {
        let directory = TempDir::new().expect("a temporary directory");
        let mut postgres = Self { process: None, directory, port: free_port() };
        let password = postgres.directory.path().join("password");
        fs::write(&password, Self::PASSWORD).expect("a file");
        if let Some(user) = server_user() {
            for path in [postgres.directory.path(), &password] {
                chown(path, Some(user.uid.as_raw()), Some(user.gid.as_raw()))
                    .expect("our own file");
            }
        }
        let mut command = postgres.command("initdb");
        command.arg("--no-sync").arg("--auth=scram-sha-256").arg("--encoding=UTF8");
        command.arg("--locale=C").arg(format!("--username={OWNER}"));
        command.arg(format!("--pwfile={}", password.display()));
        command.arg("-D").arg(postgres.data());
        finish(command);
        postgres.restart();
        postgres.query(&format!("CREATE ROLE helper LOGIN PASSWORD '{}'", Self::PASSWORD));
        postgres.query("CREATE DATABASE lists");
        postgres
    }

    /// Starts it again with its data, on the same port.
    ///
    /// # Panics
    /// If it does not start.
    pub fn restart(&mut self) {
        self.process = None;
        let mut command = self.command("postgres");
        command.arg("-D").arg(self.data()).arg("-p").arg(self.port.to_string());
        for setting in ["listen_addresses=127.0.0.1", "fsync=off", "max_connections=20"] {
            command.arg("-c").arg(setting);
        }
        let sockets = format!("unix_socket_directories={}", self.directory.path().display());
        command.arg("-c").arg(sockets);
        let log = self.directory.path().join("log");
        let answers = || self.try_query("SELECT 1").is_some();
        self.process = Some(Process::start(command, &log, Signal::SIGINT, answers));
    }

    /// Ends it at once, like a crash.
    ///
    /// # Panics
    /// If it does not run.
    pub fn kill(&mut self) {
        // Its children die with it: after SIGKILL they would continue to use the data for a while.
        self.process.take().expect("a running server").end(Signal::SIGQUIT);
    }

    /// Its address for the backend.
    pub fn url(&self) -> String {
        format!("postgres://helper:{}@127.0.0.1:{}/lists", Self::ENCODED, self.port)
    }

    /// Its address by the socket.
    pub fn socket_url(&self) -> String {
        let directory = self.directory.path().display();
        format!("postgres://helper:{}@/lists?host={directory}&port={}", Self::ENCODED, self.port)
    }

    /// Its address with a wrong password.
    pub fn wrong_url(&self) -> String {
        format!("postgres://helper:wrong@127.0.0.1:{}/lists", self.port)
    }

    /// The result of a query by its owner in the database `lists`, or in `postgres` before that
    /// exists: a line per row.
    ///
    /// # Panics
    /// If it fails.
    pub fn query(&self, sql: &str) -> String {
        self.try_query(sql).unwrap_or_else(|| panic!("{sql} fails"))
    }

    /// Number of tables that are not the server's own, including temporary ones.
    ///
    /// # Panics
    /// If it does not answer.
    pub fn tables(&self) -> u64 {
        let system = "('pg_catalog', 'information_schema')";
        let count = format!("SELECT count(*) FROM pg_tables WHERE schemaname NOT IN {system}");
        self.query(&count).parse().expect("a number of tables")
    }

    /// Bytes in all of [these tables](Self::tables).
    ///
    /// # Panics
    /// If it does not answer.
    pub fn table_bytes(&self) -> u64 {
        let tables = "pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace";
        let system =
            "n.nspname IN ('pg_catalog', 'information_schema') OR n.nspname LIKE 'pg_toast%'";
        let sum = format!(
            "SELECT coalesce(sum(pg_relation_size(c.oid)), 0) FROM {tables} \
             WHERE c.relkind = 'r' AND NOT ({system})"
        );
        self.query(&sum).parse().expect("a number of bytes")
    }

    fn try_query(&self, sql: &str) -> Option<String> {
        let query = |database: &str| {
            let mut command = self.command("psql");
            command.env("PGPASSWORD", Self::PASSWORD).stdin(Stdio::null());
            command.args(["-X", "-q", "-A", "-t", "-h", "127.0.0.1", "-U", OWNER]);
            command.arg("-p").arg(self.port.to_string()).args(["-d", database, "-c", sql]);
            let output = command.output().expect("psql runs");
            let answer = String::from_utf8_lossy(&output.stdout).trim().to_owned();
            output.status.success().then_some(answer)
        };
        query("lists").or_else(|| query("postgres"))
    }

    fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    /// A program of PostgreSQL, which refuses to run as root.
    fn command(&self, name: &str) -> Command {
        let mut command = Command::new(program(name));
        command.current_dir(self.directory.path()).env("LC_ALL", "C");
        if let Some(user) = server_user() {
            command.uid(user.uid.as_raw()).gid(user.gid.as_raw());
        }
        command
    }
}

/// The user that the server runs as if this is root.
fn server_user() -> Option<User> {
    let find = || User::from_name("postgres").expect("the list of users");
    Uid::effective().is_root().then(|| find().expect("the user `postgres` of the server's package"))
}

fn finish(mut command: Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    if !output.status.success() {
        let mut stderr = std::io::stderr().lock();
        let _ = stderr.write_all(&output.stdout).and_then(|()| stderr.write_all(&output.stderr));
        panic!("{command:?} fails");
    }
}
