//! How much a peer may send before it is read.

/// Bytes a peer may send on a stream before this end has opened it.
pub(super) const FIRST_WINDOW: usize = 256 << 10;

/// Bytes a peer may have in flight on an open stream: enough for 400 Mbit/s at 80 ms round trip.
pub(super) const WINDOW: usize = 4 << 20;

/// Streams the peer may use before this end has opened them. With [`FIRST_WINDOW`] it bounds the
/// data of unopened streams.
pub(super) const MAX_UNOPENED: usize = 512;

/// Streams that this end opens before the peer has opened them; the next one waits. Half of what
/// the peer accepts.
pub(super) const MAX_AHEAD: usize = MAX_UNOPENED / 2;
