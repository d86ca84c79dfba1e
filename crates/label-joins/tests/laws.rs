//! All backends give the same answers and leave nothing behind: in this process, in a real Redis,
//! in a real PostgreSQL, and with a thread that answers as a cluster does.

#[path = "laws/cluster.rs"]
mod cluster;

use cluster::Answering;
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Barrier, Mutex};
use std::thread;
use vesica_label_joins::{Backend, BackendError, RunName, open};
use vesica_labels::{Bits, Format, Label, List, Segments, Spool};
use vesica_net::Pool;
use vesica_scratch::MemoryScratch;
use vesica_test_databases::{Postgres, Redis};

const RUN: RunName = RunName([0x5a; 16]);

/// Lists in encoded form.
struct Written {
    format: Format,
    labels: BTreeSet<Label>,
    counts: Vec<u32>,
    segments: Vec<Vec<u8>>,
}

impl Segments for Written {
    fn read(&self, index: u32) -> io::Result<Vec<u8>> {
        self.segments.get(index as usize).cloned().ok_or(io::ErrorKind::NotFound.into())
    }
}

impl Written {
    /// The labels of some integers.
    fn of(format: Format, integers: impl Iterator<Item = u64>) -> Self {
        let labels = integers.map(|integer| format.truncated(label(integer))).collect();
        let mut written = Self { format, labels, counts: Vec::new(), segments: Vec::new() };
        let mut spool = Spool::new(format, 34, 1 << 24, &MemoryScratch).unwrap();
        written.labels.iter().for_each(|label| spool.push(*label, 0).unwrap());
        let sorted = spool.finish().unwrap();
        for index in 0..format.segments() {
            let segment = sorted.segment(index).unwrap();
            written.segments.push(sorted.encode(&segment).unwrap());
            written.counts.push(segment.labels.len() as u32);
        }
        written
    }

    fn list(&self) -> List<'_> {
        List::new(self.format, &self.counts, self).unwrap()
    }
}

/// 128 pseudo-random bits, different for all integers.
fn label(integer: u64) -> Label {
    let mixed = |mut x: u64| {
        x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    };
    let first = mixed(integer.wrapping_add(0x9e37_79b9_7f4a_7c15));
    u128::from(first) << 64 | u128::from(mixed(first ^ 0x5555))
}

/// Lists of these sizes: the first `overlap` integers are in all, and half of the others are also
/// in the next one.
fn lists(sizes: &[u64], overlap: u64) -> Vec<Written> {
    let largest = sizes.iter().max().unwrap().max(&1).next_power_of_two().ilog2();
    let each = sizes.iter().enumerate().map(|(at, size)| {
        let own = (at as u64 + 1) << 40;
        let scale = size.max(&1).next_power_of_two().ilog2();
        let format = Format::new(scale, 40 + 2 * largest);
        Written::of(format, (0..overlap).chain(own..own + size - overlap))
    });
    each.collect()
}

/// The bits that a backend must return.
fn plain(written: &[Written]) -> Vec<Bits> {
    let shortest = written.iter().map(|list| list.format.label_bits()).min().unwrap();
    let cut = |label: &Label| label >> (128 - shortest);
    let sets: Vec<BTreeSet<Label>> =
        written.iter().map(|list| list.labels.iter().map(cut).collect()).collect();
    let in_all = |label: &Label| sets.iter().all(|set| set.contains(&cut(label)));
    let bits = written.iter().map(|list| {
        let mut bits = Bits::new(list.labels.len() as u64);
        let places = (0..).zip(&list.labels).filter(|(_, label)| in_all(label));
        places.for_each(|(place, _)| bits.set(place));
        bits
    });
    bits.collect()
}

fn common(
    backend: &dyn Backend,
    written: &[Written],
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Option<Vec<Bits>>, BackendError> {
    let lists: Vec<List<'_>> = written.iter().map(Written::list).collect();
    backend.common(&RUN, &lists, stop)
}

fn at(url: &str, threads: usize) -> Box<dyn Backend> {
    let pool = Pool::new(NonZeroUsize::new(threads).unwrap()).unwrap();
    open(url, pool, 1 << 30).unwrap()
}

/// A server of each kind.
struct Servers {
    redis: Redis,
    postgres: Postgres,
    directory: PathBuf,
    /// The folder of a cluster, and who answers there.
    shared: PathBuf,
    _cluster: Answering,
}

impl Servers {
    fn start() -> Self {
        // Each test has its own, by the name of the thread, which is that of the test.
        let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
        let directory = directory.join(thread::current().name().unwrap().replace(':', "_"));
        fs::create_dir_all(&directory).unwrap();
        let shared = directory.with_extension("shared");
        fs::create_dir_all(&shared).unwrap();
        thread::scope(|scope| {
            let redis = scope.spawn(Redis::start);
            let postgres = Postgres::start();
            let redis = redis.join().unwrap();
            let _cluster = Answering::start(shared.clone());
            Self { redis, postgres, directory, shared, _cluster }
        })
    }

    fn urls(&self) -> Vec<String> {
        vec![
            "memory:".to_owned(),
            format!("disk:{}", self.directory.display()),
            self.redis.url(),
            self.redis.socket_url(),
            self.postgres.url(),
            self.postgres.socket_url(),
            format!("cluster:{}", self.shared.display()),
        ]
    }

    /// Checks that nothing of ours remains on the servers or in the directory.
    fn assert_clean(&self) {
        assert_eq!(self.redis.keys(), 0);
        // A connection that has just been closed takes a moment to end.
        let left = (0..200).any(|_| {
            let tables = self.postgres.tables();
            if tables > 0 {
                thread::sleep(std::time::Duration::from_millis(20));
            }
            tables == 0
        });
        assert!(left, "{}", self.postgres.query("SELECT schemaname, tablename FROM pg_tables"));
        assert_eq!(fs::read_dir(&self.directory).unwrap().count(), 0);
        assert_eq!(fs::read_dir(&self.shared).unwrap().count(), 0);
    }
}

#[test]
fn every_backend_finds_the_plain_intersection() {
    let servers = Servers::start();
    let cases: Vec<Vec<Written>> = vec![
        lists(&[0, 0], 0),
        lists(&[0, 5], 0),
        lists(&[1, 1], 1),
        lists(&[1, 1], 0),
        lists(&[5], 5),
        lists(&[1, 200_000], 1),
        lists(&[200_000, 1], 0),
        lists(&[40_000, 40_000], 40_000),
        lists(&[30_000, 300_000, 9000], 4000),
        lists(&[700, 20_000, 9000, 9000, 5000], 699),
        lists(&[600_000, 600_000], 7),
        // Cutting the labels makes many of one list equal: 17 bits are compared.
        vec![
            Written::of(Format::new(14, 16), 0..16_000),
            Written::of(Format::new(16, 28), 10_000..70_000),
            Written::of(Format::new(15, 60), 5000..30_000),
        ],
    ];
    for url in servers.urls() {
        for threads in [1, 3] {
            let backend = at(&url, threads);
            assert_eq!(backend.check(), Ok(()), "{}", backend.name());
            for case in &cases {
                let found = common(&*backend, case, &|| false).unwrap();
                let sizes: Vec<u64> = case.iter().map(|list| list.labels.len() as u64).collect();
                assert!(found == Some(plain(case)), "{} {sizes:?}", backend.name());
            }
            assert_eq!(common(&*backend, &[], &|| false), Ok(Some(Vec::new())));
        }
    }
    servers.assert_clean();
}

#[test]
fn a_malformed_or_unreadable_list_is_named() {
    let servers = Servers::start();
    for url in servers.urls() {
        let backend = at(&url, 2);
        let mut written = lists(&[300_000, 400_000, 1000], 1000);
        let last = written[1].segments.len() - 1;
        let good = written[1].segments[last].clone();
        written[1].segments[last].reverse();
        let malformed = common(&*backend, &written, &|| false);
        assert_eq!(malformed, Err(BackendError::Malformed { list: 1 }), "{}", backend.name());
        written[1].segments.pop();
        let missing = BackendError::Storage { list: 1, kind: io::ErrorKind::NotFound };
        assert_eq!(common(&*backend, &written, &|| false), Err(missing), "{}", backend.name());
        written[1].segments.push(good);
        assert!(common(&*backend, &written, &|| false).unwrap() == Some(plain(&written)));
    }
    servers.assert_clean();
}

#[test]
fn a_stopped_call_finds_everything_the_next_time() {
    let servers = Servers::start();
    let written = lists(&[600_000, 600_000], 5);
    for url in servers.urls() {
        let backend = at(&url, 2);
        for after in [0, 1, 3] {
            let asked = AtomicU32::new(0);
            let stop = || asked.fetch_add(1, Ordering::Relaxed) >= after;
            assert_eq!(common(&*backend, &written, &stop), Ok(None), "{} {after}", backend.name());
        }
        servers.assert_clean();
        assert!(common(&*backend, &written, &|| false).unwrap() == Some(plain(&written)));
    }
}

/// Kills the server while the backend checks whether to stop, and repeats the call without it.
/// `kill` says whether it killed; before that it is asked at every check.
fn dies_in_the_middle<S: Send>(
    server: S,
    url: &str,
    kill: impl Fn(&mut S) -> bool + Sync,
    restart: impl Fn(&mut S),
) -> S {
    let written = lists(&[600_000, 600_000], 5);
    let backend = at(url, 2);
    let server = Mutex::new((server, false));
    let attempt = || {
        let asked = AtomicU32::new(0);
        let stop = || {
            if asked.fetch_add(1, Ordering::Relaxed) >= 3 {
                let (server, is_dead) = &mut *server.lock().unwrap();
                *is_dead = *is_dead || kill(server);
            }
            false
        };
        let error = common(&*backend, &written, &stop).err();
        let (server, is_dead) = &mut *server.lock().unwrap();
        if error.is_none() && *is_dead {
            // It had given its last answer.
            restart(server);
            *is_dead = false;
        }
        error
    };
    // On a busy machine all can be over before a check that finds something to kill.
    let error = (0..20).find_map(|_| attempt()).expect("the server dies in one of many calls");
    let (server, is_dead) = server.into_inner().unwrap();
    assert!(is_dead, "the server lives");
    assert!(matches!(error, BackendError::Unreachable(_)) && error.can_pass(), "{error:?}");
    let gone =
        [backend.check(), backend.forget(&RUN), common(&*backend, &written, &|| false).map(drop)];
    for gone in gone {
        assert!(matches!(gone, Err(BackendError::Unreachable(_))), "{gone:?}");
    }
    server
}

#[test]
fn a_redis_crash_is_a_temporary_error() {
    let redis = Redis::start();
    let url = redis.url();
    let kill = |redis: &mut Redis| {
        redis.kill();
        true
    };
    let mut redis = dies_in_the_middle(redis, &url, kill, Redis::restart);
    redis.restart();
    let (backend, written) = (at(&url, 2), lists(&[600_000, 600_000], 5));
    assert!(common(&*backend, &written, &|| false).unwrap() == Some(plain(&written)));
    assert_eq!(redis.keys(), 0);
}

#[test]
fn a_postgres_crash_is_a_temporary_error() {
    let postgres = Postgres::start();
    let url = postgres.url();
    let kill = |postgres: &mut Postgres| {
        let has_labels = postgres.table_bytes() > 0;
        if has_labels {
            postgres.kill();
        }
        has_labels
    };
    let mut postgres = dies_in_the_middle(postgres, &url, kill, Postgres::restart);
    postgres.restart();
    let (backend, written) = (at(&url, 2), lists(&[600_000, 600_000], 5));
    assert!(common(&*backend, &written, &|| false).unwrap() == Some(plain(&written)));
    drop(backend);
    // A crashed server keeps the names of temporary tables until it reuses them, but none of their
    // rows.
    let emptied = (0..200).find(|_| {
        thread::sleep(std::time::Duration::from_millis(20));
        postgres.table_bytes() == 0
    });
    assert!(emptied.is_some());
}

#[test]
fn a_wrong_password_is_refused() {
    let (redis, postgres) = (Redis::start(), Postgres::start());
    let without =
        postgres.url().replace(&postgres.url()[18..postgres.url().find('@').unwrap()], "");
    let unknown = redis.url().replace("redis://:", "redis://somebody:");
    for url in [redis.wrong_url(), postgres.wrong_url(), unknown, without] {
        let backend = at(&url, 1);
        let refused = [
            backend.check(),
            backend.forget(&RUN),
            common(&*backend, &lists(&[5, 5], 5), &|| false).map(drop),
        ];
        assert_eq!(refused, [Err(BackendError::Refused); 3], "{}", backend.name());
    }
}

#[test]
fn a_redis_user_needs_exactly_the_documented_rights() {
    let redis = Redis::start();
    let rights = "+auth +select +multi +exec +sadd +sinter +unlink ~vesica:*";
    let written = lists(&[900, 1200], 800);
    let url = redis.url().replace("redis://:", "redis://few:");
    let password = Redis::PASSWORD;
    let grant = |rights: &str| {
        let reply = redis.query(&format!("ACL SETUSER few reset on >{password} {rights}"));
        assert_eq!(reply.as_deref(), Some("+OK"));
    };
    grant(rights);
    let backend = at(&url, 1);
    assert_eq!(backend.check(), Ok(()));
    assert_eq!(common(&*backend, &written, &|| false), Ok(Some(plain(&written))));
    for missing in rights.split(' ').filter(|right| *right != "+auth") {
        grant(&rights.replace(missing, ""));
        assert_eq!(backend.check(), Err(BackendError::Refused), "{missing}");
    }
}

#[test]
fn a_redis_without_memory_is_out_of_space_until_it_has_memory() {
    let redis = Redis::start();
    let (backend, written) = (at(&redis.url(), 1), lists(&[50_000, 50_000], 800));
    assert_eq!(redis.query("CONFIG SET maxmemory 100kb").as_deref(), Some("+OK"));
    for error in [backend.check(), common(&*backend, &written, &|| false).map(drop)] {
        assert_eq!(error, Err(BackendError::OutOfSpace));
        assert!(error.unwrap_err().can_pass());
    }
    assert_eq!(redis.query("CONFIG SET maxmemory 0").as_deref(), Some("+OK"));
    assert!(common(&*backend, &written, &|| false).unwrap() == Some(plain(&written)));
}

#[test]
fn keys_of_others_are_unchanged_and_leftovers_of_the_run_are_removed() {
    let redis = Redis::start();
    let (backend, written) = (at(&redis.url(), 1), lists(&[2000, 3000], 100));
    let left = format!("vesica:{RUN}");
    let made = [
        format!("SADD {left}:0 leftover"),
        format!("SET {left}:1 leftover"),
        format!("SADD {left}1:0 other"),
        "SET vesica:other other".to_owned(),
    ];
    // `query` sends one command: the keys are in database 0, so the backend must use that.
    made.iter().for_each(|command| assert!(redis.query(command).is_some()));
    let here = at(&redis.url().replace("/3", "/0"), 1);
    assert_eq!(common(&*here, &written, &|| false), Ok(Some(plain(&written))));
    assert_eq!(redis.keys(), 2);
    redis.query(&made[0]).unwrap();
    assert_eq!((here.forget(&RUN), backend.forget(&RUN)), (Ok(()), Ok(())));
    assert_eq!(redis.keys(), 2);
}

#[test]
fn a_postgres_user_without_temporary_tables_is_refused() {
    let postgres = Postgres::start();
    let backend = at(&postgres.url(), 1);
    let written = lists(&[5, 5], 5);
    assert_eq!(backend.check(), Ok(()));
    postgres.query("REVOKE TEMPORARY ON DATABASE lists FROM PUBLIC");
    assert_eq!(backend.check(), Err(BackendError::Refused));
    let refused = common(&*backend, &written, &|| false);
    assert_eq!(refused, Err(BackendError::Refused));
}

#[test]
fn stale_connections_of_a_run_are_ended() {
    let postgres = Postgres::start();
    let written = lists(&[600_000, 600_000], 5);
    let backend = at(&postgres.url(), 1);
    let (reached, forgotten) = (Barrier::new(2), Barrier::new(2));
    let asked = AtomicU32::new(0);
    let stop = || {
        // A slice is done: the connection has its tables.
        if asked.fetch_add(1, Ordering::Relaxed) == 2 {
            reached.wait();
            forgotten.wait();
        }
        false
    };
    thread::scope(|scope| {
        let running = scope.spawn(|| common(&*backend, &written, &stop));
        reached.wait();
        assert_eq!(backend.forget(&RunName([1; 16])), Ok(()));
        assert!(postgres.tables() > 0);
        assert_eq!(backend.forget(&RUN), Ok(()));
        let gone = (0..200).any(|_| {
            thread::sleep(std::time::Duration::from_millis(20));
            postgres.tables() == 0
        });
        forgotten.wait();
        assert!(gone, "the connection still exists");
        let ended = running.join().unwrap();
        assert!(matches!(ended, Err(BackendError::Unreachable(_))), "{ended:?}");
    });
}

#[test]
fn a_missing_server_or_directory_is_reported() {
    for url in ["redis://127.0.0.1:1", "redis+unix:///nowhere/at/all", "postgres://a@127.0.0.1:1/b"]
    {
        let checked = at(url, 1).check();
        assert!(matches!(checked, Err(BackendError::Unreachable(_))), "{url}: {checked:?}");
    }
    let checked = at("disk:/nowhere/at/all", 1).check();
    assert_eq!(checked, Err(BackendError::Directory(io::ErrorKind::NotFound)));
    assert_eq!(at("memory:", 1).check(), Ok(()));
}

/// Accepts once, replies with `answer` to anything, and disconnects.
fn reply_once(answer: &[u8], query: impl FnOnce(u16) -> Result<(), BackendError>) -> BackendError {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::scope(|scope| {
        scope.spawn(|| {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 4096];
            let received = stream.read(&mut request).unwrap();
            assert!(received > 0);
            stream.write_all(answer).unwrap();
            stream.shutdown(Shutdown::Write).unwrap();
            // So that unread data does not reset the connection before the answer arrives.
            while stream.read(&mut request).is_ok_and(|len| len > 0) {}
        });
        query(port).unwrap_err()
    })
}

#[test]
fn invalid_answers_are_errors_and_not_panics() {
    let queued = "+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n";
    let endless = "x".repeat(10_000);
    for (answer, nonsense) in [
        ("", false),
        ("+OK", false),
        (queued, false),
        ("+QUEUED\r\n", true),
        ("$-1\r\n", true),
        (&*endless, true),
        (&format!("{queued}*4\r\n"), true),
        (&format!("{queued}*3\r\n:0\r\n"), true),
        (&format!("{queued}*3\r\n:1\r\n*99999999999999\r\n"), true),
        (&format!("{queued}*3\r\n:1\r\n*1\r\n$99999999999\r\n"), true),
        (&format!("{queued}*3\r\n:1\r\n*1\r\n$1\r\nabc"), true),
        (&format!("{queued}*3\r\n:1\r\n*1\r\n$1\r\na\r\n:1\r\n"), true),
        (&format!("{queued}*3\r\n:1\r\n*0\r\n:1\r\n"), true),
    ] {
        let error = reply_once(answer.as_bytes(), |port| {
            at(&format!("redis://127.0.0.1:{port}"), 1).check()
        });
        let gone = BackendError::Unreachable(io::ErrorKind::UnexpectedEof);
        assert_eq!(error, if nonsense { BackendError::Nonsense } else { gone }, "{answer:?}");
    }
    let sasl = |kind: &[u8]| [b"R\0\0\0\x17\0\0\0\x0a", kind, b"\0\0"].concat();
    for (answer, expected) in [
        (&b""[..], BackendError::Unreachable(io::ErrorKind::UnexpectedEof)),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", BackendError::Nonsense),
        (b"R\0\0\0\0", BackendError::Nonsense),
        (b"R\xff\xff\xff\xff", BackendError::Nonsense),
        (b"R\0\0\0\x05\0", BackendError::Nonsense),
        (b"R\0\0\0\x08\0\0\0\x63", BackendError::Nonsense),
        (b"R\0\0\0\x08\0\0\0\x0c", BackendError::Nonsense),
        (b"R\0\0\0\x08\0\0\0\x03", BackendError::WeakAuthentication),
        (b"R\0\0\0\x0c\0\0\0\x05salt", BackendError::WeakAuthentication),
        (&sasl(b"SCRAM-SHA-1\0\0"), BackendError::WeakAuthentication),
        (b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05ID\0\0\0\x06\0\x01Z\0\0\0\x05I", BackendError::Nonsense),
        (b"E\0\0\0\x0cC53300\0\0", BackendError::Unreachable(io::ErrorKind::ResourceBusy)),
    ] {
        let error =
            reply_once(answer, |port| at(&format!("postgres://a:b@127.0.0.1:{port}/c"), 1).check());
        assert_eq!(error, expected, "{:?}", String::from_utf8_lossy(answer));
    }
}

#[test]
fn with_little_memory_fewer_threads_give_the_same_answer() {
    let written = lists(&[600_000, 600_000, 100_000], 12_345);
    let pool = Pool::new(NonZeroUsize::new(3).unwrap()).unwrap();
    let backend = open("memory:", pool, 1).unwrap();
    assert!(common(&*backend, &written, &|| false).unwrap() == Some(plain(&written)));
}
