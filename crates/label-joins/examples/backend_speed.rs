//! Measures a backend with two lists: `backend_speed ADDRESS [labels of each list] [threads]`. In
//! place of an address, `redis` and `postgres` start their own server on this machine.

#![allow(clippy::print_stdout)]

use std::io;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::time::Instant;
use vesica_label_joins::{RunName, open};
use vesica_labels::{Format, List, Segments, Spool};
use vesica_net::Pool;
use vesica_scratch::MemoryScratch;
use vesica_test_databases::{Postgres, Redis};

struct Written(Vec<Vec<u8>>);

impl Segments for Written {
    fn read(&self, index: u32) -> io::Result<Vec<u8>> {
        Ok(self.0[index as usize].clone())
    }
}

/// Pseudo-random labels of the integers.
fn written(format: Format, integers: Range<u64>) -> (Written, Vec<u32>) {
    let mixed = |mut x: u64| {
        x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    };
    let mut spool = Spool::new(format, 34, 1 << 24, &MemoryScratch).expect("a spool in memory");
    for integer in integers {
        let first = mixed(integer.wrapping_add(0x9e37_79b9_7f4a_7c15));
        let label = u128::from(first) << 64 | u128::from(mixed(first ^ 0x5555));
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
    let mut arguments = std::env::args().skip(1);
    let mut url = arguments.next().expect("an address");
    let mut numbers = arguments.map(|word| word.parse::<u64>().expect("a number"));
    let len = numbers.next().unwrap_or(1_000_000);
    let threads = NonZeroUsize::new(numbers.next().unwrap_or(2) as usize).expect("a thread");
    let redis = (url == "redis").then(Redis::start);
    let postgres = (url == "postgres").then(Postgres::start);
    url = redis.as_ref().map(Redis::url).or(postgres.as_ref().map(Postgres::url)).unwrap_or(url);
    let backend = open(&url, Pool::new(threads).expect("threads"), 1 << 30).expect("an address");
    let scale = len.next_power_of_two().ilog2();
    let format = Format::new(scale, 40 + 2 * scale);
    let (one, two) = (written(format, 0..len), written(format, len / 2..len + len / 2));
    let lists = [&one, &two].map(|(segments, counts)| {
        List::new(format, counts, segments).expect("as many counts as segments")
    });
    let (name, run) = (backend.name(), RunName([0; 16]));
    for _ in 0..2 {
        let start = Instant::now();
        let bits = backend.common(&run, &lists, &|| false).expect("a server").expect("no stop");
        let (seconds, found) = (start.elapsed().as_secs_f64(), bits[0].count_ones());
        println!("{name}, {len} labels, {threads} threads: {seconds:.3} s, {found} common");
    }
}
