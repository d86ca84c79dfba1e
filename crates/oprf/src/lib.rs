//! Oblivious pseudorandom functions: the receiver learns F_k(x) for each of its items, the sender
//! learns the key k and so F_k everywhere, and nothing else.
//!
//! * [`characters`] — from 1-out-of-N transfers of the characters of a string (Pinkas, Schneider, Zohner
//!   2014; Pinkas, Schneider, Segev, Zohner 2015).
//! * [`kkrt`] — many instances with one input each, from OT extension with a pseudorandom code
//!   (Kolesnikov, Kumaresan, Rosulek, Trieu 2016).
//! * [`vole`] — from subfield VOLE and an oblivious key-value store (Rindal, Schoppmann 2021;
//!   Raghuraman, Rindal 2022).

#![forbid(unsafe_code)]

pub mod characters;
pub mod kkrt;
pub mod vole;
