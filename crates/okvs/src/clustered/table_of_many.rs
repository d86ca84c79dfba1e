//! Computed by parameters/okvs/clustered.py for a run that is one of several; do not edit.

use super::line::Line;

/// For a single cluster: the greatest number of keys each line is for.
#[rustfmt::skip]
pub(super) const SINGLE: &[(usize, Line)] = &[
    (24, Line { slope: 140434, offset: 30, dense: 5 }),
    (32, Line { slope: 131072, offset: 34, dense: 5 }),
    (40, Line { slope: 131072, offset: 34, dense: 5 }),
    (50, Line { slope: 123790, offset: 39, dense: 5 }),
    (62, Line { slope: 131072, offset: 33, dense: 5 }),
    (77, Line { slope: 131072, offset: 33, dense: 5 }),
    (96, Line { slope: 131072, offset: 33, dense: 5 }),
    (120, Line { slope: 131072, offset: 33, dense: 5 }),
    (150, Line { slope: 131072, offset: 33, dense: 5 }),
    (187, Line { slope: 131072, offset: 33, dense: 5 }),
    (233, Line { slope: 104857, offset: 122, dense: 5 }),
    (291, Line { slope: 34492, offset: 357, dense: 5 }),
    (363, Line { slope: 94150, offset: 94, dense: 5 }),
    (453, Line { slope: 92781, offset: 102, dense: 5 }),
    (566, Line { slope: 91867, offset: 108, dense: 5 }),
    (707, Line { slope: 89877, offset: 125, dense: 5 }),
    (883, Line { slope: 88754, offset: 137, dense: 5 }),
    (1103, Line { slope: 87979, offset: 148, dense: 5 }),
    (1378, Line { slope: 87062, offset: 164, dense: 4 }),
    (1722, Line { slope: 86362, offset: 178, dense: 4 }),
    (2152, Line { slope: 85548, offset: 199, dense: 4 }),
    (2690, Line { slope: 84940, offset: 219, dense: 4 }),
    (3362, Line { slope: 84386, offset: 242, dense: 4 }),
    (4202, Line { slope: 83892, offset: 267, dense: 4 }),
    (5252, Line { slope: 83466, offset: 294, dense: 4 }),
    (6565, Line { slope: 83068, offset: 326, dense: 4 }),
    (8206, Line { slope: 82719, offset: 360, dense: 4 }),
    (10257, Line { slope: 82447, offset: 394, dense: 4 }),
    (12821, Line { slope: 82156, offset: 439, dense: 4 }),
    (16026, Line { slope: 81920, offset: 486, dense: 3 }),
    (20032, Line { slope: 81719, offset: 535, dense: 3 }),
    (25040, Line { slope: 81530, offset: 593, dense: 3 }),
    (31300, Line { slope: 81378, offset: 651, dense: 3 }),
    (39125, Line { slope: 81224, offset: 724, dense: 3 }),
    (48906, Line { slope: 81102, offset: 797, dense: 3 }),
    (49152, Line { slope: 81050, offset: 835, dense: 3 }),
];

/// Entry j: for 2^(j+1) to 2^(j+2) - 1 clusters.
#[rustfmt::skip]
pub(super) const CLUSTERED: &[Line] = &[
    Line { slope: 81920, offset: 972, dense: 3 },
    Line { slope: 81920, offset: 1173, dense: 3 },
    Line { slope: 81920, offset: 1259, dense: 3 },
    Line { slope: 81920, offset: 1309, dense: 3 },
    Line { slope: 81920, offset: 1343, dense: 4 },
    Line { slope: 81920, offset: 1370, dense: 4 },
    Line { slope: 81920, offset: 1394, dense: 4 },
    Line { slope: 81920, offset: 1417, dense: 4 },
    Line { slope: 81920, offset: 1438, dense: 4 },
    Line { slope: 81920, offset: 1460, dense: 4 },
    Line { slope: 81920, offset: 1481, dense: 4 },
    Line { slope: 81920, offset: 1501, dense: 4 },
    Line { slope: 81920, offset: 1522, dense: 4 },
    Line { slope: 81920, offset: 1542, dense: 4 },
    Line { slope: 81920, offset: 1563, dense: 4 },
    Line { slope: 81920, offset: 1584, dense: 4 },
    Line { slope: 81920, offset: 1605, dense: 4 },
];
