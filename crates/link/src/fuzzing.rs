//! Entry points for fuzzers: plain functions of bytes, no sockets and no files.

use crate::letters::sign_hello;
use crate::{Identity, key_file};
use zeroize::Zeroizing;

pub use crate::session::fuzzing::{FrameFeed, HEADER_LEN, frame};

/// The identity in the bytes of a key file, if valid.
pub fn key_file(bytes: &[u8]) -> Option<Identity> {
    key_file::parse(bytes).ok()
}

/// The key file of `identity`.
pub fn key_file_of(identity: &Identity) -> Zeroizing<String> {
    identity.to_text()
}

/// A signed hello with any `keys`: messages of a deviating party.
pub fn hello_of(identity: &Identity, context: &[u8; 32], note: &[u8], keys: &[u8]) -> Vec<u8> {
    sign_hello(identity, context, note, keys)
}
