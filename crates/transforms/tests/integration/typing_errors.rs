//! Which values meet under `delete-one` and `replace-one`.

use proptest::prelude::*;
use std::collections::HashSet;
use vesica_transforms::{Texts, Transform};

fn meet(name: &str, a: &str, b: &str) -> bool {
    let transform: Transform = name.parse().unwrap();
    let texts = |value: &str| {
        let mut texts = Texts::new();
        let _ = transform.apply(value, &mut texts);
        texts.iter().map(String::from).collect::<HashSet<_>>()
    };
    !texts(a).is_disjoint(&texts(b))
}

/// The length of the longest text that is left of both when characters are removed.
fn common_len(a: &[char], b: &[char]) -> usize {
    let mut row = vec![0; b.len() + 1];
    for x in a {
        let mut diagonal = 0;
        for (at, y) in b.iter().enumerate() {
            let above = row[at + 1];
            row[at + 1] = if x == y { diagonal + 1 } else { above.max(row[at]) };
            diagonal = above;
        }
    }
    row[b.len()]
}

/// What `delete-one` says of the pairs that meet, by another way.
fn should_meet_by_deletion(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let common = common_len(&a, &b);
    common > 0 && common + 1 >= a.len().max(b.len())
}

/// What `replace-one` says of the pairs that meet, by another way.
fn should_meet_by_replacement(a: &str, b: &str) -> bool {
    let is_long = !a.is_empty() && a.chars().count() == b.chars().count();
    is_long && a.chars().zip(b.chars()).filter(|(x, y)| x != y).count() <= 1
}

/// `value` with one typing error at a place: a character more, fewer or another, or two neighbours
/// exchanged.
fn with_error(value: &str, kind: u8, at: usize, other: char) -> String {
    let mut chars: Vec<char> = value.chars().collect();
    let at = at % chars.len();
    match kind {
        0 => chars.insert(at, other),
        1 => drop(chars.remove(at)),
        2 => chars[at] = other,
        _ if at + 1 < chars.len() => chars.swap(at, at + 1),
        _ => {}
    }
    chars.into_iter().collect()
}

#[test]
fn the_documented_pairs_meet() {
    for (a, b, by_deletion, by_replacement) in [
        ("smith", "smith", true, true),
        ("smith", "smyth", true, true),
        ("smith", "smit", true, false),
        ("smith", "smiith", true, false),
        ("smith", "msith", true, false),
        // One character at another place.
        ("smith", "mitsh", true, false),
        ("abcd", "bcda", true, false),
        // One character removed from each leaves the same.
        ("smith", "mithx", true, false),
        ("smith", "smythe", false, false),
        ("smith", "htims", false, false),
        ("a", "b", false, true),
        ("a", "ab", true, false),
        ("ab", "ba", true, false),
        ("123456789", "123456780", true, true),
    ] {
        assert_eq!(meet("delete-one", a, b), by_deletion, "{a} {b}");
        assert_eq!(meet("replace-one", a, b), by_replacement, "{a} {b}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn values_meet_exactly_as_documented(a in "[a-c\u{e9}]{0,7}", b in "[a-c\u{e9}]{0,7}") {
        prop_assert_eq!(meet("delete-one", &a, &b), should_meet_by_deletion(&a, &b));
        prop_assert_eq!(meet("replace-one", &a, &b), should_meet_by_replacement(&a, &b));
    }

    #[test]
    fn values_at_edit_distance_one_meet(
        value in "\\PC{2,40}|[a-z0-9]{2,20}|[ab]{2,10}",
        kind in 0..4_u8,
        at in any::<usize>(),
        other in any::<char>(),
    ) {
        prop_assume!(!value.contains('\0') && other != '\0');
        let error = with_error(&value, kind, at, other);
        prop_assert!(meet("delete-one", &value, &error), "{:?} {:?}", &value, &error);
        let is_replaced = kind == 2 || value == error;
        prop_assert!(!is_replaced || meet("replace-one", &value, &error));
    }
}
