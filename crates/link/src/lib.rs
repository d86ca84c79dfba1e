//! Identities, TLS, one port, many streams.

#![forbid(unsafe_code)]
