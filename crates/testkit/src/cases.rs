//! Which combinations of its factors a law tries.

/// How many of the combinations of some factors are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cases {
    /// Every value of every factor occurs.
    Each,
    /// Every pair of values of two factors occurs: a covering array of strength two.
    Pairs,
    /// Every combination occurs.
    All,
}

impl Cases {
    /// The combinations for factors that have `levels` values each, as positions of the values:
    /// always the same, in the same order, none twice.
    pub fn of<const N: usize>(self, levels: [usize; N]) -> Vec<[usize; N]> {
        match self {
            _ if levels.contains(&0) => Vec::new(),
            Self::Each => each(levels),
            Self::Pairs => pairs(levels),
            Self::All => all(levels),
        }
    }
}

fn each<const N: usize>(levels: [usize; N]) -> Vec<[usize; N]> {
    let most = levels.into_iter().max().unwrap_or(0);
    (0..most).map(|row| levels.map(|level| row % level)).collect()
}

fn all<const N: usize>(levels: [usize; N]) -> Vec<[usize; N]> {
    let position = |mut row: usize| {
        let mut case = [0; N];
        for (value, level) in case.iter_mut().zip(levels).rev() {
            (*value, row) = (row % level, row / level);
        }
        case
    };
    (0..levels.iter().product()).map(position).collect()
}

/// Each combination has the first pair that is not covered yet; its other values cover the most
/// pairs.
fn pairs<const N: usize>(levels: [usize; N]) -> Vec<[usize; N]> {
    if N < 2 {
        return all(levels);
    }
    let start: Vec<usize> = (0..=N).map(|factor| levels[..factor].iter().sum::<usize>()).collect();
    let len = start[N];
    let mut covered = vec![false; len * len];
    let at = |(a, x): (usize, usize), (b, y): (usize, usize)| {
        let (low, high) = if a < b { ((a, x), (b, y)) } else { ((b, y), (a, x)) };
        (start[low.0] + low.1) * len + start[high.0] + high.1
    };
    let mut cases = Vec::new();
    for a in 0..N {
        for b in a + 1..N {
            for [x, y] in all([levels[a], levels[b]]) {
                if covered[at((a, x), (b, y))] {
                    continue;
                }
                let mut case = [None; N];
                (case[a], case[b]) = (Some(x), Some(y));
                for factor in 0..N {
                    if case[factor].is_some() {
                        continue;
                    }
                    let others = || (0..N).filter_map(|other| Some((other, case[other]?)));
                    let new = |value: &usize| {
                        others().filter(|other| !covered[at((factor, *value), *other)]).count()
                    };
                    // Of equally good values the next in turn, so that no value occurs much more
                    // often.
                    let turn = cases.len() % levels[factor];
                    let values = (0..levels[factor]).map(|i| (i + turn) % levels[factor]);
                    case[factor] = values.rev().max_by_key(new);
                }
                let case = case.map(|value| value.expect("every factor has a value"));
                for [a, b] in all([N, N]) {
                    if a < b {
                        covered[at((a, case[a]), (b, case[b]))] = true;
                    }
                }
                cases.push(case);
            }
        }
    }
    cases
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const LEVELS: [[usize; 4]; 6] =
        [[7, 7, 2, 6], [2, 3, 2, 2], [1, 1, 1, 1], [1, 5, 1, 2], [2, 2, 2, 2], [3, 40, 7, 2]];

    fn distinct<const N: usize>(cases: &[[usize; N]], levels: [usize; N]) {
        assert_eq!(cases.iter().collect::<BTreeSet<_>>().len(), cases.len());
        assert!(cases.iter().all(|case| (0..N).all(|factor| case[factor] < levels[factor])));
    }

    #[test]
    fn every_pair_of_values_of_two_factors_occurs() {
        for levels in LEVELS {
            let cases = Cases::Pairs.of(levels);
            distinct(&cases, levels);
            for a in 0..4 {
                for b in a + 1..4 {
                    for x in 0..levels[a] {
                        for y in 0..levels[b] {
                            let is_it = |case: &[usize; 4]| case[a] == x && case[b] == y;
                            assert!(cases.iter().any(is_it), "{levels:?}: {a} {x}, {b} {y}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn pairs_take_few_cases() {
        let lens = LEVELS.map(|levels| Cases::Pairs.of(levels).len());
        let least = LEVELS.map(|mut levels| {
            levels.sort_unstable();
            levels[2] * levels[3]
        });
        for (len, least) in lens.into_iter().zip(least) {
            assert!(least <= len && len <= least + least / 4 + 2, "{len}, at least {least}");
        }
    }

    #[test]
    fn every_value_of_every_factor_occurs() {
        for levels in LEVELS {
            let cases = Cases::Each.of(levels);
            distinct(&cases, levels);
            assert_eq!(Some(cases.len()), levels.into_iter().max());
            for factor in 0..4 {
                let values: BTreeSet<_> = cases.iter().map(|case| case[factor]).collect();
                assert_eq!(values.len(), levels[factor]);
            }
        }
    }

    #[test]
    fn all_combinations_occur() {
        for levels in LEVELS {
            let cases = Cases::All.of(levels);
            distinct(&cases, levels);
            assert_eq!(cases.len(), levels.into_iter().product::<usize>());
        }
    }

    #[test]
    fn a_factor_without_values_gives_no_case() {
        for cases in [Cases::Each, Cases::Pairs, Cases::All] {
            assert!(cases.of([3, 0, 2]).is_empty());
        }
    }

    #[test]
    fn two_factors_have_all_pairs_in_all_combinations() {
        assert_eq!(Cases::Pairs.of([3, 2]), Cases::All.of([3, 2]));
    }
}
