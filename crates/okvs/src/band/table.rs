//! Computed by parameters/okvs/band.py; do not edit.

use super::parameters::Line;

/// How many slots more than keys there are where every row is random in all slots.
pub(super) const DENSE: usize = 43;

/// How many keys a cluster holds on average when there are many.
pub(super) const CLUSTER_KEYS: usize = 1048576;

/// For a single cluster: the greatest number of keys each line is for.
#[rustfmt::skip]
pub(super) const SINGLE: &[(usize, Line)] = &[
    (1572864, Line { slope: 17481859, offset: 400 }),
];

/// Entry j: for 2^(j+1) to 2^(j+2) - 1 clusters.
#[rustfmt::skip]
pub(super) const CLUSTERED: &[Line] = &[
    Line { slope: 17481859, offset: 10000 },
];
