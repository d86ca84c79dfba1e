//! Key-value stores: encoding with its check, and decoding, from grouped keys.

use crate::measure::{Bench, BenchError};
use std::hint::black_box;
use std::num::NonZeroUsize;
use vesica_core::Block;
use vesica_net::Pool;
use vesica_okvs::{BandOkvs, ClusteredOkvs, Okvs, Partition, Scratch};
use vesica_simd::aes::Aes128;

pub(crate) fn measure(bench: &mut Bench) -> Result<(), BenchError> {
    for &n in bench.sizes() {
        store(bench, "okvs clustered", n, &ClusteredOkvs::new(n))?;
        store(bench, "okvs band", n, &BandOkvs::new(n))?;
    }
    Ok(())
}

fn store(bench: &mut Bench, name: &str, n: usize, okvs: &impl Okvs) -> Result<(), BenchError> {
    let names = ["group", "encode", "decode"].map(|step| format!("{name} {step}"));
    if !names.iter().any(|name| bench.wants(name)) {
        return Ok(());
    }
    let prg = Aes128::new(Block::new(1));
    let (mut keys, mut values) = (vec![Block::ZERO; n], vec![Block::ZERO; n]);
    prg.ctr(0, &mut keys);
    prg.ctr(1 << 64, &mut values);
    let pool = Pool::new(NonZeroUsize::MIN)?;
    let grouped = Partition::new(okvs, &keys, &pool);
    let fill = Aes128::new(Block::new(2));
    let mut slots = vec![Block::ZERO; okvs.len()];
    let mut scratch = Scratch::new();

    bench.alone(&names[0], "keys", n as u64, || {
        black_box(Partition::new(okvs, &keys, &pool));
        Ok(())
    })?;
    let mut encode = || -> Result<(), BenchError> {
        let mut values = &values[..];
        for (cluster, slots) in slots.chunks_mut(okvs.cluster_len()).enumerate() {
            let keys = grouped.keys(cluster);
            let (of_cluster, rest) = values.split_at(keys.len());
            values = rest;
            okvs.encode(cluster, keys, of_cluster, slots, &mut scratch, &fill)?;
        }
        Ok(())
    };
    encode()?;
    bench.alone(&names[1], "keys", n as u64, encode)?;
    let mut out = vec![Block::ZERO; n];
    bench.alone(&names[2], "keys", n as u64, || {
        let mut first = 0;
        for (cluster, slots) in slots.chunks(okvs.cluster_len()).enumerate() {
            let keys = grouped.keys(cluster);
            okvs.decode(keys, slots, &mut out[first..first + keys.len()], &mut scratch);
            first += keys.len();
        }
        black_box(&out);
        Ok(())
    })
}
