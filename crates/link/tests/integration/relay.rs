//! The emulated network.

use crate::common::{connect, connect_to, listen, listen_anywhere, options, root};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};
use vesica_core::TransportError;
use vesica_link::{Identity, LinkError, Session, ShapedRelay};
use vesica_net::Shape;

const ANYWHERE: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);

fn through(shape: Shape) -> (TcpStream, TcpStream, ShapedRelay) {
    let target = TcpListener::bind(ANYWHERE).unwrap();
    let relay = ShapedRelay::start(ANYWHERE, target.local_addr().unwrap(), shape).unwrap();
    let near = TcpStream::connect(relay.address()).unwrap();
    let far = target.accept().unwrap().0;
    near.set_nodelay(true).unwrap();
    far.set_nodelay(true).unwrap();
    (near, far, relay)
}

fn round_trip(near: &mut TcpStream, far: &mut TcpStream) -> Duration {
    let started = Instant::now();
    near.write_all(&[1]).unwrap();
    far.read_exact(&mut [0]).unwrap();
    far.write_all(&[1]).unwrap();
    near.read_exact(&mut [0]).unwrap();
    started.elapsed()
}

#[test]
fn a_round_trip_takes_twice_the_delay() {
    let shape = Shape { bits_per_second: None, one_way_delay: Duration::from_millis(20) };
    let (mut near, mut far, _relay) = through(shape);
    let best = (0..5).map(|_| round_trip(&mut near, &mut far)).min().unwrap();
    assert!(best >= Duration::from_millis(40), "{best:?}");
    assert!(best < Duration::from_millis(60), "{best:?}");
}

#[test]
fn short_delays_stay_well_below_a_millisecond() {
    let (mut near, mut far, _relay) = through(Shape::LAN);
    let mut times: Vec<_> = (0..50).map(|_| round_trip(&mut near, &mut far)).collect();
    times.sort();
    assert!(times[0] >= Duration::from_micros(20));
    // The fastest tenth: a busy machine delays the rest.
    assert!(times[5] < Duration::from_millis(1), "{times:?}");
}

#[test]
fn a_transfer_takes_its_length_over_the_rate() {
    let shape =
        Shape { bits_per_second: Some(80_000_000), one_way_delay: Duration::from_millis(5) };
    let (mut near, mut far, _relay) = through(shape);
    let started = Instant::now();
    let writing = std::thread::spawn(move || {
        // 5 MB at 80 Mbit/s take half a second.
        near.write_all(&vec![7; 5_000_000]).unwrap();
        near
    });
    let mut received = vec![0; 5_000_000];
    far.read_exact(&mut received).unwrap();
    let took = started.elapsed();
    assert!(received.iter().all(|byte| *byte == 7));
    assert!(took >= Duration::from_millis(500), "{took:?}");
    assert!(took < Duration::from_millis(1500), "{took:?}");
    drop(writing.join().unwrap());
}

#[test]
fn the_end_of_one_direction_leaves_the_other_open() {
    let (mut near, mut far, _relay) = through(Shape::GIGABIT);
    near.write_all(b"last words").unwrap();
    near.shutdown(std::net::Shutdown::Write).unwrap();
    let mut received = Vec::new();
    far.read_to_end(&mut received).unwrap();
    assert_eq!(received, b"last words");
    far.write_all(b"answer").unwrap();
    drop(far);
    received.clear();
    near.read_to_end(&mut received).unwrap();
    assert_eq!(received, b"answer");
}

fn sessions_through(shape: Shape) -> (Session, Session, ShapedRelay) {
    let (one, two) = (Identity::generate().unwrap(), Identity::generate().unwrap());
    let listening = listen(&one, &[two.public()], options(listen_anywhere()));
    let relay = ShapedRelay::start(ANYWHERE, listening.address, shape).unwrap();
    let connected = connect(&two, &[one.public()], &options(connect_to(relay.address()))).unwrap();
    (listening.result().unwrap(), connected, relay)
}

#[test]
fn a_session_works_through_the_wan_shape() {
    let (a, b, _relay) = sessions_through(Shape::WAN);
    let (_a_in, mut a_out) = root(&a);
    let (mut b_in, _b_out) = root(&b);
    let started = Instant::now();
    // 5 MB at 50 Mbit/s are 0.8 s when the window keeps the line full.
    let writing = std::thread::spawn(move || {
        a_out.write_all(&vec![1; 5_000_000]).unwrap();
        drop(a_out);
        a.close()
    });
    b_in.read_exact(&mut vec![0; 5_000_000]).unwrap();
    let took = started.elapsed();
    assert!(took >= Duration::from_millis(800), "{took:?}");
    assert!(took < Duration::from_millis(2500), "{took:?}");
    assert_eq!(b.close(), Ok(()));
    assert_eq!(writing.join().unwrap(), Ok(()));
}

#[test]
fn dropping_the_relay_ends_its_connections() {
    let (a, b, relay) = sessions_through(Shape::LOOPBACK);
    let (mut a_in, _a_out) = root(&a);
    let (mut b_in, _b_out) = root(&b);
    drop(relay);
    assert_eq!(a_in.read_exact(&mut [0]), Err(TransportError::Closed));
    assert_eq!(b_in.read_exact(&mut [0]), Err(TransportError::Closed));
}

#[test]
fn a_port_in_use_is_named() {
    let taken = TcpListener::bind(ANYWHERE).unwrap();
    let address = taken.local_addr().unwrap();
    let result = ShapedRelay::start(address, address, Shape::LAN);
    assert_eq!(result.err(), Some(LinkError::PortInUse));
}
