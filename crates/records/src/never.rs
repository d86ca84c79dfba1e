//! Values of a key column that an agreement excludes, such as `NULL`, `N/A` or `0000000000`.
//!
//! Placeholders of two files would match each other. A cell is excluded if it equals an entry
//! without the blanks at their ends, or if both have the same normal form.

use vesica_profiles::{Normalised, Profile, Refusal};

/// The entries for one column, under its profile.
#[derive(Default)]
pub(crate) struct Never {
    /// The normal forms of entries that the profile takes. The form of a cell follows from the cell
    /// without blanks at its ends, unless the profile is `exact`.
    normal: Entries,
    /// Entries that the profile refuses; under `exact`, all of them: in form C without blanks at
    /// their ends.
    trimmed: Entries,
    scratch: Vec<u8>,
}

impl Never {
    /// `None` without an entry.
    pub(crate) fn new(entries: &[String], profile: Profile) -> Option<Self> {
        let mut never = Self::default();
        for entry in entries {
            let mut form = Vec::new();
            let is_taken = profile.normalise(entry, &mut form) == Ok(Normalised::Value);
            if is_taken && profile != Profile::EXACT {
                never.normal.add(form);
                continue;
            }
            form.clear();
            if Profile::TRIM.normalise(entry, &mut form) == Ok(Normalised::Value) {
                never.trimmed.add(form);
            }
        }
        (!entries.is_empty()).then_some(never)
    }

    /// Refuses a `cell` that is excluded, of which the profile has `done` this; `normal` is its
    /// normal form.
    pub(crate) fn judge(
        &mut self,
        cell: &[u8],
        done: Result<Normalised, Refusal>,
        normal: &[u8],
    ) -> Result<Normalised, Refusal> {
        let is_excluded = match done {
            Ok(Normalised::Empty) | Err(Refusal::TooLong) => false,
            Ok(Normalised::Value) if self.normal.hold(normal) => true,
            // Only under `exact` an entry that the profile takes stands here.
            _ => !self.trimmed.is_empty() && self.holds_trimmed(cell),
        };
        if is_excluded { Err(Refusal::Excluded) } else { done }
    }

    fn holds_trimmed(&mut self, cell: &[u8]) -> bool {
        self.scratch.clear();
        let done = Profile::TRIM.normalise_cell(cell, &mut self.scratch);
        done == Ok(Normalised::Value) && self.trimmed.hold(&self.scratch)
    }
}

/// A set of short texts.
#[derive(Default)]
struct Entries {
    /// Bit n is set if an entry has n bytes, modulo 64: most cells have another length.
    lens: u64,
    sorted: Vec<Vec<u8>>,
}

impl Entries {
    fn add(&mut self, entry: Vec<u8>) {
        self.lens |= 1 << (entry.len() % 64);
        if let Err(at) = self.sorted.binary_search(&entry) {
            self.sorted.insert(at, entry);
        }
    }

    fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    #[inline]
    fn hold(&self, text: &[u8]) -> bool {
        self.lens >> (text.len() % 64) & 1 == 1
            && self.sorted.binary_search_by(|entry| entry.as_slice().cmp(text)).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(profile: &str, entries: &[&str], cell: &str) -> Result<Normalised, Refusal> {
        let profile: Profile = profile.parse().unwrap();
        let entries: Vec<String> = entries.iter().map(|entry| (*entry).to_owned()).collect();
        let mut never = Never::new(&entries, profile).unwrap();
        let mut normal = Vec::new();
        let done = profile.normalise(cell, &mut normal);
        never.judge(cell.as_bytes(), done, &normal)
    }

    #[test]
    fn excluded_are_equal_cells_without_blanks_and_equal_normal_forms() {
        for (profile, entry, cell) in [
            ("trim", "NULL", " NULL\t"),
            ("trim", " NULL ", "NULL"),
            ("exact", "NULL", "NULL"),
            ("exact", "NULL", " NULL "),
            ("lower", "N/A", "n/a"),
            ("email", "noemail@example.org", "NoEmail@Example.org "),
            ("email", "none", " none"),
            ("digits", "0000000000", "000-000-0000"),
            ("date", "1900-01-01", "01/01/1900"),
            ("phone:GB", "0000000000", "0000000000"),
            ("trim", "caf\u{e9}", "cafe\u{301}"),
        ] {
            assert_eq!(judged(profile, &[entry], cell), Err(Refusal::Excluded), "{profile} {cell}");
        }
    }

    #[test]
    fn other_cells_keep_their_outcome() {
        let entries = ["NULL", "0000000000", "none"];
        for (profile, cell, outcome) in [
            ("trim", "null", Ok(Normalised::Value)),
            ("trim", "", Ok(Normalised::Empty)),
            ("exact", "none ann", Ok(Normalised::Value)),
            ("digits", "000000000", Ok(Normalised::Value)),
            ("digits", "NUL", Err(Refusal::NotDigits)),
            ("email", "ann@example.org", Ok(Normalised::Value)),
        ] {
            assert_eq!(judged(profile, &entries, cell), outcome, "{profile} {cell:?}");
        }
    }
}
