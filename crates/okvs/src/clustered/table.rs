//! Computed by parameters/okvs/clustered.py; do not edit.

use super::line::Line;

/// Up to this number of keys there are dense columns alone, one for each key.
pub(super) const DENSE_ONLY: usize = 16;

/// How many keys a cluster holds on average when there are many.
pub(super) const CLUSTER_KEYS: usize = 32768;

/// For a single cluster: the greatest number of keys each line is for.
#[rustfmt::skip]
pub(super) const SINGLE: &[(usize, Line)] = &[
    (24, Line { slope: 131072, offset: 33, dense: 4 }),
    (32, Line { slope: 131072, offset: 33, dense: 4 }),
    (40, Line { slope: 131072, offset: 33, dense: 4 }),
    (50, Line { slope: 131072, offset: 33, dense: 4 }),
    (62, Line { slope: 131072, offset: 33, dense: 4 }),
    (77, Line { slope: 131072, offset: 33, dense: 4 }),
    (96, Line { slope: 131072, offset: 33, dense: 4 }),
    (120, Line { slope: 131072, offset: 33, dense: 4 }),
    (150, Line { slope: 131072, offset: 33, dense: 4 }),
    (187, Line { slope: 131072, offset: 33, dense: 4 }),
    (233, Line { slope: 104857, offset: 122, dense: 4 }),
    (291, Line { slope: 1149, offset: 476, dense: 4 }),
    (363, Line { slope: 91381, offset: 76, dense: 4 }),
    (453, Line { slope: 90572, offset: 81, dense: 4 }),
    (566, Line { slope: 89526, offset: 88, dense: 4 }),
    (707, Line { slope: 88005, offset: 101, dense: 4 }),
    (883, Line { slope: 87256, offset: 109, dense: 4 }),
    (1103, Line { slope: 86483, offset: 120, dense: 4 }),
    (1378, Line { slope: 85866, offset: 130, dense: 4 }),
    (1722, Line { slope: 85024, offset: 148, dense: 3 }),
    (2152, Line { slope: 84478, offset: 162, dense: 3 }),
    (2690, Line { slope: 83964, offset: 179, dense: 3 }),
    (3362, Line { slope: 83507, offset: 198, dense: 3 }),
    (4202, Line { slope: 83189, offset: 215, dense: 3 }),
    (5252, Line { slope: 82779, offset: 241, dense: 3 }),
    (6565, Line { slope: 82469, offset: 266, dense: 3 }),
    (8206, Line { slope: 82199, offset: 294, dense: 3 }),
    (10257, Line { slope: 81999, offset: 319, dense: 3 }),
    (12821, Line { slope: 81772, offset: 354, dense: 3 }),
    (16026, Line { slope: 81572, offset: 393, dense: 3 }),
    (20032, Line { slope: 81408, offset: 434, dense: 3 }),
    (25040, Line { slope: 81268, offset: 477, dense: 3 }),
    (31300, Line { slope: 81137, offset: 526, dense: 3 }),
    (39125, Line { slope: 81023, offset: 581, dense: 2 }),
    (48906, Line { slope: 80921, offset: 642, dense: 2 }),
    (49152, Line { slope: 80783, offset: 744, dense: 2 }),
];

/// Entry j: for 2^(j+1) to 2^(j+2) - 1 clusters.
#[rustfmt::skip]
pub(super) const CLUSTERED: &[Line] = &[
    Line { slope: 81920, offset: 743, dense: 3 },
    Line { slope: 81920, offset: 915, dense: 3 },
    Line { slope: 81920, offset: 1001, dense: 3 },
    Line { slope: 81920, offset: 1052, dense: 3 },
    Line { slope: 81920, offset: 1087, dense: 3 },
    Line { slope: 81920, offset: 1115, dense: 3 },
    Line { slope: 81920, offset: 1140, dense: 3 },
    Line { slope: 81920, offset: 1164, dense: 3 },
    Line { slope: 81920, offset: 1186, dense: 3 },
    Line { slope: 81920, offset: 1208, dense: 3 },
    Line { slope: 81920, offset: 1230, dense: 3 },
    Line { slope: 81920, offset: 1251, dense: 3 },
    Line { slope: 81920, offset: 1272, dense: 3 },
    Line { slope: 81920, offset: 1293, dense: 3 },
    Line { slope: 81920, offset: 1314, dense: 3 },
    Line { slope: 81920, offset: 1335, dense: 3 },
    Line { slope: 81920, offset: 1356, dense: 4 },
];
