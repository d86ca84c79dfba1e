//! A store in memory, and parties that meet in it.

// Each test file uses only some of this one.
#![allow(dead_code, unreachable_pub)]

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use vesica_core::Role;
use vesica_link::{CancelToken, Identity};
use vesica_net::{Connection, Context, Meter, Pool, Streams};
use vesica_store_session::{
    Conversation, Event, ExchangeError, Lengths, Listed, Options, State, Store, meet,
};

/// Objects in memory, which tests change.
#[derive(Default)]
pub struct MemoryStore {
    pub objects: Mutex<BTreeMap<String, Vec<u8>>>,
}

impl MemoryStore {
    /// Changes the object whose name ends with `end`.
    pub fn with(&self, end: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let mut objects = self.objects.lock().unwrap();
        let found = objects.iter_mut().find(|(name, _)| name.ends_with(end));
        change(found.unwrap_or_else(|| panic!("no object {end}")).1);
    }

    pub fn names(&self) -> Vec<String> {
        let objects = self.objects.lock().unwrap();
        objects.keys().map(|name| name.rsplit('/').next().unwrap().to_owned()).collect()
    }
}

impl Store for MemoryStore {
    fn put_if_absent(&self, name: &str, bytes: &[u8]) -> io::Result<bool> {
        let mut objects = self.objects.lock().unwrap();
        let is_new = !objects.contains_key(name);
        if is_new {
            objects.insert(name.to_owned(), bytes.to_vec());
        }
        Ok(is_new)
    }

    fn get(&self, name: &str, lengths: Lengths) -> io::Result<Option<Vec<u8>>> {
        let object = self.objects.lock().unwrap().get(name).cloned();
        if let Some(object) = &object {
            lengths.check(name, object.len() as u64)?;
        }
        Ok(object)
    }

    fn list(&self, folder: &str) -> io::Result<Vec<Listed>> {
        let objects = self.objects.lock().unwrap();
        let listed = objects.iter().filter_map(|(name, object)| {
            let name = name.strip_prefix(folder)?.strip_prefix('/')?.to_owned();
            Some(Listed { name, bytes: object.len() as u64, written: None })
        });
        Ok(listed.collect())
    }

    fn folders(&self) -> io::Result<Vec<String>> {
        let objects = self.objects.lock().unwrap();
        let folders: std::collections::BTreeSet<String> =
            objects.keys().filter_map(|name| Some(name.split_once('/')?.0.to_owned())).collect();
        Ok(folders.into_iter().collect())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.objects.lock().unwrap().remove(name);
        Ok(())
    }

    fn place(&self) -> String {
        "memory".to_owned()
    }
}

/// The agreement's hash.
pub const AGREEMENT: [u8; 32] = [7; 32];

/// Two parties with a key and a folder each, and the store between them.
pub struct Scene {
    pub store: Arc<MemoryStore>,
    pub identities: [Identity; 2],
    folder: tempfile::TempDir,
}

impl Scene {
    pub fn new() -> Self {
        let identities = [0, 1].map(|_| Identity::generate().unwrap());
        Self { store: Arc::default(), identities, folder: tempfile::tempdir().unwrap() }
    }

    /// Where `party` keeps its state.
    pub fn state(&self, party: usize) -> PathBuf {
        self.folder.path().join(party.to_string())
    }

    pub fn options(&self, cancel: &CancelToken) -> Options {
        Options {
            store: Arc::clone(&self.store) as Arc<dyn Store>,
            wait: Duration::from_millis(300),
            restart: false,
            max_repeats: 3,
            memory_bytes: 0,
            cancel: cancel.clone(),
            on_event: Arc::new(|_: Event| ()),
        }
    }

    /// Starts or resumes a run as `party`.
    pub fn meet(&self, party: usize, options: Options) -> Result<Meeting, ExchangeError> {
        let state = Arc::new(State::open(&self.state(party), [party as u8; 32])?);
        let parties = [0, 1].map(|party: usize| self.identities[party].public());
        let identity = &self.identities[party];
        let met = meet(options, identity, &parties, party as u8, &AGREEMENT, &state);
        Ok(Meeting { conversation: met?, state })
    }

    /// Starts or resumes a run as `party`, which runs `program`; ends the run if the program
    /// finishes.
    pub fn run<R>(
        &self,
        party: usize,
        options: Options,
        seed: Option<[u8; 32]>,
        threads: usize,
        program: impl FnOnce(&mut Context) -> vesica_core::Result<R>,
    ) -> Result<R, ExchangeError> {
        self.run_on(party, options, seed, threads, |ctx, _| program(ctx))
    }

    /// The same with a program that also uses the conversation.
    pub fn run_on<R>(
        &self,
        party: usize,
        options: Options,
        seed: Option<[u8; 32]>,
        threads: usize,
        program: impl FnOnce(&mut Context, &Conversation) -> vesica_core::Result<R>,
    ) -> Result<R, ExchangeError> {
        let Meeting { conversation, state } = self.meet(party, options)?;
        let peer = [Role::Sender, Role::Receiver][party];
        let streams: Arc<dyn Streams> = Arc::new(conversation.clone());
        let pool = Pool::new(threads.try_into().unwrap()).unwrap();
        let seed = seed.or(conversation.seed()).unwrap();
        let ctx = Context::new(vec![(peer, streams)], seed, pool, Meter::new());
        let done = ctx.and_then(|mut ctx| {
            let result = program(&mut ctx, &conversation)?;
            ctx.finish()?;
            Ok(result)
        });
        let done = done.and_then(|result| Ok((result, conversation.close()?)));
        match done {
            Ok((result, ())) => {
                conversation.publish_end()?;
                state.finish().unwrap();
                state.forget().unwrap();
                Ok(result)
            }
            Err(error) => {
                conversation.stop(error.stop_reason());
                Err(conversation.fault().unwrap_or_else(|| panic!("{error}")))
            }
        }
    }
}

/// A party that has met the other one.
pub struct Meeting {
    pub conversation: Conversation,
    pub state: Arc<State>,
}
