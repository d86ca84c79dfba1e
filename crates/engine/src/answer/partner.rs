//! The rows of an intersection with the other party's columns.

use super::asked::{Asked, require};
use crate::output::RowSet;
use vesica_core::{Error, Item, Misbehaviour, Result};
use vesica_own_rows::PartnerColumns;
use vesica_own_rows::self_check::CheckedSet;
use vesica_records::payloads::cells;

/// The rows with the keys at `positions`, whose `payloads` follow the positions; `items` has the
/// item of each row.
///
/// # Errors
/// [`Misbehaviour::SelfCheckFailed`] if the payload of a shared self-check item has another byte
/// than zero; [`Misbehaviour::InvalidValue`] for one of a key that is not of the agreed form.
pub(super) fn rows(
    set: &CheckedSet,
    positions: &[usize],
    mut payloads: Vec<u8>,
    asked: &Asked<'_>,
    items: Vec<Item>,
) -> Result<RowSet> {
    let party = &asked.agreement.parties[asked.position].name;
    let columns = asked.agreement.columns_for(party).ok_or(Error::Bug("payloads of no columns"))?;
    let (len, types) = (columns.payload_len(), columns.types());
    if payloads.len() != positions.len() * len {
        return Err(Error::Bug("there is not one payload for each item"));
    }
    let own = set.own_items(positions);
    // The keys come first in the set, and the self-check items after them.
    let of_check_items = payloads.split_off(own.len() * len);
    require(of_check_items.iter().all(|byte| *byte == 0))?;
    if payloads.chunks(len).any(|payload| cells(&types, payload).is_none()) {
        return Err(Misbehaviour::InvalidValue.into());
    }
    let partner = PartnerColumns::new(columns.result_names(), types, payloads);
    Ok(RowSet::with_partner(&items, &own, partner))
}
