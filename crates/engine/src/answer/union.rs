//! The union: own keys, and keys that only the other party has.

use crate::output::{KeyRows, Union};
use vesica_core::Misbehaviour;
use vesica_own_rows::self_check::CheckedSet;
use vesica_records::KeyTexts;

/// The own keys of `set` and `theirs`, by their texts.
///
/// # Errors
/// [`Misbehaviour::SelfCheckFailed`] if one of `theirs` is an own key, or occurs twice.
pub(super) fn joined(
    set: &CheckedSet,
    theirs: &KeyTexts,
    rows: KeyRows,
) -> Result<Union, Misbehaviour> {
    let own = set.keys().into_iter().flat_map(KeyTexts::iter);
    let mut keys: Vec<(Vec<u8>, Option<u32>)> = own
        .zip(0..)
        .map(|(key, position)| (key.to_vec(), Some(position)))
        .chain(theirs.iter().map(|key| (key.to_vec(), None)))
        .collect();
    keys.sort_unstable();
    if keys.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        Err(Misbehaviour::SelfCheckFailed)
    } else {
        Ok(Union::new(rows, keys, theirs.len() as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand::rngs::StdRng;
    use vesica_core::Item;
    use vesica_own_rows::self_check::Additions;

    fn texts(keys: &[&str]) -> KeyTexts {
        let mut texts = KeyTexts::default();
        keys.iter().for_each(|key| texts.push(key.as_bytes()));
        texts
    }

    #[test]
    fn keys_are_sorted_and_none_is_there_twice() {
        let items = (0..2).map(|i| Item::from_bytes([i; 16])).collect();
        let rng = &mut StdRng::seed_from_u64(1);
        let none = Additions { shared: 0, own: 0, padded_len: 0 };
        let set = CheckedSet::with_check_items(items, none, &[7; 32], rng).unwrap();
        let set = set.with_keys(texts(&["m", "c"]), None).unwrap();
        let union = joined(&set, &texts(&["z", "d"]), KeyRows::default()).unwrap();
        let keys: Vec<(&[u8], Option<u32>)> =
            union.keys().iter().map(|(key, own)| (&key[..], *own)).collect();
        assert_eq!(keys, [(&b"c"[..], Some(1)), (b"d", None), (b"m", Some(0)), (b"z", None)]);
        assert_eq!(union.new_keys(), 2);
        for theirs in [&["c"][..], &["d", "d"]] {
            let refused = joined(&set, &texts(theirs), KeyRows::default()).err();
            assert_eq!(refused, Some(Misbehaviour::SelfCheckFailed));
        }
    }
}
