//! CPU time per element in microseconds, for both operations on every backend, on one thread.
//!
//! `taskset -c 0 cargo run --release -p vesica-simd --example ristretto_speed`
#![allow(clippy::print_stdout)]

use nix::sys::resource::{UsageWho, getrusage};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use vesica_simd::Backend;
use vesica_simd::ristretto::{Scalar, decode_mul_with, hash_mul_with};

const ELEMENTS: usize = 1 << 13;
const SAMPLES: usize = 7;

/// CPU time of this process in microseconds. The process has one thread.
fn cpu_us() -> f64 {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("the call has no failing case");
    let time = usage.user_time();
    time.tv_sec() as f64 * 1e6 + time.tv_usec() as f64
}

/// Median time per element of `operation` over the samples.
fn us_per_element(mut operation: impl FnMut()) -> f64 {
    operation();
    let mut samples: Vec<f64> = (0..SAMPLES)
        .map(|_| {
            let start = cpu_us();
            operation();
            (cpu_us() - start) / ELEMENTS as f64
        })
        .collect();
    samples.sort_by(f64::total_cmp);
    samples[SAMPLES / 2]
}

fn main() {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let k = Scalar::from_uniform_bytes(&rng.random()).expect("not zero");
    let uniform: Vec<[u8; 64]> = (0..ELEMENTS).map(|_| rng.random()).collect();
    let mut points = vec![[0; 32]; ELEMENTS];
    let mut out = vec![[0; 32]; ELEMENTS];
    println!(
        "{:<12} {:>9} {:>11} {:>9}  µs per element",
        "backend", "hash_mul", "decode_mul", "both"
    );
    for backend in Backend::available() {
        let hash = us_per_element(|| hash_mul_with(backend, &uniform, &k, &mut points));
        let decode = us_per_element(|| {
            decode_mul_with(backend, &points, &k, &mut out).expect("just encoded");
        });
        println!("{:<12} {hash:>9.2} {decode:>11.2} {:>9.2}", backend.name(), hash + decode);
    }
}
