//! Entry points for fuzzers: plain functions of bytes, no sockets and no files.

use crate::establish::tunnel::{Line, ask};
use crate::letters::sign_hello;
use crate::{Identity, LinkError, Proxy, ProxyFault, key_file};
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

/// How many of `bytes` a proxy's answer takes when it is asked for a connection; `None` if it makes none.
pub fn proxy_answer(proxy: &Proxy, bytes: &[u8]) -> Option<usize> {
    struct Answer<'a>(&'a [u8]);
    impl Line for Answer<'_> {
        fn send(&mut self, _: &[u8]) -> Result<(), LinkError> {
            Ok(())
        }

        fn receive(&mut self, into: &mut [u8]) -> Result<(), LinkError> {
            let (head, rest) = self.0.split_at_checked(into.len()).ok_or(ProxyFault::Closed)?;
            into.copy_from_slice(head);
            self.0 = rest;
            Ok(())
        }
    }
    let mut answer = Answer(bytes);
    ask(proxy, "partner.example", 7400, &mut answer).ok()?;
    Some(bytes.len() - answer.0.len())
}
