//! Times the join of two lists: `join_speed [labels of each list] [threads]`.

#![allow(clippy::print_stdout)]

use std::io;
use std::num::NonZeroUsize;
use std::time::Instant;
use vesica_labels::{Format, List, Segments, Spool, join};
use vesica_net::Pool;
use vesica_scratch::MemoryScratch;

struct Written(Vec<Vec<u8>>);

impl Segments for Written {
    fn read(&self, index: u32) -> io::Result<Vec<u8>> {
        Ok(self.0[index as usize].clone())
    }
}

/// Pseudorandom labels of integers.
fn written(format: Format, integers: std::ops::Range<u64>) -> (Written, Vec<u32>) {
    let mut spool = Spool::new(format, 34, 1 << 24, &MemoryScratch).expect("a spool in memory");
    for integer in integers {
        let wide = |odd: u64| (integer ^ integer >> 29).wrapping_add(1).wrapping_mul(odd);
        let mixed = wide(0x9e37_79b9_7f4a_7c15) ^ wide(0xbf58_476d_1ce4_e5b9).rotate_left(29);
        let low = mixed.wrapping_mul(0x94d0_49bb_1331_11eb);
        let label = u128::from(mixed ^ mixed >> 32) << 64 | u128::from(low);
        spool.push(format.truncated(label), integer).expect("memory");
    }
    let sorted = spool.finish().expect("memory");
    let (mut segments, mut counts) = (Vec::new(), Vec::new());
    for index in 0..format.segments() {
        let segment = sorted.segment(index).expect("memory");
        segments.push(sorted.encode(&segment).expect("no dense bucket"));
        counts.push(segment.labels.len() as u32);
    }
    (Written(segments), counts)
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|word| word.parse::<u64>().expect("a number"));
    let len = arguments.next().unwrap_or(1_000_000);
    let threads = arguments.next().unwrap_or(1) as usize;
    let scale = len.next_power_of_two().ilog2();
    let format = Format::new(scale, 40 + 2 * scale);
    let (one, two) = (written(format, 0..len), written(format, len / 2..len + len / 2));
    let lists = [&one, &two].map(|(segments, counts)| {
        List::new(format, counts, segments).expect("one count per segment")
    });
    let pool = Pool::new(NonZeroUsize::new(threads).expect("a thread")).expect("threads");
    for _ in 0..3 {
        let start = Instant::now();
        let bits = join::common(&lists, &pool, &|| false).expect("lists").expect("not stopped");
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "{len} labels, {threads} threads: {seconds:.3} s, {} common",
            bits[0].count_ones()
        );
    }
}
