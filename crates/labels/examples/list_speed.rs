//! Times the steps of making a list: `cargo run --release -p vesica-labels --example list_speed
//! [labels] [memory bytes]`.

#![allow(clippy::print_stdout)]

use std::hint::black_box;
use std::time::Instant;
use vesica_core::Item;
use vesica_labels::{Format, LabelKey, Order, Spool};
use vesica_scratch::MemoryScratch;

fn main() {
    let mut arguments =
        std::env::args().skip(1).map(|argument| argument.parse::<u64>().expect("a number"));
    let len = arguments.next().unwrap_or(10_000_000);
    let memory_bytes = arguments.next().unwrap_or(1 << 34);
    let scale = len.next_power_of_two().ilog2();
    let format = Format::new(scale, 40 + 2 * scale);
    let key = LabelKey::derive(&[7; 32], "speed", 0);
    let items: Vec<Item> = (0..len).map(|i| Item::from_integer(u128::from(i) << 64 | 1)).collect();
    let per_label = |start: Instant| start.elapsed().as_secs_f64() * 1e9 / len as f64;

    let start = Instant::now();
    let mut sum = 0;
    for batch in items.chunks(1 << 12) {
        key.of_items(batch, |_, label| sum ^= label);
    }
    black_box(sum);
    println!("labels    {:6.1} ns a label", per_label(start));

    let start = Instant::now();
    let mut spool =
        Spool::new(format, scale + 1, memory_bytes, &MemoryScratch).expect("a format that fits");
    for (batch, first) in items.chunks(1 << 12).zip((0..).step_by(1 << 12)) {
        key.of_items(batch, |at, label| spool.push(label, first + at as u64).expect("memory"));
    }
    println!("gathering {:6.1} ns a label, labels included", per_label(start));

    let start = Instant::now();
    let sorted = spool.finish().expect("memory");
    println!("runs      {:6.1} ns a label", per_label(start));

    let start = Instant::now();
    let mut order = Order::new(format.segments(), &MemoryScratch).expect("memory");
    let mut bytes = 0;
    let mut spent = [0.0; 3];
    for index in 0..format.segments() {
        let at = Instant::now();
        let segment = sorted.segment(index).expect("memory");
        spent[0] += at.elapsed().as_secs_f64();
        let at = Instant::now();
        bytes += sorted.encode(&segment).expect("a list that fits").len();
        spent[1] += at.elapsed().as_secs_f64();
        let at = Instant::now();
        order.keep(index, &segment).expect("memory");
        spent[2] += at.elapsed().as_secs_f64();
    }
    let [sorting, encoding, keeping] = spent.map(|seconds| seconds * 1e9 / len as f64);
    println!(
        "segments  {:6.1} ns a label: sorted {sorting:.1}, written {encoding:.1}, order kept \
         {keeping:.1}",
        per_label(start)
    );
    println!("{:.2} bytes a label", bytes as f64 / len as f64);
}
