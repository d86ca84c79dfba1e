//! Times encoding and decoding, as the minimum thread CPU time over several runs: `okvs_speed [log2
//! of n] [runs] [clustered|band|polynomial] [backend]`.

use nix::sys::resource::{UsageWho, getrusage};
use std::hint::black_box;
use std::num::NonZeroUsize;
use vesica_core::Block;
use vesica_net::Pool;
use vesica_okvs::{BandOkvs, ClusteredOkvs, Okvs, Partition, PolynomialOkvs, Scratch};
use vesica_simd::Backend;
use vesica_simd::aes::Aes128;

fn cpu_ms() -> f64 {
    let usage = getrusage(UsageWho::RUSAGE_THREAD).expect("usage of this thread");
    [usage.user_time(), usage.system_time()]
        .into_iter()
        .map(|time| time.tv_sec() as f64 * 1e3 + time.tv_usec() as f64 / 1e3)
        .sum()
}

fn timed(runs: usize, mut work: impl FnMut()) -> f64 {
    work();
    let mut times: Vec<_> = (0..runs)
        .map(|_| {
            let start = cpu_ms();
            work();
            cpu_ms() - start
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[0]
}

fn random(seed: u128, len: usize) -> Vec<Block> {
    let mut blocks = vec![Block::ZERO; len];
    Aes128::new(Block::new(seed)).ctr(0, &mut blocks);
    blocks
}

#[allow(clippy::print_stdout)]
fn measure(name: &str, okvs: &impl Okvs, n: usize, runs: usize) {
    let pool = Pool::new(NonZeroUsize::MIN).expect("a thread starts");
    let keys = random(1, n);
    let partition_ms = pool.run(|| {
        timed(runs, || {
            black_box(Partition::new(okvs, &keys, &pool));
        })
    });
    let partition = Partition::new(okvs, &keys, &pool);
    let values = random(2, n);
    let mut out = vec![Block::ZERO; n];
    let mut slots = vec![Block::ZERO; okvs.len()];
    let len = okvs.cluster_len();
    let mut scratch = Scratch::new();
    let fill = Aes128::new(Block::new(3));
    let encode_ms = timed(runs, || {
        let mut values = &values[..];
        for (cluster, slots) in slots.chunks_mut(len.max(1)).enumerate() {
            let keys = partition.keys(cluster);
            let values = values.split_off(..keys.len()).expect("one value per key");
            okvs.encode(cluster, keys, values, slots, &mut scratch, &fill).expect("a solution");
        }
    });
    let decode_ms = timed(runs, || {
        let mut out = &mut out[..];
        for (cluster, slots) in slots.chunks(len.max(1)).enumerate() {
            let keys = partition.keys(cluster);
            let out = out.split_off_mut(..keys.len()).expect("one output per key");
            okvs.decode(keys, slots, out, &mut scratch);
        }
    });
    assert!(out == values);
    println!(
        "{name:10} n {n:>9}  slots a key {:.4}  partition {partition_ms:8.2} ms  encode \
         {encode_ms:8.2} ms  decode {decode_ms:8.2} ms",
        okvs.len() as f64 / n as f64
    );
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize| arguments.get(i).and_then(|argument| argument.parse().ok());
    let n = 1 << number(0).unwrap_or(20);
    let runs = number(1).unwrap_or(5);
    if let Some(backend) = arguments.get(3).and_then(|name| Backend::from_name(name)) {
        vesica_simd::force(backend).expect("a backend of this processor");
    }
    let wanted = |name| arguments.get(2).is_none_or(|argument| argument == name);
    if wanted("clustered") {
        measure("clustered", &ClusteredOkvs::new(n), n, runs);
    }
    if wanted("band") {
        measure("band", &BandOkvs::new(n), n, runs);
    }
    if wanted("polynomial") {
        measure("polynomial", &PolynomialOkvs::new(n), n, runs);
    }
}
