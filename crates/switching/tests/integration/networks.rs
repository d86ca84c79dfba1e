//! Networks realise every permutation, with the switch counts of the papers.

use nix::sys::resource::{UsageWho, getrusage};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use std::collections::HashMap;
use vesica_switching::{Network, Permutation, Routing, WrongSwitchCount, apply_plain};

const ROUTERS: [fn(&Permutation) -> Routing; 2] = [Routing::waksman, Routing::benes];
const NETWORKS: [fn(usize) -> Network; 2] = [Network::waksman, Network::benes];

fn rng(seed: u8) -> ChaCha20Rng {
    ChaCha20Rng::from_seed([seed; 32])
}

fn shuffled(routing: &Routing) -> Vec<u32> {
    let mut lanes: Vec<u32> = (0..routing.network().len() as u32).collect();
    apply_plain(routing, &mut lanes);
    lanes
}

fn is_realised(permutation: &Permutation) -> bool {
    ROUTERS.iter().all(|route| shuffled(&route(permutation)) == permutation.sources())
}

/// Calls `f` with all permutations of the numbers below `len`.
fn for_all_orders(len: u32, f: &mut impl FnMut(Vec<u32>)) {
    fn extend(head: &mut Vec<u32>, len: u32, f: &mut impl FnMut(Vec<u32>)) {
        if head.len() == len as usize {
            return f(head.clone());
        }
        for next in 0..len {
            if !head.contains(&next) {
                head.push(next);
                extend(head, len, f);
                head.pop();
            }
        }
    }
    extend(&mut Vec::new(), len, f);
}

/// ⌈log i⌉ for i ≥ 1.
fn ceil_log(i: usize) -> usize {
    i.next_power_of_two().ilog2() as usize
}

#[test]
fn every_permutation_of_up_to_eight_lanes_is_realised() {
    for len in 0..=8 {
        let mut count = 0;
        for_all_orders(len, &mut |order| {
            count += 1;
            assert!(is_realised(&Permutation::from_sources(order.clone()).unwrap()), "{order:?}");
        });
        assert_eq!(count, (1..=len).product::<u32>());
    }
}

#[test]
fn random_permutations_of_any_size_are_realised() {
    let mut rng = rng(1);
    for len in 8..=300 {
        for _ in 0..5 {
            assert!(is_realised(&Permutation::random(len, &mut rng)), "{len}");
        }
    }
    for len in [1023, 1024, 1025, 65_535, 65_536, 65_537, 100_003] {
        assert!(is_realised(&Permutation::random(len, &mut rng)), "{len}");
    }
}

#[test]
fn extreme_permutations_are_realised() {
    for len in [2u32, 3, 9, 16, 31, 100] {
        let reverse: Vec<u32> = (0..len).rev().collect();
        let rotated: Vec<u32> = (0..len).map(|i| (i + 1) % len).collect();
        let exchanged: Vec<u32> = (0..len).map(|i| if i ^ 1 < len { i ^ 1 } else { i }).collect();
        for sources in [(0..len).collect(), reverse, rotated, exchanged] {
            assert!(is_realised(&Permutation::from_sources(sources).unwrap()), "{len}");
        }
    }
}

#[test]
fn waksman_networks_have_the_published_number_of_switches() {
    let mut formula = 0;
    for len in 1..3000 {
        formula += ceil_log(len);
        assert_eq!(Network::waksman(len).switch_count(), formula, "{len}");
    }
    for log in 0..40usize {
        let n = 1usize << log;
        assert_eq!(Network::waksman(n).switch_count(), n * log + 1 - n);
    }
    assert_eq!(Network::waksman(0).switch_count(), 0);
    assert_eq!(Network::waksman(1 << 20).switch_count(), 19_922_945);
}

#[test]
fn benes_networks_have_the_published_number_of_switches() {
    fn recursion(len: usize) -> usize {
        match len {
            0 | 1 => 0,
            2 => 1,
            n => 2 * (n / 2) + recursion(n / 2) + recursion(n - n / 2),
        }
    }
    for len in 0..3000 {
        assert_eq!(Network::benes(len).switch_count(), recursion(len), "{len}");
    }
    for log in 1..40usize {
        let n = 1usize << log;
        assert_eq!(Network::benes(n).switch_count(), n * log - n / 2);
    }
}

#[test]
fn the_document_has_these_counts() {
    let document = include_str!("../../../../docs/switching.md");
    for (name, len) in [("1000", 1000), ("2^16", 1 << 16), ("2^20", 1 << 20)] {
        let [waksman, benes] = NETWORKS.map(|network| thousands(network(len).switch_count()));
        let row = format!("| n = {name} | {waksman} | {benes} |");
        assert!(document.contains(&row), "{row}");
    }
    let larger =
        (0..5000).find(|n| Network::waksman(*n).switch_count() > Network::benes(*n).switch_count());
    assert_eq!(larger, None, "Waksman's network is never larger");
}

fn thousands(count: usize) -> String {
    match count {
        0..1000 => count.to_string(),
        _ => format!("{},{:03}", thousands(count / 1000), count % 1000),
    }
}

/// The invariants of evaluators: at each level, segments and switches lie side by side without
/// gaps, and a segment's parts are where the documentation says.
#[test]
fn segments_cover_a_level_and_split_into_the_next() {
    for network in NETWORKS {
        for len in 0..200usize {
            let network = network(len);
            assert_eq!(network.levels(), if len < 2 { 0 } else { ceil_log(len) });
            for level in 0..network.levels() {
                let segments: Vec<_> = network.segments(level).collect();
                assert_eq!(segments.len(), 1 << level);
                let (mut lane, mut input, mut output) = (0, 0, 0);
                for (index, segment) in segments.iter().enumerate() {
                    assert_eq!(*segment, network.segment(level, index));
                    assert_eq!(segment.lanes.start, lane);
                    assert_eq!(segment.input.start, input);
                    assert_eq!(segment.output.start, output);
                    assert_eq!(segment.input.len(), segment.len() / 2);
                    assert!(2 * segment.output.len() <= segment.len());
                    (lane, input, output) =
                        (segment.lanes.end, segment.input.end, segment.output.end);
                    if level + 1 < network.levels() {
                        let upper = network.segment(level + 1, 2 * index);
                        let lower = network.segment(level + 1, 2 * index + 1);
                        assert_eq!(upper.len(), segment.len() / 2);
                        assert_eq!(upper.lanes.start, segment.lanes.start);
                        assert_eq!(lower.lanes.start, upper.lanes.end);
                        assert_eq!(lower.lanes.end, segment.lanes.end);
                    }
                }
                assert_eq!((lane, input), (len, network.input_count(level)));
                assert_eq!(output, network.output_count(level));
            }
        }
    }
}

/// Evaluation in the other order: depth first over one slice, with each segment's switches found by
/// index.
#[test]
fn depth_first_evaluation_gives_the_same() {
    fn walk(routing: &Routing, level: usize, index: usize, lanes: &mut Vec<u32>) {
        if level == routing.network().levels() {
            return;
        }
        let segment = routing.network().segment(level, index);
        assert_eq!(segment.len(), lanes.len());
        for (i, set) in routing.input(level)[segment.input].iter().enumerate() {
            if *set {
                lanes.swap(2 * i, 2 * i + 1);
            }
        }
        let half = lanes.len() / 2;
        let mut upper: Vec<u32> = (0..half).map(|i| lanes[2 * i]).collect();
        let mut lower: Vec<u32> = (0..half).map(|i| lanes[2 * i + 1]).collect();
        lower.extend(&lanes[2 * half..]);
        walk(routing, level + 1, 2 * index, &mut upper);
        walk(routing, level + 1, 2 * index + 1, &mut lower);
        let last = lower.get(half).copied();
        *lanes = upper.iter().zip(&lower).flat_map(|(u, l)| [*u, *l]).chain(last).collect();
        for (i, set) in routing.output(level)[segment.output].iter().enumerate() {
            if *set {
                lanes.swap(2 * i, 2 * i + 1);
            }
        }
    }
    let mut rng = rng(2);
    for len in 0..150 {
        let permutation = Permutation::random(len, &mut rng);
        for route in ROUTERS {
            let mut lanes = (0..len as u32).collect();
            walk(&route(&permutation), 0, 0, &mut lanes);
            assert_eq!(lanes, permutation.sources());
        }
    }
}

/// Number of settings of the network that lead to each order.
fn orders_of_all_settings(network: Network) -> HashMap<Vec<u32>, u32> {
    let switches = network.switch_count();
    let mut seen = HashMap::new();
    for settings in 0..1u32 << switches {
        let settings: Vec<bool> = (0..switches).map(|i| settings >> i & 1 == 1).collect();
        let routing = Routing::from_settings(network, &settings).unwrap();
        *seen.entry(shuffled(&routing)).or_insert(0) += 1;
    }
    seen
}

#[test]
fn random_switches_do_not_make_a_uniform_permutation() {
    let three = orders_of_all_settings(Network::waksman(3));
    assert_eq!(three.len(), 6);
    let mut counts: Vec<u32> = three.into_values().collect();
    counts.sort_unstable();
    assert_eq!(counts, [1, 1, 1, 1, 2, 2]);
    for network in NETWORKS {
        let four = orders_of_all_settings(network(4));
        assert_eq!(four.len(), 24, "all orders occur, but not equally often");
        assert!(four.values().max() > four.values().min());
    }
}

#[test]
fn a_wrong_number_of_settings_is_refused() {
    let network = Network::waksman(5);
    assert_eq!(network.switch_count(), 8);
    for len in [0, 7, 9] {
        let refused = Routing::from_settings(network, &vec![false; len]);
        assert_eq!(refused.err(), Some(WrongSwitchCount));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_settings_permute_the_lanes(len in 0usize..200, seed: u8) {
        let mut rng = rng(seed);
        for network in NETWORKS {
            let network = network(len);
            let settings: Vec<bool> = (0..network.switch_count()).map(|_| rng.random()).collect();
            let routing = Routing::from_settings(network, &settings).unwrap();
            // The permutation of any settings can be routed, with the same result.
            let permutation = Permutation::from_sources(shuffled(&routing)).unwrap();
            prop_assert!(is_realised(&permutation));
        }
    }
}

/// CPU time of this thread, in milliseconds.
fn cpu_ms() -> f64 {
    let usage = getrusage(UsageWho::RUSAGE_THREAD).unwrap();
    [usage.user_time(), usage.system_time()]
        .into_iter()
        .map(|time| time.tv_sec() as f64 * 1e3 + time.tv_usec() as f64 / 1e3)
        .sum()
}

#[test]
#[ignore = "a measurement"]
#[allow(clippy::print_stdout)]
fn routing_a_million_lanes() {
    const RUNS: usize = 9;
    let mut rng = rng(3);
    for len in [1 << 16, 1 << 20, 1_331_691] {
        for route in ROUTERS {
            let (mut drawn, mut routed, mut switches) = (Vec::new(), Vec::new(), 0);
            for _ in 0..RUNS {
                let start = cpu_ms();
                let permutation = Permutation::random(len, &mut rng);
                drawn.push(cpu_ms() - start);
                let start = cpu_ms();
                let routing = route(&permutation);
                routed.push(cpu_ms() - start);
                switches = routing.network().switch_count();
                assert_eq!(shuffled(&routing), permutation.sources());
            }
            let [drawn, routed] = [&mut drawn, &mut routed].map(|times| {
                times.sort_by(f64::total_cmp);
                format!("{:.0} to {:.0}, median {:.0}", times[0], times[RUNS - 1], times[RUNS / 2])
            });
            println!("{len} lanes, {switches} switches, ms: drawn {drawn}; routed {routed}");
        }
    }
}
