//! The runs in a store, from the names, sizes and times of objects: no object is read, and no
//! secret is needed.

mod clean;
#[cfg(test)]
mod tests;

use crate::name::{Kind, RunName, parse_object};
use crate::store::{Listed, Store};
use std::io;
use std::time::SystemTime;

pub use clean::{CleanScope, Cleaned, CleanedRun, Cleaning, FileTotals, clean};

/// Why the runs of a store cannot be listed or removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunsError {
    /// The store cannot list what it has.
    #[error("the store cannot list its objects")]
    CannotList,
    /// The store cannot remove objects.
    #[error("the store cannot remove objects")]
    CannotRemove,
    /// The store failed.
    #[error("the store: {0}")]
    Store(io::ErrorKind),
}

impl RunsError {
    fn of(error: &io::Error, unsupported: Self) -> Self {
        match error.kind() {
            io::ErrorKind::Unsupported => unsupported,
            kind => RunsError::Store(kind),
        }
    }
}

/// What a party has in the folder of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Side {
    /// Whether its keys and commitments are there.
    pub has_hello: bool,
    /// Whether its coins are there.
    pub has_shares: bool,
    /// Whether it has published that it has sent and received everything.
    pub has_ended: bool,
    /// Whether it has published that it abandoned the run.
    pub has_given_up: bool,
    /// How many objects with its messages there are.
    pub objects: u32,
    /// The sum of their bytes.
    pub object_bytes: u64,
    /// When it last wrote, by the store's clock; `None` if it has nothing there or the store does
    /// not say.
    pub written: Option<SystemTime>,
}

impl Side {
    /// Whether any of its objects are there.
    pub fn has_started(&self) -> bool {
        self.has_hello || self.has_shares || self.objects > 0 || self.has_ended || self.has_given_up
    }

    fn add(&mut self, kind: Kind, object: &Listed) {
        match kind {
            Kind::Hello => self.has_hello = true,
            Kind::Shares => self.has_shares = true,
            Kind::End => self.has_ended = true,
            Kind::GivenUp => self.has_given_up = true,
            Kind::Numbered | Kind::Detached => {
                self.objects += 1;
                self.object_bytes = self.object_bytes.saturating_add(object.bytes);
            }
        }
        self.written = self.written.max(object.written);
    }

    /// What it has published, which grows with each step of the run.
    fn steps(&self) -> (bool, bool, u32) {
        (self.has_hello, self.has_shares, self.objects)
    }
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// Only one party has started it.
    Started {
        /// That party.
        by: u8,
    },
    /// Both have started it, and neither has published that it has ended.
    UnderWay,
    /// One party has sent and received everything.
    Ended {
        /// That party.
        by: u8,
    },
    /// Both have sent and received everything.
    Finished,
    /// It was abandoned. The mark is not signed: anyone who can write to the store can forge it.
    GivenUp {
        /// Whether each party has abandoned it; at least one has.
        by: [bool; 2],
    },
}

/// A run in a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRun {
    /// Its name.
    pub name: RunName,
    /// What each party has there.
    pub sides: [Side; 2],
}

impl StoredRun {
    /// The run `name`, whose folder holds `objects`; `None` if none of them is an object of a run.
    fn of(name: RunName, objects: &[Listed]) -> Option<Self> {
        let mut sides = [Side::default(), Side::default()];
        for object in objects {
            if let Some((party, kind)) = parse_object(&object.name) {
                sides[usize::from(party)].add(kind, object);
            }
        }
        sides.iter().any(Side::has_started).then_some(Self { name, sides })
    }

    /// How far it has come.
    pub fn state(&self) -> RunState {
        let [zero, one] = &self.sides;
        match (zero.has_ended, one.has_ended) {
            (true, true) => RunState::Finished,
            _ if zero.has_given_up || one.has_given_up => {
                RunState::GivenUp { by: [zero.has_given_up, one.has_given_up] }
            }
            (true, false) => RunState::Ended { by: 0 },
            (false, true) => RunState::Ended { by: 1 },
            _ if !one.has_started() => RunState::Started { by: 0 },
            _ if !zero.has_started() => RunState::Started { by: 1 },
            _ => RunState::UnderWay,
        }
    }

    /// The party that probably has to act next; `None` if the run has ended, or there is no way to
    /// tell.
    ///
    /// While one party has started or ended and the other one has not, it is the other one. While
    /// both are under way this is a guess from times and counts: the party that wrote last waits
    /// for the other one, and if the times do not differ, it is the party that has written less.
    /// Both may be at work, and a store's clock may be coarse.
    pub fn turn(&self) -> Option<u8> {
        let [zero, one] = &self.sides;
        match self.state() {
            RunState::Started { by } | RunState::Ended { by } => Some(1 - by),
            RunState::Finished | RunState::GivenUp { .. } => None,
            RunState::UnderWay => {
                let order = match (zero.written, one.written) {
                    (Some(zero), Some(one)) if zero != one => zero.cmp(&one),
                    _ => zero.steps().cmp(&one.steps()),
                };
                match order {
                    std::cmp::Ordering::Less => Some(0),
                    std::cmp::Ordering::Equal => None,
                    std::cmp::Ordering::Greater => Some(1),
                }
            }
        }
    }

    /// When any of its objects was last written; `None` if the store does not say.
    pub fn written(&self) -> Option<SystemTime> {
        self.sides.iter().filter_map(|side| side.written).max()
    }
}

/// The runs in the store, or only those of the agreement with this hash if one is given. The one
/// that was written to last comes last.
///
/// # Errors
/// [`RunsError::CannotList`], [`RunsError::Store`].
pub fn runs(store: &dyn Store, agreement: Option<&[u8; 32]>) -> Result<Vec<StoredRun>, RunsError> {
    let mut runs = Vec::new();
    for name in names(store, agreement)? {
        // A run that was removed in between has no objects.
        runs.extend(StoredRun::of(name.clone(), &objects(store, &name)?));
    }
    runs.sort_by(|a, b| (a.written(), &a.name).cmp(&(b.written(), &b.name)));
    Ok(runs)
}

/// The names of the runs, in their order.
fn names(store: &dyn Store, agreement: Option<&[u8; 32]>) -> Result<Vec<RunName>, RunsError> {
    let folders = store.folders().map_err(|error| RunsError::of(&error, RunsError::CannotList))?;
    let mut names: Vec<RunName> = folders
        .iter()
        .filter_map(|folder| RunName::parse(folder))
        .filter(|run| agreement.is_none_or(|agreement| run.is_of(agreement)))
        .collect();
    names.sort();
    Ok(names)
}

fn objects(store: &dyn Store, run: &RunName) -> Result<Vec<Listed>, RunsError> {
    store.list(&run.to_string()).map_err(|error| RunsError::of(&error, RunsError::CannotList))
}
