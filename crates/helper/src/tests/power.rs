//! A model of the helper's directory after a power failure.
//!
//! Synced data survives. Everything else is undetermined: names changed since their directory was
//! synced are the old or the new ones, unsynced files are whole, cut or empty.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

/// What happens to unsynced data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loss {
    /// All of it is lost.
    All,
    /// Names survive, and the files are empty.
    Bytes,
    /// Names survive, and half of each file.
    Halves,
    /// Nothing is lost, as when the process is killed.
    Nothing,
    /// Drawn at random for each name and each file.
    Drawn,
}

impl Loss {
    pub(crate) const ALL: [Loss; 5] =
        [Loss::All, Loss::Bytes, Loss::Halves, Loss::Nothing, Loss::Drawn];
}

#[derive(Debug)]
enum Node {
    File { bytes: Vec<u8>, is_synced: bool },
    Dir(Dir),
}

/// A directory as the process sees it, as it is on the disk, and the changes in between, in order.
#[derive(Debug, Default)]
struct Dir {
    now: BTreeMap<OsString, usize>,
    synced: BTreeMap<OsString, usize>,
    changes: Vec<Vec<(OsString, Option<usize>)>>,
}

impl Dir {
    fn change(&mut self, changes: Vec<(OsString, Option<usize>)>) {
        for (name, node) in &changes {
            match node {
                Some(node) => self.now.insert(name.clone(), *node),
                None => self.now.remove(name),
            };
        }
        self.changes.push(changes);
    }
}

#[derive(Debug)]
struct State {
    nodes: Vec<Node>,
    changes: u64,
    last: Option<u64>,
    faulty: Option<u64>,
}

/// The power supply of a helper whose directory is `root`.
#[derive(Debug)]
pub(crate) struct Power {
    root: PathBuf,
    state: Mutex<State>,
    is_off: AtomicBool,
}

impl Power {
    /// A power supply that does not fail.
    pub(crate) fn new(root: &Path) -> Self {
        let nodes = vec![Node::Dir(Dir::default())];
        let state = Mutex::new(State { nodes, changes: 0, last: None, faulty: None });
        Self { root: root.to_path_buf(), state, is_off: AtomicBool::new(false) }
    }

    pub(crate) fn is_off(&self) -> bool {
        self.is_off.load(Ordering::SeqCst)
    }

    /// Fails after this many more changes.
    pub(crate) fn fail_after(&self, changes: u64) {
        let mut state = self.state.lock().unwrap();
        state.last = Some(state.changes + changes);
    }

    /// After this many more changes the disk refuses one, and then continues.
    pub(crate) fn refuse_after(&self, changes: u64) {
        let mut state = self.state.lock().unwrap();
        state.faulty = Some(state.changes + changes);
    }

    pub(crate) fn changes(&self) -> u64 {
        self.state.lock().unwrap().changes
    }

    /// Counts one more change, if there is power for it.
    fn next(&self) -> io::Result<MutexGuard<'_, State>> {
        let mut state = self.state.lock().unwrap();
        if self.is_off() || state.last == Some(state.changes) {
            self.is_off.store(true, Ordering::SeqCst);
            return Err(io::Error::other("the power is off"));
        }
        let is_refused = state.faulty == Some(state.changes);
        state.changes += 1;
        if is_refused { Err(io::Error::other("a fault of the disk")) } else { Ok(state) }
    }

    pub(super) fn make_dir(&self, path: &Path) -> io::Result<()> {
        let mut state = self.next()?;
        let (dir, name) = self.place(&state, path)?;
        if state.dir(dir).now.contains_key(&name) {
            return Ok(());
        }
        let node = state.add(Node::Dir(Dir::default()));
        state.dir(dir).change(vec![(name, Some(node))]);
        Ok(())
    }

    pub(super) fn create(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.next()?;
        let (dir, name) = self.place(&state, path)?;
        let node = state.add(Node::File { bytes: bytes.to_vec(), is_synced: false });
        state.dir(dir).change(vec![(name, Some(node))]);
        Ok(())
    }

    pub(super) fn sync(&self, path: &Path) -> io::Result<()> {
        let mut state = self.next()?;
        let node = self.node(&state, path)?;
        match &mut state.nodes[node] {
            Node::File { is_synced, .. } => *is_synced = true,
            Node::Dir(dir) => {
                dir.synced = dir.now.clone();
                dir.changes.clear();
            }
        }
        Ok(())
    }

    pub(super) fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.next()?;
        let node = self.node(&state, from)?;
        let ((from, old), (to, new)) = (self.place(&state, from)?, self.place(&state, to)?);
        if from == to {
            state.dir(from).change(vec![(old, None), (new, Some(node))]);
        } else {
            state.dir(to).change(vec![(new, Some(node))]);
            state.dir(from).change(vec![(old, None)]);
        }
        Ok(())
    }

    pub(super) fn remove_file(&self, path: &Path) -> io::Result<()> {
        let mut state = self.next()?;
        let (dir, name) = self.place(&state, path)?;
        state.dir(dir).change(vec![(name, None)]);
        Ok(())
    }

    /// Its contents are gone at once, which is the worst case.
    pub(super) fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        let mut state = self.next()?;
        let node = self.node(&state, path)?;
        *state.dir(node) = Dir::default();
        let (dir, name) = self.place(&state, path)?;
        state.dir(dir).change(vec![(name, None)]);
        Ok(())
    }

    fn node(&self, state: &State, path: &Path) -> io::Result<usize> {
        let inner = path.strip_prefix(&self.root).expect("in the helper's directory");
        inner.iter().try_fold(0, |at, name| match &state.nodes[at] {
            Node::Dir(dir) => dir.now.get(name).copied().ok_or(io::ErrorKind::NotFound.into()),
            Node::File { .. } => Err(io::ErrorKind::NotADirectory.into()),
        })
    }

    fn place(&self, state: &State, path: &Path) -> io::Result<(usize, OsString)> {
        let dir = self.node(state, path.parent().expect("not the root itself"))?;
        Ok((dir, path.file_name().map(OsStr::to_os_string).expect("a name")))
    }

    /// Writes the state of the disk after the failure to the empty directory `to`. `draw` decides
    /// what is lost.
    pub(crate) fn leave(&self, to: &Path, loss: Loss, draw: &mut dyn FnMut() -> u64) {
        assert!(self.is_off(), "the power has not failed");
        fs::write(to.join("lock"), b"").unwrap();
        self.state.lock().unwrap().leave(0, to, loss, draw);
    }
}

impl State {
    fn add(&mut self, node: Node) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    fn dir(&mut self, node: usize) -> &mut Dir {
        match &mut self.nodes[node] {
            Node::Dir(dir) => dir,
            Node::File { .. } => panic!("a file is no directory"),
        }
    }

    fn leave(&self, node: usize, to: &Path, loss: Loss, draw: &mut dyn FnMut() -> u64) {
        match &self.nodes[node] {
            Node::File { bytes, is_synced } => {
                let halves = match loss {
                    _ if *is_synced => 2,
                    Loss::Nothing => 2,
                    Loss::Halves => 1,
                    Loss::All | Loss::Bytes => 0,
                    Loss::Drawn => draw() % 3,
                };
                fs::write(to, &bytes[..bytes.len() * halves as usize / 2]).unwrap();
            }
            Node::Dir(dir) => {
                fs::create_dir_all(to).unwrap();
                let mut names = dir.synced.clone();
                for change in &dir.changes {
                    let is_kept = match loss {
                        Loss::All => false,
                        Loss::Drawn => draw().is_multiple_of(2),
                        _ => true,
                    };
                    for (name, node) in change.iter().filter(|_| is_kept) {
                        match node {
                            Some(node) => names.insert(name.clone(), *node),
                            None => names.remove(name),
                        };
                    }
                }
                for (name, node) in names {
                    self.leave(node, &to.join(name), loss, draw);
                }
            }
        }
    }
}
