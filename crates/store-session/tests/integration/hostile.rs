//! A shared folder that serves something else in place of an object, and a party that runs against
//! it. A fuzz target includes this file by its path.

// Each user of this file uses only some of it.
#![allow(dead_code, unreachable_pub)]

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use vesica_link::{CancelToken, Identity};
use vesica_net::{Connection, Flight, Parcel, Received, SentDigests, StreamId, Streams};
use vesica_store_session::{
    Conversation, DetachedKeys, Event, ExchangeError, FolderStore, Lengths, Listed, Options, State,
    Store, meet,
};

const AGREEMENT: [u8; 32] = [7; 32];

/// The folder of the run.
pub const RUN: &str = "0707070707070707-0001";

/// More than any machine's memory, but no bytes on the disk.
pub const SPARSE_BYTES: u64 = 1 << 40;

/// More unopened streams than a party keeps.
const MANY_STREAMS: u64 = 512 + 4096 * 8 + 1;

const INVARIANT: &str = "the test's own folders can be used";

/// What is served in place of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thing {
    /// The object.
    Original,
    Nothing,
    Pipe,
    /// A link to the object.
    Link,
    /// A link to an endless device.
    Device,
    Dangling,
    /// A link to itself.
    Circle,
    Folder,
    /// A file of [`SPARSE_BYTES`].
    Sparse,
    Empty,
    /// The object without its last byte.
    Shorter,
    /// The object and one more byte.
    Longer,
    /// The object of the other party.
    Other,
}

/// All things.
pub const THINGS: [Thing; 13] = [
    Thing::Original,
    Thing::Nothing,
    Thing::Pipe,
    Thing::Link,
    Thing::Device,
    Thing::Dangling,
    Thing::Circle,
    Thing::Folder,
    Thing::Sparse,
    Thing::Empty,
    Thing::Shorter,
    Thing::Longer,
    Thing::Other,
];

/// What the peer, which knows all secrets of the run, seals in its first object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    Honest,
    /// It names an object twice.
    Twice,
    /// It names an object twice, the second time with a length of half a MiB.
    TwiceLonger,
    /// It gives an object one byte more than it has.
    OneMore,
    /// It sends two streams in pieces of one byte.
    OneByte,
    /// It sends one byte of each of many streams.
    ManyStreams,
}

/// All programs.
pub const PROGRAMS: [Program; 6] = [
    Program::Honest,
    Program::Twice,
    Program::TwiceLonger,
    Program::OneMore,
    Program::OneByte,
    Program::ManyStreams,
];

/// How far the party had come before the attacked process started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It had done nothing.
    New,
    /// It had written its hello.
    Started,
    /// It had used the peer's hello and coins.
    Met,
    /// It had used the peer's first object.
    Used,
}

/// All stages.
pub const STAGES: [Stage; 4] = [Stage::New, Stage::Started, Stage::Met, Stage::Used];

/// Files by their paths; a folder has no bytes.
type Tree = BTreeMap<PathBuf, Option<Vec<u8>>>;

/// The objects of a run by their names.
pub type Objects = BTreeMap<String, Vec<u8>>;

/// Two parties with fixed secrets: party 0 is attacked.
pub struct Scene {
    identities: [Identity; 2],
    /// The states of party 0 at each stage except the first.
    states: [Tree; 3],
    /// What is in the store, for each program of the peer.
    objects: Vec<Objects>,
}

/// A [`FolderStore`] that checks how much it returns, and counts requests.
pub struct Watched {
    store: FolderStore,
    /// How many times each object was requested.
    pub asked: Mutex<BTreeMap<String, u32>>,
    /// The bytes of all objects returned.
    pub given_bytes: AtomicU64,
}

impl Watched {
    pub fn open(root: &Path) -> Self {
        let store = FolderStore::open(root).expect(INVARIANT);
        Self { store, asked: Mutex::default(), given_bytes: AtomicU64::new(0) }
    }

    /// How many times the object was requested.
    pub fn asked(&self, name: &str) -> u32 {
        let name = format!("{RUN}/{name}");
        self.asked.lock().expect("no thread panics").get(&name).copied().unwrap_or(0)
    }
}

/// The maximum bytes of the object `name`, as docs/wire/store.md says.
fn most_of(name: &str) -> u64 {
    match name.rsplit('-').next() {
        _ if name.ends_with("-given-up") => 1,
        Some("hello") => 1316,
        Some("shares") => 1136,
        Some("end") => 1,
        _ => 1 << 30,
    }
}

impl Store for Watched {
    fn put_if_absent(&self, name: &str, bytes: &[u8]) -> io::Result<bool> {
        self.store.put_if_absent(name, bytes)
    }

    fn get(&self, name: &str, lengths: Lengths) -> io::Result<Option<Vec<u8>>> {
        *self.asked.lock().expect("no thread panics").entry(name.to_owned()).or_default() += 1;
        assert!(lengths.most() <= most_of(name), "{name} may have {lengths:?}");
        let object = self.store.get(name, lengths)?;
        if let Some(object) = &object {
            assert!(object.len() as u64 <= lengths.most(), "{name} has {} bytes", object.len());
            self.given_bytes.fetch_add(object.len() as u64, Ordering::Relaxed);
        }
        Ok(object)
    }

    fn list(&self, folder: &str) -> io::Result<Vec<Listed>> {
        self.store.list(folder)
    }

    fn folders(&self) -> io::Result<Vec<String>> {
        self.store.folders()
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.store.remove(name)
    }

    fn place(&self) -> String {
        self.store.place()
    }
}

/// Bytes that this thread has read; `None` if the system does not say.
pub fn read_bytes() -> Option<u64> {
    let text = fs::read_to_string("/proc/thread-self/io").ok()?;
    text.lines().find_map(|line| line.strip_prefix("rchar: "))?.parse().ok()
}

fn options(store: Arc<dyn Store>, wait: Duration) -> Options {
    Options {
        store,
        wait,
        restart: false,
        max_repeats: 3,
        memory_bytes: 0,
        cancel: CancelToken::new(),
        on_event: Arc::new(|_: Event| ()),
    }
}

fn stream(id: u64) -> StreamId {
    StreamId::from_u64(id)
}

/// The streams that party 0 reads, and what an honest peer sends on them.
const SENT: [(u64, &[u8]); 2] = [(5, &[1, 2, 3, 4, 5]), (6, &[6, 7])];

impl Scene {
    /// Lets the parties meet in the empty folder `at`.
    pub fn new(at: &Path) -> Self {
        let [shared, mine, theirs] = ["shared", "mine", "theirs"].map(|name| at.join(name));
        fs::create_dir_all(&shared).expect(INVARIANT);
        let identities = [0, 1].map(|_| Identity::generate().expect("the system is random"));
        let mut scene = Self { identities, states: Default::default(), objects: Vec::new() };
        let soon = |party, state: &Path| scene.meet(party, state, watched(&shared), Duration::ZERO);
        drop(soon(0, &mine));
        let started = tree_of(&mine);
        drop(soon(1, &theirs));
        drop(soon(0, &mine).expect("the peer has sent its coins"));
        let met = tree_of(&mine);
        let peer = tree_of(&theirs);
        let objects = objects_of(&shared);
        scene.objects =
            PROGRAMS.iter().map(|program| scene.send(at, &peer, &objects, *program)).collect();
        write_objects(&shared, &scene.objects[0]);
        let ended = scene.read(&mine, watched(&shared), Duration::ZERO, false);
        ended.expect("an honest run ends well");
        for (party, name) in [(0, "000000"), (0, "end")] {
            let name = format!("{party}-{name}");
            let bytes = fs::read(shared.join(RUN).join(&name)).expect(INVARIANT);
            scene
                .objects
                .iter_mut()
                .for_each(|objects| drop(objects.insert(name.clone(), bytes.clone())));
        }
        scene.states = [started, met, tree_of(&mine)];
        fs::remove_dir_all(&shared).expect(INVARIANT);
        scene
    }

    fn meet(
        &self,
        party: usize,
        state: &Path,
        store: Arc<dyn Store>,
        wait: Duration,
    ) -> Result<Conversation, ExchangeError> {
        let state = Arc::new(State::open(state, [party as u8; 32])?);
        let parties = self.identities.each_ref().map(Identity::public);
        let (options, identity) = (options(store, wait), &self.identities[party]);
        meet(options, identity, &parties, party as u8, &AGREEMENT, &state)
    }

    /// What is in the store after the peer has run `program`.
    fn send(&self, at: &Path, peer: &Tree, objects: &Objects, program: Program) -> Objects {
        let [shared, state] = ["sent", "sent-state"].map(|name| at.join(name));
        write_tree(&state, peer);
        write_objects(&shared, objects);
        let store = watched(&shared);
        {
            let on = self.meet(1, &state, Arc::clone(&store), Duration::ZERO);
            let on = on.expect("the other party has sent its coins");
            let desk = DetachedKeys::from_bytes(&on.detached().expect("it has a desk").desk());
            let put = |id, streams: &[(u64, &[u8])]| {
                let flight: Flight =
                    streams.iter().map(|(id, bytes)| (stream(*id), bytes.to_vec())).collect();
                let desk = desk.as_ref().expect("it reads back");
                desk.put(&*store, [id; 16], [id; 32], &flight).expect(INVARIANT)
            };
            let name = |parcels: &[Parcel]| {
                let detached = on.detached().expect("it has a desk");
                detached.send(0, parcels, &SentDigests::default(), &[]).expect(INVARIANT);
            };
            let write = |id, bytes: &[u8]| {
                let (_, mut writer) = on.open(stream(id)).expect("the run is open");
                writer.write_all(bytes).expect(INVARIANT);
            };
            let [(five, all), (six, last)] = SENT;
            match program {
                Program::Honest => {
                    write(five, &all[..1]);
                    name(&[put(1, &[(five, &all[1..3]), (six, &last[..1])])]);
                    write(six, &last[1..]);
                    on.close().expect(INVARIANT);
                    write(five, &all[3..]);
                }
                Program::Twice => {
                    let parcel = put(1, &[(five, &all[..1])]);
                    name(&[parcel.clone(), parcel]);
                }
                Program::TwiceLonger => {
                    let parcel = put(1, &[(five, &all[..1])]);
                    let (streams, more) = (vec![(stream(five), 1 << 19)], (1 << 19) - 1);
                    let len = parcel.len + more;
                    let longer = Parcel { streams, len, key: [9; 32], ..parcel.clone() };
                    name(&[parcel, longer]);
                }
                Program::OneMore => {
                    let mut parcel = put(1, &[(five, &all[..1])]);
                    parcel.streams[0].1 += 1;
                    name(&[parcel]);
                }
                Program::OneByte => {
                    for byte in (0..2000).map(|at| at as u8) {
                        [five, six].iter().for_each(|id| write(*id, &[byte]));
                    }
                }
                Program::ManyStreams => {
                    (0..MANY_STREAMS).for_each(|id| write(1000 + id, &[1]));
                }
            }
            on.close().expect(INVARIANT);
        }
        let objects = objects_of(&shared);
        [shared, state].iter().for_each(|path| fs::remove_dir_all(path).expect(INVARIANT));
        objects
    }

    /// What is in the store when the peer has run this program and party 0 has done everything.
    pub fn objects(&self, program: Program) -> &Objects {
        let at = PROGRAMS.iter().position(|one| *one == program).expect("it is one of them");
        &self.objects[at]
    }

    /// The same when party 0 has come to `stage`.
    pub fn objects_at(&self, program: Program, stage: Stage) -> Objects {
        let written: &[&str] = match stage {
            Stage::New => &[],
            Stage::Started => &["0-hello"],
            Stage::Met => &["0-hello", "0-shares"],
            Stage::Used => &["0-hello", "0-shares", "0-000000"],
        };
        let mut objects = self.objects(program).clone();
        objects.retain(|name, _| name.starts_with("1-") || written.contains(&&**name));
        objects
    }

    /// Resumes as party 0 from `stage`, with its state in `state`, which does not exist yet.
    /// Returns what it reads.
    ///
    /// # Panics
    /// If party 0 reads bytes that the honest peer did not send, or ends with an error of its own
    /// state.
    pub fn run(
        &self,
        stage: Stage,
        state: &Path,
        store: Arc<dyn Store>,
        wait: Duration,
        detached: bool,
    ) -> Result<(), ExchangeError> {
        if let Some(at) = (stage as usize).checked_sub(1) {
            write_tree(state, &self.states[at]);
        }
        let ended = self.read(state, store, wait, detached);
        let _ = fs::remove_dir_all(state);
        if let Err(error) = &ended {
            let is_ours = matches!(
                error,
                ExchangeError::Folder(_)
                    | ExchangeError::OfAnother
                    | ExchangeError::Damaged
                    | ExchangeError::SetBack { .. }
                    | ExchangeError::OtherBytes
                    | ExchangeError::Cancelled
                    | ExchangeError::Store(_)
                    | ExchangeError::TooManyRepeats(_)
            );
            assert!(
                !is_ours,
                "the error does not say that the store or the peer is at fault: {error:?}"
            );
        }
        ended
    }

    fn read(
        &self,
        state: &Path,
        store: Arc<dyn Store>,
        wait: Duration,
        detached: bool,
    ) -> Result<(), ExchangeError> {
        let on = self.meet(0, state, Arc::clone(&store), wait)?;
        let fault = |error| on.fault().unwrap_or_else(|| panic!("{error:?} has no cause"));
        let (_, mut writer) = on.open(stream(7)).map_err(fault)?;
        writer.write_all(b"abc").map_err(fault)?;
        let read: Vec<Vec<u8>> = if detached {
            read_detached(&on, &*store)?
        } else {
            let one = |(id, sent): (u64, &[u8])| {
                let (mut reader, _) = on.open(stream(id))?;
                let mut bytes = vec![0; sent.len()];
                reader.read_exact(&mut bytes)?;
                Ok(bytes)
            };
            SENT.into_iter().map(one).collect::<Result<_, _>>().map_err(fault)?
        };
        on.close().map_err(fault)?;
        on.publish_end()?;
        // A peer that deviates chooses what it seals.
        assert!(read.iter().zip(SENT).all(|(read, (_, sent))| read.len() >= sent.len()));
        Ok(())
    }
}

/// Reads the same as a party whose detached programs fetch detached objects.
fn read_detached(on: &Conversation, store: &dyn Store) -> Result<Vec<Vec<u8>>, ExchangeError> {
    let detached = on.detached().expect("it has a desk");
    let desk = DetachedKeys::from_bytes(&detached.desk()).expect("it reads back");
    let fault = |error| on.fault().unwrap_or_else(|| panic!("{error:?} has no cause"));
    detached.recall().map_err(fault)?;
    let mut all = Flight::default();
    loop {
        for received in detached.receive(&SENT.map(|(id, _)| stream(id))) {
            match received {
                Received::Bytes(flight) => all.extend(&flight),
                Received::Parcel(parcel, id) => {
                    let flight = desk.get(store, &parcel)?;
                    all.push(id, flight.of(id));
                }
            }
        }
        let read = SENT.map(|(id, _)| all.of(stream(id)).to_vec());
        if read.iter().zip(SENT).all(|(read, (_, sent))| read.len() >= sent.len()) {
            return Ok(read.into());
        }
        detached.listen(true).map_err(fault)?;
    }
}

fn watched(shared: &Path) -> Arc<dyn Store> {
    Arc::new(Watched::open(shared))
}

/// Puts `thing` in the place of the object `name` of the run in `shared`, in one step.
pub fn place(shared: &Path, objects: &Objects, name: &str, thing: Thing) {
    let path = shared.join(RUN).join(name);
    let new = shared.join("new");
    let original = objects.get(name).cloned().unwrap_or_default();
    let other = match name.split_once('-') {
        Some(("0", what)) => objects.get(&format!("1-{what}")),
        Some((_, what)) => objects.get(&format!("0-{what}")),
        None => None,
    };
    let write = |bytes: &[u8]| fs::write(&new, bytes).expect(INVARIANT);
    let link = |to: &Path| symlink(to, &new).expect(INVARIANT);
    match thing {
        Thing::Nothing => {}
        Thing::Original if objects.contains_key(name) => write(&original),
        // Nothing is there to make.
        Thing::Original => {}
        Thing::Pipe => {
            nix::unistd::mkfifo(&new, nix::sys::stat::Mode::S_IRWXU).expect(INVARIANT);
        }
        Thing::Link => {
            let to = shared.join("linked");
            fs::write(&to, &original).expect(INVARIANT);
            link(&to);
        }
        Thing::Device => link(Path::new("/dev/zero")),
        Thing::Dangling => link(&shared.join("missing")),
        Thing::Circle => link(Path::new(name)),
        Thing::Folder => fs::create_dir(&new).expect(INVARIANT),
        Thing::Sparse => {
            let file = fs::File::create(&new).expect(INVARIANT);
            file.set_len(SPARSE_BYTES).expect(INVARIANT);
        }
        Thing::Empty => write(&[]),
        Thing::Shorter => write(&original[..original.len().saturating_sub(1)]),
        Thing::Longer => write(&[&original[..], &[0]].concat()),
        Thing::Other => write(other.map_or(&[7; 99][..], |other| other)),
    }
    if fs::remove_file(&path).is_err() {
        let _ = fs::remove_dir(&path);
    }
    if fs::symlink_metadata(&new).is_ok() {
        fs::rename(&new, &path).expect(INVARIANT);
    }
}

/// Writes the objects of a run into the folder `shared`, which may be new.
pub fn write_objects(shared: &Path, objects: &Objects) {
    let run = shared.join(RUN);
    fs::create_dir_all(&run).expect(INVARIANT);
    objects.iter().for_each(|(name, bytes)| fs::write(run.join(name), bytes).expect(INVARIANT));
}

fn objects_of(shared: &Path) -> Objects {
    let tree = tree_of(&shared.join(RUN));
    let named =
        |(path, bytes): (PathBuf, Option<Vec<u8>>)| Some((path.to_str()?.to_owned(), bytes?));
    tree.into_iter().filter_map(named).collect()
}

fn tree_of(path: &Path) -> Tree {
    let mut tree = Tree::new();
    for entry in fs::read_dir(path).expect(INVARIANT) {
        let entry = entry.expect(INVARIANT);
        let name = PathBuf::from(entry.file_name());
        if entry.path().is_dir() {
            let within = tree_of(&entry.path());
            tree.extend(within.into_iter().map(|(path, bytes)| (name.join(path), bytes)));
            tree.insert(name, None);
        } else {
            tree.insert(name, Some(fs::read(entry.path()).expect(INVARIANT)));
        }
    }
    tree
}

fn write_tree(path: &Path, tree: &Tree) {
    let create = |path: &Path| fs::DirBuilder::new().mode(0o700).create(path).expect(INVARIANT);
    create(path);
    for (name, bytes) in tree {
        match bytes {
            Some(bytes) => fs::write(path.join(name), bytes).expect(INVARIANT),
            None => create(&path.join(name)),
        }
    }
}
