//! Codes of sets and lists, and oblivious key-value stores.

use super::{Target, no_seeds};
use crate::input::Input;
use vesica_core::elias_fano::{Decoder, Shape, encode};
use vesica_core::tagged::Tagged;
use vesica_core::{Block, Misbehaviour};
use vesica_labels::{Bits, Format, Label, Segment, Spool, count_segment, decode_segment};
use vesica_okvs::bloom::{BloomHash, BloomShape, Indices, sum};
use vesica_okvs::{BandOkvs, ClusteredOkvs, Okvs, PolynomialOkvs, Scratch};
use vesica_records::payloads::{CellType, cells, payload_len};
use vesica_scratch::MemoryScratch;
use vesica_simd::aes::Aes128;

pub(super) const PAYLOADS: Target =
    Target { name: "payloads", run: payloads, seeds: no_seeds, tokens: &[], max_len: 512 };

/// Types of columns, then the other party's payload of them.
fn payloads(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let types: Vec<CellType> = (0..input.below(4) + 1)
        .map(|_| match input.below(3) {
            0 => CellType::Integer,
            1 => CellType::Date,
            _ => CellType::Text { max_bytes: 1 + input.below(40) as u16 },
        })
        .collect();
    let payload = input.rest();
    let Some(cells) = cells(&types, payload) else { return };
    assert_eq!((payload.len(), cells.len()), (payload_len(&types), types.len()));
    for (cell, of) in cells.iter().zip(&types) {
        let text = cell.to_string();
        match of {
            CellType::Text { max_bytes } => assert!(text.len() <= usize::from(*max_bytes)),
            CellType::Integer => assert!(text.is_empty() || text.parse::<i64>().is_ok()),
            CellType::Date => assert!(text.is_empty() || text.len() == "2026-11-29".len()),
        }
    }
}

pub(super) const ELIAS_FANO: Target =
    Target { name: "elias_fano", run: elias_fano, seeds: no_seeds, tokens: &[], max_len: 4096 };

/// A shape, then a peer's code, which arrives in pieces. Or, by the first byte, tags that are
/// written and read.
fn elias_fano(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let is_written = input.byte() & 1 == 1;
    let tag_bits = 16 + input.below(113) as u32;
    if is_written {
        let mut tags = Vec::new();
        while !input.is_empty() {
            tags.push(input.u128() >> (128 - tag_bits));
        }
        // An honest set has hashes as tags, of which no 64 share their leading bits.
        if tags.len() > 60 {
            return;
        }
        let shape = Shape::new(tags.len() as u64, tag_bits);
        let tagged = (0..).zip(&tags).map(|(position, tag)| Tagged::new(*tag, position));
        let (code, order) = encode(shape, &tagged.collect::<Vec<_>>());
        assert_eq!((code.len() as u64, order.len()), (shape.bytes(), tags.len()));
        if tags.is_empty() {
            return;
        }
        let mut decoder = Decoder::new(shape);
        let mut pieces = code.chunks(7).map(<[u8]>::to_vec);
        assert_eq!(shape.group_bits(), 0, "so few tags are one group");
        let group = decoder.group(|| pieces.next().ok_or(Misbehaviour::InvalidValue.into()));
        let group = group.expect("what is written can be read");
        decoder.finish().expect("all of it");
        assert_eq!(group.len(), tags.len());
        for tag in &tags {
            let place = group.find(*tag).expect("every tag is found");
            assert_eq!(tags[order[place] as usize], *tag);
        }
        return;
    }
    let len = u64::from(input.u16());
    let shape = Shape::new(len, tag_bits);
    if shape.is_empty() {
        return;
    }
    let piece_len = 1 + input.below(64);
    let mut left = shape.bytes() as usize;
    let mut more = || -> vesica_core::Result<Vec<u8>> {
        let piece = input.bytes(piece_len.min(left));
        left -= piece.len();
        if piece.is_empty() { Err(Misbehaviour::InvalidValue.into()) } else { Ok(piece.to_vec()) }
    };
    let mut decoder = Decoder::new(shape);
    let mut all = 0;
    for _ in 0..1_u64 << shape.group_bits() {
        let Ok(group) = decoder.group(&mut more) else { return };
        all += group.len() as u64;
        assert!(all <= len, "no more tags than were announced");
        group.find(u128::MAX >> (128 - tag_bits));
        group.find(0);
    }
    assert!(decoder.finish().is_err() || all == len);
}

pub(super) const LABELS: Target =
    Target { name: "labels_list", run: labels, seeds: segments, tokens: &[], max_len: 4096 };

fn format(input: &mut Input<'_>) -> (Format, u32) {
    let scale = input.below(24) as u32;
    let format = Format::new(scale, scale + 1 + input.below(60) as u32);
    (format, input.u32() % format.segments())
}

/// The encoded labels of one segment.
pub(super) fn written(format: Format, index: u32, labels: &[Label]) -> Option<Vec<u8>> {
    let mut spool = Spool::new(format, 16, 1 << 20, &MemoryScratch)?;
    for label in labels {
        spool.push(*label, 0).ok()?;
    }
    let sorted = spool.finish().ok()?;
    let segment: Segment = sorted.segment(index).ok()?;
    sorted.encode(&segment).ok()
}

fn segments() -> Vec<Vec<u8>> {
    let labels: Vec<Label> = (1..40_u128).map(|i| i * (u128::MAX / 41)).collect();
    let seed = |(scale, bits): (u8, u8)| {
        let format = Format::new(scale.into(), u32::from(scale) + 1 + u32::from(bits));
        let head = [&[scale, bits][..], &[0; 4]].concat();
        Some([head, written(format, 0, &labels)?].concat())
    };
    [(0, 39), (5, 30), (8, 59), (20, 40)].into_iter().filter_map(seed).collect()
}

/// A format, the number of a segment, and the segment.
fn labels(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let (format, index) = format(&mut input);
    let bytes = input.rest();
    let mut labels = Vec::new();
    let read = decode_segment(format, index, bytes, &mut labels);
    let count = count_segment(format, bytes);
    if read.is_ok() {
        assert_eq!(count, Ok(labels.len() as u32), "the count is that of the labels");
        assert!(labels.windows(2).all(|pair| pair[0] < pair[1]), "ascending and different");
        assert!(labels.iter().all(|label| format.segment_of(*label) == index));
        assert!(labels.iter().all(|label| format.truncated(*label) == *label));
        if let Some(again) = written(format, index, &labels) {
            assert_eq!(again, bytes, "a segment has one form");
        }
    }
    let len = bytes.len() as u64 * 8;
    for len in [len, len.saturating_sub(3)] {
        if let Some(bits) = Bits::from_bytes(bytes.to_vec(), len) {
            assert_eq!((bits.len(), bits.as_bytes()), (len, bytes));
            assert!(bits.count_ones() <= len && !bits.get(len));
        }
    }
}

pub(super) const OKVS: Target =
    Target { name: "okvs", run: okvs, seeds: no_seeds, tokens: &[], max_len: 4096 };

/// The store, the number of keys, the keys, and the slots that a peer sends.
fn okvs(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let (which, len) = (input.byte(), 1 + input.below(600));
    let store: Box<dyn Okvs> = match which % 4 {
        0 => Box::new(ClusteredOkvs::new(len)),
        1 => Box::new(BandOkvs::new(len)),
        2 => Box::new(PolynomialOkvs::new(len)),
        _ => return bloom(&mut input, len),
    };
    let prg = Aes128::new(Block::new(input.u128()));
    let keys: Vec<Block> = (0..len.min(20)).map(|_| Block::new(input.u128())).collect();
    // A peer's slots are any blocks; those missing in the input are random.
    let mut slots = vec![Block::ZERO; store.len()];
    prg.ctr(0, &mut slots);
    for slot in &mut slots {
        if input.is_empty() {
            break;
        }
        *slot = Block::new(input.u128());
    }
    let mut scratch = Scratch::new();
    for key in &keys {
        let cluster = store.cluster_of(*key);
        assert!(cluster < store.cluster_count());
        let slots = &slots[cluster * store.cluster_len()..][..store.cluster_len()];
        let mut out = [Block::ZERO];
        store.decode(&[*key], slots, &mut out, &mut scratch);
        let mut twice = [Block::ZERO; 2];
        store.decode(&[*key, *key], slots, &mut twice, &mut scratch);
        assert_eq!(twice, [out[0]; 2], "a key has one value");
    }
    // One side reads what the other writes, for any keys.
    let of_first: Vec<Block> =
        keys.iter().copied().filter(|key| store.cluster_of(*key) == 0).collect();
    let values: Vec<Block> = (0..of_first.len()).map(|i| slots[i % slots.len()]).collect();
    let mut cluster = vec![Block::ZERO; store.cluster_len()];
    if store.encode(0, &of_first, &values, &mut cluster, &mut scratch, &prg).is_ok() {
        let mut out = vec![Block::ZERO; of_first.len()];
        store.decode(&of_first, &cluster, &mut out, &mut scratch);
        assert_eq!(out, values, "every key has its value");
    }
}

fn bloom(input: &mut Input<'_>, len: usize) {
    let shape = BloomShape::new(1 + input.below(128), len as u64, 256);
    let hash = BloomHash::new(&shape, Block::new(input.u128()));
    let mut indices = Indices::new(&hash);
    let rows = [Block::new(input.u128())];
    let (indices, _) = indices.compute(&rows);
    assert!(indices.iter().all(|index| (*index as usize) < shape.block_len()));
    let shares: Vec<u64> = (0..shape.block_len()).map(|_| input.u128() as u64).collect();
    sum(&shares, indices);
}
