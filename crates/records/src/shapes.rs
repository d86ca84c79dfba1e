//! The patterns of the values of a key column, without showing a value.

use crate::key::{CellRule, KeyColumn};
use std::collections::HashMap;
use vesica_profiles::{Normalised, Refusal};
use vesica_tables::Row;

/// Longest shape, in characters; a longer one ends with `…`.
pub const SHAPE_MAX_CHARS: usize = 40;

/// Different shapes counted separately in one column; the rest is counted together.
const SHAPES_TOLD_APART: usize = 10_000;

/// Shapes returned for one column.
const SHAPES_GIVEN: usize = 10;

/// The pattern of a value: `a` and `A` for letters, `9` for digits, `u` for characters beyond
/// ASCII, other characters unchanged; `+` after a character means that it repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The pattern; empty for an empty cell.
    pub pattern: String,
    /// Rows with this pattern.
    pub count: u64,
}

/// The shapes of one key column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnShapes {
    /// The column in the file.
    pub column: String,
    /// The most common shapes of its raw values, most common first, at most ten.
    pub shapes: Vec<Shape>,
    /// Rows with another shape.
    pub other: u64,
    /// Values the profile accepted.
    pub normalised: u64,
    /// Empty values.
    pub empty: u64,
    /// Values the profile refused, by reason.
    pub refused: Vec<(Refusal, u64)>,
}

#[derive(Default)]
struct Tally {
    counts: HashMap<String, u64>,
    other: u64,
    normalised: u64,
    empty: u64,
    refused: Vec<(Refusal, u64)>,
}

/// Counts the shapes of the key columns in the first rows of a pass.
///
/// Letters and digits never leave the machine's memory; punctuation does, as part of a pattern.
pub(crate) struct Shaper {
    rules: Vec<CellRule>,
    tallies: Vec<Tally>,
    left: u64,
    scratch: Vec<u8>,
    value: Vec<u8>,
    pattern: String,
}

impl Shaper {
    /// For a key in `columns` and the first `rows` rows, at least one.
    pub(crate) fn new(columns: &[KeyColumn], rows: u64) -> Self {
        Self {
            rules: columns.iter().map(CellRule::of).collect(),
            tallies: columns.iter().map(|_| Tally::default()).collect(),
            left: rows.max(1),
            scratch: Vec::new(),
            value: Vec::new(),
            pattern: String::new(),
        }
    }

    /// Looks at the next row of the pass.
    #[inline]
    pub(crate) fn look(&mut self, row: &impl Row) {
        if self.left > 0 {
            self.left -= 1;
            self.take(row);
        }
    }

    #[inline(never)]
    fn take(&mut self, row: &impl Row) {
        for (key, (rule, tally)) in self.rules.iter_mut().zip(&mut self.tallies).enumerate() {
            let cell = row.cell(key, &mut self.scratch);
            match rule.judge(cell, &mut self.value) {
                Ok(Normalised::Value) => tally.normalised += 1,
                Ok(Normalised::Empty) => tally.empty += 1,
                Err(reason) => match tally.refused.iter_mut().find(|(known, _)| *known == reason) {
                    Some((_, count)) => *count += 1,
                    None => tally.refused.push((reason, 1)),
                },
            }
            draw(cell, &mut self.pattern);
            let told_apart = tally.counts.len();
            match tally.counts.get_mut(self.pattern.as_str()) {
                Some(count) => *count += 1,
                None if told_apart < SHAPES_TOLD_APART => {
                    tally.counts.insert(self.pattern.clone(), 1);
                }
                None => tally.other += 1,
            }
        }
    }

    /// The shapes of each of `columns`.
    pub(crate) fn finish(self, columns: &[KeyColumn]) -> Vec<ColumnShapes> {
        columns.iter().zip(self.tallies).map(|(column, tally)| tally.finish(column)).collect()
    }
}

impl Tally {
    fn finish(self, column: &KeyColumn) -> ColumnShapes {
        let mut shapes: Vec<Shape> =
            self.counts.into_iter().map(|(pattern, count)| Shape { pattern, count }).collect();
        shapes.sort_by(|one, two| {
            two.count.cmp(&one.count).then_with(|| one.pattern.cmp(&two.pattern))
        });
        let rest = shapes.split_off(shapes.len().min(SHAPES_GIVEN));
        ColumnShapes {
            column: column.column.clone(),
            shapes,
            other: self.other + rest.iter().map(|shape| shape.count).sum::<u64>(),
            normalised: self.normalised,
            empty: self.empty,
            refused: self.refused,
        }
    }
}

/// Writes the pattern of `cell` to `pattern`.
pub(crate) fn draw(cell: &[u8], pattern: &mut String) {
    pattern.clear();
    let mut last = None;
    let mut repeated = false;
    let mut chars = 0;
    for c in String::from_utf8_lossy(cell).chars() {
        let class = match c {
            'a'..='z' => 'a',
            'A'..='Z' => 'A',
            '0'..='9' => '9',
            '\t' => '→',
            '\n' | '\r' => '¶',
            ' '..='~' => c,
            _ if c.is_ascii() => '?',
            _ => 'u',
        };
        if last == Some(class) {
            if !repeated {
                pattern.push('+');
                chars += 1;
            }
            repeated = true;
            continue;
        }
        if chars >= SHAPE_MAX_CHARS {
            pattern.push('…');
            return;
        }
        pattern.push(class);
        chars += 1;
        (last, repeated) = (Some(class), false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(cell: &str) -> String {
        let mut pattern = String::new();
        draw(cell.as_bytes(), &mut pattern);
        pattern
    }

    #[test]
    fn patterns_hide_letters_and_digits() {
        assert_eq!(drawn("Anna.Meier@example.org"), "Aa+.Aa+@a+.a+");
        assert_eq!(drawn("+44 20 7946"), "+9+ 9+ 9+");
        assert_eq!(drawn("Käthe\n"), "Aua+¶");
        assert_eq!(drawn(""), "");
    }

    #[test]
    fn long_patterns_are_cut() {
        assert_eq!(drawn(&"a.".repeat(1000)).chars().count(), SHAPE_MAX_CHARS + 1);
    }
}
