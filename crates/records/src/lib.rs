//! Files and columns: CSV, Parquet, normalisers, key encoding.

#![forbid(unsafe_code)]
