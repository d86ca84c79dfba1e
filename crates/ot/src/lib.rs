//! Oblivious transfer and vector oblivious linear evaluation.

#![forbid(unsafe_code)]
