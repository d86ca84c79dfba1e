//! Entry points for fuzzers: plain functions of bytes, no sockets.

use crate::tunnel::{Line, ask_over};
use crate::{Proxy, ProxyFault};

/// How many of `bytes` a proxy's answer takes when it is asked for a connection; `None` if it makes
/// none.
pub fn proxy_answer(proxy: &Proxy, bytes: &[u8]) -> Option<usize> {
    struct Answer<'a>(&'a [u8]);
    impl Line for Answer<'_> {
        fn send(&mut self, _: &[u8]) -> Result<(), ProxyFault> {
            Ok(())
        }

        fn receive(&mut self, into: &mut [u8]) -> Result<(), ProxyFault> {
            let (head, rest) = self.0.split_at_checked(into.len()).ok_or(ProxyFault::Closed)?;
            into.copy_from_slice(head);
            self.0 = rest;
            Ok(())
        }
    }
    let mut answer = Answer(bytes);
    ask_over(proxy, "partner.example", 7400, &mut answer).ok()?;
    Some(bytes.len() - answer.0.len())
}
