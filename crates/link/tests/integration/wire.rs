//! A session over a connection that damages, delays and breaks.

use crate::common::{SOON, connect, connect_to, listen, listen_anywhere, options, root};
use crate::faults::{Fault, Way, Wire};
use std::time::{Duration, Instant};
use vesica_core::TransportError;
use vesica_link::{Identity, LinkOptions, Session};

/// The two ends of a session over a faulty wire: the listening end, then the connecting end.
fn over(
    way: Way,
    offset: u64,
    fault: Fault,
    change: impl Fn(&mut LinkOptions),
) -> (Session, Session, Wire) {
    let (one, two) = (Identity::generate().unwrap(), Identity::generate().unwrap());
    let mut listening = options(listen_anywhere());
    change(&mut listening);
    let listener = listen(&one, &[two.public()], listening);
    let wire = Wire::to(listener.address, way, offset, fault);
    let mut connecting = options(connect_to(wire.address));
    change(&mut connecting);
    let connected = connect(&two, &[one.public()], &connecting).unwrap();
    (listener.result().unwrap(), connected, wire)
}

/// Bytes of a handshake with the greetings, in both directions, and a little of what follows.
const AFTER_THE_HANDSHAKE: u64 = 6_000;

#[test]
fn values_can_be_exported_after_a_byte_was_damaged() {
    let (a, b, _wire) = over(Way::There, AFTER_THE_HANDSHAKE, Fault::Damage(1), |_| ());
    let (mut a_in, _a_out) = root(&a);
    let (_b_in, mut b_out) = root(&b);
    // The other end may have found the damage, and closed the connection, before all is written.
    let _ = b_out.write_all(&[7; 100_000]).and_then(|()| b_out.flush());
    let mut buf = vec![0; 100_000];
    assert_eq!(a_in.read_exact(&mut buf), Err(TransportError::Tls));
    assert_eq!(a.export("label", b"x"), b.export("label", b"x"));
    assert_ne!(a.export("label", b"x"), a.export("label", b"y"));
}

#[test]
fn a_damaged_handshake_is_tried_again() {
    // Every field of both sides' first flights, the parts in clear among them.
    for way in [Way::There, Way::Back] {
        for offset in [0, 1, 3, 5, 6, 9, 11, 43, 44, 60, 80, 120, 200, 400, 1_000, 1_200] {
            let started = Instant::now();
            let (a, b, _wire) = over(way, offset, Fault::Damage(0x55), |_| ());
            assert!(started.elapsed() < SOON, "{way:?} {offset}");
            // The damaged byte may have no meaning; then the first connection works.
            let (mut a_in, _a_out) = root(&a);
            let (_b_in, mut b_out) = root(&b);
            b_out.write_all(&[7; 10]).unwrap();
            b_out.flush().unwrap();
            a_in.read_exact(&mut [0; 10]).unwrap();
        }
    }
}

/// Closes both ends while the wire holds back its bytes for `time`.
fn close_late(time: Duration, idle: Duration) -> [Result<(), TransportError>; 2] {
    let (a, b, wire) = over(Way::Back, u64::MAX, Fault::Cut, |options| options.idle = idle);
    let (_a_in, mut a_out) = root(&a);
    let (mut b_in, _b_out) = root(&b);
    a_out.write_all(&[7; 1000]).unwrap();
    a_out.flush().unwrap();
    b_in.read_exact(&mut [0; 1000]).unwrap();
    wire.hold(true);
    let closing = [a, b].map(|end| std::thread::spawn(move || end.close()));
    std::thread::sleep(time);
    wire.hold(false);
    closing.map(|end| end.join().unwrap())
}

#[test]
fn a_goodbye_may_take_as_long_as_the_idle_limit() {
    let ends = close_late(Duration::from_secs(12), Duration::from_secs(60));
    assert_eq!(ends, [Ok(()), Ok(())]);
}

#[test]
fn a_goodbye_later_than_the_idle_limit_is_an_error() {
    let ends = close_late(Duration::from_secs(14), Duration::from_secs(4));
    assert!(ends.iter().all(Result::is_err), "{ends:?}");
}
