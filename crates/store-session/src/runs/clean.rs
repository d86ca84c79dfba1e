//! Removing what old runs have left in a store.

use super::{RunsError, StoredRun, names, objects};
use crate::error::NotAnObject;
use crate::name::{Kind, MARK_MAX_BYTES, RunName, parse_object};
use crate::store::{Lengths, Listed, Store};
use std::io;
use std::time::SystemTime;

/// Which objects of old runs are removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CleanScope {
    /// One party's objects, except its mark, which keeps the run's number in use.
    OfParty(u8),
    /// Both parties' objects, except the marks.
    OfBoth,
    /// The marks too: the numbers of these runs are used again.
    WithMarks,
}

/// What to remove.
#[derive(Clone, Copy, Debug)]
pub struct Cleaning {
    /// Runs written to at this time or later, by the store's clock, stay whole.
    pub before: SystemTime,
    /// What is removed of older runs.
    pub which: CleanScope,
    /// Removes nothing, and reports what would be removed.
    pub dry_run: bool,
}

/// A number of objects and their size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileTotals {
    /// How many.
    pub objects: u64,
    /// The sum of their bytes.
    pub bytes: u64,
}

impl FileTotals {
    fn add(&mut self, object: &Listed) {
        self.objects += 1;
        self.bytes = self.bytes.saturating_add(object.bytes);
    }
}

/// What was done with a run that is old enough.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CleanedRun {
    /// The run as it was.
    pub run: StoredRun,
    /// What was removed of it.
    pub removed: FileTotals,
    /// What the store did not let this party remove.
    pub denied: FileTotals,
}

/// What was removed, or in a dry run what would be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// The runs that are old enough, by their names.
    pub runs: Vec<CleanedRun>,
    /// The runs that are younger, or whose age the store does not tell, by their names. Nothing of
    /// them was removed.
    pub kept: Vec<StoredRun>,
    /// Old leftovers of objects whose writers never finished, in folders of runs. Their names do
    /// not tell which party wrote them, so those of one party alone cannot be removed.
    pub unfinished: FileTotals,
    /// Such leftovers that the store did not let this party remove.
    pub unfinished_denied: FileTotals,
    /// The error that stopped the removal early.
    pub fault: Option<RunsError>,
}

/// Removes what is left of old runs, or only of those of the agreement with this hash if one is
/// given.
///
/// If a party pauses for longer than this age and then continues, its run has lost objects. Both
/// parties notice, and must start a new run.
///
/// # Errors
/// [`RunsError::CannotList`] and [`RunsError::Store`] if it cannot start. Later errors are in
/// [`Cleaned::fault`].
pub fn clean(
    store: &dyn Store,
    agreement: Option<&[u8; 32]>,
    cleaning: Cleaning,
) -> Result<Cleaned, RunsError> {
    let mut cleaned = Cleaned::default();
    for name in names(store, agreement)? {
        let done = Cleaner { store, cleaning, name }.run(&mut cleaned);
        if let Err(fault) = done {
            cleaned.fault = Some(fault);
            break;
        }
    }
    Ok(cleaned)
}

/// Cleans the run `name`.
struct Cleaner<'a> {
    store: &'a dyn Store,
    cleaning: Cleaning,
    name: RunName,
}

impl Cleaner<'_> {
    fn run(&self, cleaned: &mut Cleaned) -> Result<(), RunsError> {
        let objects = objects(self.store, &self.name)?;
        if let Some(run) = StoredRun::of(self.name.clone(), &objects) {
            if self.is_old(run.written()) {
                cleaned.runs.push(CleanedRun {
                    run,
                    removed: FileTotals::default(),
                    denied: FileTotals::default(),
                });
                let of_run = cleaned.runs.last_mut().expect("it was just added");
                self.remove_objects(&objects, of_run)?;
            } else {
                cleaned.kept.push(run);
            }
        }
        self.remove_unfinished(cleaned)
    }

    fn is_old(&self, written: Option<SystemTime>) -> bool {
        written.is_some_and(|written| written < self.cleaning.before)
    }

    fn remove_objects(&self, objects: &[Listed], of_run: &mut CleanedRun) -> Result<(), RunsError> {
        let mut marks = Vec::new();
        for object in objects {
            let Some((party, kind)) = parse_object(&object.name) else { continue };
            let goes = match self.cleaning.which {
                CleanScope::OfParty(only) => party == only && !Kind::is_mark(kind),
                CleanScope::OfBoth | CleanScope::WithMarks => !kind.is_mark(),
            };
            if goes {
                self.remove(object, &mut of_run.removed, &mut of_run.denied)?;
            } else if kind.is_mark() {
                marks.push(object);
            }
        }
        match self.cleaning.which {
            CleanScope::WithMarks => self.remove_marks(&marks, of_run),
            CleanScope::OfParty(_) | CleanScope::OfBoth => Ok(()),
        }
    }

    /// Removes all `marks` or none: otherwise the two parties would not agree on the number of the
    /// next run.
    fn remove_marks(&self, marks: &[&Listed], of_run: &mut CleanedRun) -> Result<(), RunsError> {
        let mut taken: Vec<(&Listed, Vec<u8>)> = Vec::new();
        let (mut removed, mut denied) = (FileTotals::default(), of_run.denied);
        for mark in marks {
            let content = match mark.bytes {
                0..=MARK_MAX_BYTES if !self.cleaning.dry_run => self.get(mark)?,
                // Something too long for a mark is not restored as it was.
                _ => Vec::new(),
            };
            if denied.objects == 0 {
                self.remove(mark, &mut removed, &mut denied)?;
            }
            if denied.objects > 0 {
                break;
            }
            taken.push((mark, content));
        }
        if denied.objects == 0 {
            of_run.removed.objects += removed.objects;
            of_run.removed.bytes += removed.bytes;
            return Ok(());
        }
        for (mark, content) in taken {
            let back = self.store.put_if_absent(&self.path(mark), &content);
            back.map_err(|error| RunsError::Store(error.kind()))?;
        }
        marks.iter().for_each(|mark| of_run.denied.add(mark));
        Ok(())
    }

    fn remove_unfinished(&self, cleaned: &mut Cleaned) -> Result<(), RunsError> {
        if matches!(self.cleaning.which, CleanScope::OfParty(_)) {
            return Ok(());
        }
        let rests = self
            .store
            .unfinished(&self.name.to_string())
            .map_err(|error| RunsError::of(&error, RunsError::CannotList))?;
        for rest in rests.iter().filter(|rest| self.is_old(rest.written)) {
            self.remove(rest, &mut cleaned.unfinished, &mut cleaned.unfinished_denied)?;
        }
        Ok(())
    }

    fn remove(
        &self,
        object: &Listed,
        removed: &mut FileTotals,
        denied: &mut FileTotals,
    ) -> Result<(), RunsError> {
        let done =
            if self.cleaning.dry_run { Ok(()) } else { self.store.remove(&self.path(object)) };
        match done {
            Ok(()) => removed.add(object),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => denied.add(object),
            Err(error) => return Err(RunsError::of(&error, RunsError::CannotRemove)),
        }
        Ok(())
    }

    fn get(&self, object: &Listed) -> Result<Vec<u8>, RunsError> {
        match self.store.get(&self.path(object), Lengths::up_to(MARK_MAX_BYTES)) {
            Err(error) if NotAnObject::of(&error).is_some() => Ok(Vec::new()),
            Err(error) => Err(RunsError::Store(error.kind())),
            Ok(there) => Ok(there.unwrap_or_default()),
        }
    }

    fn path(&self, object: &Listed) -> String {
        format!("{}/{}", self.name, object.name)
    }
}
