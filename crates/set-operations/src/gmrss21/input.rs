//! What a party brings.

use vesica_core::{Error, ParameterError, PsiParams, Result};
use vesica_party::{Input, check_distinct, check_set_len};

/// Largest set: bins and the hash functions' entries are numbered with 32 bits.
const MAX_ITEMS: u64 = 1 << 30;

/// Refuses sets that are too large, of another size than `len`, or that hold an item twice.
pub(super) fn check(params: &PsiParams, len: usize, input: &Input) -> Result<()> {
    for len in [params.sender_len() as u64, params.receiver_len() as u64] {
        if len > MAX_ITEMS {
            return Err(ParameterError::SetTooLarge { len, max: MAX_ITEMS }.into());
        }
    }
    check_distinct(input.items())?;
    check_set_len(len, input.items().len())
}

/// This party's values, in the order of its items.
pub(super) fn values_of(input: &Input) -> Result<&[u64]> {
    input.values().map(|values| values.as_slice()).ok_or(Error::Bug("a query without its values"))
}
