//! Transforms one after another.

use crate::vectors::{transforms, value};
use proptest::prelude::*;
use std::collections::BTreeSet;
use vesica_transforms::{ChainError, Refusal, Room, Transform, chain, max_outputs};

fn chained(names: &[&str], value: &str, most: usize) -> Result<Vec<String>, ChainError> {
    let transforms: Vec<Transform> = names.iter().map(|name| name.parse().unwrap()).collect();
    let mut room = Room::default();
    chain(&transforms, value, most, &mut room).map(|texts| texts.iter().map(String::from).collect())
}

#[test]
fn each_transform_takes_all_texts_of_the_one_before() {
    assert_eq!(chained(&[], "x", 1).unwrap(), ["x"]);
    assert_eq!(chained(&["nysiis", "first(6)"], "westerlund", 1).unwrap(), ["WASTAR"]);
    assert_eq!(chained(&["fold", "cologne"], "M\u{fc}ller", 1).unwrap(), ["657"]);
    assert_eq!(
        chained(&["split", "soundex"], "garcia marquez", 3).unwrap(),
        ["G620", "M622", "G625"]
    );
    assert_eq!(chained(&["day-month-unordered", "year"], "1985-01-02", 1).unwrap(), ["1985"]);
    assert_eq!(chained(&["first(2)", "delete-one"], "abcd", 3).unwrap(), ["ab", "b", "a"]);
}

#[test]
fn equal_texts_of_several_count_once() {
    assert_eq!(chained(&["split", "first(3)"], "maria marina", 8).unwrap(), ["mar"]);
    assert_eq!(chained(&["split", "soundex"], "robert rupert", 8).unwrap(), ["R163"]);
}

#[test]
fn more_texts_than_agreed_are_an_error_and_none_is_left_out() {
    let too_many = |most| Err(ChainError::TooMany { most });
    assert_eq!(chained(&["split"], "garcia marquez", 2), too_many(2));
    assert_eq!(chained(&["split", "soundex"], "garcia marquez", 2), too_many(2));
    assert_eq!(chained(&["delete-one"], "smith", 5), too_many(5));
    assert_eq!(chained(&["delete-one"], "smith", 6).unwrap().len(), 6);
    // Also where a later one would make fewer of them.
    assert_eq!(chained(&["delete-one", "first(1)"], "smith", 5), too_many(5));
    assert_eq!(chained(&["delete-one", "first(1)"], "smith", 6).unwrap(), ["s", "m"]);
    assert_eq!(
        chained(&["split"], "garcia marquez", 2).unwrap_err().to_string(),
        "gives more than 2 texts"
    );
}

#[test]
fn a_value_is_refused_if_no_text_is_left() {
    let refused = |reason| Err(ChainError::Refused(reason));
    assert_eq!(chained(&["soundex"], "12", 8), refused(Refusal::NoSound));
    assert_eq!(chained(&["first(1)", "year"], "1985-01-02", 8), refused(Refusal::NotADate));
    // One text is refused, the others are not.
    assert_eq!(chained(&["split", "soundex"], "123 lee", 8).unwrap(), ["L000"]);
}

#[test]
fn the_bound_of_several_multiplies() {
    let bound = |names: &[&str], len| {
        let transforms: Vec<Transform> = names.iter().map(|name| name.parse().unwrap()).collect();
        max_outputs(&transforms, len)
    };
    assert_eq!(bound(&[], 40), 1);
    assert_eq!(bound(&["soundex"], 40), 1);
    assert_eq!(bound(&["double-metaphone"], 40), 2);
    assert_eq!(bound(&["delete-one"], 20), 21);
    assert_eq!(bound(&["replace-one"], 9), 9);
    assert_eq!(bound(&["split"], 20), 8);
    assert_eq!(bound(&["first(3)", "delete-one"], 40), 4);
    assert_eq!(bound(&["delete-one", "delete-one"], 9), 100);
    assert_eq!(bound(&["delete-one"], usize::MAX), 129);
    assert_eq!(bound(&["delete-one"; 40], 200), usize::MAX);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn a_chain_gives_distinct_texts_within_its_bound(
        value in value(),
        places in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
        most in 1..400_usize,
    ) {
        let all = transforms();
        let transforms: Vec<Transform> = places.iter().map(|at| *at.get(&all)).collect();
        let mut room = Room::default();
        let bound = max_outputs(&transforms, value.chars().count());
        match chain(&transforms, &value, most, &mut room) {
            Ok(texts) => {
                let distinct: BTreeSet<&str> = texts.iter().collect();
                prop_assert_eq!(distinct.len(), texts.len());
                prop_assert!(!texts.is_empty() && texts.len() <= most.min(bound));
            }
            Err(ChainError::TooMany { most: told }) => prop_assert_eq!(told, most),
            Err(_) => {}
        }
    }
}
