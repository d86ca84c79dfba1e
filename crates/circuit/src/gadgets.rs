//! Building blocks for circuits.
//!
//! A number is a word of wires, lowest bit first. Gate counts are per lane.

mod add;
mod compare;
mod duplicates;
mod integers;
mod merge;
mod shuffle;
mod sort;

pub use add::{add, hamming_weight, sum_of_lanes};
pub use compare::{all, and, at_least, equal, greater, mask, multiplex, or, sort_2, swap_if};
pub use duplicates::{Windows, match_neighbours, select_matches};
pub use integers::{BitSum, Integer, product, square};
pub use merge::{merge_bitonic, merge_comparators, merge_odd_even, odd_even_comparators};
pub use shuffle::permute;
pub use sort::{sort, sort_comparators, sort_largest, sort_largest_comparators};
