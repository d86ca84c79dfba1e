//! How many clusters there are, and where in a range a key falls.

use vesica_core::Block;

/// The line for `n` keys of a table of parameters, and the number of clusters: in `single` by the
/// greatest number of keys in a single cluster, then in `clustered` by the octave of the number of
/// clusters of about `cluster_keys` keys.
pub(crate) fn line_of<'a, L>(
    n: usize,
    single: &'a [(usize, L)],
    cluster_keys: usize,
    clustered: &'a [L],
) -> (&'a L, usize) {
    if let Some((_, line)) = single.iter().find(|(greatest, _)| n <= *greatest) {
        return (line, 1);
    }
    let clusters = n.saturating_add(cluster_keys / 2) / cluster_keys;
    // More keys than the table covers use its last line.
    let octave = (clusters.ilog2() as usize - 1).min(clustered.len() - 1);
    (&clustered[octave], clusters)
}

/// The leading 64 bits of `key`, scaled to `0..count`, and the remainder as a fraction of 2^64.
#[inline(always)]
pub(crate) fn scaled(key: Block, count: usize) -> (usize, u64) {
    let scaled = (key.get() >> 64) * count as u128;
    ((scaled >> 64) as usize, scaled as u64)
}
