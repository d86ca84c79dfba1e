//! Real database servers for tests: each test has its own, on a free port of this machine, with its
//! data in a temporary directory. They end with the test, also if it panics.
//!
//! * [`Redis`] — a Redis server.
//! * [`Postgres`] — a PostgreSQL server.
//!
//! Searches for their programs in the directories that the environment variable `VESICA_DATABASES`
//! lists, separated by colons, or else in those that `scripts/databases` prints, which installs
//! what is missing. Tests fail if there are none.

#![forbid(unsafe_code)]

mod postgres;
mod process;
mod programs;
mod redis;

pub use postgres::Postgres;
pub use redis::Redis;
