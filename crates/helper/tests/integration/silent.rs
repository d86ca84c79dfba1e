//! A helper whose program hangs: its connection stays open and sends signs of life, and no reply
//! comes. To a party it is a failure of the transport within its time limits.

use crate::common::{Fixture, SOON, hello, slot};
use std::net::TcpListener;
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};
use vesica_core::{Error, Result, Role, TransportError};
use vesica_helper_client::{Remote, RemoteEvent};

use vesica_link::{CancelToken, ListenOptions, Listener, Session};
use vesica_net::{Context, Meter, Pool, Streams};
use vesica_server_aided::kmrs14::{Boards, Kind, Slot};

const OPENING_LEN: usize = 16;
const WELCOME_LEN: usize = 52;

const IDLE: Duration = Duration::from_millis(600);

/// What the helper does before it hangs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Until {
    /// It accepts the TCP connection.
    Tcp,
    /// It accepts the session.
    Tls,
    /// It welcomes the party.
    Welcome,
    /// It says at intervals that the reply is still to come, and then nothing more.
    Sign,
}

type Events = Arc<Mutex<Vec<RemoteEvent>>>;

/// Everything that stays open.
type Held = Arc<Mutex<Vec<(Session, Context)>>>;

fn talk(session: Session, pool: &Pool, until: Until, held: &Held) -> Result<()> {
    let peers: Vec<(Role, Arc<dyn Streams>)> = vec![(Role::Sender, Arc::new(session.clone()))];
    let mut context = Context::new(peers, [0; 32], pool.clone(), Meter::new())?;
    if until == Until::Welcome || until == Until::Sign {
        let channel = context.peer()?;
        let opening = channel.recv(OPENING_LEN)?;
        let spec_len = u32::from_le_bytes(*opening[12..].first_chunk().unwrap()) as usize;
        channel.recv(16 + spec_len)?;
        let mut message = [0; WELCOME_LEN];
        if until == Until::Welcome {
            message[4..20].fill(7);
            channel.send(&message)?;
            channel.flush()?;
        } else {
            message[0] = 254;
            for _ in 0..6 {
                std::thread::sleep(IDLE / 2);
                channel.send(&message)?;
                channel.flush()?;
            }
        }
    }
    held.lock().unwrap().push((session, context));
    Ok(())
}

/// A request of a party.
type Ask = fn(&Remote) -> Result<()>;

/// How `ask` fails at a helper that hangs, and after how long.
fn fails(until: Until, ask: Ask) -> (Error, Duration) {
    let fixture = Fixture::new(2);
    let (cancel, held) = (CancelToken::new(), Held::default());
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let options = ListenOptions { idle: SOON, total: None };
    let peers = [fixture.parties[0].public()];
    let mut tls = Listener::bind(&fixture.helper, &peers, "127.0.0.1:0", options).unwrap();
    let address = match until {
        Until::Tcp => tcp.local_addr().unwrap(),
        _ => tls.addresses()[0],
    };
    let service = fixture.start();
    let mut options = fixture.remote_options(&service, 0, &fixture.spec(2));
    options.address = address.to_string();
    (options.link.wait, options.link.idle) = (IDLE, IDLE);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while let Ok(session) = tls.accept(&|_| (), &cancel) {
                let (held, pool) = (Arc::clone(&held), fixture.pool.clone());
                std::thread::spawn(move || talk(session, &pool, until, &held));
            }
        });
        let started = Instant::now();
        let (failed, error) = mpsc::channel();
        // On its own thread: it may hang too.
        std::thread::spawn(move || failed.send(ask(&Remote::new(options)).unwrap_err()));
        let error = error.recv_timeout(SOON);
        cancel.cancel();
        (error.expect("a party waits for a helper that hangs"), started.elapsed())
    })
}

#[test]
fn a_helper_that_never_replies_is_a_failure_of_the_transport() {
    let cases: [(&str, Until, Ask); 9] = [
        ("tcp", Until::Tcp, |remote| remote.open().map(drop)),
        ("welcome", Until::Tls, |remote| remote.open().map(drop)),
        ("look", Until::Tls, |remote| remote.look().map(drop)),
        ("sign", Until::Sign, |remote| remote.open().map(drop)),
        ("put", Until::Welcome, |remote| {
            let mut board = remote.open()?;
            board.put(slot(Kind::Hello, 0), &hello(0))?;
            board.sync()
        }),
        // More than the windows hold.
        ("put more", Until::Welcome, |remote| {
            let (mut board, body) = (remote.open()?, vec![1; Slot::MAX_LEN / 4]);
            (0..12).try_for_each(|part| board.put(Slot::part(Kind::Labels, 0, part), &body))
        }),
        ("get", Until::Welcome, |remote| {
            remote.open()?.get(slot(Kind::Hello, 1), Slot::HELLO_MAX_LEN).map(drop)
        }),
        ("done", Until::Welcome, |remote| remote.done()),
        ("end", Until::Welcome, |remote| remote.end()),
    ];
    std::thread::scope(|scope| {
        for (what, until, ask) in cases {
            scope.spawn(move || {
                let (error, time) = fails(until, ask);
                let is_right = match until {
                    Until::Tcp => matches!(error, Error::Transport(TransportError::Deadline(_))),
                    _ => error == Error::Transport(TransportError::Idle(IDLE)),
                };
                assert!(is_right, "{what}: {error:?}");
                // A sign means that the helper does not hang.
                assert!(until != Until::Sign || time > 3 * IDLE, "{what}: {time:?}");
            });
        }
    });
}

#[test]
fn a_party_waits_for_another_as_long_as_the_helper_gives_signs() {
    let fixture = Fixture::new(2);
    let service = fixture.start();
    let spec = fixture.spec(2);
    let (mut options, events) = (fixture.remote_options(&service, 0, &spec), Events::default());
    options.link.idle = IDLE;
    let recorded = Arc::clone(&events);
    options.on_event = Arc::new(move |event| recorded.lock().unwrap().push(event));
    let remotes = [Remote::new(options), fixture.remote(&service, 1, &spec)];
    std::thread::scope(|scope| {
        let first = scope.spawn(|| {
            let mut board = remotes[0].open()?;
            board.get(slot(Kind::Hello, 1), Slot::HELLO_MAX_LEN)
        });
        std::thread::sleep(5 * IDLE);
        let mut board = remotes[1].open().unwrap();
        board.put(slot(Kind::Hello, 1), &hello(1)).unwrap();
        board.sync().unwrap();
        assert_eq!(first.join().unwrap(), Ok(hello(1)));
    });
    let events = events.lock().unwrap();
    let is_lost = |event: &RemoteEvent| matches!(event, RemoteEvent::Reconnecting { .. });
    assert!(!events.iter().any(is_lost), "{events:?}");
}
