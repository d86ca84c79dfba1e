//! Oblivious pseudorandom functions.

#![forbid(unsafe_code)]
