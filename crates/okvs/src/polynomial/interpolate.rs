//! The coefficients of the polynomial through given points.

use vesica_core::Block;
use vesica_simd::gf128;
use zeroize::Zeroize;

/// Number of powers of all points kept as multipliers: enough that the rest costs little, and few
/// enough for the first-level cache.
const STEP: usize = 8;

/// Elements per vector on the widest processors.
const LANES: usize = 4;

/// The points, and memory to interpolate.
#[derive(Default)]
pub(crate) struct Buffers {
    xs: Vec<Block>,
    ys: Vec<Block>,
    /// m_0, …, m_L.
    product: Vec<Block>,
    /// M'(x_i), and then c_i.
    weights: Vec<Block>,
    /// s_0, …, s_(L−1).
    sums: Vec<Block>,
    /// x_i^0, …, x_i^STEP, one power after the other.
    powers: Vec<Block>,
    work: Vec<Block>,
}

impl Buffers {
    /// Takes the points, given in parts.
    pub(super) fn set_points(&mut self, xs: &[&[Block]], ys: &[&[Block]]) {
        self.xs.clear();
        self.ys.clear();
        xs.iter().for_each(|part| self.xs.extend_from_slice(part));
        ys.iter().for_each(|part| self.ys.extend_from_slice(part));
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // The remains of the points would reveal the dummies.
        for secret in [&mut self.xs, &mut self.ys, &mut self.weights] {
            secret.zeroize();
        }
    }
}

/// Sets `p` to the coefficients of the polynomial of degree below L through the L points; `None` if
/// two points have the same x.
pub(super) fn interpolate(buffers: &mut Buffers, p: &mut [Block]) -> Option<()> {
    let Buffers { xs, ys, product, weights, sums, powers, work } = buffers;
    if xs.is_empty() {
        return Some(());
    }
    multiply_out(xs, product, work);
    derivatives(xs, product, weights, work);
    invert(weights, work)?;
    gf128::mul_each(weights, ys);
    power_sums(xs, weights, powers, sums);
    // Padding to whole vectors costs less than a partial vector.
    let padded = |len: usize| len.next_multiple_of(LANES);
    product.resize(product.len() + LANES, Block::ZERO);
    sums.resize(padded(sums.len()), Block::ZERO);
    for (k, p) in p.iter_mut().enumerate() {
        let len = padded(xs.len() - k);
        *p = gf128::inner_product(&product[k + 1..][..len], &sums[..len]);
    }
    Some(())
}

/// Sets `product` to the coefficients of Π (X + x_i).
fn multiply_out(xs: &[Block], product: &mut Vec<Block>, work: &mut Vec<Block>) {
    product.clear();
    product.push(Block::ONE);
    for x in xs {
        work.clear();
        work.extend_from_slice(product);
        product.insert(0, Block::ZERO);
        let len = work.len();
        gf128::add_scaled(&mut product[..len], work, *x);
    }
}

/// Sets `out` to the derivative of the polynomial `product` at each of `xs`.
fn derivatives(xs: &[Block], product: &[Block], out: &mut Vec<Block>, squares: &mut Vec<Block>) {
    squares.clear();
    squares.extend_from_slice(xs);
    gf128::mul_each(squares, xs);
    out.clear();
    out.resize(xs.len(), Block::ZERO);
    // (X^k)' is X^(k−1) for odd k, and zero for even k.
    for coefficient in product.iter().skip(1).step_by(2).rev() {
        gf128::mul_each(out, squares);
        out.iter_mut().for_each(|value| *value ^= *coefficient);
    }
}

/// Replaces each element by its inverse; `None` if one is zero.
///
/// Multiplies pairs until one element is left, inverts it, and goes back down.
fn invert(elements: &mut [Block], levels: &mut Vec<Block>) -> Option<()> {
    let width = elements.len().next_power_of_two();
    levels.clear();
    levels.extend_from_slice(elements);
    levels.resize(width, Block::ONE);
    let mut from = 0;
    let mut len = width;
    while len > 1 {
        levels.extend_from_within(from..from + len / 2);
        let (known, new) = levels.split_at_mut(from + len);
        gf128::mul_each(new, &known[from + len / 2..]);
        from += len;
        len /= 2;
    }
    levels[from] = gf128::inverse(levels[from])?;
    while len < width {
        len *= 2;
        from -= len;
        // The inverse of each element of a pair is the inverse of the product times the other
        // element.
        let (level, inverses) = levels.split_at_mut(from + len);
        let inverses = &inverses[..len / 2];
        let (low, high) = level[from..].split_at_mut(len / 2);
        low.swap_with_slice(high);
        gf128::mul_each(low, inverses);
        gf128::mul_each(high, inverses);
    }
    elements.copy_from_slice(&levels[..elements.len()]);
    Some(())
}

/// Sets `sums` to Σ_i c_i·x_i^j for each j below the number of points; overwrites the c_i.
fn power_sums(xs: &[Block], c: &mut [Block], powers: &mut Vec<Block>, sums: &mut Vec<Block>) {
    let len = xs.len();
    powers.clear();
    powers.resize(len, Block::ONE);
    for i in 0..STEP {
        powers.extend_from_within(i * len..);
        gf128::mul_each(&mut powers[(i + 1) * len..], xs);
    }
    let (kept, step) = powers.split_at(STEP * len);
    sums.clear();
    while sums.len() < len {
        let more = STEP.min(len - sums.len());
        sums.extend(
            kept.chunks_exact(len).take(more).map(|powers| gf128::inner_product(c, powers)),
        );
        gf128::mul_each(c, step);
    }
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

    fn interpolated(xs: &[Block], ys: &[Block]) -> Option<Vec<Block>> {
        let mut buffers = Buffers::default();
        let mut p = vec![Block::ZERO; xs.len()];
        buffers.set_points(&[xs], &[ys]);
        interpolate(&mut buffers, &mut p).map(|()| p)
    }

    #[test]
    fn interpolation_recovers_the_coefficients() {
        for len in (0..40).chain([63, 64, 65, 127, 200, 257]) {
            let (p, xs) = (random(1, len), random(2, len));
            let value =
                |x: &Block| p.iter().rev().fold(Block::ZERO, |value, c| gf128::mul(value, *x) ^ *c);
            let ys: Vec<Block> = xs.iter().map(value).collect();
            assert_eq!(interpolated(&xs, &ys), Some(p), "{len} points");
        }
    }

    #[test]
    fn zero_is_a_valid_point() {
        let xs = [Block::ZERO, Block::ONE];
        assert_eq!(
            interpolated(&xs, &[Block::new(5), Block::new(4)]).unwrap(),
            [5, 1].map(Block::new)
        );
    }

    #[test]
    fn two_values_at_one_point_are_refused_even_if_equal() {
        for len in [2, 3, 8, 50] {
            let (mut xs, ys) = (random(1, len), vec![Block::ONE; len]);
            xs[len - 1] = xs[0];
            assert_eq!(interpolated(&xs, &ys), None);
        }
    }

    #[test]
    fn each_element_is_inverted() {
        for len in [1, 2, 3, 7, 8, 100] {
            let elements = random(3, len);
            let mut inverses = elements.clone();
            invert(&mut inverses, &mut Vec::new()).unwrap();
            for (a, b) in elements.iter().zip(&inverses) {
                assert_eq!(gf128::mul(*a, *b), Block::ONE);
            }
            inverses[len / 2] = Block::ZERO;
            assert_eq!(invert(&mut inverses, &mut Vec::new()), None);
        }
    }
}
