//! A set of rows of a party's own file, one bit for each row.

use crate::{PartnerColumns, bits};
use std::fmt;
use vesica_agreement::Agreement;
use vesica_core::Item;
use vesica_tables::AddedCell;

/// Rows of this party's file: one bit for each row, in the order of the file. Rows count from 0,
/// without the header.
#[derive(Clone, PartialEq, Eq)]
pub struct RowSet {
    words: Vec<u64>,
    len: u64,
    keys: u64,
    /// For each word how many rows of the set are in the words before; empty where nothing is kept
    /// of single rows.
    before: Vec<u64>,
    rules: Option<MatchedRules>,
    partner: Option<PartnerColumns>,
}

/// The entries of a row, each of which can match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowEntries {
    /// For each rule its name, and how many entries a row has under it: at most 32 rules. Without
    /// rules a row has one entry.
    pub of_rules: Vec<(String, usize)>,
    /// Whether the set is to hold the rules under which its rows match, in 4 bytes for each of
    /// them.
    pub keeps_rules: bool,
}

impl RowEntries {
    /// Those of `agreement`.
    pub fn of(agreement: &Agreement) -> Self {
        let of_rules = agreement.rules.iter().map(|rule| (rule.name.clone(), rule.most)).collect();
        Self { of_rules, keeps_rules: agreement.show_rules }
    }
}

impl RowEntries {
    fn per_row(&self) -> usize {
        self.of_rules.iter().map(|(_, entries)| entries).sum::<usize>().max(1)
    }
}

/// The rules under which rows match.
#[derive(Clone, PartialEq, Eq)]
struct MatchedRules {
    names: Vec<String>,
    /// For each row in the set, ascending, a bit for each rule.
    of_rows: Vec<u32>,
}

impl RowSet {
    /// Of `len` rows, those whose bit is set in `words`, which has ⌈`len`/64⌉ words; they have
    /// `keys` different keys.
    pub fn new(words: Vec<u64>, len: u64, keys: u64) -> Self {
        debug_assert_eq!(words.len() as u64, len.div_ceil(64));
        Self { words, len, keys, before: Vec::new(), rules: None, partner: None }
    }

    /// The rows with at least one set bit of `words`, which has a bit for each of `count` entries:
    /// those of a row follow one another, in the order of the rules.
    pub fn of_entries(words: Vec<u64>, count: u64, entries: &RowEntries, keys: u64) -> Self {
        let per_row = entries.per_row() as u64;
        if per_row == 1 && !entries.keeps_rules {
            return Self::new(words, count, keys);
        }
        let len = count / per_row;
        let bit = |entry: u64| words[(entry / 64) as usize] >> (entry % 64) & 1;
        let mut rows = vec![0; len.div_ceil(64) as usize];
        let mut of_rows = Vec::new();
        for row in 0..len {
            let (mut first, mut matched) = (row * per_row, 0_u32);
            for (rule, (_, most)) in entries.of_rules.iter().enumerate() {
                let after = first + *most as u64;
                matched |= u32::from((first..after).any(|entry| bit(entry) == 1)) << rule;
                first = after;
            }
            rows[(row / 64) as usize] |= u64::from(matched != 0) << (row % 64);
            if entries.keeps_rules {
                of_rows.extend((matched != 0).then_some(matched));
            }
        }
        let names = || entries.of_rules.iter().map(|(name, _)| name.clone()).collect();
        let rules = entries.keeps_rules.then(|| MatchedRules { names: names(), of_rows });
        Self { rules, ..Self::new(rows, len, keys) }.counted()
    }

    /// The rows whose item is in `common`, which is ascending, with the other party's columns of
    /// each of those. `items` has the item of each row.
    pub fn with_partner(items: &[Item], common: &[Item], partner: PartnerColumns) -> Self {
        let keys = items.iter().filter_map(|item| common.binary_search(item).ok());
        let partner = partner.of_rows(keys.map(|key| key as u32).collect());
        let rows = Self::new(bits(items, common), items.len() as u64, common.len() as u64);
        Self { partner: Some(partner), ..rows }.counted()
    }

    /// With the numbers from which the place of a row in the set follows.
    fn counted(mut self) -> Self {
        let mut rows = 0;
        let counts = self.words.iter().map(|word| {
            let before = rows;
            rows += u64::from(word.count_ones());
            before
        });
        self.before = counts.collect();
        self
    }

    /// How many rows of the set come before `row`; `None` for a row that is not in it.
    fn place(&self, row: u64) -> Option<usize> {
        if !self.contains(row) {
            return None;
        }
        let word = (row / 64) as usize;
        let earlier = self.words[word] & !(u64::MAX << (row % 64));
        Some((self.before[word] + u64::from(earlier.count_ones())) as usize)
    }

    /// The other party's columns, if the set holds them.
    pub fn partner(&self) -> Option<&PartnerColumns> {
        self.partner.as_ref()
    }

    /// The cell of a row in one of the other party's columns. Empty for a row that is not in the
    /// set, and where the set holds no columns.
    pub fn partner_cell(&self, row: u64, column: usize) -> AddedCell {
        let place = || self.place(row);
        let cell = self.partner.as_ref().and_then(|partner| Some(partner.cell(place()?, column)));
        cell.unwrap_or_default()
    }

    /// Whether the set holds the rules under which its rows match.
    pub fn has_rules(&self) -> bool {
        self.rules.is_some()
    }

    /// The names of the rules under which a row matches, joined by `; `. Empty for a row that is
    /// not in the set, and where the set holds no rules.
    pub fn rules_of(&self, row: u64) -> String {
        let Some(rules) = &self.rules else { return String::new() };
        let Some(place) = self.place(row) else {
            return String::new();
        };
        let bits = rules.of_rows[place];
        let names = rules.names.iter().enumerate().filter(|(rule, _)| bits >> rule & 1 == 1);
        names.map(|(_, name)| &**name).collect::<Vec<_>>().join("; ")
    }

    /// The bits: ⌈[`len`](Self::len)/64⌉ words. Row r has bit r mod 64, from the lowest, of word
    /// ⌊r/64⌋; bits beyond the last row are 0.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Number of rows in the file, in the set or not.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether the file has no rows.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of different keys in the rows of the set; at most [`count`](Self::count).
    pub fn keys(&self) -> u64 {
        self.keys
    }

    /// Number of rows in the set.
    pub fn count(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// Whether `row` is in the set; `false` beyond the last row.
    pub fn contains(&self, row: u64) -> bool {
        let word = usize::try_from(row / 64).ok().and_then(|word| self.words.get(word));
        word.is_some_and(|word| word >> (row % 64) & 1 == 1)
    }

    /// The rows in the set, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u64> {
        (0..self.len).filter(|row| self.contains(*row))
    }
}

impl fmt::Debug for RowSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Rows({} of {})", self.count(), self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_the_rules_of_its_entries() {
        let entries = |keeps_rules| {
            let of_rules = vec![("mail".to_owned(), 1), ("sound".to_owned(), 3)];
            RowEntries { of_rules, keeps_rules }
        };
        let mut words = vec![0_u64; 2];
        for entry in [0, 4 * 2 + 2, 4 * 2 + 3, 4 * 17, 4 * 17 + 1] {
            words[entry / 64] |= 1 << (entry % 64);
        }
        let set = RowSet::of_entries(words.clone(), 80, &entries(true), 4);
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 2, 17]);
        assert_eq!((set.len(), set.keys(), set.has_rules()), (20, 4, true));
        let rules = [0, 1, 2, 17, 20].map(|row| set.rules_of(row));
        assert_eq!(rules, ["mail", "", "sound", "mail; sound", ""]);
        // Beyond the first word: every third row under one rule, every fifth under the other.
        let (rows, mut many) = (1000_usize, vec![0_u64; 4000_usize.div_ceil(64)]);
        let mut set_bit = |entry: usize| many[entry / 64] |= 1 << (entry % 64);
        (0..rows).step_by(3).for_each(|row| set_bit(4 * row));
        (0..rows).step_by(5).for_each(|row| set_bit(4 * row + 3));
        let large = RowSet::of_entries(many, 4000, &entries(true), 9);
        for row in 0..rows {
            let expected = match (row % 3, row % 5) {
                (0, 0) => "mail; sound",
                (0, _) => "mail",
                (_, 0) => "sound",
                _ => "",
            };
            assert_eq!(large.rules_of(row as u64), expected, "{row}");
        }
        let without = RowSet::of_entries(words, 80, &entries(false), 4);
        assert_eq!((without.words(), without.has_rules()), (set.words(), false));
        assert_eq!(without.rules_of(0), "");
    }
}
