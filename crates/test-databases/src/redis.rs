//! A Redis server.

use crate::process::{Process, free_port};
use crate::programs::program;
use nix::sys::signal::Signal;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

/// A Redis server on 127.0.0.1 and on a Unix socket, with a password. Stores nothing on disk.
#[derive(Debug)]
pub struct Redis {
    process: Option<Process>,
    directory: TempDir,
    port: u16,
}

impl Redis {
    /// The password of its default user.
    pub const PASSWORD: &str = "p:w/é@1";

    /// The password as encoded in addresses.
    const ENCODED: &str = "p%3Aw%2F%C3%A9%401";

    /// Starts a server.
    ///
    /// # Panics
    /// If there is no server, or it does not start.
    pub fn start() -> Self {
        let directory = TempDir::new().expect("a temporary directory");
        let mut redis = Self { process: None, directory, port: free_port() };
        redis.restart();
        redis
    }

    /// Starts it again, empty, on the same port.
    ///
    /// # Panics
    /// If it does not start.
    pub fn restart(&mut self) {
        self.process = None;
        let settings = self.directory.path().join("redis.conf");
        let text = format!(
            "bind 127.0.0.1\nport {}\nunixsocket {}\nunixsocketperm 700\nrequirepass {}\n\
             save \"\"\nappendonly no\ndaemonize no\ndir {}\n",
            self.port,
            self.socket().display(),
            Self::PASSWORD,
            self.directory.path().display(),
        );
        fs::write(&settings, text).expect("a file of settings");
        fs::set_permissions(&settings, fs::Permissions::from_mode(0o600)).expect("our own file");
        let mut command = Command::new(program("redis-server"));
        command.arg(&settings);
        let answers = || self.query("PING").is_some_and(|answer| answer == "+PONG");
        let log = self.directory.path().join("log");
        self.process = Some(Process::start(command, &log, Signal::SIGTERM, answers));
    }

    /// Ends it at once, like a crash.
    ///
    /// # Panics
    /// If it does not run.
    pub fn kill(&mut self) {
        self.process.take().expect("a running server").end(Signal::SIGKILL);
    }

    /// The path of its socket.
    pub fn socket(&self) -> PathBuf {
        self.directory.path().join("socket")
    }

    /// Its address for the backend, database 3.
    pub fn url(&self) -> String {
        format!("redis://:{}@127.0.0.1:{}/3", Self::ENCODED, self.port)
    }

    /// Its address by the socket, database 4.
    pub fn socket_url(&self) -> String {
        format!("redis+unix://default:{}@{}?db=4", Self::ENCODED, self.socket().display())
    }

    /// Its address with a wrong password.
    pub fn wrong_url(&self) -> String {
        format!("redis://:wrong@127.0.0.1:{}/3", self.port)
    }

    /// The first line of its answer to a command of plain words; `None` without an answer.
    pub fn query(&self, command: &str) -> Option<String> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).ok()?;
        let request = format!("AUTH {}\r\n{command}\r\n", Self::PASSWORD);
        stream.write_all(request.as_bytes()).ok()?;
        let mut lines = BufReader::new(stream).lines();
        lines.next()?.ok().filter(|line| line == "+OK")?;
        lines.next()?.ok()
    }

    /// Number of keys in all of its databases.
    ///
    /// # Panics
    /// If it does not answer.
    pub fn keys(&self) -> u64 {
        // `INFO keyspace` has a line for each database that has keys: `db3:keys=1,…`.
        let mut stream =
            TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).expect("a running server");
        let request = format!("AUTH {}\r\nINFO keyspace\r\nQUIT\r\n", Self::PASSWORD);
        stream.write_all(request.as_bytes()).expect("a running server");
        let lines: Vec<String> =
            BufReader::new(stream).lines().collect::<Result<_, _>>().expect("an answer");
        assert!(lines.contains(&"# Keyspace".to_owned()), "{lines:?}");
        let keys = lines.iter().filter_map(|line| line.split_once(":keys="));
        keys.map(|(_, rest)| {
            let number = rest.split(',').next().unwrap_or_default();
            number.parse::<u64>().expect("a number of keys")
        })
        .sum()
    }
}
