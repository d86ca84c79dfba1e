//! Computed by parameters/okvs/band.py; do not edit.

use super::line::Line;

/// How many slots more than keys there are where every row is random in all slots.
pub(super) const DENSE: usize = 43;

/// How many keys a cluster holds on average when there are many.
pub(super) const CLUSTER_KEYS: usize = 524288;

/// For a single cluster: the greatest number of keys each line is for.
#[rustfmt::skip]
pub(super) const SINGLE: &[(usize, Line)] = &[
    (586, Line { slope: 16921847, offset: 44 }),
    (732, Line { slope: 16892920, offset: 44 }),
    (915, Line { slope: 16869398, offset: 45 }),
    (1143, Line { slope: 16925032, offset: 42 }),
    (1428, Line { slope: 16954440, offset: 41 }),
    (1785, Line { slope: 17107105, offset: 27 }),
    (2231, Line { slope: 17267336, offset: 11 }),
    (2788, Line { slope: 17348894, offset: 1 }),
    (3485, Line { slope: 17355740, offset: 1 }),
    (4356, Line { slope: 17354944, offset: 1 }),
    (5445, Line { slope: 17359566, offset: 1 }),
    (6806, Line { slope: 17363901, offset: 1 }),
    (8507, Line { slope: 17366894, offset: 1 }),
    (12760, Line { slope: 17372834, offset: 1 }),
    (19140, Line { slope: 17376778, offset: 1 }),
    (28710, Line { slope: 17382038, offset: 1 }),
    (43065, Line { slope: 17384570, offset: 2 }),
    (64597, Line { slope: 17388600, offset: 3 }),
    (96895, Line { slope: 17390162, offset: 5 }),
    (145342, Line { slope: 17393396, offset: 8 }),
    (218013, Line { slope: 17398244, offset: 13 }),
    (327019, Line { slope: 17401323, offset: 19 }),
    (490528, Line { slope: 17405753, offset: 29 }),
    (735792, Line { slope: 17411237, offset: 44 }),
    (786432, Line { slope: 17411734, offset: 48 }),
];

/// Entry j: for 2^(j+1) to 2^(j+2) - 1 clusters.
#[rustfmt::skip]
pub(super) const CLUSTERED: &[Line] = &[
    Line { slope: 17424417, offset: 259 },
    Line { slope: 17437601, offset: 309 },
    Line { slope: 17450017, offset: 347 },
    Line { slope: 17462817, offset: 359 },
    Line { slope: 17475617, offset: 363 },
    Line { slope: 17487905, offset: 380 },
    Line { slope: 17502241, offset: 332 },
    Line { slope: 17514529, offset: 347 },
    Line { slope: 17530913, offset: 234 },
    Line { slope: 17530913, offset: 632 },
    Line { slope: 17562849, offset: 32 },
    Line { slope: 17563681, offset: 405 },
    Line { slope: 17563681, offset: 804 },
];
