//! Permutation networks: switches that can be set so that any permutation results.

#![forbid(unsafe_code)]
