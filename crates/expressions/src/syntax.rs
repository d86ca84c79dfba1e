//! The tree of an expression.

use std::ops::Range;

/// A part of an expression.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// Where it begins: a character of the text, from 1.
    pub(crate) at: usize,
    pub(crate) kind: Kind,
}

impl Node {
    pub(crate) fn is_comparison(&self) -> bool {
        match self.kind {
            Kind::Two(operator, ..) => operator.strength() == Strength::Comparison,
            _ => false,
        }
    }
}

/// What a part is.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Number(i128),
    Column(String),
    Negative(Box<Node>),
    Not(Box<Node>),
    Two(Operator, Box<Node>, Box<Node>),
    Total(Box<Total>),
}

/// `sum(of where filter by …)`, or `count(…)`.
#[derive(Clone, Debug)]
pub(crate) struct Total {
    /// What is added; `None` for `count`.
    pub(crate) of: Option<Node>,
    pub(crate) filter: Option<Node>,
    pub(crate) buckets: Option<Buckets>,
}

/// `by of in limits`.
#[derive(Clone, Debug)]
pub(crate) struct Buckets {
    pub(crate) of: Node,
    /// The characters of `of` in the text, from 0, `by` and `in` excluded.
    pub(crate) of_at: Range<usize>,
    /// Where `by` stands: a character of the text, from 0.
    pub(crate) by_at: usize,
    pub(crate) limits: Vec<i128>,
}

/// An operator between two parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Or,
    And,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
    Plus,
    Minus,
    Times,
}

impl Operator {
    /// The operator with this sign or word.
    pub(crate) fn of(sign: &str) -> Option<Self> {
        Some(match sign {
            "or" => Self::Or,
            "and" => Self::And,
            "<" => Self::Less,
            "<=" => Self::LessOrEqual,
            ">" => Self::Greater,
            ">=" => Self::GreaterOrEqual,
            "=" | "==" => Self::Equal,
            "!=" => Self::NotEqual,
            "+" => Self::Plus,
            "-" => Self::Minus,
            "*" => Self::Times,
            _ => return None,
        })
    }

    /// How tightly it binds.
    pub(crate) fn strength(self) -> Strength {
        match self {
            Self::Or => Strength::Or,
            Self::And => Strength::And,
            Self::Plus | Self::Minus => Strength::Sum,
            Self::Times => Strength::Product,
            _ => Strength::Comparison,
        }
    }
}

/// How tightly operators bind, the loosest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Strength {
    Or,
    And,
    Not,
    Comparison,
    Sum,
    Product,
    Sign,
}

impl Strength {
    /// That of the right side of an operator: the next tighter one.
    pub(crate) fn next(self) -> Self {
        match self {
            Self::Or => Self::And,
            Self::And => Self::Not,
            Self::Not => Self::Comparison,
            Self::Comparison => Self::Sum,
            Self::Sum => Self::Product,
            Self::Product | Self::Sign => Self::Sign,
        }
    }
}
