//! Stores that mirror each other over connections, and peers that send what no party sends.

use crate::support::Scene;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use vesica_core::StopReason;
use vesica_link::{CancelToken, Endpoint, Identity, LinkEvent, LinkOptions, Session, establish};
use vesica_net::{StreamId, StreamPair, Streams};
use vesica_store_session::{
    Dial, Dialled, ExchangeError, Lengths, Mirror, Options, Store, Waiting,
};

const AGREEMENT: [u8; 32] = [7; 32];
const RUN: &str = "0707070707070707-0001";
const LINE: StreamId = StreamId::from_u64(0x6d69_7272_6f72);
const SOON: Duration = Duration::from_secs(20);

/// Both ends of a connection.
fn connection() -> [Session; 2] {
    let [one, two] = [0, 1].map(|_| Identity::generate().unwrap());
    let keys = [one.public(), two.public()];
    let options =
        |endpoint| LinkOptions { endpoint, wait: SOON, idle: SOON, total: None, proxy: None };
    let (told, address) = channel();
    let listening = std::thread::spawn(move || {
        let on_event = |event| {
            if let LinkEvent::Listening { address } = event {
                told.send(address.to_string()).unwrap();
            }
        };
        let listen = options(Endpoint::Listen("127.0.0.1:0".into()));
        establish(&one, &[keys[1]], &listen, &on_event, &CancelToken::new()).unwrap()
    });
    let connect = options(Endpoint::Connect(address.recv().unwrap()));
    let other = establish(&two, &[keys[0]], &connect, &|_| (), &CancelToken::new()).unwrap();
    [listening.join().unwrap(), other]
}

/// A mirror of party `own` in `folder`, and where to send its connections.
fn mirror(folder: &Path, own: u8) -> (Mirror, Sender<Session>) {
    let (lines, taken): (_, Receiver<Session>) = channel();
    let taken = Mutex::new(taken);
    let dial: Dial =
        Box::new(move |_| match taken.lock().unwrap().recv_timeout(Duration::from_millis(10)) {
            Ok(session) => Dialled::Connected(Arc::new(session)),
            Err(_) => Dialled::Again,
        });
    (Mirror::open(folder, &AGREEMENT, own, dial, &CancelToken::new()).unwrap(), lines)
}

fn name(object: &str) -> String {
    format!("{RUN}/{object}")
}

/// The object, once it is there.
fn got(mirror: &Mirror, object: &str) -> Vec<u8> {
    let start = Instant::now();
    loop {
        if let Some(bytes) = mirror.get(&name(object), Lengths::ANY).unwrap() {
            return bytes;
        }
        assert!(start.elapsed() < SOON, "{object} does not come");
        mirror.wait(&name(object), Duration::from_millis(50), &CancelToken::new());
    }
}

#[test]
fn objects_come_over_connections_that_are_lost() {
    let folder = tempfile::tempdir().unwrap();
    let ends = [0, 1].map(|own| mirror(&folder.path().join(own.to_string()), own));
    let connect = || {
        let lines = connection();
        for (line, (_, lines)) in lines.iter().zip(&ends) {
            lines.send(line.clone()).unwrap();
        }
        lines
    };
    let [(one, _), (two, _)] = &ends;
    let object = |number: u8| vec![number; 300_000];
    assert!(one.put_if_absent(&name("0-hello"), b"early").unwrap());
    assert!(two.put_if_absent(&name("1-hello"), b"early").unwrap());
    for number in 0..6_u8 {
        let lines = connect();
        assert_eq!((got(two, "0-hello"), got(one, "1-hello")), (b"early".into(), b"early".into()));
        for (party, mirror, other) in [(0, one, two), (1, two, one)] {
            let text = format!("{party}-{number:06}");
            assert!(mirror.put_if_absent(&name(&text), &object(number)).unwrap());
            if number % 2 == 0 {
                assert_eq!(got(other, &text), object(number));
            }
        }
        lines[usize::from(number % 2)].abort(StopReason::Cancelled);
    }
    let _lines = connect();
    for number in 0..6 {
        assert_eq!(got(two, &format!("0-{number:06}")), object(number));
        assert_eq!(got(one, &format!("1-{number:06}")), object(number));
    }
    assert!(!one.put_if_absent(&name("0-000000"), b"other").unwrap());
    // Both leave once both have published their last object.
    std::thread::scope(|scope| {
        for (own, mirror) in [(0, one), (1, two)] {
            scope.spawn(move || {
                mirror.put_if_absent(&name(&format!("{own}-end")), b"").unwrap();
                mirror.settle(&name(&format!("{}-end", 1 - own)), SOON).unwrap();
            });
        }
    });
}

#[test]
fn a_party_without_its_folder_learns_that_there_was_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let (two, lines_two) = mirror(&folder.path().join("two"), 1);
    for object in ["0-hello", "0-shares", "0-000000", "1-hello", "1-000000"] {
        two.put_if_absent(&name(object), object.as_bytes()).unwrap();
    }
    let (one, lines_one) = mirror(&folder.path().join("one"), 0);
    let [line, other] = connection();
    lines_one.send(line).unwrap();
    lines_two.send(other).unwrap();
    assert_eq!(one.folders().unwrap(), [RUN]);
    for object in ["0-hello", "0-shares", "1-hello"] {
        assert_eq!(got(&one, object), object.as_bytes());
    }
    // An object put now, such as the mark of an abandoned run, is still sent, as the next run needs
    // it. Numbered objects are not: no party reads the messages of this run.
    two.put_if_absent(&name("1-given-up"), b"x").unwrap();
    assert_eq!(got(&one, "1-given-up"), b"x");
    for object in ["0-000000", "1-000000"] {
        assert_eq!(one.get(&name(object), Lengths::ANY).unwrap(), None, "{object}");
    }
}

/// Copies a folder with the folders in it.
fn copy(from: &Path, to: &Path) {
    let _ = std::fs::remove_dir_all(to);
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

#[test]
fn a_folder_that_was_set_back_is_found_out_at_the_next_connection() {
    let objects = ["0-hello", "0-shares", "0-000000", "0-000001", "0-end"];
    // A copy without this object and the later ones.
    for (kept, missing) in objects.iter().enumerate().skip(1) {
        let folder = tempfile::tempdir().unwrap();
        let [path, old] = ["one", "old"].map(|name| folder.path().join(name));
        let (two, lines_two) = mirror(&folder.path().join("two"), 1);
        let connect = |lines_one: &Sender<Session>| {
            let [line, other] = connection();
            lines_one.send(line).unwrap();
            lines_two.send(other.clone()).unwrap();
            other
        };
        two.put_if_absent(&name("1-hello"), b"").unwrap();
        {
            let (one, lines_one) = mirror(&path, 0);
            let _line = connect(&lines_one);
            for (number, object) in objects.iter().enumerate() {
                if number == kept {
                    copy(&path, &old);
                }
                one.put_if_absent(&name(object), b"x").unwrap();
            }
            objects.iter().for_each(|object| drop(got(&two, object)));
        }
        copy(&old, &path);
        let (one, lines_one) = mirror(&path, 0);
        // It writes before it is connected, and no other party gets what it writes.
        let again = ["0-000005", "0-000006"].map(name);
        assert!(one.put_if_absent(&again[0], b"other").unwrap());
        // It also writes an object that the other side already has.
        assert!(one.put_if_absent(&name(missing), b"other").unwrap());
        let line = connect(&lines_one);
        let start = Instant::now();
        let error = loop {
            match one.get(&name("1-000000"), Lengths::ANY) {
                Err(error) => break error.to_string(),
                Ok(_) => assert!(start.elapsed() < SOON, "{missing}"),
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let expected = format!("the other side has {}, which is not in the state", name(missing));
        assert_eq!(error, expected);
        assert!(one.put_if_absent(&again[1], b"other").is_err(), "{missing}");
        while line.ended().is_none() {
            assert!(start.elapsed() < SOON, "{missing}");
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(two.get(&again[0], Lengths::ANY).unwrap(), None, "{missing}");
    }
}

#[test]
fn a_peer_that_is_connected_and_says_nothing_shows_no_sign_of_work() {
    let folder = tempfile::tempdir().unwrap();
    let (one, lines) = mirror(&folder.path().join("one"), 0);
    let (two, lines_two) = mirror(&folder.path().join("two"), 1);
    let [line, other] = connection();
    lines.send(line).unwrap();
    lines_two.send(other).unwrap();
    assert_eq!(one.folders().unwrap(), [""; 0]);
    let wait = |pause| one.wait(&name("1-000000"), pause, &CancelToken::new());
    // By now both sides know what the other one has.
    std::thread::sleep(Duration::from_millis(300));
    assert!(!wait(Duration::from_millis(500)), "it is silent");
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| wait(SOON / 20));
        std::thread::sleep(Duration::from_millis(100));
        two.put_if_absent(&name("1-hello"), b"x").unwrap();
        assert!(waiting.join().unwrap(), "an object moves");
    });
}

#[test]
fn a_peer_that_is_connected_and_says_nothing_uses_up_the_wait() {
    let (scene, folder) = (Scene::new(), tempfile::tempdir().unwrap());
    let (one, lines) = mirror(&folder.path().join("one"), 0);
    let (_two, lines_two) = mirror(&folder.path().join("two"), 1);
    let [line, other] = connection();
    lines.send(line).unwrap();
    lines_two.send(other).unwrap();
    let wait = Duration::from_secs(1);
    let options = Options { store: Arc::new(one), wait, ..scene.options(&CancelToken::new()) };
    let start = Instant::now();
    let ended = scene.meet(0, options).err();
    let Some(ExchangeError::NotYet { waiting: Waiting::Hello, after }) = ended else {
        panic!("{ended:?}")
    };
    assert!(after >= wait);
    assert!(start.elapsed() < SOON / 2);
}

#[test]
fn a_last_word_that_does_not_come_is_not_waited_for_for_ever() {
    let folder = tempfile::tempdir().unwrap();
    let (one, _lines) = mirror(&folder.path().join("one"), 0);
    let start = Instant::now();
    assert!(one.settle(&name("1-end"), Duration::from_millis(300)).is_err());
    one.put_if_absent(&name("1-end"), b"").unwrap();
    assert!(one.settle(&name("1-end"), SOON).is_err(), "the other side is not there");
    assert!(start.elapsed() < SOON / 2);
}

/// What a hostile peer sends after a `have` with no names.
fn message(kind: u8, name: &[u8], len: u32, rest: &[u8]) -> Vec<u8> {
    let mut bytes = vec![kind, name.len() as u8];
    bytes.extend_from_slice(name);
    bytes.extend_from_slice(&len.to_le_bytes());
    bytes.extend_from_slice(rest);
    bytes
}

#[test]
fn what_no_party_sends_ends_the_connecting_and_is_not_stored() {
    let have = |count: u32| [&[0][..], &count.to_le_bytes()].concat();
    let after = |more: Vec<u8>| [have(0), more].concat();
    let object = |object: &str, len, rest: &[u8]| {
        after(message(1, format!("{RUN}/{object}").as_bytes(), len, rest))
    };
    let cases = [
        ("an unknown message", after(vec![9])),
        ("two lists", after(have(0))),
        ("a long list", have(u32::MAX)),
        ("a list of foreign names", [have(1), vec![1, b'x']].concat()),
        ("an object before the list", message(1, name("1-hello").as_bytes(), 1, b"x")),
        ("a path", after(message(1, b"../../x", 1, b"x"))),
        ("a path in a run", object("0-../../x", 1, b"x")),
        ("an absolute path", after(message(1, b"/tmp/x", 1, b"x"))),
        (
            "an object of another agreement",
            after(message(1, b"0807070707070707-0001/1-hello", 1, b"x")),
        ),
        ("an object of a third party", object("2-hello", 1, b"x")),
        ("a message of this side", object("0-000000", 1, b"x")),
        ("a name of other bytes", after(message(1, &[0xff; 4], 1, b"x"))),
        ("a long hello", object("1-hello", 2 << 20, b"")),
        ("a long object", object("1-000000", u32::MAX, b"")),
        ("a message of another run", after(message(1, b"0707070707070707-0002/1-000000", 1, b"x"))),
    ];
    for (what, bytes) in cases {
        let folder = tempfile::tempdir().unwrap();
        let (one, lines) = mirror(&folder.path().join("one"), 0);
        one.put_if_absent(&name("0-hello"), b"").unwrap();
        let [line, hostile] = connection();
        lines.send(line).unwrap();
        let (_reader, mut writer): StreamPair = hostile.open(LINE).unwrap();
        writer.write_all(&bytes).unwrap();
        writer.flush().unwrap();
        let start = Instant::now();
        let error = loop {
            match one.get(&name("1-000000"), Lengths::ANY) {
                Err(error) => break error,
                Ok(object) => assert!(object.is_none() && start.elapsed() < SOON, "{what}"),
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        assert_eq!(error.kind(), ErrorKind::InvalidData, "{what}");
        while hostile.ended().is_none() {
            assert!(start.elapsed() < SOON, "{what}");
            std::thread::sleep(Duration::from_millis(5));
        }
        let ended = hostile.ended().unwrap();
        let stopped = vesica_core::TransportError::PeerStopped(StopReason::Misbehaviour);
        assert_eq!(ended, stopped, "{what}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "{what}");
        assert_eq!(std::fs::read_dir(folder.path().join("one")).unwrap().count(), 1, "{what}");
        assert_eq!(one.list(RUN).unwrap().len(), 1, "{what}");
    }
}
