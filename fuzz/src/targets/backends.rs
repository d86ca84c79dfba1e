//! The answers of database servers and clusters, and what clusters are asked.

use super::{Target, scratch};
use crate::input::Input;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use vesica_label_joins::{Backend, RunName, open};
use vesica_labels::{Format, Label, List, Segments, Spool};
use vesica_scratch::MemoryScratch;

/// The labels of both lists: two of them are common.
const LISTS: [[Label; 4]; 2] =
    [[1 << 125, 2 << 125, 3 << 125, 4 << 125], [0, 2 << 125, 3 << 125, 5 << 125]];

/// A server on a socket of this process that answers every connection with the same bytes.
struct Server {
    answer: Arc<Mutex<Vec<u8>>>,
    backend: Box<dyn Backend>,
}

impl Server {
    fn start(socket: &Path, url: &str) -> Self {
        let listener = UnixListener::bind(socket).expect("a socket can be made");
        let answer = Arc::new(Mutex::new(Vec::new()));
        let answers = Arc::clone(&answer);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let bytes = answers.lock().unwrap_or_else(PoisonError::into_inner).clone();
                serve(stream, &bytes);
            }
        });
        let backend = open(url, super::two_party::pool(), 1 << 28);
        Self { answer, backend: backend.expect("the address is one") }
    }

    fn says(&self, answer: &[u8]) {
        *self.answer.lock().unwrap_or_else(PoisonError::into_inner) = answer.to_vec();
    }
}

fn serve(mut stream: UnixStream, answer: &[u8]) {
    let _ = stream.write_all(answer).and_then(|()| stream.shutdown(Shutdown::Write));
    // Until the client disconnects: it must be able to send everything.
    let mut rubbish = [0; 4096];
    while stream.read(&mut rubbish).is_ok_and(|len| len > 0) {}
}

/// A list in memory.
struct Stored(Vec<Vec<u8>>);

impl Segments for Stored {
    fn read(&self, index: u32) -> std::io::Result<Vec<u8>> {
        self.0.get(index as usize).cloned().ok_or(std::io::ErrorKind::NotFound.into())
    }
}

fn stored(format: Format, labels: &[Label]) -> Stored {
    let mut spool = Spool::new(format, 8, 1 << 20, &MemoryScratch).expect("labels are short");
    labels.iter().for_each(|label| spool.push(*label, 0).expect("memory takes it"));
    let sorted = spool.finish().expect("memory takes it");
    let segment = sorted.segment(0).expect("there is one");
    Stored(vec![sorted.encode(&segment).expect("there are few")])
}

/// Sends the server all requests of a helper.
fn query(backend: &dyn Backend) {
    if let Err(error) = backend.check() {
        drop(error.to_string());
    }
    let run = RunName([7; 16]);
    let _ = backend.forget(&run);
    let format = Format::new(2, 8);
    let sources = LISTS.each_ref().map(|labels| stored(format, labels));
    let lists = sources.each_ref().map(|source| List::new(format, &[4], source));
    let lists = lists.map(|list| list.expect("the format has one segment"));
    match backend.common(&run, &lists, &|| false) {
        Ok(Some(bits)) => {
            assert_eq!(bits.len(), lists.len());
            for (list, (bits, own)) in bits.iter().zip(&LISTS).enumerate() {
                assert_eq!(bits.len(), own.len() as u64);
                for (place, label) in own.iter().enumerate() {
                    let is_common = LISTS[1 - list].contains(label);
                    let is_set = bits.get(place as u64);
                    assert!(is_common || !is_set, "a server cannot name what only one list has");
                }
            }
            assert_eq!(bits[0].count_ones(), bits[1].count_ones(), "both lists have the same");
        }
        Ok(None) => panic!("no party asked to stop"),
        Err(error) => drop(error.to_string()),
    }
}

pub(super) const REDIS: Target = Target {
    name: "redis",
    run: redis,
    seeds: redis_answers,
    tokens: &[
        b"+OK\r\n",
        b"+QUEUED\r\n",
        b":0\r\n",
        b":1\r\n",
        b"*3\r\n",
        b"*-1\r\n",
        b"$1\r\n",
        b"$-1\r\n",
        b"-ERR \r\n",
        b"-EXECABORT Transaction discarded because of: ",
        b"-OOM \r\n",
        b"18446744073709551615",
    ],
    max_len: 8192,
};

/// Honest answers: to a check, and to an intersection of two lists.
fn redis_answers() -> Vec<Vec<u8>> {
    let check = b"+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n*3\r\n:1\r\n*1\r\n$1\r\n\xff\r\n:1\r\n";
    let common = b":0\r\n+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n*4\r\n:4\r\n:4\r\n\
        *2\r\n$1\r\n\x40\r\n$1\r\n\x60\r\n:2\r\n";
    vec![check.to_vec(), common.to_vec()]
}

fn redis(bytes: &[u8]) {
    static SERVER: std::sync::OnceLock<Server> = std::sync::OnceLock::new();
    let server = SERVER.get_or_init(|| {
        let socket = scratch().path().join("redis");
        Server::start(&socket, &format!("redis+unix://{}", socket.display()))
    });
    server.says(bytes);
    query(&*server.backend);
}

pub(super) const POSTGRES: Target = Target {
    name: "postgres",
    run: postgres,
    seeds: postgres_answers,
    tokens: &[
        b"PGCOPY\n\xff\r\n\0",
        b"SCRAM-SHA-256\0",
        b"\0\x01\0\0\0\x10",
        b"\xff\xff",
        b"42501\0",
    ],
    max_len: 8192,
};

fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    [&[tag][..], &(body.len() as u32 + 4).to_be_bytes(), body].concat()
}

/// Honest answers of a server without authentication. The first byte decides whether the client has
/// a password.
fn postgres_answers() -> Vec<Vec<u8>> {
    let ready = || message(b'Z', b"I");
    let let_in = [message(b'R', &[0; 4]), message(b'S', b"a\0b\0"), ready()].concat();
    let row = |text: &[u8]| {
        let column = [&[0, 1][..], &(text.len() as u32).to_be_bytes(), text].concat();
        [message(b'D', &column), message(b'C', b"SELECT 1\0"), ready()].concat()
    };
    let label = |label: Label| [&[0, 1, 0, 0, 0, 16][..], &label.to_be_bytes()].concat();
    let rows = [
        b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0".to_vec(),
        label(2 << 125),
        label(3 << 125),
        vec![0xff; 2],
    ];
    let copied = [message(b'G', &[1, 0, 1, 0, 1]), message(b'C', b"COPY 4\0")].concat();
    let common = [
        ready(),
        copied.clone(),
        copied,
        message(b'H', &[1, 0, 1, 0, 1]),
        message(b'd', &rows.concat()),
        message(b'c', b""),
        message(b'C', b"COPY 2\0"),
        ready(),
    ];
    let offer = message(b'R', b"\0\0\0\x0aSCRAM-SHA-256\0\0");
    let refused = message(b'E', b"SFATAL\0C28P01\0Mpassword\0\0");
    let challenge = message(b'R', b"\0\0\0\x0br=nonce,s=c2FsdA==,i=4096");
    [
        [&[0], &let_in[..], &row(b"t")].concat(),
        [&[0], &let_in[..], &common.concat()].concat(),
        [&[1], &offer[..], &challenge].concat(),
        [&[1], &offer[..], &refused].concat(),
    ]
    .to_vec()
}

fn postgres(bytes: &[u8]) {
    static SERVERS: std::sync::OnceLock<[Server; 2]> = std::sync::OnceLock::new();
    let servers = SERVERS.get_or_init(|| {
        ["user", "user:password"].map(|user| {
            let folder = scratch().path().join(format!("postgres-{}", user.len()));
            std::fs::create_dir(&folder).expect("a folder can be made");
            let host = folder.display().to_string().replace('/', "%2F");
            let url = format!("postgres://{user}@/database?host={host}");
            Server::start(&folder.join(".s.PGSQL.5432"), &url)
        })
    });
    let mut input = Input::new(bytes);
    let server = &servers[usize::from(input.byte() & 1)];
    server.says(input.rest());
    query(&*server.backend);
}

pub(super) const CLUSTER: Target = Target {
    name: "cluster",
    run: cluster,
    seeds: cluster_files,
    tokens: &[
        b"vesica join request 1\n",
        &[0; 8],
        &[0, 0, 0, 0, 1, 0, 0, 0],
        &[1, 0, 0, 0, 2, 0, 0, 0],
    ],
    max_len: 1024,
};

/// A request and an answer to it, each with its length.
fn cluster_files() -> Vec<Vec<u8>> {
    let request = vesica_label_joins::fuzzing::request_body();
    let parts = [&[0, 0, 0, 0, 1, 0, 0, 0][..], &[7; 32], &[1, 0, 0, 0, 2, 0, 0, 0], &[8; 32]];
    [[&[0][..], &parts.concat()].concat(), vec![1, 1, 0, 0, 0]]
        .map(|answer| [&(request.len() as u16).to_le_bytes(), &request[..], &answer].concat())
        .to_vec()
}

fn cluster(bytes: &[u8]) {
    let Some((len, rest)) = bytes.split_first_chunk() else { return };
    let len = usize::from(u16::from_le_bytes(*len)).min(rest.len());
    let (request, answer) = rest.split_at(len);
    let _ = vesica_label_joins::JoinRequest::decode(request);
    if let Some(request) = vesica_label_joins::fuzzing::request(request) {
        let parts = vesica_label_joins::fuzzing::answer(&request, answer);
        assert!(parts.is_none_or(|parts| parts as u64 <= u64::from(request.ranges())));
    }
}
