//! Real database servers for tests: each test has its own, on a free port of this machine, with its data in a
//! temporary directory. They end with the test, also when it panics.
//!
//! * [`Redis`] — a Redis server.
//! * [`Postgres`] — a PostgreSQL server.
//!
//! Their programs are looked for in the directories that the environment variable `VESICA_DATABASES` names, with
//! colons between them, or else in those that `scripts/databases` prints, which installs what is missing. Where there
//! are none, tests fail.

#![forbid(unsafe_code)]

mod postgres;
mod process;
mod programs;
mod redis;

pub use postgres::Postgres;
pub use redis::Redis;
