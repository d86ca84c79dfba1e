//! Protocols of the literature, the Party trait and the catalogue.

#![forbid(unsafe_code)]
