//! A byte that the network changes, anywhere and in any protocol, is an error of the network: no
//! party is accused, nothing is reported as a defect, and no part of a result remains with a side
//! that failed.

use crate::support::{Pair, TERMS, run};
use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;
use vesica_agreement::Agreement;
use vesica_engine::{Error, Event, Observer, Report};
use vesica_link::{CancelToken, Endpoint, LinkEvent};
use vesica_protocols::{Operation, catalogue};
use vesica_tables::{OutputOptions, ReadOptions, Source};

/// A wire that changes one byte, counted from the moment when both sides have met.
struct Wire {
    /// Number of sides that have met.
    met: AtomicU64,
    /// The direction, 0 or 1, and the position of the byte that this wire changes.
    place: (usize, u64),
    passed: [AtomicU64; 2],
    damaged: AtomicBool,
}

impl Wire {
    fn pass(&self, way: usize, mut from: TcpStream, mut to: TcpStream) {
        let mut piece = [0; 16 << 10];
        while let Ok(len @ 1..) = from.read(&mut piece) {
            if self.met.load(Ordering::SeqCst) == 2 {
                let before = self.passed[way].fetch_add(len as u64, Ordering::SeqCst);
                let (damaged_way, at) = self.place;
                if way == damaged_way && (before..before + len as u64).contains(&at) {
                    piece[(at - before) as usize] ^= 0x10;
                    self.damaged.store(true, Ordering::SeqCst);
                }
            }
            if to.write_all(&piece[..len]).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Write);
    }

    /// A port whose connections are forwarded to `target`.
    fn to(self: &Arc<Self>, target: String) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let wire = Arc::clone(self);
        std::thread::spawn(move || {
            let (near, _) = listener.accept().unwrap();
            let far = TcpStream::connect(target).unwrap();
            let back = (far.try_clone().unwrap(), near.try_clone().unwrap());
            let other = Arc::clone(&wire);
            std::thread::spawn(move || other.pass(1, back.0, back.1));
            wire.pass(0, near, far);
        });
        address
    }
}

/// Reports the address of the open port, and tells the wire that its side has met the other.
struct Watch {
    wire: Arc<Wire>,
    address: Mutex<mpsc::Sender<String>>,
}

impl Observer for Watch {
    fn event(&self, event: &Event<'_>) {
        match event {
            Event::Link(LinkEvent::Listening { address }) => {
                let _ = self.address.lock().unwrap().send(address.to_string());
            }
            Event::Link(LinkEvent::Connected { .. }) => {
                self.wire.met.fetch_add(1, Ordering::SeqCst);
            }
            _ => {}
        }
    }
}

/// An agreement on `protocol` for the first of its operations, and the extension of a result file.
fn agreement(pair: &Pair, protocol: &str, operation: Operation) -> (Agreement, &'static str) {
    use Operation::{
        InnerProduct, Intersection, PrivateId, SharedValues, Shares, Sum, Threshold, Union,
    };
    let values = "of = \"two\"\ncolumn = \"amount\"\nbits = 8\n";
    let (more, table) = match operation {
        Threshold => ("threshold = 2\n", String::new()),
        Sum => ("", format!("[sum]\n{values}")),
        InnerProduct => ("", format!("[product]\n{values}times = \"amount\"\ntimes_bits = 4\n")),
        SharedValues => ("", format!("[shares]\n{values}")),
        _ => ("", String::new()),
    };
    let receives = match operation {
        PrivateId | Shares | SharedValues => "all",
        _ => "one",
    };
    let ending = match operation {
        Intersection | Union | PrivateId => "csv",
        Shares | SharedValues => "json",
        _ => "",
    };
    let security = match protocol {
        "naive_hash" => "insecure",
        one_sided if one_sided.ends_with("_one_sided") => "one-sided",
        _ => "semi-honest",
    };
    let [one, two] = &pair.identities;
    let text = format!(
        "version = 2\ntitle = \"t\"\noperation = \"{}\"\nreceives = \"{receives}\"\n\
         security = \"{security}\"\nprotocol = \"{protocol}\"\n{more}{table}\n[[key]]\n\
         name = \"id\"\n\
         profile = \"integer:16\"\n\n[party.one]\nidentity = \"{one}\"\nmax_rows = 50\n\n\
         [party.two]\nidentity = \"{two}\"\nmax_rows = 50\n",
        operation.name(),
    );
    let agreement = Agreement::parse(&text).unwrap_or_else(|error| panic!("{error}:\n{text}"));
    (agreement, ending)
}

/// Both sides' outcomes of a run in which the byte at `place` is changed, the bytes that passed
/// each way, and whether that byte was among them.
fn damaged(
    protocol: &str,
    operation: Operation,
    place: (usize, u64),
) -> ([Result<Report, Error>; 2], [u64; 2], bool) {
    let pair = Pair::new();
    let rows = |range: std::ops::Range<u32>| {
        let rows: Vec<String> = range.map(|id| format!("{id},{}", id % 7)).collect();
        format!("id,amount\n{}\n", rows.join("\n"))
    };
    fs::write(pair.path("one.csv"), rows(0..12)).unwrap();
    fs::write(pair.path("two.csv"), rows(8..24)).unwrap();
    let (agreement, ending) = agreement(&pair, protocol, operation);
    let job = |party: usize, endpoint| {
        let name = ["one", "two"][party];
        let mut job = pair.job(party, &TERMS, endpoint);
        let receives = agreement.is_receiver_of_result(name) && !ending.is_empty();
        job.output = receives.then(|| OutputOptions {
            path: pair.path(&format!("{name}.out.{ending}")),
            force: false,
        });
        job.agreement = agreement.clone();
        job.source =
            Source::open(pair.path(&format!("{name}.csv")), &ReadOptions::default()).unwrap();
        // After a damaged length, the announced bytes never arrive; after a damaged greeting, its
        // side may wait for another while the first peer has finished. A run that should succeed
        // gets more time.
        let (wait, idle) = if place.1 == u64::MAX { (120, 30) } else { (8, 3) };
        job.link.wait = Duration::from_secs(wait);
        job.link.idle = Duration::from_secs(idle);
        job.allow_insecure = true;
        job
    };
    let passed = [AtomicU64::new(0), AtomicU64::new(0)];
    let damaged = AtomicBool::new(false);
    let wire = Arc::new(Wire { met: AtomicU64::new(0), place, passed, damaged });
    let (told, address) = mpsc::channel();
    let watch = Arc::new(Watch { wire: Arc::clone(&wire), address: Mutex::new(told) });
    let results = std::thread::scope(|scope| {
        let observer = Arc::clone(&watch) as Arc<dyn Observer>;
        let listening = scope.spawn(|| {
            run(job(0, Endpoint::Listen("127.0.0.1:0".into())), observer, &CancelToken::new())
        });
        let address = wire.to(address.recv_timeout(Duration::from_secs(120)).unwrap());
        let connect = job(1, Endpoint::Connect(address.to_string()));
        let connecting = run(connect, watch, &CancelToken::new());
        [listening.join().unwrap(), connecting]
    });
    let case = format!("{protocol}, {operation:?}, a change at {place:?}");
    for (name, result) in ["one", "two"].iter().zip(&results) {
        match result {
            Ok(_) => {}
            Err(Error::Transport { .. }) => {
                let out = pair.path(&format!("{name}.out.{ending}"));
                assert!(!out.exists(), "{case}: {name} failed and has a result");
            }
            Err(error) => panic!("{case}: {name}: {error:?}"),
        }
    }
    let is_damaged = wire.damaged.load(Ordering::SeqCst);
    if !is_damaged {
        assert!(results.iter().all(Result::is_ok), "{case}: {results:?}");
    }
    let stray: Vec<_> = fs::read_dir(pair.directory.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with('.') || name.contains("partial"))
        .collect();
    assert!(stray.is_empty(), "{case}: {stray:?}");
    (results, wire.passed.each_ref().map(|passed| passed.load(Ordering::SeqCst)), is_damaged)
}

/// The protocols, each with the first of its operations.
fn protocols() -> impl Iterator<Item = (&'static str, Operation)> {
    catalogue().iter().map(|row| {
        let operation = Operation::ALL.iter().find(|operation| row.operations.contains(operation));
        (row.id, *operation.expect("a row has operations"))
    })
}

/// Runs in parallel, more than cores: after a damaged length, a run waits some seconds.
const AT_ONCE: usize = 20;

/// Calls `run` with each of `cases`, several in parallel.
fn side_by_side<T: Send>(cases: impl Iterator<Item = T> + Send, run: impl Fn(T) + Sync) {
    let cases = Mutex::new(cases);
    let next = || cases.lock().unwrap().next();
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(case) = next() {
                    run(case);
                }
            });
        }
    });
}

/// The `n`-th of a fixed sequence of numbers below `len`.
fn random_below(name: &str, n: u64, len: u64) -> u64 {
    const LABEL: &str = "vesica engine tests damaged offset";
    let digest = vesica_core::hash::derive(LABEL, &[name.as_bytes(), &n.to_le_bytes()]);
    let (first, _) = digest.split_first_chunk().unwrap();
    u64::from_le_bytes(*first) % len
}

/// The bytes that pass each way in an undamaged run of `protocol`.
fn passed(protocol: &str, operation: Operation) -> [u64; 2] {
    let (results, passed, _) = damaged(protocol, operation, (0, u64::MAX));
    assert!(results.iter().all(Result::is_ok), "{protocol}: {results:?}");
    passed
}

/// One protocol of each class of messages, in this order: a single round, long streams, layers of a
/// circuit, a check of the other party, several protocols in one, and integers of a small domain.
const OF_EACH_CLASS: [&str; 6] =
    ["naive_hash", "dh", "circuit_phasing", "rr22_malicious", "gmrss21_union", "bwa"];

/// Whether TLS or the reader of frames sees the damage does not depend on the protocol: the slow
/// test below damages all of them.
#[test]
fn damage_in_a_protocol_of_each_class_is_an_error_of_the_network() {
    const MANY: u64 = 12;
    let of_each_class = || protocols().filter(|(protocol, _)| OF_EACH_CLASS.contains(protocol));
    assert_eq!(of_each_class().count(), OF_EACH_CLASS.len());
    side_by_side(of_each_class(), |(protocol, operation)| {
        let passed = passed(protocol, operation);
        let mut errors = 0;
        for n in 0..MANY {
            let way = n as usize % 2;
            let place = (way, random_below(protocol, n, passed[way]));
            // Under load, a short run has sent its last bytes before the wire counts any, or both
            // sides have what they need before the damaged bytes arrive.
            let fails = |_| {
                let (results, _, is_damaged) = damaged(protocol, operation, place);
                is_damaged && results.iter().any(Result::is_err)
            };
            errors += u64::from((0..5).any(fails));
        }
        // A side that has all it needs may end before it receives the other's last messages, so two
        // places may have no effect; `damaged` checks how both sides ended.
        assert!(errors > MANY / 2, "{protocol}: damage had an effect {errors} times");
    });
}

#[test]
fn damage_from_the_first_words_to_the_goodbye_is_an_error_of_the_network() {
    let passed = passed("dh", Operation::Intersection);
    let places = passed.into_iter().enumerate().flat_map(|(way, passed)| {
        // The low byte of the first record's length. With 4,096 bytes more, by the high byte, it
        // would take the keep-alive messages of a minute to fill the record.
        let offsets = [0, 4, passed / 3, passed / 2].into_iter();
        let at_the_end = (1..=5).map(move |step| passed.saturating_sub(step * 23));
        offsets.chain(at_the_end).map(move |at| (way, at))
    });
    side_by_side(places, |place| drop(damaged("dh", Operation::Intersection, place)));
}

/// In runs with up to this many bytes each way, each byte is damaged.
const SHORT_LEN: u64 = 3000;

/// In longer runs, this many of the first and of the last bytes, and as many others: a run of some
/// protocols sends a megabyte.
const OFFSETS: u64 = 100;

#[test]
#[ignore = "slow: a run for each byte, of long runs for some hundred"]
fn damage_at_every_offset_is_an_error_of_the_network() {
    for (protocol, operation) in protocols() {
        let passed = passed(protocol, operation);
        let offsets = passed.into_iter().enumerate().flat_map(|(way, len)| {
            let offsets: BTreeSet<u64> = if len > SHORT_LEN {
                let anywhere = (0..OFFSETS).map(|n| random_below(protocol, n, len));
                (0..OFFSETS).chain(anywhere).chain(len - OFFSETS..len).collect()
            } else {
                (0..len).collect()
            };
            offsets.into_iter().map(move |at| (way, at))
        });
        side_by_side(offsets, |place| drop(damaged(protocol, operation, place)));
    }
}
