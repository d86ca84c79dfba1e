//! The backend at an address, and where it has the lists.

use crate::backend::Backend;
use crate::cluster::Cluster;
use crate::local::Local;
use crate::postgres::Postgres;
use crate::redis::Redis;
use crate::url::{Url, split_scheme};
use crate::{BackendError, BadUrl};
use std::path::PathBuf;
use vesica_net::Pool;

/// Where the lists themselves are stored during a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In memory.
    Memory,
    /// In files in this directory.
    Directory(PathBuf),
    /// Where the service stores its data: the address names a server, which gets the lists only for
    /// the intersection.
    Default,
}

impl Place {
    /// The place that the address specifies. Connects to nothing.
    ///
    /// # Errors
    /// [`BackendError::BadUrl`], whenever [`open`] returns it.
    pub fn of(url: &str) -> Result<Self, BackendError> {
        Ok(match Address::parse(url)? {
            Address::Memory => Place::Memory,
            Address::Disk(directory) => Place::Directory(directory),
            Address::Redis(_) | Address::Postgres(_) | Address::Cluster(_) => Place::Default,
        })
    }
}

/// The backend at an address. Connects on first use. It uses the threads of `pool`, fewer if all of
/// them would need more than about `memory_bytes` of memory for the lists.
///
/// # Errors
/// [`BackendError::BadUrl`].
pub fn open(url: &str, pool: Pool, memory_bytes: u64) -> Result<Box<dyn Backend>, BackendError> {
    Ok(match Address::parse(url)? {
        Address::Memory => Box::new(Local::new(None, pool, memory_bytes)),
        Address::Disk(directory) => Box::new(Local::new(Some(directory), pool, memory_bytes)),
        Address::Redis(redis) => Box::new(redis),
        Address::Cluster(folder) => Box::new(Cluster::new(folder)),
        Address::Postgres(postgres) => Box::new(postgres.with_threads(pool.len(), memory_bytes)),
    })
}

enum Address {
    Memory,
    Disk(PathBuf),
    Redis(Redis),
    Postgres(Postgres),
    Cluster(PathBuf),
}

impl Address {
    fn parse(url: &str) -> Result<Self, BadUrl> {
        match split_scheme(url)? {
            ("memory", "") => Ok(Address::Memory),
            ("disk" | "cluster", "") | ("memory", _) => Err(BadUrl::Path),
            ("disk", directory) => Ok(Address::Disk(directory.into())),
            ("cluster", folder) => Ok(Address::Cluster(folder.into())),
            ("redis" | "redis+unix", _) => Redis::at(Url::parse(url)?).map(Address::Redis),
            ("postgres" | "postgresql", _) => Postgres::at(Url::parse(url)?).map(Address::Postgres),
            ("rediss", _) => Err(BadUrl::Encrypted),
            _ => Err(BadUrl::Scheme),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZeroUsize;

    fn refusal(url: &str) -> BackendError {
        let pool = Pool::new(NonZeroUsize::MIN).unwrap();
        let opened = open(url, pool, 1 << 30).err();
        assert_eq!(Place::of(url).err(), opened);
        opened.unwrap_or_else(|| panic!("{url} is taken"))
    }

    #[test]
    fn an_address_determines_where_the_lists_are_stored() {
        assert_eq!(Place::of("memory:"), Ok(Place::Memory));
        assert_eq!(Place::of("disk:/var/lib/x"), Ok(Place::Directory("/var/lib/x".into())));
        for server in [
            "redis://localhost",
            "redis+unix:///run/redis.sock?db=2",
            "postgres://a:b@c/d",
            "cluster:/mnt/shared",
        ] {
            assert_eq!(Place::of(server), Ok(Place::Default), "{server}");
        }
    }

    #[test]
    fn bad_addresses_are_refused_with_a_reason() {
        for (url, reason) in [
            ("", BadUrl::Scheme),
            ("redis", BadUrl::Scheme),
            ("mysql://localhost/a", BadUrl::Scheme),
            ("memory:here", BadUrl::Path),
            ("disk:", BadUrl::Path),
            ("cluster:", BadUrl::Path),
            ("rediss://localhost", BadUrl::Encrypted),
            ("redis://", BadUrl::Host),
            ("redis://localhost:port", BadUrl::Port),
            ("redis://localhost:0", BadUrl::Port),
            ("redis://localhost/first", BadUrl::Database),
            ("redis://localhost?db=1", BadUrl::Parameter),
            ("redis+unix://", BadUrl::Path),
            ("redis+unix:///run/redis.sock?timeout=1", BadUrl::Parameter),
            ("postgres://localhost/a", BadUrl::User),
            ("postgres://a@/b", BadUrl::Host),
            ("postgres://a@localhost/b/c", BadUrl::Database),
            ("postgres://a@localhost/b?sslmode=require", BadUrl::Encrypted),
            ("postgres://a@localhost/b?options=x", BadUrl::Parameter),
            ("postgres://%ff@localhost", BadUrl::Encoding),
            ("postgres://a%0@localhost", BadUrl::Encoding),
        ] {
            assert_eq!(refusal(url), BackendError::BadUrl(reason), "{url}");
        }
    }

    #[test]
    fn printed_texts_do_not_contain_the_password() {
        let pool = Pool::new(NonZeroUsize::MIN).unwrap();
        for url in ["redis://a:hunter2@localhost", "postgres://a:hunter2@localhost/d"] {
            let backend = open(url, pool.clone(), 1 << 30).unwrap();
            assert!(!format!("{backend:?}").contains("hunter2"), "{backend:?}");
        }
    }
}
