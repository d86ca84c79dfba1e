//! Runners, laws and tampering channels for tests.

#![forbid(unsafe_code)]
