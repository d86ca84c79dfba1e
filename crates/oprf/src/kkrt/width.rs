//! The length of codewords.

use vesica_ot::coded::rows::Width;

/// Blocks per row: codewords have at most 512 bits.
pub(super) const ROW_BLOCKS: usize = 4;

/// W in bytes, and the maximum number of comparisons for it: ⌊2^-40 / Pr[B < 128]⌋, where B is the
/// number of heads in W flips of a fair coin. `parameters/kkrt` computes the table with integers; a
/// test of this crate computes it again.
const WIDTHS: [(usize, u64); 12] = [
    (50, 8),
    (51, 103),
    (52, 1_418),
    (53, 20_869),
    (54, 326_967),
    (55, 5_441_018),
    (56, 95_925_943),
    (57, 1_787_461_241),
    (58, 35_124_395_058),
    (59, 726_335_172_316),
    (60, 15_774_610_180_354),
    (61, 359_136_826_082_488),
];

/// The smallest W, in whole bytes, for which all of `comparisons` pairs of different codewords
/// differ in at least 128 places, except with probability 2^-40.
///
/// # Panics
/// Above 2^45 comparisons.
pub fn width(comparisons: u64) -> Width<ROW_BLOCKS> {
    let enough = WIDTHS.iter().find(|(_, most)| comparisons <= *most);
    let (bytes, _) =
        enough.expect("at most three comparisons for each of 2^32 items, in 2^12 runs");
    Width::from_bytes(*bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pr[B < 128]. All terms are positive, so the result has a relative error of about 2^-40.
    fn tail(bits: usize) -> f64 {
        let mut term = 0.5_f64.powi(bits as i32);
        let mut sum = term;
        for i in 1..128 {
            term *= (bits - i + 1) as f64 / i as f64;
            sum += term;
        }
        sum
    }

    #[test]
    fn compared_codewords_differ_in_128_places_except_with_probability_2_to_minus_40() {
        let limit = 0.5_f64.powi(40);
        for (bytes, most) in WIDTHS {
            let failure = most as f64 * tail(8 * bytes);
            assert!(failure <= limit * (1.0 + 1e-9), "{bytes} bytes do not suffice");
            assert!((most + 1) as f64 * tail(8 * bytes) > limit * (1.0 - 1e-9), "{bytes} bytes");
        }
    }

    #[test]
    fn comparisons_with_the_stash_of_the_paper_have_its_widths() {
        let (logs, stashes) = ([8, 12, 16, 20, 24], [12, 6, 4, 3, 2]);
        let bits = |(log, s): (u32, u64)| width((3 + s) << log).bits();
        let paper = logs.into_iter().zip(stashes).map(bits);
        assert!(paper.eq([424, 432, 440, 448, 448]));
        let stashless = logs.into_iter().map(|log| bits((log, 0)));
        assert!(stashless.eq([416, 424, 432, 440, 448]));
        assert_eq!([width(0).bits(), width(3 << 32).bits()], [400, 464]);
        // In each of 1,024 and 4,096 runs.
        assert_eq!(
            [width(3 << 30).bits(), width(3 << 32).bits(), width(3 << 44).bits()],
            [464, 464, 488]
        );
    }
}
