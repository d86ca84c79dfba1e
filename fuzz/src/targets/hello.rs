//! The first and the last messages of two parties.

use super::{Target, two_party};
use crate::input::Input;
use std::sync::{Arc, OnceLock};
use vesica_agreement::Agreement;
use vesica_core::{Error, Role, StopReason, TransportError};
use vesica_engine::fuzzing;
use vesica_net::{Context, Meter, StreamId, StreamPair, StreamReader, StreamWriter, Streams};

pub(super) const HELLO: Target =
    Target { name: "hello", run: hello, seeds: honest, tokens: &[b"vesica"], max_len: 4096 };

fn agreement() -> &'static Agreement {
    static AGREEMENT: OnceLock<Agreement> = OnceLock::new();
    AGREEMENT.get_or_init(|| {
        Agreement::parse(include_str!("../../../docs/samples/both-sides.toml"))
            .expect("the sample is an agreement")
    })
}

/// The messages of this end, which equal those of an honest peer, except for the counts of the
/// closing.
fn honest() -> Vec<Vec<u8>> {
    let (received, sent) = (Pipe::default(), Pipe::default());
    let _ = meet(&received, &sent);
    // Each received message makes this end send the next: after a hello the size, after a size the
    // closing.
    let mut all = sent.bytes();
    let received = Pipe::of(all.clone());
    let sent = Pipe::default();
    let _ = meet(&received, &sent);
    all = sent.bytes();
    let mut closing = all.clone();
    closing.extend_from_slice(&33_u32.to_le_bytes());
    closing.push(1);
    closing.extend_from_slice(&200_u64.to_le_bytes());
    closing.extend_from_slice(&100_u64.to_le_bytes());
    closing.extend_from_slice(&3_u128.to_le_bytes());
    // Another agreement: its hash, then its text.
    let mut other = all.clone();
    other.truncate(4 + 64);
    if let Some(byte) = other.get_mut(4 + 20) {
        *byte ^= 1;
    }
    let text = include_bytes!("../../../vectors/agreement/one-side.canonical.toml");
    other.extend_from_slice(&4_u32.to_le_bytes());
    other.extend_from_slice(&(text.len() as u32).to_le_bytes());
    other.extend_from_slice(&(text.len() as u32).to_le_bytes());
    other.extend_from_slice(text);
    vec![all, closing, other]
}

/// The messages of a peer.
fn hello(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let received = Pipe::of(input.rest().to_vec());
    if let Err(error) = meet(&received, &Pipe::default()) {
        assert!(fuzzing::is_no_bug(&error), "a peer causes a bug: {error}");
    }
}

pub(super) const PROBE: Target =
    Target { name: "probe", run: probe, seeds: figures, tokens: &[], max_len: 256 };

fn figures() -> Vec<Vec<u8>> {
    let of = |numbers: [u64; 3]| {
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        [&[0], &bytes[..]].concat()
    };
    let fast = of([50_000, 1_000_000_000, 1]);
    let most = [&fast[..], &of([u64::MAX; 3])[1..], &of([1; 3])[1..]].concat();
    vec![of([1_000_000, 125_000_000, 9_000_000]), most]
}

/// A peer's figures when it measures the network with this end, burst by burst; then the changes of
/// its messages.
fn probe(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let changes = input.byte() % 4;
    let mut received: Vec<Vec<u8>> = vec![vec![0], vec![1]];
    for blocks in [8, 32, 128] {
        received.extend((0..blocks).map(|_| vec![0; 16 << 10]));
        received.push(input.array::<24>().to_vec());
    }
    for _ in 0..changes {
        let which = input.below(received.len());
        input.damage(&mut received[which]);
    }
    let mut bytes = Vec::new();
    for message in received {
        bytes.extend_from_slice(&(message.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&message);
    }
    let role = if changes & 1 == 0 { Role::Sender } else { Role::Receiver };
    let received = Pipe::of(bytes);
    let mut ctx = context(&received, &Pipe::default());
    match fuzzing::measure(&mut ctx, role) {
        Ok(network) => {
            let rates = [network.to_receiver_bytes_per_s, network.to_sender_bytes_per_s];
            assert!(network.round_trip_ns > 0 && !rates.contains(&0), "the divisors");
        }
        Err(Error::Bug(what)) => panic!("a peer causes a bug: {what}"),
        Err(error) => drop(error.to_string()),
    }
}

fn context(received: &Pipe, sent: &Pipe) -> Context {
    let streams: Arc<dyn Streams> =
        Arc::new(Both { received: received.clone(), sent: sent.clone() });
    let ctx = Context::new(vec![(Role::Sender, streams)], [1; 32], two_party::pool(), Meter::new());
    ctx.expect("a connection in memory is there")
}

fn meet(received: &Pipe, sent: &Pipe) -> Result<(), vesica_engine::Error> {
    let mut ctx = context(received, sent);
    let met = fuzzing::meet(&mut ctx, agreement());
    // Everything that this end sends has arrived once its channel is dropped.
    let _ = ctx.finish();
    met
}

/// Bytes of one direction.
#[derive(Clone, Default)]
struct Pipe(Arc<std::sync::Mutex<(Vec<u8>, usize)>>);

impl Pipe {
    fn of(bytes: Vec<u8>) -> Self {
        Self(Arc::new(std::sync::Mutex::new((bytes, 0))))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, (Vec<u8>, usize)> {
        self.0.lock().unwrap_or_else(|bad| bad.into_inner())
    }

    fn bytes(&self) -> Vec<u8> {
        self.lock().0.clone()
    }
}

struct Both {
    received: Pipe,
    sent: Pipe,
}

impl Streams for Both {
    fn open(&self, _: StreamId) -> Result<StreamPair, TransportError> {
        Ok((Box::new(self.received.clone()), Box::new(self.sent.clone())))
    }

    fn abort(&self, _: StopReason) {}
}

impl StreamReader for Pipe {
    fn read_exact(&mut self, buf: &mut [u8]) -> Result<(), TransportError> {
        let mut received = self.lock();
        let (bytes, at) = &mut *received;
        let now = bytes.get(*at..*at + buf.len()).ok_or(TransportError::Closed)?;
        buf.copy_from_slice(now);
        *at += buf.len();
        Ok(())
    }
}

impl StreamWriter for Pipe {
    fn write_all(&mut self, bytes: &[u8]) -> Result<(), TransportError> {
        self.lock().0.extend_from_slice(bytes);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), TransportError> {
        Ok(())
    }
}
