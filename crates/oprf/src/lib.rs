//! Oblivious pseudorandom functions: the receiver learns F_k(x) for each of its items, the sender
//! learns the key k and so F_k everywhere, and nothing else.
//!
//! * [`characters`] — from 1-out-of-N transfers of the characters of a string (Pinkas, Schneider, Zohner
//!   2014; Pinkas, Schneider, Segev, Zohner 2015).
//! * [`kkrt`] — many instances with one input each, from OT extension with a pseudorandom code
//!   (Kolesnikov, Kumaresan, Rosulek, Trieu 2016).
//! * [`vole`] — from subfield VOLE and an oblivious key-value store (Rindal, Schoppmann 2021;
//!   Raghuraman, Rindal 2022).
//! * [`programmable`] — an OPRF whose values at its own items the sender chooses, on either of the last two
//!   (Pinkas, Schneider, Tkachenko, Yanai 2019; Garimella, Mohassel, Rosulek, Sadeghian, Singh 2021).
//! * [`equality`] — of two lists, place by place, on either of them (the same, 2021).

#![forbid(unsafe_code)]

pub mod characters;
pub mod equality;
pub mod kkrt;
mod packed;
pub mod programmable;
pub mod vole;
