//! Reading an expression.

use crate::ExpressionError;
use crate::syntax::{Buckets, Kind, Node, Operator, Strength, Total};
use crate::tokens::{Token, tokens};
use std::ops::Range;

/// Maximum characters of an expression.
const MAX_CHARACTERS: usize = 4096;
/// Maximum parts, which bounds the tree's depth.
const MAX_PARTS: usize = 256;
/// Maximum nesting of parentheses and signs.
const MAX_DEPTH: usize = 32;

/// What is asked about a shared table.
///
/// ```text
/// expression = result { "," result }
/// result     = a number or a condition of totals and numbers
/// total      = "sum"   "(" number of a row    [ "where" condition ] [ buckets ] ")"
///            | "count" "(" [ [ "where" ] condition of a row ]       [ buckets ] ")"
/// buckets    = "by" number of a row "in" limit { "," limit }
/// ```
///
/// Numbers are integers: columns in sums, numerals, `+`, `-`, `*`. Conditions are `<`, `<=`, `>`,
/// `>=`, `=`, `!=`, `and`, `or`, `not`. A name with other characters than letters, digits and `_`,
/// or that is a word of the language, stands in double quotes. There is no division: ask for the
/// numerator and the denominator. `by a in 10, 20` gives a total for each of a < 10, 10 ≤ a < 20
/// and 20 ≤ a.
#[derive(Clone, Debug)]
pub struct Expression {
    text: String,
    pub(crate) results: Vec<Node>,
    /// The characters of each result in the text, from 0.
    places: Vec<Range<usize>>,
}

/// Two expressions are equal when their texts are.
impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Expression {}

impl Expression {
    /// Reads `text`.
    ///
    /// # Errors
    /// [`ExpressionError`] for its syntax.
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        if text.chars().nth(MAX_CHARACTERS).is_some() {
            return Err(ExpressionError::TooLong { max: MAX_CHARACTERS });
        }
        let mut parser = Parser { tokens: tokens(text)?, next: 0, parts: 0, depth: 0 };
        let (mut results, mut places) = (Vec::new(), Vec::new());
        loop {
            let first = parser.peek().0;
            results.push(parser.part(Strength::Or)?);
            places.push(first - 1..parser.peek().0 - 1);
            if !parser.take(&Token::Sign(",")) {
                break;
            }
        }
        parser.expect(&Token::End, "an operator, a comma or the end")?;
        let expression = Self { text: text.to_owned(), results, places };
        let names = expression.names();
        let is_repeated = |name: &&String| names.iter().filter(|other| other == name).count() > 1;
        match names.iter().find(is_repeated) {
            Some(name) => Err(ExpressionError::Repeated { name: name.clone() }),
            None => Ok(expression),
        }
    }

    /// What each answer is called, in their order: the text of its result, for each bucket with its
    /// limits, such as `sum(b) for 10 <= a < 20`.
    pub fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        for (node, place) in self.results.iter().zip(&self.places) {
            match &node.kind {
                Kind::Total(total) if total.buckets.is_some() => {
                    names.extend(total.buckets.iter().flat_map(|by| self.of_buckets(node.at, by)));
                }
                _ => names.push(self.characters(place)),
            }
        }
        names
    }

    /// The names of the buckets of the total that begins at the character `at`, from 1.
    fn of_buckets(&self, at: usize, by: &Buckets) -> Vec<String> {
        let total = self.characters(&(at - 1..by.by_at));
        let of = self.characters(&by.of_at);
        let limits = &by.limits;
        let range = |i: usize| match (i.checked_sub(1).map(|i| limits[i]), limits.get(i)) {
            (None, None) => of.clone(),
            (None, Some(next)) => format!("{of} < {next}"),
            (Some(least), None) => format!("{of} >= {least}"),
            (Some(least), Some(next)) => format!("{least} <= {of} < {next}"),
        };
        (0..=limits.len()).map(|i| format!("{total}) for {}", range(i))).collect()
    }

    /// The characters at `place`, without blanks at their ends.
    fn characters(&self, place: &Range<usize>) -> String {
        let characters: String = self.text.chars().skip(place.start).take(place.len()).collect();
        characters.trim().to_owned()
    }

    /// The text that was read.
    pub fn text(&self) -> &str {
        &self.text
    }
}

struct Parser {
    tokens: Vec<(usize, Token)>,
    next: usize,
    parts: usize,
    depth: usize,
}

impl Parser {
    /// The next token. The last, which ends the text, stays the next.
    fn peek(&self) -> (usize, &Token) {
        let (at, token) = &self.tokens[self.next.min(self.tokens.len() - 1)];
        (*at, token)
    }

    /// Whether the next token is `token`, which is then passed.
    fn take(&mut self, token: &Token) -> bool {
        let is_next = self.peek().1 == token;
        self.next += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, token: &Token, expected: &'static str) -> Result<(), ExpressionError> {
        let at = self.peek().0;
        if self.take(token) { Ok(()) } else { Err(ExpressionError::Expected { at, expected }) }
    }

    fn count_part(&mut self) -> Result<(), ExpressionError> {
        self.parts += 1;
        match self.parts {
            ..=MAX_PARTS => Ok(()),
            _ => Err(ExpressionError::TooManyParts { max: MAX_PARTS }),
        }
    }

    /// Reads a part within parentheses or after a sign.
    fn deeper(&mut self, strength: Strength) -> Result<Node, ExpressionError> {
        let at = self.peek().0;
        if self.depth == MAX_DEPTH {
            return Err(ExpressionError::TooDeep { at, max: MAX_DEPTH });
        }
        self.depth += 1;
        let part = self.part(strength);
        self.depth -= 1;
        part
    }

    /// Reads a part with operators that bind at least as tightly as `strength`.
    fn part(&mut self, strength: Strength) -> Result<Node, ExpressionError> {
        let mut left = self.operand(strength)?;
        loop {
            let (at, token) = self.peek();
            let (Token::Sign(sign) | Token::Word(sign)) = token else { return Ok(left) };
            let Some(operator) = Operator::of(sign) else { return Ok(left) };
            let binds = operator.strength();
            if binds < strength {
                return Ok(left);
            }
            // `(a < b) = c` has no meaning either, because conditions are not compared.
            if binds == Strength::Comparison && left.is_comparison() {
                return Err(ExpressionError::ComparedTwice { at });
            }
            self.next += 1;
            self.count_part()?;
            let right = self.part(binds.next())?;
            let at = left.at;
            left = Node { at, kind: Kind::Two(operator, Box::new(left), Box::new(right)) };
        }
    }

    /// Reads a part before the first operator.
    fn operand(&mut self, strength: Strength) -> Result<Node, ExpressionError> {
        const OPERAND: &str = "a number, a column, sum() or count()";
        self.count_part()?;
        let (at, token) = self.peek();
        let token = token.clone();
        self.next += 1;
        let kind = match token {
            Token::Number(number) => Kind::Number(number),
            Token::Column(name) => Kind::Column(name),
            Token::Word("not") if strength <= Strength::Not => {
                Kind::Not(Box::new(self.deeper(Strength::Not)?))
            }
            Token::Sign("-") => Kind::Negative(Box::new(self.deeper(Strength::Sign)?)),
            Token::Sign("(") => {
                let part = self.deeper(Strength::Or)?;
                self.expect(&Token::Sign(")"), "`)`")?;
                return Ok(part);
            }
            Token::Word(word @ ("sum" | "count")) => {
                Kind::Total(Box::new(self.total(word == "sum")?))
            }
            _ => return Err(ExpressionError::Expected { at, expected: OPERAND }),
        };
        Ok(Node { at, kind })
    }

    fn total(&mut self, is_sum: bool) -> Result<Total, ExpressionError> {
        const WHERE: Token = Token::Word("where");
        const BY: Token = Token::Word("by");
        const CLOSE: Token = Token::Sign(")");
        self.expect(&Token::Sign("("), "`(`")?;
        let of = if is_sum { Some(self.deeper(Strength::Or)?) } else { None };
        let is_bare = !is_sum && ![&WHERE, &BY, &CLOSE].contains(&self.peek().1);
        let is_filtered = is_bare || self.take(&WHERE);
        let filter = if is_filtered { Some(self.deeper(Strength::Or)?) } else { None };
        let by_at = self.peek().0 - 1;
        let buckets = if self.take(&BY) { Some(self.buckets(by_at)?) } else { None };
        self.expect(&CLOSE, "an operator, `where`, `by` or `)`")?;
        Ok(Total { of, filter, buckets })
    }

    fn buckets(&mut self, by_at: usize) -> Result<Buckets, ExpressionError> {
        let first = self.peek().0;
        let of = self.deeper(Strength::Sum)?;
        let of_at = first - 1..self.peek().0 - 1;
        self.expect(&Token::Word("in"), "`in`")?;
        let mut limits: Vec<i128> = Vec::new();
        loop {
            self.count_part()?;
            let is_negative = self.take(&Token::Sign("-"));
            let (at, token) = self.peek();
            let &Token::Number(number) = token else {
                return Err(ExpressionError::Expected { at, expected: "a number" });
            };
            self.next += 1;
            let limit = if is_negative { -number } else { number };
            if limits.last().is_some_and(|last| *last >= limit) {
                return Err(ExpressionError::LimitsNotInOrder { at });
            }
            limits.push(limit);
            if !self.take(&Token::Sign(",")) {
                return Ok(Buckets { of, of_at, by_at, limits });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tree with parentheses around every operator.
    fn shown(node: &Node) -> String {
        match &node.kind {
            Kind::Number(number) => number.to_string(),
            Kind::Column(name) => name.clone(),
            Kind::Negative(of) => format!("-{}", shown(of)),
            Kind::Not(of) => format!("!{}", shown(of)),
            Kind::Two(operator, a, b) => format!("({} {operator:?} {})", shown(a), shown(b)),
            Kind::Total(total) => {
                let of = total.of.as_ref().map_or("count".to_owned(), shown);
                let filter = total.filter.as_ref().map(|filter| format!(" if {}", shown(filter)));
                let by = total
                    .buckets
                    .as_ref()
                    .map(|buckets| format!(" by {} {:?}", shown(&buckets.of), buckets.limits));
                format!("[{of}{}{}]", filter.unwrap_or_default(), by.unwrap_or_default())
            }
        }
    }

    fn read(text: &str) -> String {
        let expression = Expression::parse(text).unwrap();
        expression.results.iter().map(shown).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn operators_bind_as_in_mathematics() {
        for (text, tree) in [
            ("1+2*3-4", "((1 Plus (2 Times 3)) Minus 4)"),
            ("- a * -b", "(-a Times -b)"),
            ("(1 - 2) * 3", "((1 Minus 2) Times 3)"),
            (
                "a<1 or not b >= 2 and c == 3",
                "((a Less 1) Or (!(b GreaterOrEqual 2) And (c Equal 3)))",
            ),
            ("sum(a*b)>1000", "([(a Times b)] Greater 1000)"),
            ("sum( a where b != 1 )", "[a if (b NotEqual 1)]"),
            (
                "count(), count(a = 1), count(where a <= 1)",
                "[count], [count if (a Equal 1)], [count if (a LessOrEqual 1)]",
            ),
            ("sum(a by b + 1 in -5, 0, 7), 3", "[a by (b Plus 1) [-5, 0, 7]], 3"),
            ("count(a < 9 by b in 1)", "[count if (a Less 9) by b [1]]"),
            ("sum(\"sum\" + \"a \"\"b\"\"\" + größe_2)", "[((sum Plus a \"b\") Plus größe_2)]"),
        ] {
            assert_eq!(read(text), tree, "{text}");
        }
        assert_eq!(Expression::parse(" 1 ").unwrap().text(), " 1 ");
    }

    #[test]
    fn every_answer_has_a_name() {
        for (text, names) in [
            ("sum(a*b)>1000", &["sum(a*b)>1000"][..]),
            (" count() , (sum(a) + 1) * 2 ", &["count()", "(sum(a) + 1) * 2"]),
            (
                "sum( a where b=1 by \"größe\" - 2 in -1, 10 ), count(by a in 3)",
                &[
                    "sum( a where b=1) for \"größe\" - 2 < -1",
                    "sum( a where b=1) for -1 <= \"größe\" - 2 < 10",
                    "sum( a where b=1) for \"größe\" - 2 >= 10",
                    "count() for a < 3",
                    "count() for a >= 3",
                ],
            ),
            ("(sum(a by b in 1))", &["sum(a) for b < 1", "sum(a) for b >= 1"]),
        ] {
            assert_eq!(Expression::parse(text).unwrap().names(), names, "{text}");
        }
    }

    #[test]
    fn faults_are_named_with_their_place() {
        let expected = |at, expected| ExpressionError::Expected { at, expected };
        let operand = "a number, a column, sum() or count()";
        for (text, error) in [
            ("", expected(1, operand)),
            ("  ", expected(3, operand)),
            ("sum", expected(4, "`(`")),
            ("sum()", expected(5, operand)),
            ("sum(a", expected(6, "an operator, `where`, `by` or `)`")),
            ("sum(a,b)", expected(6, "an operator, `where`, `by` or `)`")),
            ("(1", expected(3, "`)`")),
            ("1 2", expected(3, "an operator, a comma or the end")),
            ("1,", expected(3, operand)),
            ("1 + not 2 < 3", expected(5, operand)),
            ("sum(a) / 2", expected(8, "a name, a number or an operator")),
            ("sum(\"a)", expected(5, "the quote at the end of a name")),
            ("sum(a by b)", expected(11, "`in`")),
            ("sum(a by b in c)", expected(15, "a number")),
            ("sum(a by b in 2, 2)", ExpressionError::LimitsNotInOrder { at: 18 }),
            ("1 < 2 < 3", ExpressionError::ComparedTwice { at: 7 }),
            (&"9".repeat(40), ExpressionError::NumberTooLarge { at: 1 }),
            (&"-".repeat(33), ExpressionError::TooDeep { at: 34, max: 32 }),
            (&"(".repeat(99), ExpressionError::TooDeep { at: 34, max: 32 }),
            (&"1+".repeat(200), ExpressionError::TooManyParts { max: 256 }),
            (&" ".repeat(4097), ExpressionError::TooLong { max: 4096 }),
        ] {
            assert_eq!(Expression::parse(text).unwrap_err(), error, "{text}");
        }
    }
}
