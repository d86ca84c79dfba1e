//! Counts the rows of a pass that give no item.

use crate::counts::{KeyCounts, KeyLimits, RefusedCount, SingleQuoted};
use crate::doubts::float_texts::FloatWatch;
use crate::doubts::misfit::Samples;
use crate::faults::{FIRST_PLACES, Faults};
use crate::key::KeyColumn;
use crate::refused_list::RefusedList;
use crate::shapes::Shaper;
use crate::survey::Found;
use std::path::Path;
use vesica_inputs::error::{InFile, InputError, Misquoted, Place};
use vesica_inputs::format::Format;
use vesica_profiles::Refusal;
use vesica_tables::{Row, Source};

/// Counts the rows of a pass that give no item, within its limits.
pub(crate) struct Tally<'a> {
    pub(crate) columns: &'a [KeyColumn],
    limits: &'a KeyLimits,
    /// The path of the whole input.
    path: &'a Path,
    /// The file that the pass reads.
    pub(crate) file: InFile,
    format: Format,
    pub(crate) counts: KeyCounts,
    /// The counts of faults of rows, unless the first fault ends the pass.
    pub(crate) faults: Option<&'a mut Faults>,
    /// The counts of the key's shapes, if they are wanted.
    shaper: Option<&'a mut Shaper>,
    /// The list of refused rows, if one is wanted.
    list: Option<&'a RefusedList>,
    floats: FloatWatch,
    samples: Samples,
}

impl<'a> Tally<'a> {
    /// For a pass over `source`, unless the file itself says that it has too many rows. With
    /// `found` the faults of rows are counted there, and the pass continues; and the shapes of the
    /// key.
    pub(crate) fn new(
        source: &'a Source,
        columns: &'a [KeyColumn],
        limits: &'a KeyLimits,
        found: Option<Found<'a>>,
        list: Option<&'a RefusedList>,
    ) -> Result<Self, InputError> {
        let (path, format, counts) = (source.path(), source.format(), KeyCounts::default());
        let (faults, shaper) = found.map(|found| (found.faults, found.shaper)).unzip();
        let floats = FloatWatch::new(columns);
        let samples = Samples::new(columns);
        let file = InFile { path: path.into(), part: None };
        let tally = Self {
            columns,
            limits,
            path,
            file,
            format,
            counts,
            faults,
            shaper,
            list,
            floats,
            samples,
        };
        match source.rows() {
            Some(rows) if rows > 0 => tally.check_room(rows - 1)?,
            _ => {}
        }
        Ok(tally)
    }

    /// Whether there may be a row after this many.
    #[inline]
    pub(crate) fn check_room(&self, rows: u64) -> Result<(), InputError> {
        match self.limits.max_rows {
            Some(limit) if rows >= limit => {
                Err(InputError::TooManyRows { path: self.path.to_path_buf(), limit })
            }
            _ => Ok(()),
        }
    }

    /// Counts what is wrong with a row, or gives it back to end the pass.
    #[cold]
    pub(crate) fn fault(&mut self, error: InputError) -> Result<(), InputError> {
        match &mut self.faults {
            Some(faults) => faults.take(error, &self.file),
            None => Err(error),
        }
    }

    /// The same for a row of `file`.
    #[cold]
    pub(crate) fn fault_in(&mut self, error: InputError, file: &InFile) -> Result<(), InputError> {
        match &mut self.faults {
            Some(faults) => faults.take(error, file),
            None => Err(error),
        }
    }

    /// The same for one that a reader met.
    pub(crate) fn read_fault(&mut self, error: InputError, is_cut: bool) -> Result<(), InputError> {
        self.fault(error)?;
        if let (Some(faults), true) = (&mut self.faults, is_cut) {
            faults.cut();
        }
        Ok(())
    }

    /// Looks at the shapes of a row's keys, and at how they are quoted.
    #[inline]
    pub(crate) fn look(&mut self, row: &impl Row) -> Result<(), InputError> {
        if let Some(shaper) = &mut self.shaper {
            shaper.look(row);
        }
        self.floats.look(row);
        self.samples.look(self.columns, row);
        for key in 0..self.columns.len() {
            if let Some(how) = row.misquoted(key) {
                self.misquoted(key, how, row.place())?;
            }
        }
        Ok(())
    }

    #[cold]
    fn misquoted(&mut self, key: usize, how: Misquoted, place: Place) -> Result<(), InputError> {
        let column = &self.columns[key].column;
        if how != Misquoted::SingleQuotes {
            let (path, column) = (self.file.path.to_path_buf(), column.clone());
            return self.fault(InputError::Misquoted { path, place, column, how });
        }
        let place = self.file.place(place);
        // They may belong to a value: how many there are tells.
        let quoted = &mut self.counts.single_quoted;
        match quoted.iter_mut().find(|known| known.column == *column) {
            Some(known) => {
                known.count += 1;
                if known.first.len() < FIRST_PLACES {
                    known.first.push(place);
                }
            }
            None => {
                quoted.push(SingleQuoted { column: column.clone(), count: 1, first: vec![place] })
            }
        }
        Ok(())
    }

    /// Refuses a column in which at least half of the values have single quotes: the whole file is
    /// written with them. `filled` has the number of values in each column of the key.
    fn check_single_quotes(&mut self, filled: &[u64]) -> Result<(), InputError> {
        let values_in = |name: &str| {
            let key = self.columns.iter().position(|column| column.column == name);
            key.map_or(0, |key| filled[key])
        };
        let (usual, few): (Vec<_>, Vec<_>) = std::mem::take(&mut self.counts.single_quoted)
            .into_iter()
            .partition(|quoted| quoted.count.saturating_mul(2) >= values_in(&quoted.column));
        self.counts.single_quoted = few;
        for SingleQuoted { column, count, first } in usual {
            let (path, how) = (self.path.to_path_buf(), Misquoted::SingleQuotes);
            let error = InputError::Misquoted { path, place: first[0].clone(), column, how };
            match &mut self.faults {
                Some(faults) => faults.note(error, count, &first),
                None => return Err(error),
            }
        }
        Ok(())
    }

    /// Counts a row without a key, as the value of a column is refused.
    #[cold]
    pub(crate) fn refuse(
        &mut self,
        key: usize,
        reason: Refusal,
        row: &impl Row,
    ) -> Result<(), InputError> {
        self.refuse_cell(key, reason, row)?;
        self.counts.refused += 1;
        Ok(())
    }

    /// Counts the refused value of a column, in a row that may have a key under a rule without it.
    #[cold]
    pub(crate) fn refuse_cell(
        &mut self,
        key: usize,
        reason: Refusal,
        row: &impl Row,
    ) -> Result<(), InputError> {
        let place = row.place();
        let column = &self.columns[key].column;
        if let Some(list) = self.list {
            list.push(&self.file.place(place.clone()), column, reason);
        }
        if self.limits.strict {
            let (path, column) = (self.file.path.to_path_buf(), column.clone());
            return self.fault(InputError::Refused { path, place, column, reason });
        }
        let place = self.file.place(place);
        if reason != Refusal::Excluded {
            self.samples.take(key, row);
        }
        let known = |row: &&mut RefusedCount| row.reason == reason && row.column == *column;
        match self.counts.refused_by.iter_mut().find(known) {
            Some(row) => {
                row.count += 1;
                if row.first.len() < FIRST_PLACES {
                    row.first.push(place);
                }
            }
            None => self.counts.refused_by.push(RefusedCount {
                column: column.clone(),
                reason,
                count: 1,
                first: vec![place],
            }),
        }
        Ok(())
    }

    /// The counts of a pass over this many rows, `keyed` of which have a key. `filled` has the
    /// number of values in each column, if a row can have a key without some of them.
    pub(crate) fn finish(
        mut self,
        rows: u64,
        keyed: u64,
        filled: Option<&[u64]>,
    ) -> Result<KeyCounts, InputError> {
        let of_every_column = vec![rows - self.counts.empty; self.columns.len()];
        let filled = filled.unwrap_or(&of_every_column);
        self.check_single_quotes(filled)?;
        let mut counts = self.counts;
        counts.rows = rows;
        counts.floats = self.floats.finish(filled);
        counts.misfits = self.samples.finish(self.columns, filled);
        // Faults say more than the fact that no rows are left without them.
        let has_faults = self.faults.as_ref().is_some_and(|faults| !faults.is_empty());
        if !self.limits.may_be_empty && !has_faults {
            let path = || self.path.to_path_buf();
            if rows == 0 {
                return Err(InputError::NoRows { path: path(), format: self.format });
            }
            if keyed == 0 {
                let KeyCounts { rows, empty, refused, .. } = counts;
                return Err(InputError::NoKeys { path: path(), rows, empty, refused });
            }
        }
        Ok(counts)
    }
}
