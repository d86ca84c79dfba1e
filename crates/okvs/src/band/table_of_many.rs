//! Computed by parameters/okvs/band.py for a run that is one of several; do not edit.

use super::line::Line;

/// How many slots more than keys there are where every row is random in all slots.
pub(super) const DENSE: usize = 55;

/// For a single cluster: the greatest number of keys each line is for.
#[rustfmt::skip]
pub(super) const SINGLE: &[(usize, Line)] = &[
    (571, Line { slope: 16777216, offset: 61 }),
    (713, Line { slope: 16896203, offset: 57 }),
    (891, Line { slope: 16872002, offset: 57 }),
    (1113, Line { slope: 16929046, offset: 54 }),
    (1391, Line { slope: 16958918, offset: 53 }),
    (1738, Line { slope: 17213617, offset: 31 }),
    (2172, Line { slope: 17319666, offset: 20 }),
    (2715, Line { slope: 17475495, offset: 1 }),
    (3393, Line { slope: 17480387, offset: 1 }),
    (4241, Line { slope: 17493245, offset: 1 }),
    (5301, Line { slope: 17498817, offset: 1 }),
    (6626, Line { slope: 17508973, offset: 1 }),
    (8282, Line { slope: 17512562, offset: 1 }),
    (12423, Line { slope: 17519989, offset: 1 }),
    (18634, Line { slope: 17524511, offset: 1 }),
    (27951, Line { slope: 17530514, offset: 1 }),
    (41926, Line { slope: 17535124, offset: 2 }),
    (62889, Line { slope: 17538859, offset: 3 }),
    (94333, Line { slope: 17541442, offset: 5 }),
    (141499, Line { slope: 17545417, offset: 8 }),
    (212248, Line { slope: 17550122, offset: 12 }),
    (318372, Line { slope: 17553758, offset: 19 }),
    (477558, Line { slope: 17558114, offset: 29 }),
    (716337, Line { slope: 17564016, offset: 43 }),
    (786432, Line { slope: 17564672, offset: 48 }),
];

/// Entry j: for 2^(j+1) to 2^(j+2) - 1 clusters.
#[rustfmt::skip]
pub(super) const CLUSTERED: &[Line] = &[
    Line { slope: 17577441, offset: 256 },
    Line { slope: 17590305, offset: 319 },
    Line { slope: 17603105, offset: 345 },
    Line { slope: 17615905, offset: 357 },
    Line { slope: 17629217, offset: 345 },
    Line { slope: 17641505, offset: 364 },
    Line { slope: 17653793, offset: 381 },
    Line { slope: 17670177, offset: 269 },
    Line { slope: 17678369, offset: 413 },
    Line { slope: 17694753, offset: 301 },
    Line { slope: 17694753, offset: 701 },
    Line { slope: 17694753, offset: 1102 },
    Line { slope: 17741763, offset: 32 },
];
