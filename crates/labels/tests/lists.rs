//! Lists that are encoded, read, joined and put back into order, compared with plain sets.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::num::NonZeroUsize;
use vesica_core::Item;
use vesica_labels::{
    Bits, Format, Label, LabelKey, List, ListError, Order, Ranges, Segments, Spool, join,
};
use vesica_net::Pool;
use vesica_scratch::{MemoryScratch, Scratch};

struct Written(Vec<Vec<u8>>);

impl Segments for Written {
    fn read(&self, index: u32) -> io::Result<Vec<u8>> {
        self.0.get(index as usize).cloned().ok_or(io::ErrorKind::NotFound.into())
    }
}

/// A list of the labels of integers, its counts, and the order of the integers in it.
fn written(format: Format, integers: impl Iterator<Item = u64>) -> (Written, Vec<u32>, Order) {
    let key = LabelKey::derive(&[7; 32], "lists test", 0);
    let mut spool = Spool::new(format, 34, 1 << 16, &MemoryScratch).unwrap();
    let integers: Vec<u64> = integers.collect();
    let items: Vec<Item> = integers.iter().map(|i| Item::from_integer((*i).into())).collect();
    key.of_items(&items, |at, label| spool.push(label, integers[at]).unwrap());
    let sorted = spool.finish().unwrap();
    let mut order = Order::new(format.segments(), &MemoryScratch as &dyn Scratch).unwrap();
    let (mut segments, mut counts) = (Vec::new(), Vec::new());
    for index in 0..format.segments() {
        let segment = sorted.segment(index).unwrap();
        order.keep(index, &segment).unwrap();
        segments.push(sorted.encode(&segment).unwrap());
        counts.push(segment.labels.len() as u32);
    }
    (Written(segments), counts, order)
}

fn numbers_found(order: &Order, bits: &Bits) -> BTreeMap<u64, bool> {
    let mut found = BTreeMap::new();
    order
        .each(bits, |number, _, is_found| assert_eq!(found.insert(number, is_found), None))
        .unwrap();
    found
}

/// The bits of a join by some ranges at a time.
fn in_pieces(lists: &[List<'_>], each: usize) -> Vec<Bits> {
    let ranges = Ranges::new(lists);
    let mut all: Vec<Bits> = lists.iter().map(|list| Bits::new(list.len())).collect();
    for first in (0..ranges.len()).step_by(each) {
        let piece = first..(first + each as u32).min(ranges.len());
        let found = join::common_in(lists, piece.clone(), &|| false).unwrap().unwrap();
        for (list, (bits, found)) in all.iter_mut().zip(found).enumerate() {
            let places = ranges.touched(list, &piece);
            assert_eq!(found.len(), places.end - places.start);
            bits.set_all(places.start, &found);
        }
    }
    all
}

fn common(sets: &[BTreeSet<u64>], formats: &[Format], threads: usize) {
    let written: Vec<_> = sets
        .iter()
        .zip(formats)
        .map(|(set, format)| written(*format, set.iter().copied()))
        .collect();
    let lists: Vec<List<'_>> = written
        .iter()
        .zip(formats)
        .map(|((segments, counts, _), format)| List::new(*format, counts, segments).unwrap())
        .collect();
    let pool = Pool::new(NonZeroUsize::new(threads).unwrap()).unwrap();
    let bits = join::common(&lists, &pool, &|| false).unwrap().unwrap();
    for each in [1, 3, 1 << 10] {
        assert_eq!(in_pieces(&lists, each), bits, "{each} ranges at a time");
    }
    let expected = sets
        .iter()
        .skip(1)
        .fold(sets[0].clone(), |all, set| all.intersection(set).copied().collect());
    for ((set, bits), (_, _, order)) in sets.iter().zip(&bits).zip(&written) {
        assert_eq!(bits.len(), set.len() as u64);
        let plain: BTreeMap<u64, bool> = set.iter().map(|i| (*i, expected.contains(i))).collect();
        assert_eq!(numbers_found(order, bits), plain);
    }
}

#[test]
fn a_join_is_the_plain_intersection_for_lists_of_any_sizes() {
    for threads in [1, 3] {
        for (sizes, overlap) in [
            (vec![0, 0], 0),
            (vec![1, 1], 1),
            (vec![1, 300_000], 1),
            (vec![5000, 700_000, 90_000], 4000),
            (vec![600_000, 600_000], 7),
        ] {
            let mut first_own = 1 << 32;
            let sets: Vec<BTreeSet<u64>> = sizes
                .iter()
                .map(|size| {
                    first_own += 1 << 24;
                    (0..overlap).chain(first_own..first_own + size - overlap).collect()
                })
                .collect();
            let scales: Vec<u32> =
                sizes.iter().map(|size: &u64| size.max(&1).next_power_of_two().ilog2()).collect();
            let most = *scales.iter().max().unwrap();
            let formats: Vec<Format> =
                scales.iter().map(|scale| Format::new(*scale, 40 + 2 * most)).collect();
            common(&sets, &formats, threads);
        }
    }
}

#[test]
fn a_list_with_wrong_counts_is_malformed() {
    let format = Format::new(4, 60);
    let (segments, _, _) = written(format, 0..10);
    let list = List::new(format, &[9], &segments).unwrap();
    assert_eq!(list.segment(0, &mut Vec::<Label>::new()), Err(ListError::Malformed));
    assert!(matches!(List::new(format, &[5, 5], &segments), Err(ListError::Malformed)));
}

#[test]
fn a_join_can_be_stopped() {
    let format = Format::new(4, 60);
    let (segments, counts, _) = written(format, 0..10);
    let lists = [List::new(format, &counts, &segments).unwrap()];
    let pool = Pool::new(NonZeroUsize::MIN).unwrap();
    assert_eq!(join::common(&lists, &pool, &|| true), Ok(None));
    assert_eq!(join::common_in(&lists, 0..1, &|| true), Ok(None));
}

/// Without the key, every order of the items is equally likely: over many keys, each of four items
/// takes each order equally often.
#[test]
fn the_order_of_a_list_is_uniform_over_keys() {
    let items: Vec<Item> = (0..4).map(Item::from_integer).collect();
    let mut counts = BTreeMap::<Vec<usize>, u32>::new();
    const RUNS: u32 = 48_000;
    for run in 0..RUNS {
        let mut secret = [0; 32];
        secret[..4].copy_from_slice(&run.to_le_bytes());
        let mut labels = Vec::new();
        LabelKey::derive(&secret, "order test", 0)
            .of_items(&items, |at, label| labels.push((label, at)));
        labels.sort_unstable();
        *counts.entry(labels.into_iter().map(|(_, at)| at).collect()).or_default() += 1;
    }
    assert_eq!(counts.len(), 24);
    let expected = f64::from(RUNS) / 24.0;
    let chi_square: f64 =
        counts.values().map(|n| (f64::from(*n) - expected).powi(2) / expected).sum();
    // 23 degrees of freedom: above 65 with probability 10^-5.
    assert!(chi_square < 65.0, "{chi_square}");
}
