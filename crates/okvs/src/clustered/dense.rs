//! The dense part of the rows: the sum over j of x^(2^j) times dense slot j.

use vesica_core::Block;
use vesica_simd::gf128;
use vesica_simd::linear::LinearMap;

/// For fewer keys, preparation does not pay off.
const FEW: usize = 512;

/// Keys per step of decoding; their values stay in the first-level cache between the two parts.
pub(super) const BATCH: usize = 256;

/// The dense slots of a cluster, prepared for decoding.
pub(super) struct Dense<'a> {
    slots: &'a [Block],
    /// For many keys: the dense part is linear in the key over GF(2).
    map: Option<LinearMap>,
}

impl<'a> Dense<'a> {
    /// Prepares `slots` for about `keys` keys.
    pub(super) fn new(slots: &'a [Block], keys: usize) -> Self {
        let map = (keys >= FEW).then(|| {
            let bits: [Block; 128] = std::array::from_fn(|i| Block::new(1 << i));
            let mut images = [Block::ZERO; 128];
            add_products(&mut images, &bits, slots);
            LinearMap::new(&images)
        });
        Self { slots, map }
    }

    /// Adds the dense part of `keys[i]` to `acc[i]`.
    pub(super) fn add_to(&self, acc: &mut [Block], keys: &[Block]) {
        match &self.map {
            Some(map) => map.add_to(acc, keys),
            None => add_products(acc, keys, self.slots),
        }
    }
}

fn add_products(acc: &mut [Block], keys: &[Block], slots: &[Block]) {
    let mut powers = keys.to_vec();
    for (i, slot) in slots.iter().enumerate() {
        if i > 0 {
            powers.iter_mut().for_each(|power| *power = gf128::square(*power));
        }
        gf128::add_scaled(acc, &powers, *slot);
    }
}

/// The dense part of one key, or of one sum of keys.
pub(super) fn part(key: Block, dense: &[Block]) -> Block {
    let mut acc = Block::ZERO;
    let mut power = key;
    for slot in dense {
        acc ^= gf128::mul(power, *slot);
        power = gf128::square(power);
    }
    acc
}

/// Sets the leading `equations.len()` slots of `dense` so that each equation `(key, value)` holds;
/// the other slots keep their contents. `None` if the keys are linearly dependent over GF(2), or
/// outnumber the slots.
pub(super) fn solve(equations: &[(Block, Block)], dense: &mut [Block]) -> Option<()> {
    let unknowns = equations.len();
    let (solved, kept) = dense.split_at_mut_checked(unknowns)?;
    let mut matrix: Vec<Vec<Block>> = Vec::with_capacity(unknowns);
    for (key, value) in equations {
        let mut row = Vec::with_capacity(unknowns + 1);
        let mut power = *key;
        for _ in 0..unknowns {
            row.push(power);
            power = gf128::square(power);
        }
        row.push(*value ^ part(power, kept));
        matrix.push(row);
    }
    // Gauss–Jordan elimination: afterwards the last column is the solution.
    for column in 0..unknowns {
        let pivot = (column..unknowns).find(|i| matrix[*i][column] != Block::ZERO)?;
        matrix.swap(column, pivot);
        let inverse = gf128::inverse(matrix[column][column])?;
        gf128::scale(&mut matrix[column], inverse);
        let pivot_row = std::mem::take(&mut matrix[column]);
        for row in matrix.iter_mut().filter(|row| !row.is_empty()) {
            let factor = row[column];
            gf128::add_scaled(row, &pivot_row, factor);
        }
        matrix[column] = pivot_row;
    }
    for (slot, row) in solved.iter_mut().zip(&matrix) {
        *slot = row[unknowns];
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use vesica_simd::aes::Aes128;

    fn random(seed: u128, len: usize) -> Vec<Block> {
        let mut blocks = vec![Block::ZERO; len];
        Aes128::new(Block::new(seed)).ctr(0, &mut blocks);
        blocks
    }

    #[test]
    fn the_dense_part_of_a_sum_is_the_sum_of_the_dense_parts() {
        let dense = random(1, 5);
        let keys = random(2, 2);
        assert_eq!(part(keys[0] ^ keys[1], &dense), part(keys[0], &dense) ^ part(keys[1], &dense));
    }

    #[test]
    fn batches_equal_single_keys() {
        for len in [0, 1, 511, 512, 1000] {
            let dense = random(1, 3);
            let keys = random(2, len);
            let mut acc = vec![Block::ONE; len];
            Dense::new(&dense, len).add_to(&mut acc, &keys);
            for (acc, key) in acc.iter().zip(&keys) {
                assert_eq!(*acc, Block::ONE ^ part(*key, &dense));
            }
        }
    }

    #[test]
    fn independent_equations_are_solved() {
        for (equations, slots) in [(0, 0), (0, 3), (1, 1), (2, 3), (16, 16)] {
            let mut dense = random(1, slots);
            let equations: Vec<_> =
                random(2, equations).into_iter().zip(random(3, equations)).collect();
            solve(&equations, &mut dense).unwrap();
            assert!(equations.iter().all(|(key, value)| part(*key, &dense) == *value));
        }
    }

    #[test]
    fn dependent_equations_are_refused() {
        let keys = random(1, 2);
        let keys = [keys[0], keys[1], keys[0] ^ keys[1]];
        let equations: Vec<_> = keys.into_iter().zip(random(2, 3)).collect();
        assert!(solve(&equations, &mut [Block::ZERO; 3]).is_none());
        assert!(solve(&equations[..2], &mut [Block::ZERO; 1]).is_none());
    }
}
