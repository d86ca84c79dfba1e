use super::*;
use rand::SeedableRng;
use rand::rngs::StdRng;
use vesica_agreement::ValueTerms;

fn of_three(padded_len: usize) -> Additions {
    Additions { shared: 3, own: 3, padded_len }
}

fn set(padded_len: usize) -> CheckedSet {
    let items = (0..5).map(|i| Item::from_bytes([i; 16])).collect();
    let rng = &mut StdRng::seed_from_u64(1);
    CheckedSet::with_check_items(items, of_three(padded_len), &[7; 32], rng).unwrap()
}

#[test]
fn check_items_and_padding_are_added() {
    assert_eq!(set(0).input().into_items().len(), 5 + 6);
    assert_eq!(set(20).input().into_items().len(), 20 + 6);
}

#[test]
fn both_parties_have_the_same_shared_check_items_and_no_others() {
    let (one, two) = (set(0), {
        let items = vec![Item::from_bytes([99; 16])];
        let rng = &mut StdRng::seed_from_u64(2);
        CheckedSet::with_check_items(items, of_three(0), &[7; 32], rng).unwrap()
    });
    assert_eq!(one.input().into_items()[5..8], two.input().into_items()[1..4]);
    assert!(
        one.input().into_items()[8..].iter().all(|item| !two.input().into_items().contains(item))
    );
}

#[test]
fn a_set_without_own_check_items_has_padding_behind_the_shared_ones() {
    let items = (0..5).map(|i| Item::from_bytes([i; 16])).collect();
    let rng = &mut StdRng::seed_from_u64(1);
    let additions = Additions { shared: 3, own: 0, padded_len: 9 };
    let set = CheckedSet::with_check_items(items, additions, &[7; 32], rng).unwrap();
    assert_eq!((set.len(), set.check_items()), (5 + 3 + 4, [5..8, 8..8]));
    assert_eq!(set.input().shared(), 5..8);
    assert_eq!(set.check(&[1, 5, 6, 7]), Ok(1));
    assert_eq!(set.check(&[1, 5, 6, 7, 8]), Err(Misbehaviour::SelfCheckFailed));
}

#[test]
fn integers_of_different_kinds_never_meet() {
    let integers = IntegerItems::new(8, 4, 34);
    let key = |number| Item::from_integer(integers.first_key() + number);
    let keys: Vec<Item> = [0, 5, 255].map(key).to_vec();
    let additions = Additions { shared: 4, own: 4, padded_len: 30 };
    let of = |role| CheckedSet::of_integers(keys.clone(), additions, integers, role).unwrap();
    let (sender, receiver) =
        (of(Role::Sender).input().into_items(), of(Role::Receiver).input().into_items());
    assert_eq!(sender.len(), 30 + 8);
    let common = sender.iter().filter(|item| receiver.contains(item)).count();
    assert_eq!(common, 3 + 4);
    for items in [sender, receiver] {
        assert!(items.iter().all(|item| item.integer() <= integers.largest()));
        assert!(items.iter().all(|item| item.integer() != 0), "zero is kept for protocols");
        let mut distinct = items.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), items.len());
    }
}

#[test]
fn every_item_has_values_and_only_keys_are_in_their_reach() {
    let checked = |columns, bits| {
        let (of, duplicates) = ("a".to_owned(), vesica_records::Duplicates::Sum);
        let columns = (0..columns).map(|i: u32| i.to_string()).collect();
        CheckedValues::new(
            3,
            &ValueTerms { of, columns, groups: None, bits, signed: false, duplicates },
        )
    };
    let own = vec![1, 2, 3, 4, 5];
    let set = set(20).with_values(own.clone(), checked(1, 8)).unwrap();
    let values = set.input().values().unwrap().to_vec();
    assert_eq!(values[..5], own.iter().map(|v| v << 4).collect::<Vec<u64>>());
    assert_eq!((values.len(), &values[5..8]), (set.items.len(), &[1; 3][..]));
    assert!(values[8..].iter().all(|value| *value == 4));
    assert_eq!(set.reach(), Some(&[(0, 15)][..]));
    let set = self::set(20).with_values((0..10).collect(), checked(2, 8)).unwrap();
    let values = set.input().values().unwrap().to_vec();
    assert_eq!(values[..6], [0, 1, 0, 2, 3, 0]);
    assert_eq!((values.len(), &values[15..18]), (3 * set.items.len(), &[0, 0, 1][..]));
    assert_eq!(set.reach(), Some(&[(0, 20), (0, 25)][..]));
    assert_eq!(self::set(20).reach(), None);
}

#[test]
fn every_item_has_a_text_and_those_of_no_keys_are_marked() {
    let mut keys = KeyTexts::default();
    ["a", "bb", "ccc", "d", "e"].iter().for_each(|key| keys.push(key.as_bytes()));
    let set = set(9).with_keys(keys, Some(TextForm { len: 6, role: Role::Sender })).unwrap();
    let texts = set.input().texts().unwrap().to_vec();
    assert_eq!(texts.len(), 6 * set.len());
    assert_eq!(texts[6..12], *b"\x02\x00bb\x00\x00");
    let marks: Vec<u8> = texts[30..].chunks(6).map(|text| text[2]).collect();
    assert_eq!(marks, [0, 0, 0, 1, 1, 1, 3, 3, 3, 3]);
}

#[test]
fn a_right_result_passes_without_its_check_items() {
    assert_eq!(set(20).check(&[1, 3, 5, 6, 7]), Ok(2));
    let items = set(20).own_items(&[1, 3, 5, 6, 7]);
    assert_eq!(items, [Item::from_bytes([1; 16]), Item::from_bytes([3; 16])]);
    assert_eq!(set(0).check(&[5, 6, 7]), Ok(0));
    assert_eq!(set(0).own_items(&[5, 6, 7]), []);
}

#[test]
fn a_lost_check_item_is_found_out() {
    assert_eq!(set(0).check(&[1, 3, 5, 7]), Err(Misbehaviour::SelfCheckFailed));
    assert_eq!(set(0).check(&[]), Err(Misbehaviour::SelfCheckFailed));
}

#[test]
fn a_false_match_is_found_out() {
    assert_eq!(set(0).check(&[1, 5, 6, 7, 8]), Err(Misbehaviour::SelfCheckFailed));
    assert_eq!(set(20).check(&[5, 6, 7, 25]), Err(Misbehaviour::SelfCheckFailed));
    assert_eq!(set(0).check(&[1, 1, 5, 6, 7]), Err(Misbehaviour::SelfCheckFailed));
}
