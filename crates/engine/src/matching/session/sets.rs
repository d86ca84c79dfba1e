//! A set as it is read with more than its keys, and as it enters a protocol in one run.

use super::{Matched, OwnSet, SessionRun, Whole};
use crate::answer::OwnRows;
use crate::error::ConfigFault;
use crate::matching::exchange;
use crate::output::KeyRows;
use crate::reading::Reader;
use crate::{Error, Event};
use vesica_agreement::split;
use vesica_net::Context;
use vesica_own_rows::self_check::{Additions, CheckedSet, TextForm};
use vesica_records::KeySet;

impl SessionRun<'_> {
    /// Reads the keys with the values, texts or payloads that the run needs.
    pub(super) fn read_with_more(&self, reader: &Reader<'_>) -> Result<OwnSet, Error> {
        let mut keys = reader.keys(|_| self.peer.go_on_reading())?;
        self.peer.link().keep_rows(exchange::digest_of(&keys))?;
        let counts = keys.counts.clone();
        reader.check_number(counts.distinct)?;
        self.run.event(&Event::KeysRead(&counts));
        let rows = match keys.rows.take() {
            Some(numbers) if reader.sends_columns() => {
                OwnRows { items: numbers.items(&keys.items, counts.rows), keys: None }
            }
            numbers => {
                let of_keys =
                    |numbers| KeyRows { columns: reader.columns(), numbers, rows: counts.rows };
                OwnRows { items: Vec::new(), keys: numbers.map(of_keys) }
            }
        };
        Ok(OwnSet::Whole(Box::new(Whole { keys, rows, counts })))
    }

    /// `keys` with self-check items and padding; `len` of them are announced. In partitions all
    /// padding consists of this party's own self-check items.
    pub(super) fn checked_set(
        &self,
        ctx: &mut Context,
        keys: KeySet,
        len: u64,
        Matched { role, params, plan, .. }: Matched<'_>,
        secret: &[u8; 32],
    ) -> Result<CheckedSet, Error> {
        let agreement = self.agreement;
        let check_items = agreement.self_check as usize;
        let (own_check_items, padded_len) = if plan.is_split() {
            let entered = split::entered_len(plan, params, role) as usize;
            (entered.saturating_sub(keys.items.len() + check_items), 0)
        } else {
            (agreement.own_check_items() as usize, len as usize)
        };
        let KeySet { items, values, texts, payloads, .. } = keys;
        let additions = Additions { shared: check_items, own: own_check_items, padded_len };
        let set = match agreement.integer_items() {
            Some(integers) => CheckedSet::of_integers(items, additions, integers, role),
            None => CheckedSet::with_check_items(items, additions, secret, ctx.rng()),
        };
        let set = match (values, agreement.checked_values_of(role)) {
            (Some(values), Some(checked)) => set.and_then(|set| set.with_values(values, checked)),
            _ => set,
        };
        let set = match texts {
            Some(keys) => {
                let texts = agreement.text_len().map(|len| TextForm { len, role });
                set.and_then(|set| set.with_keys(keys, texts))
            }
            None => set,
        };
        // The roles depend on who has the columns, so only the sender has read some.
        let set = match (payloads, params.query().payload_len()) {
            (Some(payloads), Some(len)) => {
                set.and_then(|set| set.with_payloads(payloads, len.bytes()))
            }
            _ => set,
        };
        Ok(set.ok_or(ConfigFault::OutOfMemory { items: len })?)
    }
}
