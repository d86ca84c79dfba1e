use crate::Routing;

/// Sends the lanes through the network, level by level. This is the reference for all evaluations.
///
/// The time depends on the settings.
///
/// # Panics
/// If the network has a different number of lanes.
pub fn apply_plain<T: Clone>(routing: &Routing, lanes: &mut [T]) {
    let network = routing.network();
    assert_eq!(lanes.len(), network.len(), "the network has these lanes");
    let mut moved = lanes.to_vec();
    for level in 0..network.levels() {
        for segment in network.segments(level) {
            let lanes = &mut lanes[segment.lanes];
            switch(lanes, &routing.input(level)[segment.input]);
            // The split.
            let (upper, lower) = moved[..lanes.len()].split_at_mut(lanes.len() / 2);
            for (i, lane) in lanes.iter().enumerate() {
                if i % 2 == 0 && i / 2 < upper.len() {
                    upper[i / 2].clone_from(lane);
                } else {
                    lower[i / 2].clone_from(lane);
                }
            }
            lanes.clone_from_slice(&moved[..lanes.len()]);
        }
    }
    for level in (0..network.levels()).rev() {
        for segment in network.segments(level) {
            let lanes = &mut lanes[segment.lanes];
            // The join.
            let (upper, lower) = lanes.split_at(lanes.len() / 2);
            for (i, lane) in moved[..lanes.len()].iter_mut().enumerate() {
                if i % 2 == 0 && i / 2 < upper.len() {
                    lane.clone_from(&upper[i / 2]);
                } else {
                    lane.clone_from(&lower[i / 2]);
                }
            }
            lanes.clone_from_slice(&moved[..lanes.len()]);
            switch(lanes, &routing.output(level)[segment.output]);
        }
    }
}

fn switch<T>(lanes: &mut [T], settings: &[bool]) {
    for (pair, exchange) in lanes.chunks_exact_mut(2).zip(settings) {
        if *exchange {
            pair.swap(0, 1);
        }
    }
}
