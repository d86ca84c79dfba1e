//! Numbers and conditions with what is known of them.

/// A number from `min` to `max`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Number {
    pub(crate) min: i128,
    pub(crate) max: i128,
    pub(crate) form: Form,
}

/// How a number is computed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Form {
    /// It is `min`.
    Constant,
    /// The value of a column.
    Column(usize),
    /// A total of the plan.
    Total(usize),
    /// The first number and `.2` times the second.
    Sum(Box<Number>, Box<Number>, i128),
    Product(Box<Number>, Box<Number>),
}

/// A condition.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Condition {
    Known(bool),
    /// The first number is larger.
    Greater(Box<Number>, Box<Number>),
    Equal(Box<Number>, Box<Number>),
    Not(Box<Condition>),
    Both(Box<Condition>, Box<Condition>),
}

impl Number {
    pub(crate) fn constant(number: i128) -> Self {
        Self { min: number, max: number, form: Form::Constant }
    }

    /// The value of a column; `bits` is 64 at most.
    pub(crate) fn column(index: usize, bits: u32, signed: bool) -> Self {
        let (min, max) =
            if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
        Self { min, max, form: Form::Column(index) }
    }

    /// The total with number `index`: of `of` over those of `entries` that fulfil `filter`. `None`
    /// if it could have too many bits.
    pub(crate) fn total(
        index: usize,
        of: &Self,
        filter: &Condition,
        entries: usize,
    ) -> Option<Self> {
        let (min, max) = match filter {
            Condition::Known(true) => (of.min, of.max),
            Condition::Known(false) => (0, 0),
            _ => (of.min.min(0), of.max.max(0)),
        };
        let entries = entries as i128;
        Self::within([min.checked_mul(entries)?, max.checked_mul(entries)?], Form::Total(index))
    }

    /// `None` if the number could have more than 127 bits and a sign.
    fn within([min, max]: [i128; 2], form: Form) -> Option<Self> {
        // The negative of every number is one, too.
        if min == i128::MIN {
            return None;
        }
        Some(if min == max { Self::constant(min) } else { Self { min, max, form } })
    }

    pub(crate) fn is_constant(&self) -> bool {
        self.form == Form::Constant
    }

    pub(crate) fn plus(self, other: Self) -> Option<Self> {
        let range = [self.min.checked_add(other.min)?, self.max.checked_add(other.max)?];
        Self::within(range, Form::Sum(Box::new(self), Box::new(other), 1))
    }

    pub(crate) fn minus(self, other: Self) -> Option<Self> {
        if self == other {
            return Some(Self::constant(0));
        }
        let range = [self.min.checked_sub(other.max)?, self.max.checked_sub(other.min)?];
        Self::within(range, Form::Sum(Box::new(self), Box::new(other), -1))
    }

    /// This total less a total of some of its entries: again a total of some of its entries.
    pub(crate) fn minus_part(self, part: Self) -> Self {
        if part.is_constant() && part.min == 0 {
            return self;
        }
        if part == self {
            return Self::constant(0);
        }
        let (min, max) = (self.min.min(0), self.max.max(0));
        let form = Form::Sum(Box::new(self), Box::new(part), -1);
        Self { min, max, form }
    }

    pub(crate) fn times(self, other: Self) -> Option<Self> {
        let (a, b) = (&self, &other);
        let corners = [
            a.min.checked_mul(b.min)?,
            a.min.checked_mul(b.max)?,
            a.max.checked_mul(b.min)?,
            a.max.checked_mul(b.max)?,
        ];
        let mut min = corners[0].min(corners[1]).min(corners[2]).min(corners[3]);
        let max = corners[0].max(corners[1]).max(corners[2]).max(corners[3]);
        if a == b {
            min = min.max(0);
        }
        let form = match (a.is_constant(), b.is_constant()) {
            (true, _) => Form::Sum(Box::new(Self::constant(0)), Box::new(other), self.min),
            (_, true) => Form::Sum(Box::new(Self::constant(0)), Box::new(self), other.min),
            _ => Form::Product(Box::new(self), Box::new(other)),
        };
        Self::within([min, max], form)
    }

    /// Bits of the numbers from `min` to `max`, with a sign if one is negative.
    pub(crate) fn width(&self) -> usize {
        let bits = |number: i128| (i128::BITS - number.leading_zeros()) as usize;
        let of_max = bits(self.max.max(0));
        if self.is_signed() { 1 + of_max.max(bits(!self.min)) } else { of_max }
    }

    pub(crate) fn is_signed(&self) -> bool {
        self.min < 0
    }

    pub(crate) fn uses(&self, column: usize) -> bool {
        match &self.form {
            Form::Constant | Form::Total(_) => false,
            Form::Column(index) => *index == column,
            Form::Sum(a, b, _) | Form::Product(a, b) => a.uses(column) || b.uses(column),
        }
    }
}

impl Condition {
    /// Whether a > b.
    pub(crate) fn greater(a: &Number, b: &Number) -> Self {
        if a.min > b.max {
            Self::Known(true)
        } else if a.max <= b.min || a == b {
            Self::Known(false)
        } else {
            Self::Greater(Box::new(a.clone()), Box::new(b.clone()))
        }
    }

    /// Whether a = b.
    pub(crate) fn equal(a: &Number, b: &Number) -> Self {
        if a == b {
            Self::Known(true)
        } else if a.max < b.min || b.max < a.min {
            Self::Known(false)
        } else {
            Self::Equal(Box::new(a.clone()), Box::new(b.clone()))
        }
    }

    pub(crate) fn not(self) -> Self {
        match self {
            Self::Known(known) => Self::Known(!known),
            Self::Not(of) => *of,
            other => Self::Not(Box::new(other)),
        }
    }

    pub(crate) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Known(true), other) | (other, Self::Known(true)) => other,
            (Self::Known(false), _) | (_, Self::Known(false)) => Self::Known(false),
            (a, b) => Self::Both(Box::new(a), Box::new(b)),
        }
    }

    pub(crate) fn uses(&self, column: usize) -> bool {
        match self {
            Self::Known(_) => false,
            Self::Greater(a, b) | Self::Equal(a, b) => a.uses(column) || b.uses(column),
            Self::Not(of) => of.uses(column),
            Self::Both(a, b) => a.uses(column) || b.uses(column),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_the_least_that_hold_both_ends() {
        for (min, max, width) in [
            (0, 1, 1),
            (0, 255, 8),
            (5, 256, 9),
            (-1, 0, 1),
            (-1, 1, 2),
            (-128, 127, 8),
            (-129, 0, 9),
            (-8, -5, 4),
            (-3, 255, 9),
            (0, i128::MAX, 127),
            (-i128::MAX, i128::MAX, 128),
        ] {
            let number = Number { min, max, form: Form::Column(0) };
            assert_eq!(number.width(), width, "{min} {max}");
        }
        assert_eq!(Number::constant(0).width(), 0);
    }
}
