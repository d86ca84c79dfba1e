//! From two files of shares to the shared items and values.

use crate::{SharedColumn, SharesError, SharesFile};
use vesica_core::Item;
use vesica_core::hash::hex;
use vesica_tables::distinct_columns;

/// The content of two files of shares: the intersection, if keys were shared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Combined {
    /// The items of the common keys, if keys were shared.
    pub keys: Option<Vec<Item>>,
    /// The columns of values, and whether each has a sign.
    columns: Vec<(String, bool)>,
    /// Their values by column, as 64 bits.
    values: Vec<Vec<u64>>,
    entries: usize,
}

impl Combined {
    /// How many entries there are.
    pub fn entries(&self) -> usize {
        self.entries
    }

    /// The names of the columns, all different: `item` if keys were shared, `keys`, which the
    /// caller adds next to it, and those of the values. In a clash `keys` keep their names first,
    /// then the values.
    pub fn names(&self, keys: &[String]) -> Vec<String> {
        let values = self.columns.iter().map(|(name, _)| name);
        let names: Vec<&str> = keys.iter().chain(values).map(String::as_str).collect();
        let Some(_) = &self.keys else { return distinct_columns(&names) };
        let mut names = distinct_columns(&[&names[..], &["item"]].concat());
        names.rotate_right(1);
        names
    }

    /// The cells of entry number `entry`: the item as 32 hexadecimal digits, and the values as
    /// numbers.
    ///
    /// # Panics
    /// Unless `entry` is below [`entries`](Self::entries).
    pub fn cells(&self, entry: usize) -> Vec<String> {
        let item = self.keys.as_ref().map(|keys| hex(keys[entry].as_bytes()));
        let values = self.columns.iter().zip(&self.values).map(|((_, signed), values)| {
            let value = values[entry];
            if *signed { (value as i64).to_string() } else { value.to_string() }
        });
        item.into_iter().chain(values).collect()
    }
}

/// Combines the files `one` and `other`.
///
/// # Errors
/// [`SharesError`] if they do not belong together, or hold impossible values.
pub fn combine(one: &SharesFile, other: &SharesFile) -> Result<Combined, SharesError> {
    if one.computation != other.computation {
        return Err(SharesError::OtherComputation);
    }
    if one.share == other.share {
        return Err(SharesError::SameShare { share: one.share });
    }
    let kinds = |file: &SharesFile| -> Vec<(String, u32, bool)> {
        let of = |column: &SharedColumn| (column.name.clone(), column.bits, column.signed);
        file.values.iter().map(of).collect()
    };
    let fields = [
        ("agreement", one.agreement == other.agreement),
        ("operation", one.operation == other.operation),
        ("entries", one.entries == other.entries),
        ("combine", one.combine == other.combine),
        ("keys", one.keys.is_some() == other.keys.is_some()),
        ("values", kinds(one) == kinds(other)),
    ];
    if let Some((field, _)) = fields.into_iter().find(|(_, same)| !same) {
        return Err(SharesError::Differ { field });
    }
    let value =
        |a: u64, b: u64| if one.combine == SharesFile::SUM { a.wrapping_add(b) } else { a ^ b };
    let item = |(a, b): (&[u8; Item::LEN], &[u8; Item::LEN])| {
        Item::from_bytes(std::array::from_fn(|i| a[i] ^ b[i]))
    };
    let keys = one.keys.as_ref().zip(other.keys.as_ref());
    let mut values = Vec::new();
    for (one, other) in one.values.iter().zip(&other.values) {
        let column: Vec<u64> =
            one.shares.iter().zip(&other.shares).map(|(a, b)| value(*a, *b)).collect();
        if !column.iter().all(|value| one.can_hold(*value)) {
            let (column, bits) = (one.name.clone(), one.bits);
            return Err(SharesError::OutOfRange { column, bits });
        }
        values.push(column);
    }
    Ok(Combined {
        keys: keys.map(|(one, other)| one.iter().zip(other).map(item).collect()),
        columns: one.values.iter().map(|column| (column.name.clone(), column.signed)).collect(),
        values,
        entries: one.entries,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(share: u8, key: u8, value: u64) -> SharesFile {
        SharesFile {
            operation: "shares".to_owned(),
            agreement: "ab".to_owned(),
            computation: "cd".to_owned(),
            share,
            entries: 1,
            combine: SharesFile::XOR.to_owned(),
            keys: Some(vec![[key; 16]]),
            values: vec![SharedColumn {
                name: "amount".to_owned(),
                bits: 8,
                signed: true,
                shares: vec![value],
            }],
        }
    }

    #[test]
    fn keys_and_values_come_back_in_either_order() {
        let (one, other) = (file(1, 0xf0, 5), file(2, 0x0f, !2));
        for (one, other) in [(&one, &other), (&other, &one)] {
            let combined = combine(one, other).unwrap();
            assert_eq!(
                (combined.entries(), combined.names(&[])),
                (1, vec!["item".into(), "amount".into()])
            );
            assert_eq!(combined.cells(0), ["f".repeat(32), ((5 ^ !2_u64) as i64).to_string()]);
        }
    }

    #[test]
    fn no_two_columns_have_one_name() {
        let with = |share, names: &[&str]| {
            let column = &file(share, 0, 0).values[0];
            let named = |name: &&str| SharedColumn { name: (*name).to_owned(), ..column.clone() };
            SharesFile { values: names.iter().map(named).collect(), ..file(share, 0, 0) }
        };
        let names = ["item", "email", "email_"];
        let combined = combine(&with(1, &names), &with(2, &names)).unwrap();
        assert_eq!(combined.names(&[]), ["item_", "item", "email", "email_"]);
        let keys = ["email".to_owned(), "id".to_owned()];
        let expected = ["item_", "email", "id", "item", "email__", "email_"];
        assert_eq!(combined.names(&keys), expected);
    }

    #[test]
    fn values_that_add_up_wrap_around() {
        let with = |share, value| SharesFile {
            combine: SharesFile::SUM.to_owned(),
            keys: None,
            ..file(share, 0, value)
        };
        let combined = combine(&with(1, u64::MAX - 3), &with(2, 1)).unwrap();
        assert_eq!(
            (combined.names(&[]), combined.cells(0)),
            (vec!["amount".to_owned()], vec!["-3".to_owned()])
        );
    }

    #[test]
    fn values_beyond_the_bits_of_their_column_are_refused() {
        for (bits, signed, fits, does_not) in [
            (8, false, &[0, 255][..], &[256, 1 << 63, u64::MAX][..]),
            (8, true, &[0, 127, u64::MAX, u64::MAX - 127], &[128, 255, u64::MAX - 128, 1 << 63]),
            (1, true, &[0, u64::MAX], &[1]),
            (64, false, &[0, u64::MAX], &[]),
            (64, true, &[0, u64::MAX, 1 << 63], &[]),
        ] {
            let with = |share, value| {
                let mut file = file(share, 0, value);
                (file.values[0].bits, file.values[0].signed) = (bits, signed);
                file
            };
            for value in fits {
                assert!(combine(&with(1, *value ^ 99), &with(2, 99)).is_ok(), "{bits} {value}");
            }
            for value in does_not {
                let column = "amount".to_owned();
                let error = SharesError::OutOfRange { column, bits };
                assert_eq!(combine(&with(1, *value ^ 99), &with(2, 99)), Err(error), "{value}");
            }
        }
    }

    #[test]
    fn files_that_do_not_belong_together_are_refused_for_their_reason() {
        let one = file(1, 1, 1);
        let other = file(2, 2, 2);
        assert_eq!(combine(&one, &one), Err(SharesError::SameShare { share: 1 }));
        let elsewhere = SharesFile { computation: "ef".to_owned(), ..other.clone() };
        assert_eq!(combine(&one, &elsewhere), Err(SharesError::OtherComputation));
        let mut values = other.values.clone();
        values[0].bits = 9;
        for (field, other) in [
            ("agreement", SharesFile { agreement: "x".to_owned(), ..other.clone() }),
            ("operation", SharesFile { operation: "x".to_owned(), ..other.clone() }),
            ("entries", SharesFile { entries: 2, ..other.clone() }),
            ("combine", SharesFile { combine: SharesFile::SUM.to_owned(), ..other.clone() }),
            ("keys", SharesFile { keys: None, ..other.clone() }),
            ("values", SharesFile { values, ..other.clone() }),
        ] {
            assert_eq!(combine(&one, &other), Err(SharesError::Differ { field }));
        }
    }
}
