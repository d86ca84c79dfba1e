//! Counts faults in the rows of a file, for a pass that continues where a run would end.

use vesica_inputs::error::{InFile, InputError, Place};

/// Places kept for each kind of fault, and for each column and reason.
pub(crate) const FIRST_PLACES: usize = 5;

/// Rows with the same fault in the same column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultCount {
    /// The first of them that was found, as the error that would end a run.
    pub example: InputError,
    /// Number of rows.
    pub count: u64,
    /// The first places in the file, at most five, in ascending order.
    pub first: Vec<Place>,
}

/// The faults of a file by kind, in the order in which they were found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    kinds: Vec<FaultCount>,
    is_cut: bool,
}

impl Faults {
    /// The kinds of faults.
    pub fn kinds(&self) -> &[FaultCount] {
        &self.kinds
    }

    /// Whether there are no faults.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Number of faults of all kinds.
    pub fn total(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.count).sum()
    }

    /// Whether the last fault hid the rest of the file.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Counts an error that concerns a row of `file`; returns any other.
    pub(crate) fn take(&mut self, error: InputError, file: &InFile) -> Result<(), InputError> {
        let Some(place) = error.place() else { return Err(error) };
        self.note(error, 1, &[file.place(place)]);
        Ok(())
    }

    /// Counts `count` errors; `places` are the first of them.
    pub(crate) fn note(&mut self, error: InputError, count: u64, places: &[Place]) {
        let known = self.kinds.iter_mut().find(|kind| kind.example.is_like(&error));
        let kind = match known {
            Some(kind) => kind,
            None => {
                let new = FaultCount { example: error, count: 0, first: Vec::new() };
                self.kinds.push(new);
                let last = self.kinds.len() - 1;
                &mut self.kinds[last]
            }
        };
        kind.count += count;
        for place in places {
            // Nearly always at the end: a pass reads the file in order.
            let at = kind.first.partition_point(|known| known <= place);
            if at < FIRST_PLACES {
                kind.first.insert(at, place.clone());
                kind.first.truncate(FIRST_PLACES);
            }
        }
    }

    /// Records that nothing after the last fault could be read.
    pub(crate) fn cut(&mut self) {
        self.is_cut = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn file() -> InFile {
        InFile { path: Path::new("a.csv").into(), part: None }
    }

    fn ragged(line: u64, found: usize) -> InputError {
        InputError::Ragged { path: "a.csv".into(), line, expected: 2, found }
    }

    #[test]
    fn faults_of_one_kind_are_counted_with_their_first_places_in_order() {
        let mut faults = Faults::default();
        for line in [9, 3, 12, 7, 5, 4, 20] {
            faults.take(ragged(line, line as usize), &file()).unwrap();
        }
        let [kind] = faults.kinds() else { panic!("{faults:?}") };
        assert_eq!((kind.count, faults.total()), (7, 7));
        assert_eq!(kind.first, [3, 4, 5, 7, 9].map(Place::Line));
        assert_eq!(kind.example, ragged(9, 9));
    }

    #[test]
    fn an_error_that_concerns_no_row_is_returned() {
        let mut faults = Faults::default();
        assert_eq!(faults.take(InputError::Interrupted, &file()), Err(InputError::Interrupted));
        assert!(faults.is_empty());
    }
}
