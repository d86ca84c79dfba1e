//! Two parties in one process over 127.0.0.1.

#![allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]

use std::net::SocketAddr;
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;
use vesica_link::{
    CancelToken, Endpoint, Identity, LinkError, LinkEvent, LinkOptions, PublicIdentity, Session,
    establish,
};
use vesica_net::{StreamId, StreamPair, Streams};

pub const SOON: Duration = Duration::from_secs(20);

pub fn options(endpoint: Endpoint) -> LinkOptions {
    LinkOptions { endpoint, wait: SOON, idle: Duration::from_secs(20), total: None, proxy: None }
}

pub fn listen_anywhere() -> Endpoint {
    Endpoint::Listen("127.0.0.1:0".into())
}

pub fn connect_to(address: SocketAddr) -> Endpoint {
    Endpoint::Connect(address.to_string())
}

/// A listening side on its own thread.
pub struct Listening {
    pub address: SocketAddr,
    pub events: mpsc::Receiver<LinkEvent>,
    pub cancel: CancelToken,
    pub thread: JoinHandle<Result<Session, LinkError>>,
}

impl Listening {
    pub fn result(self) -> Result<Session, LinkError> {
        self.thread.join().unwrap()
    }
}

pub fn listen(identity: &Identity, peers: &[PublicIdentity], options: LinkOptions) -> Listening {
    let (identity, peers) = (identity.clone(), peers.to_vec());
    let cancel = CancelToken::new();
    let token = cancel.clone();
    let (sender, events) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        let tell = |event| drop(sender.send(event));
        establish(&identity, &peers, &options, &tell, &token)
    });
    match events.recv_timeout(SOON) {
        Ok(LinkEvent::Listening { address }) => Listening { address, events, cancel, thread },
        other => panic!("{other:?}"),
    }
}

pub fn connect(
    identity: &Identity,
    peers: &[PublicIdentity],
    options: &LinkOptions,
) -> Result<Session, LinkError> {
    establish(identity, peers, options, &|_| (), &CancelToken::new())
}

/// An established session: the listening end, then the connecting end.
pub fn pair() -> (Session, Session) {
    pair_with(|_| ())
}

/// Like [`pair`], with the options of both ends changed.
pub fn pair_with(change: impl Fn(&mut LinkOptions)) -> (Session, Session) {
    let (one, two) = (Identity::generate().unwrap(), Identity::generate().unwrap());
    let mut listening = options(listen_anywhere());
    change(&mut listening);
    let listener = listen(&one, &[two.public()], listening);
    let mut connecting = options(connect_to(listener.address));
    change(&mut connecting);
    let connected = connect(&two, &[one.public()], &connecting).unwrap();
    (listener.result().unwrap(), connected)
}

pub fn open(session: &Session, id: StreamId) -> StreamPair {
    session.open(id).unwrap()
}

pub fn root(session: &Session) -> StreamPair {
    session.open(StreamId::ROOT).unwrap()
}

/// Sends a byte through both sessions.
pub fn works(a: &Session, b: &Session) {
    let (_a_in, mut a_out) = root(a);
    let (mut b_in, _b_out) = root(b);
    a_out.write_all(b"x").unwrap();
    a_out.flush().unwrap();
    b_in.read_exact(&mut [0]).unwrap();
}
