//! Finding equal neighbours.

use super::compare::{equal, mask, or};
use crate::{Gates, Lanes, word};
use vesica_core::Result;

/// The output of [`match_neighbours`] for each window of three neighbours in a sorted list. The
/// middles of the windows are lanes 1, 3, 5, …
pub struct Windows<W> {
    /// Whether the middle equals the lane before it or the lane after it.
    pub is_match: W,
    /// Whether the middle equals the lane before it.
    pub before: W,
    /// The middles.
    pub middle: Vec<W>,
}

/// Finds equal neighbours in a sorted list of words with keys of `key` bits, at most two of which
/// are equal.
///
/// The list is lanes `first` to `first` + `len` of `word`; `first` is even. Lane `first` + `len`,
/// if it exists, also belongs to the last window. Each window takes two comparisons and an OR,
/// 2·key − 1 gates; a window of two lanes takes one comparison.
///
/// # Errors
/// Connection errors.
pub fn match_neighbours<G: Gates>(
    g: &mut G,
    key: usize,
    word: &[G::Wires],
    first: usize,
    len: usize,
) -> Result<Windows<G::Wires>> {
    let all = word::lanes(word);
    let windows = len / 2;
    let part = word::slice(word, first, 2 * windows);
    let [before, middle] = word::halves(&part, 1);
    let with_before = equal(g, &middle[..key], &before[..key])?;
    // The lanes after each middle: those before the next middle, then the lane that follows the
    // part.
    let mut after = word::slice(&before[..key], windows.min(1), windows.saturating_sub(1));
    if first + 2 * windows < all {
        let last = word::slice(&word[..key], first + 2 * windows, 1);
        after = word::concat(&[after, last]);
    }
    let after_len = word::lanes(&after);
    if after_len == 0 {
        return Ok(Windows { is_match: with_before.clone(), before: with_before, middle });
    }
    let with_after = equal(g, &word::slice(&middle[..key], 0, after_len), &after)?;
    let either = or(g, &with_before.slice(0, after_len), &with_after)?;
    let mut is_match = with_before.clone();
    is_match.put(0, &either);
    Ok(Windows { is_match, before: with_before, middle })
}

/// The middles that match, and zero in the other windows. Together with [`match_neighbours`] this
/// is the paper's DupSelect-3 and DupSelect-2, with 3σ − 1 and 2σ − 1 gates (Huang, Evans, Katz,
/// NDSS 2012, §5.2).
///
/// # Errors
/// Connection errors.
pub fn select_matches<G: Gates>(g: &mut G, windows: &Windows<G::Wires>) -> Result<Vec<G::Wires>> {
    mask(g, &windows.is_match, &windows.middle)
}
