use vesica_core::{Error, Item, ParameterError, PsiParams, Result};
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

/// What a party learned.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Output {
    /// Nothing beyond the public sizes.
    Nothing,
    /// Positions in this party's own list, ascending, of the items both parties have.
    Positions(Vec<usize>),
}

impl Output {
    /// The positions.
    ///
    /// # Errors
    /// [`Error::Bug`] when the party learned something else.
    pub fn into_positions(self) -> Result<Vec<usize>> {
        match self {
            Output::Positions(positions) => Ok(positions),
            Output::Nothing => {
                Err(Error::Bug("a party that learns nothing was asked for a result"))
            }
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
