//! A standing session: streams, flow control, limits and its ends.

mod common;

use common::{SOON, pair, pair_with, root};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use std::time::{Duration, Instant};
use vesica_core::{StopReason, TransportError};
use vesica_net::{StreamId, StreamReader, StreamWriter, Streams};

#[test]
fn what_one_end_writes_the_other_reads() {
    let (a, b) = pair();
    let (_, mut writer) = root(&a);
    let (mut reader, _keep) = root(&b);
    writer.write_all(b"hello").unwrap();
    writer.flush().unwrap();
    let mut buf = [0; 5];
    reader.read_exact(&mut buf).unwrap();
    assert_eq!(&buf, b"hello");
    assert!(!a.initiator() && b.initiator());
    assert_eq!(a.export("label", b"x"), b.export("label", b"x"));
    assert_ne!(a.export("label", b"x"), b.export("label", b"y"));
    assert_ne!(a.export("label", b"x"), b.export("other", b"x"));
}
