//! A complete helper service and its parties, over connections of this machine.

use super::wire::specs;
use super::{Target, fresh, no_seeds, scratch};
use crate::input::Input;
use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;
use vesica_core::{Error, Role};
use vesica_helper::{Service, Settings, fuzzing};
use vesica_helper_client::{Remote, RemoteOptions};
use vesica_link::{
    CancelToken, Endpoint, Identity, LinkOptions, ListenOptions, Listener, Session, establish,
};
use vesica_net::{Context, Meter, Streams};
use vesica_protocols::kmrs14::{Boards, Kind, PartySpec, Slot, Spec, Variant};

/// Longest silence of any end: honest ones never get near it.
const PATIENCE: Duration = Duration::from_secs(60);

fn identity() -> Identity {
    Identity::generate().expect("the system is random")
}

fn spec(parties: &[&Identity]) -> Spec {
    let party = |identity: &&Identity| PartySpec {
        identity: *identity.public().as_bytes(),
        max_rows: 100,
        min_rows: 0,
        receives: true,
    };
    Spec {
        variant: Variant::SemiHonest,
        agreement: [9; 32],
        parties: parties.iter().map(party).collect(),
        copies: 1,
        dummies: 16,
    }
}

fn link(address: &str) -> LinkOptions {
    let endpoint = Endpoint::Connect(address.to_owned());
    LinkOptions { endpoint, wait: PATIENCE, idle: PATIENCE, total: None, proxy: None }
}

fn context(session: &Session, role: Role) -> Option<Context> {
    let peers: Vec<(Role, Arc<dyn Streams>)> = vec![(role, Arc::new(session.clone()))];
    Context::new(peers, [1; 32], super::two_party::pool(), Meter::new()).ok()
}

/// A service that runs as long as this process.
struct Fixture {
    helper: Identity,
    parties: [Identity; 2],
    address: String,
    /// Serves until it is dropped, which never happens.
    service: Service,
}

fn fixture() -> &'static Fixture {
    static FIXTURE: OnceLock<Fixture> = OnceLock::new();
    FIXTURE.get_or_init(|| {
        let (helper, parties) = (identity(), [identity(), identity()]);
        let state = scratch().path().join("service");
        let text = format!(
            "[helper]\nlisten = \"127.0.0.1:0\"\nbackend = \"memory:\"\nstate = \"{}\"\n\
             metrics = \"127.0.0.1:0\"\nmemory_mb = 256\nthreads = 1\nruns_at_once = 1\n\
             [party.a]\nidentity = \"{}\"\n[party.b]\nidentity = \"{}\"\n",
            state.display(),
            parties[0].public(),
            parties[1].public(),
        );
        let settings = Settings::parse(&text).unwrap_or_else(|error| panic!("{error}"));
        let options = settings.options(helper.clone()).unwrap_or_else(|error| panic!("{error}"));
        let service = Service::start(options).unwrap_or_else(|error| panic!("{error}"));
        let address = service.addresses()[0].to_string();
        Fixture { helper, parties, address, service }
    })
}

pub(super) const REQUESTS: Target =
    Target { name: "helper_requests", run: requests, seeds: no_seeds, tokens: &[], max_len: 1024 };

/// Messages of a party that the helper serves, the first of them mostly honest.
fn requests(bytes: &[u8]) {
    let fixture = fixture();
    let mut input = Input::new(bytes);
    let how = input.byte();
    let own = &fixture.parties[0];
    let session = establish(
        own,
        &[fixture.helper.public()],
        &link(&fixture.address),
        &|_| (),
        &CancelToken::new(),
    );
    let session = session.expect("the service still accepts connections");
    let Some(mut context) = context(&session, Role::Helper) else { return };
    let mut spec = spec(&[own, &fixture.parties[1]]);
    // Some inputs have their own runs, so that not all share one.
    spec.agreement[0] = how;
    let spec = spec.to_bytes();
    let mut messages = Vec::new();
    if how & 3 != 0 {
        let mut head = b"vesica\x01\x00\x01\x00\x00\x00".to_vec();
        head.extend_from_slice(&(spec.len() as u32).to_le_bytes());
        messages.extend([head, [&[0; 16], &spec[..]].concat()]);
        if how & 4 != 0 {
            let hello = [&[5][..], &[1; 40]].concat();
            messages.extend([request(1, Slot::new(Kind::Hello, 0), hello.len() as u64), hello]);
        }
    }
    while !input.is_empty() {
        match input.byte() % 4 {
            0 => messages.push(input.piece().to_vec()),
            1 => {
                if let Some(message) = messages.last_mut() {
                    input.damage(message);
                }
            }
            _ => {
                let op = input.byte() % 8;
                let slot = Slot::part(*input.one_of(Kind::ALL), input.byte() % 3, input.u32() % 4);
                let body = if op == 1 { input.piece() } else { &[] };
                messages.push(request(op, slot, body.len() as u64));
                if op == 1 {
                    messages.push(body.to_vec());
                }
            }
        }
    }
    if let Ok(channel) = context.with(Role::Helper) {
        // Sending fails after the helper has disconnected.
        let _ = messages.iter().try_for_each(|message| channel.send(message));
        let _ = channel.finish();
    }
    // Sometimes in order, so that the helper reads to the end.
    if how & 0x38 == 0 {
        let _ = session.close_within(Duration::from_millis(200));
    }
    drop(context);
    drop(session);
    if fresh().is_multiple_of(64) {
        is_alive(fixture);
    }
}

fn request(op: u8, slot: Slot, len: u64) -> Vec<u8> {
    let mut out = vec![op, slot.kind as u8, slot.party, 0];
    out.extend_from_slice(&slot.part.to_le_bytes());
    out.extend_from_slice(&len.to_le_bytes());
    out
}

/// Another party is still served.
fn is_alive(fixture: &Fixture) {
    let spec = spec(&[&fixture.parties[1], &fixture.parties[0]]);
    let remote = remote(
        &fixture.parties[1],
        fixture.helper.public(),
        &fixture.address,
        spec,
        CancelToken::new(),
    );
    let seen = remote.look();
    assert!(seen.is_ok(), "another party is served: {seen:?}");
}

fn remote(
    own: &Identity,
    helper: vesica_link::PublicIdentity,
    address: &str,
    spec: Spec,
    cancel: CancelToken,
) -> Remote {
    Remote::new(RemoteOptions {
        identity: own.clone(),
        helper,
        address: address.to_owned(),
        link: link(address),
        spec,
        lanes: 1,
        instance: None,
        pool: super::two_party::pool(),
        meter: Meter::new(),
        cancel,
        on_event: Arc::new(|_| ()),
    })
}

pub(super) const PAGES: Target = Target {
    name: "helper_pages",
    run: pages,
    seeds: heads,
    tokens: &[
        b"GET ",
        b"HEAD ",
        b"/healthz",
        b"/metrics",
        b" HTTP/1.1",
        b"\r\n",
        b"\r\n\r\n",
        b": ",
    ],
    max_len: 12 << 10,
};

fn heads() -> Vec<Vec<u8>> {
    let of = |page: &str| format!("GET {page} HTTP/1.1\r\nHost: a\r\n\r\n").into_bytes();
    ["/healthz", "/readyz", "/metrics", "/other?x"].map(of).to_vec()
}

/// The head of an HTTP request, and what follows it.
fn pages(bytes: &[u8]) {
    let address = fixture().service.metrics_address().expect("the settings ask for pages");
    let mut socket = TcpStream::connect(address).expect("the service still accepts connections");
    // Data that is not read before the answer resets the connection: then there is none.
    let sent = socket.write_all(bytes).and_then(|()| socket.shutdown(Shutdown::Write));
    let mut answer = Vec::new();
    if sent.and_then(|()| socket.read_to_end(&mut answer).map(drop)).is_ok() && !answer.is_empty() {
        assert!(answer.starts_with(b"HTTP/1.1 "), "{}", answer.escape_ascii());
    }
}

pub(super) const REPLIES: Target =
    Target { name: "helper_replies", run: replies, seeds: no_seeds, tokens: &[], max_len: 1024 };

/// The identities of the helper and its party.
fn pair() -> &'static [Identity; 2] {
    static PAIR: OnceLock<[Identity; 2]> = OnceLock::new();
    PAIR.get_or_init(|| [identity(), identity()])
}

/// Sends `messages` to the first party that connects, and then makes sure that it does not
/// reconnect.
fn send(
    listener: &mut Listener,
    messages: &[Vec<u8>],
    cancel: &CancelToken,
    is_over: &CancelToken,
) {
    if let Ok(session) = listener.accept(&|_| (), is_over)
        && let Some(mut context) = context(&session, Role::Sender)
        && let Ok(channel) = context.peer()
    {
        let _ = messages.iter().try_for_each(|message| channel.send(message));
        let _ = channel.finish();
        let _ = session.close_within(PATIENCE);
    }
    cancel.cancel();
}

/// The helper's answers: a welcome and replies, honest except for the changes of the input.
fn replies(bytes: &[u8]) {
    let [helper, party] = pair();
    let mut input = Input::new(bytes);
    let how = input.byte();
    let body = input.piece().to_vec();
    let head = |len: usize| [&[0; 8][..], &(len as u64).to_le_bytes()].concat();
    let waiting = [&[255, 0][..], &[0; 6], &34_u64.to_le_bytes()].concat();
    let mut messages = vec![[&[0, 0, 1, 0][..], &[7; 16], &[0; 32]].concat()];
    if how & 1 != 0 {
        messages.extend([waiting, vec![1; 34]]);
    }
    messages.push(head(body.len()));
    if !body.is_empty() {
        messages.push(body.clone());
    }
    messages.push(head(0));
    let honest = input.is_empty();
    while !input.is_empty() {
        let which = input.below(messages.len());
        match input.byte() % 8 {
            0 => drop(messages.remove(which)),
            1 => messages.insert(which, input.piece().to_vec()),
            _ => input.damage(&mut messages[which]),
        }
        if messages.is_empty() {
            break;
        }
    }
    // Each input has its own port, so that a late reconnect does not affect the next one.
    let options = ListenOptions { idle: PATIENCE, total: None };
    let listener = Listener::bind(helper, &[party.public()], "127.0.0.1:0", options);
    let mut listener = listener.expect("a port is free");
    let address = listener.addresses()[0].to_string();
    let (cancel, is_over) = (CancelToken::new(), CancelToken::new());
    let got = thread::scope(|scope| {
        scope.spawn(|| send(&mut listener, &messages, &cancel, &is_over));
        let spec = spec(&[party, helper]);
        let remote = remote(party, helper.public(), &address, spec, cancel.clone());
        let got = remote.open().and_then(|mut board| {
            let got = board.get(Slot::new(Kind::Hello, 1), 512)?;
            assert!(got.len() <= 512, "no more than was asked for");
            board.sync()?;
            Ok(got)
        });
        drop(remote);
        is_over.cancel();
        got
    });
    match got {
        Err(Error::Bug(what)) => panic!("a helper causes a bug: {what}"),
        Ok(got) if honest => assert_eq!(got, body),
        Err(error) if honest && body.len() <= 512 => panic!("an honest helper: {error}"),
        _ => {}
    }
}

pub(super) const STORE: Target =
    Target { name: "helper_store", run: store, seeds: no_seeds, tokens: &[], max_len: 2048 };

/// The remains of a run in the helper's directory: files, most of them with the right digest.
fn store(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let folder = scratch().path().join(format!("store-{}", fresh()));
    let specs = specs();
    let bytes_of_spec = input.one_of(&specs);
    let spec = Spec::from_bytes(bytes_of_spec).expect("a spec survives its bytes");
    let id: String = spec.id().iter().map(|byte| format!("{byte:02x}")).collect();
    let (run, ended) = (folder.join("runs").join(&id), folder.join("ended"));
    fs::create_dir_all(&run).expect("a folder can be made");
    fs::create_dir_all(&ended).expect("a folder can be made");
    fs::write(folder.join("lock"), b"").expect("a small file can be written");
    let mut record = [&[0; 8][..], &[4; 16], &[0], bytes_of_spec].concat();
    let how = input.byte();
    if how & 1 != 0 {
        input.damage(&mut record);
    }
    let write = |name: &str, body: &[u8], is_sound: bool| {
        let stored = if is_sound { fuzzing::stored_file(name, body) } else { body.to_vec() };
        // A name that the file system refuses cannot be listed either.
        let _ = fs::write(run.join(name), stored);
    };
    write("run", &record, how & 6 != 6);
    if how & 8 != 0 {
        let stored = fuzzing::stored_file(&id, input.piece());
        fs::write(ended.join(&id), stored).expect("a small file can be written");
    }
    while !input.is_empty() {
        let op = input.byte();
        let name = match op % 8 {
            0 => "secret".to_owned(),
            1 => format!("done-{:02x}", input.byte() % 4),
            2 => String::from_utf8_lossy(input.piece()).replace(['/', '\0'], "_"),
            _ => {
                let kind = *input.one_of(Kind::ALL) as u8;
                format!("{kind:02x}-{:02x}-{:08x}", input.byte() % 3, u32::from(input.byte()))
            }
        };
        if matches!(name.as_str(), "" | "." | "..") {
            continue;
        }
        write(&name, input.piece(), op & 64 == 0);
    }
    let first = fuzzing::reopen(&folder);
    let again = fuzzing::reopen(&folder);
    if let (Ok(first), Ok(again)) = (&first, &again) {
        assert_eq!(first, again, "the same is found again");
    }
    let _ = fs::remove_dir_all(&folder);
}
