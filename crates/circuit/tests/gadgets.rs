//! The gadgets compute the right values with the gate counts of the papers.

use vesica_circuit::gadgets::{
    BitSum, Integer, add, at_least, equal, greater, hamming_weight, match_neighbours,
    merge_bitonic, merge_comparators, merge_odd_even, multiplex, odd_even_comparators, permute,
    product, select_matches, sort, sort_2, sort_comparators, sort_largest,
    sort_largest_comparators, square, sum_of_lanes, swap_if,
};
use vesica_circuit::{BitLanes, Clear, Count, Counted, Counting, Lanes, word};
use vesica_switching::{Network, Permutation, Routing};

fn words(numbers: &[u128], width: usize) -> Vec<BitLanes> {
    let bits = word::bits_of(numbers.iter().copied(), width);
    bits.iter().map(BitLanes::from).collect()
}

fn numbers(word: &[BitLanes]) -> Vec<u128> {
    let bits: Vec<_> = word.iter().map(|lanes| lanes.into()).collect();
    word::numbers(&bits)
}

/// Evaluators that process all lanes, few lanes, and with low depth.
fn evaluators() -> [Clear; 4] {
    [(usize::MAX, false), (16, false), (usize::MAX, true), (7, true)]
        .map(|(lanes, depth)| Clear::like(lanes, depth))
}

fn counted(f: impl FnOnce(&mut Counting)) -> Count {
    let mut counting = Counting::default();
    f(&mut counting);
    counting.count()
}

fn deep(f: impl FnOnce(&mut Counting)) -> Count {
    let mut counting = Counting::new(usize::MAX, true);
    f(&mut counting);
    counting.count()
}

/// All pairs of three-bit numbers, and some longer numbers.
fn pairs(width: usize) -> (Vec<u128>, Vec<u128>) {
    let mask = if width == 128 { u128::MAX } else { (1 << width) - 1 };
    let spread = |i: u128| i.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835) & mask;
    let small = (0..64).map(|i| ((i / 8) & mask, (i % 8) & mask));
    let large = (0..64).map(|i| (spread(i), spread(i / 3)));
    small.chain(large).unzip()
}

#[test]
fn words_are_compared_and_swapped() {
    for mut g in evaluators() {
        for width in [1, 2, 3, 5, 8, 31, 32, 33, 64, 128] {
            let (x, y) = pairs(width);
            let (a, b) = (words(&x, width), words(&y, width));
            let expected = |f: fn(&u128, &u128) -> bool| -> BitLanes {
                x.iter().zip(&y).map(|(x, y)| f(x, y)).collect()
            };
            assert_eq!(equal(&mut g, &a, &b).unwrap(), expected(|x, y| x == y));
            let is_greater = greater(&mut g, &a, &b).unwrap();
            assert_eq!(is_greater, expected(|x, y| x > y), "{width} bits");
            let [low, high] = sort_2(&mut g, width, &a, &b).unwrap();
            let smaller: Vec<u128> = x.iter().zip(&y).map(|(x, y)| *x.min(y)).collect();
            let larger: Vec<u128> = x.iter().zip(&y).map(|(x, y)| *x.max(y)).collect();
            assert_eq!((numbers(&low), numbers(&high)), (smaller, larger));
            let larger = multiplex(&mut g, &is_greater, &a, &b).unwrap();
            assert_eq!(larger, high);
            let [c, d] = swap_if(&mut g, &is_greater, &a, &b).unwrap();
            assert_eq!((c, d), (low, high));
        }
    }
}

#[test]
fn numbers_are_compared_with_a_constant() {
    let all: Vec<u128> = (0..32).collect();
    for mut g in evaluators() {
        for least in 0..40 {
            let word = words(&all, 5);
            let expected = all.iter().map(|x| *x >= u128::from(least)).collect();
            assert_eq!(at_least(&mut g, &word, least, 32).unwrap(), expected, "{least}");
        }
    }
    let cost = counted(|g| drop(at_least(g, &Counted::inputs(5, 1), 1, 1)));
    assert_eq!(cost.ands, 4);
}

#[test]
fn lanes_are_counted_and_added() {
    for mut g in evaluators() {
        for n in 0..70_u64 {
            let bits: Vec<u128> = (0..n).map(|i| u128::from(i * i % 7 < 3)).collect();
            let weight: u128 = bits.iter().sum();
            let lanes = words(&bits, 1).remove(0);
            let sum = hamming_weight(&mut g, &lanes).unwrap();
            assert_eq!(numbers(&sum).first().copied().unwrap_or(0), weight);
            let values: Vec<u128> = (0..n).map(|i| u128::from(i * 0x9e37_79b9 % 8191)).collect();
            let total: u128 = values.iter().sum();
            let sum = sum_of_lanes(&mut g, &words(&values, 13)).unwrap();
            assert_eq!(numbers(&sum).first().copied().unwrap_or(0), total);
        }
    }
}

/// The numbers in `word` of `width` bits, with a sign or without.
fn integers(word: &[BitLanes], signed: bool) -> Vec<i128> {
    let above = 128 - word.len() as u32;
    let number = |bits: u128| match signed {
        true => ((bits << above) as i128) >> above,
        false => bits as i128,
    };
    numbers(word).into_iter().map(number).collect()
}

/// Words of `width` bits, as numbers with a sign or without.
fn integer(bits: &[u128], width: usize, signed: bool) -> (Integer<BitLanes>, Vec<i128>) {
    let wires = words(bits, width);
    let numbers = integers(&wires, signed);
    (Integer { wires, signed }, numbers)
}

#[test]
fn integers_are_added_and_multiplied_with_and_without_signs() {
    for mut g in evaluators() {
        for (width, other_width) in [(1, 1), (2, 5), (5, 2), (8, 8), (1, 31), (33, 20)] {
            for (signed, other_signed) in
                [(false, false), (false, true), (true, false), (true, true)]
            {
                let ((x, _), (_, y)) = (pairs(width), pairs(other_width));
                let (a, x) = integer(&x, width, signed);
                let (b, y) = integer(&y, other_width, other_signed);
                let len = x.len();
                let expected = |of: fn(i128, i128) -> i128| -> Vec<i128> {
                    x.iter().zip(&y).map(|(x, y)| of(*x, *y)).collect()
                };
                let found = |g: &mut Clear, sum: &BitSum<BitLanes>| {
                    integers(&sum.word(g, 100, len).unwrap(), true)
                };
                for (factor, of) in [
                    (1, (|x, y| x + y) as fn(i128, i128) -> i128),
                    (-1, |x, y| x - y),
                    (11, |x, y| x + 11 * y),
                    (-6, |x, y| x - 6 * y),
                ] {
                    let mut sum = BitSum::of(&g, &a);
                    sum.add_times(&g, &BitSum::of(&g, &b), factor);
                    assert_eq!(found(&mut g, &sum), expected(of), "{factor}");
                }
                let mut sum = product(&mut g, &a, &b).unwrap();
                assert_eq!(found(&mut g, &sum), expected(|x, y| x * y));
                sum.add_times(&g, &BitSum::constant(-1000), 3);
                assert_eq!(found(&mut g, &sum), expected(|x, y| x * y - 3000));
                let total = sum.sum_of_lanes(&mut g, 90, len).unwrap();
                let total = integers(&total.word(&mut g, 90, 1).unwrap(), true);
                assert_eq!(total, [expected(|x, y| x * y - 3000).iter().sum::<i128>()]);
                let squares = square(&mut g, &a).unwrap();
                assert_eq!(found(&mut g, &squares), expected(|x, _| x * x));
                let longer = a.extended(&mut g, width + 3, len);
                assert_eq!(integers(&longer, signed), x);
            }
        }
        let none = Integer { wires: Vec::new(), signed: false };
        let zero = product(&mut g, &none, &none).unwrap().word(&mut g, 2, 4).unwrap();
        assert_eq!(numbers(&zero), [0; 4]);
        assert_eq!(numbers(&none.extended(&mut g, 2, 3)), [0; 3]);
    }
}

#[test]
fn integers_take_a_gate_for_each_carry_and_none_for_signs() {
    let sigma = 16;
    let inputs = |signed| Integer { wires: Counted::inputs(sigma, 1), signed };
    for (signed, factor) in [(false, 1), (false, -1), (true, 1), (true, -1)] {
        let cost = counted(|g| {
            let mut sum = BitSum::of(g, &inputs(signed));
            sum.add_times(g, &BitSum::of(g, &inputs(signed)), factor);
            drop(sum.word(g, sigma, 1));
        });
        assert_eq!(cost.ands, sigma as u64 - 1, "{signed} {factor}");
    }
    for signed in [false, true] {
        let cost = counted(|g| drop(BitSum::of(g, &inputs(signed)).word(g, 100, 1)));
        assert_eq!(cost.ands, 0, "a longer word");
        let cost = counted(|g| drop(product(g, &inputs(signed), &inputs(signed))));
        assert_eq!((cost.ands, cost.depth), (256, 1), "a product before its carries");
        let cost = counted(|g| drop(square(g, &inputs(signed))));
        assert_eq!((cost.ands, cost.depth), (120, 1), "a square before its carries");
        let product_of = |g: &mut Counting| product(g, &inputs(signed), &inputs(signed));
        let cost = counted(|g| drop(product_of(g).and_then(|sum| sum.word(g, 2 * sigma, 1))));
        // σ² gates for pairs of bits, and an adder for each bit that is not one of the result.
        assert!(cost.ands <= 2 * 256, "{}", cost.ands);
    }
}

#[test]
fn counting_lanes_takes_their_number_less_its_weight_in_gates() {
    for n in [1_u64, 2, 3, 4, 7, 8, 100, 1024, 65_536, 100_000] {
        let cost = counted(|g| drop(hamming_weight(g, &Counted::input(n as usize))));
        assert_eq!(cost.ands, n - u64::from(n.count_ones()), "{n} lanes");
    }
}

#[test]
fn comparators_have_the_gate_counts_of_the_papers() {
    for (sigma, log) in [(1, 0), (8, 3), (16, 4), (32, 5), (64, 6), (128, 7)] {
        let (a, b) = (Counted::inputs(sigma as usize, 1), Counted::inputs(sigma as usize, 1));
        let cost = counted(|g| drop(equal(g, &a, &b)));
        assert_eq!((cost.ands, cost.depth), (sigma - 1, log), "Equal");
        let cost = counted(|g| drop(greater(g, &a, &b)));
        assert_eq!((cost.ands, cost.depth), (sigma, sigma), "GT");
        let cost = counted(|g| drop(sort_2(g, sigma as usize, &a, &b)));
        assert_eq!(cost.ands, 2 * sigma, "2-Sorter");
        let cost = counted(|g| drop(multiplex(g, &Counted::input(1), &a, &b)));
        assert_eq!(cost.ands, sigma, "MUX");
        let cost = deep(|g| drop(greater(g, &a, &b)));
        assert_eq!((cost.ands, cost.depth), (3 * sigma - 2 - log, log + 1), "GT of low depth");
    }
}

fn merged(g: &mut Clear, low: usize, high: usize) -> (Vec<u128>, Vec<u128>) {
    let number = |i: usize| (i * 37 % 101) as u128;
    let mut x: Vec<u128> = (0..low).map(number).collect();
    let mut y: Vec<u128> = (0..high).map(|i| number(i + 13)).collect();
    x.sort_unstable_by(|a, b| b.cmp(a));
    y.sort_unstable();
    let mut all = [x, y].concat();
    let mut word = words(&all, 7);
    merge_bitonic(g, 7, &mut word).unwrap();
    all.sort_unstable();
    (numbers(&word), all)
}

#[test]
fn lists_that_fall_and_rise_are_merged_at_any_size() {
    for mut g in evaluators() {
        for (low, high) in [(0, 0), (1, 0), (0, 1), (1, 1), (2, 1), (5, 0), (0, 6), (8, 8), (3, 50)]
        {
            let (found, expected) = merged(&mut g, low, high);
            assert_eq!(found, expected, "{low} and {high}");
        }
        for n in 0..40 {
            let (found, expected) = merged(&mut g, n, 40 - n);
            assert_eq!(found, expected, "{n}");
        }
    }
}

/// A network of comparators merges all lists if it merges those of zeros and ones (Knuth, volume 3,
/// §5.3.4).
#[test]
fn lists_of_any_lengths_are_merged_by_odd_and_even_numbers() {
    for mut g in evaluators() {
        for (falling, rising) in (0..12).flat_map(|m| (0..20).map(move |n| (m, n))) {
            for (ones_x, ones_y) in (0..=falling).flat_map(|a| (0..=rising).map(move |b| (a, b))) {
                let x = (0..falling).map(|i| u128::from(i < ones_x));
                let y = (0..rising).map(|i| u128::from(i >= rising - ones_y));
                let mut word = words(&x.chain(y).collect::<Vec<_>>(), 1);
                merge_odd_even(&mut g, 1, &mut word, falling).unwrap();
                let found = numbers(&word);
                let ones = found.iter().filter(|number| **number == 1).count();
                assert!(found.is_sorted() && ones == ones_x + ones_y, "{falling}, {rising}");
            }
        }
    }
}

#[test]
fn payloads_move_with_their_keys() {
    let keys = [9, 7, 3, 1, 2, 5, 8];
    let all: Vec<u128> = keys.iter().enumerate().map(|(i, k)| (i as u128) << 4 | k).collect();
    for mut g in evaluators() {
        let mut merged = words(&all, 8);
        merge_bitonic(&mut g, 4, &mut merged).unwrap();
        let mut sorted = words(&all, 8);
        sort(&mut g, 4, &mut sorted).unwrap();
        let mut expected = all.clone();
        expected.sort_by_key(|x| x & 15);
        let mut by_numbers = words(&all, 8);
        merge_odd_even(&mut g, 4, &mut by_numbers, 4).unwrap();
        assert_eq!(numbers(&merged), expected);
        assert_eq!(numbers(&by_numbers), expected);
        assert_eq!(numbers(&sorted), expected);
    }
}

#[test]
fn lists_are_sorted_at_any_size() {
    for mut g in evaluators() {
        for n in 0..70 {
            let mut all: Vec<u128> = (0..n).map(|i| i * 37 % 41).collect();
            let mut word = words(&all, 6);
            sort(&mut g, 6, &mut word).unwrap();
            all.sort_unstable();
            assert_eq!(numbers(&word), all, "{n}");
        }
    }
}

#[test]
fn blocks_of_twice_the_matches_hold_all_matches() {
    let mut g = Clear::default();
    for (n, most) in [(64, 4), (64, 1), (50, 7), (9, 8), (9, 9), (5, 20), (6, 0)] {
        // Zeros, and matches wherever they are.
        for first in 0..n {
            let value = |i: usize| {
                let is_match = ((i + n - first) % n).is_multiple_of(5) && i / 5 < most;
                if is_match { (i * 37 % 251 + 1) as u128 } else { 0 }
            };
            let mut all: Vec<u128> = (0..n).map(value).collect();
            let found = sort_largest(&mut g, 8, &words(&all, 8), most).unwrap();
            all.sort_unstable();
            assert_eq!(numbers(&found), all[n - most.min(n)..], "{n}, {most}, {first}");
        }
        let mut g = Counting::new(usize::MAX, false);
        sort_largest(&mut g, 8, &Counted::inputs(8, n), most).unwrap();
        assert_eq!(g.count().ands, 16 * sort_largest_comparators(n, most), "{n}, {most}");
    }
}

#[test]
fn sorting_networks_have_the_comparator_counts_of_the_formulas() {
    for k in 1..12_u32 {
        let n = 1_u64 << k;
        assert_eq!(merge_comparators(2 * n as usize), n * u64::from(k + 1));
        let k = u64::from(k);
        assert_eq!(sort_comparators(n as usize), (k * k - k + 4) * n / 4 - 1);
    }
    for n in [2, 3, 7, 100, 1000] {
        for lanes_at_once in [usize::MAX, 64, 10] {
            let mut g = Counting::new(lanes_at_once, false);
            merge_bitonic(&mut g, 5, &mut Counted::inputs(5, n)).unwrap();
            assert_eq!(g.count().ands, 10 * merge_comparators(n));
            let mut g = Counting::new(lanes_at_once, false);
            sort(&mut g, 5, &mut Counted::inputs(5, n)).unwrap();
            assert_eq!(g.count().ands, 10 * sort_comparators(n));
        }
    }
}

#[test]
fn lists_of_different_lengths_take_few_comparators() {
    for k in 0..12_u32 {
        let n = 1_usize << k;
        assert_eq!(odd_even_comparators([1, n]), n as u64);
        assert_eq!(odd_even_comparators([n, n]), u64::from(k) * n as u64 + 1);
    }
    for (m, n) in (0..70).flat_map(|m| (0..70).map(move |n| (m, n))) {
        let comparators = odd_even_comparators([m, n]);
        assert_eq!(comparators, odd_even_comparators([n, m]));
        assert!(comparators <= merge_comparators(m + n), "{m}, {n}");
        for lanes_at_once in [usize::MAX, 10] {
            let mut g = Counting::new(lanes_at_once, false);
            merge_odd_even(&mut g, 5, &mut Counted::inputs(5, m + n), m).unwrap();
            assert_eq!(g.count().ands, 10 * comparators, "{m}, {n}");
        }
    }
}

#[test]
fn windows_find_each_pair_of_neighbours_once() {
    let lists: [&[u128]; 6] =
        [&[1, 1], &[1, 2], &[1, 1, 2, 3, 3, 4], &[1, 2, 2, 3, 4, 4], &[5, 6, 6], &[5, 5, 6, 7, 7]];
    for mut g in evaluators() {
        for list in lists {
            let word = words(list, 3);
            for step in [2, 4, 100] {
                let mut found = Vec::new();
                let mut first = 0;
                while first + 1 < list.len() {
                    let len = step.min(list.len() - first);
                    let windows = match_neighbours(&mut g, 3, &word, first, len).unwrap();
                    found.extend(numbers(&select_matches(&mut g, &windows).unwrap()));
                    first += step;
                }
                let expected: Vec<u128> =
                    list.windows(2).filter(|pair| pair[0] == pair[1]).map(|p| p[0]).collect();
                assert_eq!(found.len(), list.len() / 2);
                found.retain(|x| *x != 0);
                assert_eq!(found, expected, "{list:?} in steps of {step}");
            }
        }
    }
}

#[test]
fn the_filter_has_the_gate_count_of_the_paper() {
    for (n, sigma) in [(2, 8), (256, 32), (1024, 32), (4096, 16)] {
        let cost = counted(|g| {
            let word = Counted::inputs(sigma, 2 * n);
            let windows = match_neighbours(g, sigma, &word, 0, 2 * n).unwrap();
            assert_eq!(windows.is_match.len(), n);
            select_matches(g, &windows).unwrap();
        });
        let (n, sigma) = (n as u64, sigma as u64);
        assert_eq!(cost.ands, (3 * n - 1) * sigma - n);
    }
}

#[test]
fn words_are_added() {
    for mut g in evaluators() {
        for width in [1, 4, 33, 100] {
            let (x, y) = pairs(width);
            let sum = add(&mut g, &words(&x, width), &words(&y, width)).unwrap();
            let expected: Vec<u128> = x.iter().zip(&y).map(|(x, y)| x + y).collect();
            assert_eq!((sum.len(), numbers(&sum)), (width + 1, expected));
        }
    }
    let cost = counted(|g| drop(add(g, &Counted::inputs(72, 1), &Counted::inputs(72, 1))));
    assert_eq!(cost.ands, 72);
}

#[test]
fn the_generator_permutes_lanes_of_any_number() {
    let mut rng = <rand::rngs::StdRng as rand::SeedableRng>::seed_from_u64(1);
    for mut g in evaluators() {
        for n in (0..40).chain([100, 127, 128, 129]) {
            let all: Vec<u128> = (0..n).map(|i| i as u128 + 1).collect();
            let permutation = Permutation::random(n, &mut rng);
            let routing = Routing::waksman(&permutation);
            let network = routing.network();
            let out = permute(&mut g, &network, Some(&routing), words(&all, 8)).unwrap();
            assert_eq!(numbers(&out), permutation.apply(&all), "{n}");
        }
    }
}

#[test]
fn a_shuffle_has_one_one_sided_gate_a_switch_and_wire() {
    for (n, lanes_at_once) in [(1024, usize::MAX), (1024, 64), (1000, 64), (777, usize::MAX)] {
        let network = Network::waksman(n);
        let mut g = Counting::new(lanes_at_once, false);
        permute(&mut g, &network, None, Counted::inputs(32, n)).unwrap();
        let count = g.count();
        assert_eq!((count.ands, count.one_sided), (0, 32 * network.switch_count() as u64));
    }
    let (n, log) = (1 << 10, 10);
    assert_eq!(Network::waksman(n).switch_count(), n * log - n + 1);
}
