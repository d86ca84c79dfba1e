//! A table of the images of each byte.

use crate::Block;

pub(super) type Tables = [[Block; 256]; 16];

pub(super) fn prepare(images: &[Block; 128]) -> Box<Tables> {
    let mut tables = Box::new([[Block::ZERO; 256]; 16]);
    for (table, images) in tables.iter_mut().zip(images.as_chunks::<8>().0) {
        for (bit, image) in images.iter().enumerate() {
            for lower in 0..1 << bit {
                table[1 << bit | lower] = table[lower] ^ *image;
            }
        }
    }
    tables
}

pub(super) fn add_to(tables: &Tables, acc: &mut [Block], xs: &[Block]) {
    for (acc, x) in acc.iter_mut().zip(xs) {
        for (table, byte) in tables.iter().zip(x.to_le_bytes()) {
            *acc ^= table[usize::from(byte)];
        }
    }
}
