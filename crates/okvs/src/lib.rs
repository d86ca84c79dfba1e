//! Oblivious key-value stores.

#![forbid(unsafe_code)]
