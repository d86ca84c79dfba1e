use super::*;
use crate::Error;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;

fn random_tags(len: u32, tag_bits: u32) -> Vec<Tagged> {
    let mut rng = ChaCha20Rng::from_seed([len as u8; 32]);
    let mask = u128::MAX >> (128 - tag_bits);
    (0..len).map(|i| Tagged::new(rng.random::<u128>() & mask, i)).collect()
}

fn decode(shape: Shape, code: &[u8], piece_len: usize) -> Result<Vec<Group>> {
    let mut pieces = code.chunks(piece_len);
    let mut decoder = Decoder::new(shape);
    let groups = (0..1 << shape.group_bits())
        .map(|_| {
            decoder.group(|| {
                pieces.next().map(<[u8]>::to_vec).ok_or(Misbehaviour::InvalidValue.into())
            })
        })
        .collect::<Result<Vec<Group>>>()?;
    decoder.finish()?;
    Ok(groups)
}

#[test]
fn every_tag_is_found_and_no_other() {
    for (len, tag_bits) in
        [(1, 1), (1, 128), (2, 40), (3, 80), (1000, 60), (1024, 128), (5000, 20), (70_000, 88)]
    {
        let shape = Shape::new(u64::from(len), tag_bits);
        let tags = random_tags(len, tag_bits);
        let (code, order) = encode(shape, &tags);
        assert_eq!(code.len() as u64, shape.bytes(), "{len} tags of {tag_bits} bits");
        for piece_len in [1, 13, 1 << 20] {
            let groups = decode(shape, &code, piece_len).unwrap();
            let group_of = |tag: u128| {
                let low = tag_bits - shape.group_bits();
                if low == 128 { 0 } else { (tag >> low) as usize }
            };
            let mut first = vec![0];
            first.extend(groups.iter().scan(0, |sum, group| {
                *sum += group.len();
                Some(*sum)
            }));
            for tag in &tags {
                let at = group_of(tag.tag());
                let place = groups[at].find(tag.tag()).unwrap();
                let owner = order[first[at] + place] as usize;
                assert_eq!(tags[owner].tag(), tag.tag());
            }
            if tag_bits >= 60 {
                for other in random_tags(len + 1, tag_bits) {
                    let at = group_of(other.tag());
                    assert_eq!(groups[at].find(other.tag()), None);
                }
            }
        }
    }
}

#[test]
fn tags_that_differ_in_their_middle_or_share_all_high_bits_are_told_apart() {
    for tag_bits in [60, 128] {
        // Of 16 tags with the same high bits, each has a neighbour in each bit.
        let bits = [0, 1, tag_bits - 20, tag_bits - 19];
        let tag = |i: u32| {
            let chosen = (0..4).filter(|bit| i >> bit & 1 == 1);
            chosen.fold(1 << (tag_bits - 3), |tag, bit| tag | 1_u128 << bits[bit as usize])
        };
        for len in [1, 2, 3, 4, 5, 15] {
            let tags: Vec<Tagged> = (0..len).map(|i| Tagged::new(tag(i), i)).collect();
            let shape = Shape::new(len.into(), tag_bits);
            let (code, order) = encode(shape, &tags);
            let group = &decode(shape, &code, 64).unwrap()[0];
            for i in 0..16 {
                let found = group.find(tag(i)).map(|place| order[place]);
                assert_eq!(found, (i < len).then_some(i), "{i} of {len}");
            }
            let own: Vec<Tagged> = (0..16).map(|i| Tagged::new(tag(i), 20 + i)).collect();
            let found = group.matches(&own);
            let found: Vec<_> =
                found.iter().map(|(own, place)| (*own, order[*place as usize])).collect();
            assert_eq!(found, (0..len).map(|i| (20 + i, i)).collect::<Vec<_>>());
        }
    }
}

#[test]
fn the_code_lists_tags_in_ascending_order() {
    let shape = Shape::new(5000, 30);
    let tags = random_tags(5000, 30);
    let (_, order) = encode(shape, &tags);
    assert!(order.is_sorted_by_key(|i| tags[*i as usize].tag()));
    let mut all = order;
    all.sort_unstable();
    assert!(all.into_iter().eq(0..5000));
}

#[test]
fn an_empty_set_has_no_code() {
    let shape = Shape::new(0, 40);
    assert_eq!((shape.bytes(), encode(shape, &[]).0.len()), (0, 0));
}

#[test]
fn a_tag_takes_sixty_two_bits_at_two_to_the_twenty() {
    assert_eq!(Shape::new(1 << 20, 80).bytes() * 8, 62 << 20);
}

#[test]
fn too_many_tags_of_one_value_are_misbehaviour() {
    let shape = Shape::new(1000, 60);
    let heap = |len: u32| {
        let heaped = (0..len).map(|i| Tagged::new(u128::from(i), i));
        let spread = random_tags(1000 - len, 60).into_iter();
        let high = 1 << (60 - 9);
        let tags = heaped.chain(spread.map(|tag| Tagged::new(tag.tag() | high, 0)));
        encode(shape, &tags.collect::<Vec<_>>())
    };
    assert!(decode(shape, &heap(64).0, 1 << 20).is_ok());
    let refused = decode(shape, &heap(65).0, 1 << 20).map(|_| ());
    assert_eq!(refused, Err(Misbehaviour::InvalidValue.into()));
}

#[test]
fn more_or_fewer_tags_than_announced_are_misbehaviour() {
    let shape = Shape::new(100, 40);
    let (code, _) = encode(shape, &random_tags(100, 40));
    let refused = |code: Vec<u8>| matches!(decode(shape, &code, 64), Err(Error::PeerMisbehaved(_)));
    assert!(refused(vec![0xff; code.len()]));
    assert!(refused(vec![0; code.len()]));
    let mut grown = code.clone();
    grown.push(0);
    assert!(refused(grown));
    let mut last_bit = code;
    *last_bit.last_mut().unwrap() |= 0x80;
    let used = 100 + 64 + 100 * 34;
    assert_ne!(used % 8, 0, "the case needs spare bits");
    assert!(refused(last_bit));
}
