use std::sync::Arc;
use vesica_core::{Error, Item, ParameterError, PsiParams, Result, Role};
use vesica_net::Context;

/// One party of one protocol run.
///
/// The constructor takes the private input and checked parameters; `run` consumes the party, so
/// that nothing is ever used twice. The receiver learns the result.
pub trait Party: Send {
    /// Runs the protocol to its end.
    ///
    /// # Errors
    /// Any [`Error`]; the context is of no use afterwards.
    fn run(self: Box<Self>, ctx: &mut Context) -> Result<Output>;
}

/// What a party brings: its set, and with [`vesica_core::Query::Sum`] the values of one party's items.
#[derive(Clone)]
pub struct Input {
    items: Arc<Vec<Item>>,
    values: Option<Arc<Vec<u64>>>,
}

impl Input {
    /// `items`, with the value of each in their order.
    pub fn with_values(items: Arc<Vec<Item>>, values: Arc<Vec<u64>>) -> Self {
        Self { items, values: Some(values) }
    }

    /// The set.
    pub fn items(&self) -> &Arc<Vec<Item>> {
        &self.items
    }

    /// The value of each item, where this party has them.
    pub fn values(&self) -> Option<&Arc<Vec<u64>>> {
        self.values.as_ref()
    }

    /// The set alone.
    pub fn into_items(self) -> Arc<Vec<Item>> {
        self.items
    }

    /// Refuses values where there should be none, and values that are missing, too many or too long.
    pub(crate) fn check(&self, params: &PsiParams, role: Role) -> Result<()> {
        match (params.query().values_of(role), &self.values) {
            (None, None) => Ok(()),
            (Some(of), Some(values)) if values.len() == self.items.len() => {
                let bits = of.bits();
                let is_too_long = |value: &u64| value.checked_shr(bits).unwrap_or(0) != 0;
                match values.iter().any(is_too_long) {
                    true => Err(ParameterError::ValueTooLong { bits }.into()),
                    false => Ok(()),
                }
            }
            _ => Err(ParameterError::Values.into()),
        }
    }
}

impl From<Arc<Vec<Item>>> for Input {
    fn from(items: Arc<Vec<Item>>) -> Self {
        Self { items, values: None }
    }
}

/// What a party learned.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Output {
    /// Nothing beyond the public sizes.
    Nothing,
    /// Positions in this party's own list, ascending, of the items both parties have.
    Positions(Vec<usize>),
    /// How many items are common.
    Cardinality(u64),
    /// Whether the common items are as many as asked for.
    AtLeast(bool),
    /// The sum of the common items' values.
    Sum(u128),
    /// The number of common items is outside the bounds, and nothing else.
    OutsideBounds,
}

impl Output {
    /// The positions.
    ///
    /// # Errors
    /// [`Error::Bug`] when the party learned something else.
    pub fn into_positions(self) -> Result<Vec<usize>> {
        match self {
            Output::Positions(positions) => Ok(positions),
            _ => Err(Error::Bug("a party was asked for positions it did not learn")),
        }
    }
}

/// Refuses a set of another size than the parameters say.
pub(crate) fn check_set_len(expected: usize, actual: usize) -> Result<()> {
    if expected == actual {
        return Ok(());
    }
    Err(ParameterError::SetLenMismatch { expected: expected as u64, actual: actual as u64 }.into())
}

/// Refuses items that are integers of more bits than the parameters say.
pub(crate) fn check_item_bits(params: &PsiParams, items: &[Item]) -> Result<()> {
    let bits = params.item_bits();
    let is_too_long = |item: &Item| item.integer().checked_shr(bits).unwrap_or(0) != 0;
    match items.iter().any(is_too_long) {
        true => Err(ParameterError::ItemTooLong { bits }.into()),
        false => Ok(()),
    }
}
