//! An expression over a table: every number with its range, so that no sum can overflow.

mod number;

use crate::syntax::{Buckets, Kind, Node, Operator, Total as TotalNode};
use crate::{Expression, ExpressionError, Table};
pub(crate) use number::{Condition, Form, Number};

/// Maximum number of entries, as of items in a set.
const MAX_ENTRIES: usize = 1 << 30;

/// An expression over a table, ready to be computed.
///
/// Both parties make it from the same public facts. Every number in it has a range that follows
/// from the bits of the columns and the number of entries, and as many bits as that needs.
///
/// # Leakage
/// What the expression asks for, to those who learn it: also a single value, if a condition selects
/// one entry. The circuit depends on the plan alone.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(crate) text: String,
    pub(crate) table: Table,
    /// The sums over all entries, each different.
    pub(crate) totals: Vec<Total>,
    pub(crate) results: Vec<Part>,
}

/// The sum of a number over the entries that fulfil a condition.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Total {
    pub(crate) of: Number,
    pub(crate) filter: Condition,
    /// The total itself, with its range.
    pub(crate) total: Number,
}

/// A number or a condition.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    Number(Number),
    Condition(Condition),
}

impl Plan {
    /// The plan of `expression` over `table`.
    ///
    /// # Errors
    /// [`ExpressionError`] for names, for the kinds of the expression's parts and for numbers of
    /// too many bits.
    pub fn new(expression: &Expression, table: &Table) -> Result<Self, ExpressionError> {
        for column in &table.columns {
            if !(1..=u64::BITS).contains(&column.bits) {
                let (name, bits) = (column.name.clone(), column.bits);
                return Err(ExpressionError::ColumnBits { name, bits });
            }
        }
        if table.entries > MAX_ENTRIES {
            let (entries, max) = (table.entries, MAX_ENTRIES);
            return Err(ExpressionError::TooManyEntries { entries, max });
        }
        let mut plan = Self {
            text: expression.text().to_owned(),
            table: table.clone(),
            totals: Vec::new(),
            results: Vec::new(),
        };
        for node in &expression.results {
            match &node.kind {
                Kind::Total(total) if total.buckets.is_some() => {
                    plan.add_buckets(node.at, total)?
                }
                _ => {
                    let part = plan.part(node, Level::Whole)?;
                    plan.results.push(part);
                }
            }
        }
        Ok(plan)
    }

    /// Whether a column's values are needed.
    pub(crate) fn uses(&self, column: usize) -> bool {
        self.totals.iter().any(|total| total.of.uses(column) || total.filter.uses(column))
    }

    fn part(&mut self, node: &Node, level: Level) -> Result<Part, ExpressionError> {
        let at = node.at;
        Ok(match &node.kind {
            Kind::Number(number) => Part::Number(Number::constant(*number)),
            Kind::Column(name) => Part::Number(self.column(at, name, level)?),
            Kind::Negative(of) => {
                let of = self.number(of, level)?;
                Part::Number(Number::constant(0).minus(of).ok_or(ExpressionError::TooWide { at })?)
            }
            Kind::Not(of) => Part::Condition(self.condition(of, level)?.not()),
            Kind::Total(total) if level == Level::Whole => Part::Number(self.total(at, total)?),
            Kind::Total(_) => return Err(ExpressionError::Nested { at }),
            Kind::Two(operator @ (Operator::And | Operator::Or), a, b) => {
                let (a, b) = (self.condition(a, level)?, self.condition(b, level)?);
                Part::Condition(match operator {
                    Operator::And => a.and(b),
                    _ => a.not().and(b.not()).not(),
                })
            }
            Kind::Two(operator, a, b) => {
                let (a, b) = (self.number(a, level)?, self.number(b, level)?);
                two_numbers(*operator, a, b).ok_or(ExpressionError::TooWide { at })?
            }
        })
    }

    fn number(&mut self, node: &Node, level: Level) -> Result<Number, ExpressionError> {
        match self.part(node, level)? {
            Part::Number(number) => Ok(number),
            Part::Condition(_) => Err(ExpressionError::NotANumber { at: node.at }),
        }
    }

    fn condition(&mut self, node: &Node, level: Level) -> Result<Condition, ExpressionError> {
        match self.part(node, level)? {
            Part::Condition(condition) => Ok(condition),
            Part::Number(_) => Err(ExpressionError::NotACondition { at: node.at }),
        }
    }

    fn column(&self, at: usize, name: &str, level: Level) -> Result<Number, ExpressionError> {
        let mut found =
            self.table.columns.iter().enumerate().filter(|(_, column)| column.name == name);
        let Some((index, column)) = found.next() else {
            return Err(ExpressionError::UnknownColumn { at, name: name.to_owned() });
        };
        if found.next().is_some() {
            return Err(ExpressionError::AmbiguousColumn { at, name: name.to_owned() });
        }
        if level == Level::Whole {
            return Err(ExpressionError::OutsideSum { at, name: name.to_owned() });
        }
        Ok(Number::column(index, column.bits, column.signed))
    }

    fn total(&mut self, at: usize, node: &TotalNode) -> Result<Number, ExpressionError> {
        if node.buckets.is_some() {
            return Err(ExpressionError::SeveralNumbers { at });
        }
        let (of, filter) = self.of_total(node)?;
        self.add_total(at, of, filter)
    }

    /// What is added, and where.
    fn of_total(&mut self, node: &TotalNode) -> Result<(Number, Condition), ExpressionError> {
        let of = match &node.of {
            Some(of) => self.number(of, Level::Row)?,
            None => Number::constant(1),
        };
        let filter = match &node.filter {
            Some(filter) => self.condition(filter, Level::Row)?,
            None => Condition::Known(true),
        };
        Ok((of, filter))
    }

    fn add_total(
        &mut self,
        at: usize,
        of: Number,
        filter: Condition,
    ) -> Result<Number, ExpressionError> {
        let total = Number::total(self.totals.len(), &of, &filter, self.table.entries)
            .ok_or(ExpressionError::TooWide { at })?;
        if total.is_constant() {
            return Ok(total);
        }
        if let Some(same) = self.totals.iter().find(|t| t.of == of && t.filter == filter) {
            return Ok(same.total.clone());
        }
        self.totals.push(Total { of, filter, total: total.clone() });
        Ok(total)
    }

    /// A result for each bucket: that of all above its lower limit, less that of all above the
    /// next. So there is one comparison for each limit.
    fn add_buckets(&mut self, at: usize, node: &TotalNode) -> Result<(), ExpressionError> {
        let Some(Buckets { of: key, limits, .. }) = &node.buckets else { return Ok(()) };
        let (of, filter) = self.of_total(node)?;
        let key = self.number(key, Level::Row)?;
        let mut above = vec![self.add_total(at, of.clone(), filter.clone())?];
        for limit in limits {
            let is_above = Condition::greater(&Number::constant(*limit), &key).not();
            above.push(self.add_total(at, of.clone(), filter.clone().and(is_above))?);
        }
        for (i, total) in above.iter().enumerate() {
            let bucket = match above.get(i + 1) {
                // A bucket is itself a total of some entries, so it has the range of one.
                Some(next) => total.clone().minus_part(next.clone()),
                None => total.clone(),
            };
            self.results.push(Part::Number(bucket));
        }
        Ok(())
    }
}

/// Where a part stands: within a total, so that it has a value for each entry, or not.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Row,
    Whole,
}

/// `None` if a number could have too many bits.
fn two_numbers(operator: Operator, a: Number, b: Number) -> Option<Part> {
    let condition = match operator {
        Operator::Plus => return a.plus(b).map(Part::Number),
        Operator::Minus => return a.minus(b).map(Part::Number),
        Operator::Times => return a.times(b).map(Part::Number),
        Operator::Greater => Condition::greater(&a, &b),
        Operator::Less => Condition::greater(&b, &a),
        Operator::LessOrEqual => Condition::greater(&a, &b).not(),
        Operator::GreaterOrEqual => Condition::greater(&b, &a).not(),
        Operator::NotEqual => Condition::equal(&a, &b).not(),
        Operator::Equal | Operator::And | Operator::Or => Condition::equal(&a, &b),
    };
    Some(Part::Condition(condition))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Column, Combine};

    fn plan(text: &str, entries: usize) -> Result<Plan, ExpressionError> {
        let column = |name: &str, bits, signed| Column { name: name.to_owned(), bits, signed };
        let columns = vec![
            column("a", 8, false),
            column("b", 8, true),
            column("wide", 64, false),
            column("two", 1, false),
            column("two", 1, false),
        ];
        let table = Table { columns, entries, combine: Combine::Xor };
        Plan::new(&Expression::parse(text).unwrap(), &table)
    }

    #[test]
    fn faults_are_named_with_their_place() {
        let name = |name: &str| name.to_owned();
        for (text, error) in [
            ("sum(c)", ExpressionError::UnknownColumn { at: 5, name: name("c") }),
            ("sum(two)", ExpressionError::AmbiguousColumn { at: 5, name: name("two") }),
            ("1 + a", ExpressionError::OutsideSum { at: 5, name: name("a") }),
            ("sum(a + sum(b))", ExpressionError::Nested { at: 9 }),
            ("sum(a > 1)", ExpressionError::NotANumber { at: 5 }),
            ("sum(a) = (1 < 2)", ExpressionError::NotANumber { at: 11 }),
            ("count(a)", ExpressionError::NotACondition { at: 7 }),
            ("not sum(a)", ExpressionError::NotACondition { at: 5 }),
            ("1 < 2 and sum(a)", ExpressionError::NotACondition { at: 11 }),
            ("count(by a in 2) + 1", ExpressionError::SeveralNumbers { at: 1 }),
            ("sum(wide * wide)", ExpressionError::TooWide { at: 5 }),
            ("0, sum(wide) * sum(wide)", ExpressionError::TooWide { at: 4 }),
        ] {
            assert_eq!(plan(text, 1000).unwrap_err(), error, "{text}");
        }
        let max = 1 << 30;
        let error = ExpressionError::TooManyEntries { entries: max + 1, max };
        assert_eq!(plan("count()", max + 1).unwrap_err(), error);
        for bits in [0, 65] {
            let columns = vec![Column { name: name("a"), bits, signed: false }];
            let table = Table { columns, entries: 1, combine: Combine::Xor };
            let error = ExpressionError::ColumnBits { name: name("a"), bits };
            let made = Plan::new(&Expression::parse("1").unwrap(), &table);
            assert_eq!(made.unwrap_err(), error);
        }
    }

    /// The range of the only result.
    fn range(text: &str) -> (i128, i128) {
        match &plan(text, 10).unwrap().results[..] {
            [Part::Number(number)] => (number.min, number.max),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn numbers_have_the_range_that_their_parts_allow() {
        for (text, expected) in [
            ("count()", (10, 10)),
            ("count(a > 1)", (0, 10)),
            ("count(a > 255)", (0, 0)),
            ("count(a >= 0)", (10, 10)),
            ("sum(a)", (0, 2550)),
            ("sum(b)", (-1280, 1270)),
            ("-sum(b + 1)", (-1280, 1270)),
            ("sum(5)", (50, 50)),
            ("sum(a + 5)", (50, 2600)),
            ("sum(a + 5 where b = 0)", (0, 2600)),
            ("sum(b * b)", (0, 163_840)),
            ("sum(a * b)", (-326_400, 323_850)),
            ("sum(a - b)", (-1270, 3830)),
            ("sum(a - a)", (0, 0)),
            ("3 * sum(a) - 2", (-2, 7648)),
            ("sum(0 * wide)", (0, 0)),
        ] {
            assert_eq!(range(text), expected, "{text}");
        }
    }

    #[test]
    fn equal_totals_are_computed_once() {
        let variance = plan("count() * sum(a * a) - sum(a) * sum(a)", 9).unwrap();
        assert_eq!(variance.totals.len(), 2);
        let histogram = plan("sum(a by b in 0, 10), sum(a), count(), sum(a by b in -999)", 9);
        let histogram = histogram.unwrap();
        assert_eq!((histogram.totals.len(), histogram.results.len()), (3, 7));
    }
}
