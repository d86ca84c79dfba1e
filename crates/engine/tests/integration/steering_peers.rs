//! A sender that chooses its input so that a check of the receiver's result depends on whether the
//! receiver has one key. The sender must see the same either way, and the receiver must behave the
//! same until it has sent its last message.

use crate::support::{Pair, run};
use std::fs;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use vesica_agreement::Agreement;
use vesica_core::{
    Item, Learns, Misbehaviour, PayloadLen, PsiParams, Query, Role, SessionId, TextLen, Values,
    hash,
};
use vesica_engine::terms::{extra, key_columns, key_items};
use vesica_engine::{Error, Event, Observer, Phase, Report, WIRE_VERSION};
use vesica_link::{CancelToken, Endpoint, Identity, LinkEvent, LinkOptions, Session, establish};
use vesica_net::{Context, Meter, Pool, Streams};
use vesica_protocols::{Input, Output};
use vesica_records::{KeyLimits, read_keys_with};
use vesica_tables::{ReadOptions, Source};

const CHECK_ITEMS: usize = 16;
const KEY: &str = "[[key]]\nname = \"id\"\nprofile = \"exact\"\n";
const TARGET: &str = "target";
const KNOWN: &str = "known";

/// How the sender deviates.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    /// It announces one key and enters two in place of its own self-check items.
    More,
    /// It omits the shared self-check items.
    NoCheckItems,
    /// The target's value counts as a self-check item.
    Value,
    /// The target's text is not a text.
    Text,
    /// It names the target's identifier as one of a self-check item of its own.
    CheckItem,
    /// The target's columns are not of the agreed form.
    Column,
}

struct Attack {
    protocol: &'static str,
    head: &'static str,
    tables: &'static str,
    way: Way,
}

/// Everything the sender sees except random bytes: how many bytes arrived, the last message, and
/// how the session ended.
#[derive(Debug, PartialEq)]
struct Seen {
    bytes: (u64, u64),
    closing: Result<Vec<u8>, String>,
    end: Result<(), String>,
}

/// What the receiver has done when its last message has been sent.
#[derive(Debug, PartialEq)]
struct Before {
    /// Phases, and checks of the result.
    events: Vec<String>,
    /// Bytes read from files, bytes written to files, read calls, write calls, as the system counts
    /// them for the thread that has the result.
    files: [u64; 4],
}

/// Observes the receiver.
struct Watched {
    address: Mutex<Sender<String>>,
    output: PathBuf,
    events: Mutex<Vec<String>>,
    at_start: Mutex<[u64; 4]>,
    before: Mutex<Option<Before>>,
}

/// Bytes and calls of this thread's reads and writes of files.
fn file_calls() -> [u64; 4] {
    let io = fs::read_to_string("/proc/thread-self/io").unwrap();
    ["rchar", "wchar", "syscr", "syscw"].map(|name| {
        let line = io.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        line.unwrap().parse().unwrap()
    })
}

impl Watched {
    fn add(&self, event: &str) {
        self.events.lock().unwrap().push(event.to_owned());
    }

    /// Called when the sender has the closing and withholds its goodbye.
    fn assert_waits(&self) {
        assert!(self.before.lock().unwrap().is_none() && !self.output.exists());
        assert_eq!(self.events.lock().unwrap().last().unwrap(), "checking");
    }
}

impl Observer for Watched {
    fn event(&self, event: &Event<'_>) {
        match event {
            Event::Link(LinkEvent::Listening { address }) => {
                let _ = self.address.lock().unwrap().send(address.to_string());
            }
            // In parallel with all that follows.
            Event::Phase(Phase::Reading) => {}
            Event::Phase(phase) => {
                if *phase == Phase::Preparing {
                    *self.at_start.lock().unwrap() = file_calls();
                }
                self.add(phase.name());
            }
            Event::Checked => self.add("checked"),
            Event::LastMessage => {
                let (now, at_start) = (file_calls(), *self.at_start.lock().unwrap());
                assert!(!self.output.exists());
                *self.before.lock().unwrap() = Some(Before {
                    events: self.events.lock().unwrap().clone(),
                    files: std::array::from_fn(|i| now[i] - at_start[i]),
                });
            }
            _ => {}
        }
    }
}

/// What the sender sees of a receiver with `keys`, what the receiver does before its last message,
/// and the receiver's outcome.
fn attack(attack: &Attack, keys: [&str; 3]) -> (Seen, Before, Result<Report, Error>) {
    let pair = Pair::new();
    fs::write(pair.path("one.csv"), format!("id\n{}\n", keys.join("\n"))).unwrap();
    let head =
        format!("{}\nprotocol = \"{}\"\nsecurity = \"semi-honest\"", attack.head, attack.protocol);
    let tables = format!("{}\n{KEY}", attack.tables);
    let agreement = pair.agreement_of(&head, &tables, ["max_rows = 100"; 2]);
    let (told, address) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        let job = pair.job_of(0, agreement.clone(), Endpoint::Listen("127.0.0.1:0".into()));
        let observer = Arc::new(Watched {
            address: Mutex::new(told),
            output: job.output.as_ref().unwrap().path.clone(),
            events: Mutex::default(),
            at_start: Mutex::default(),
            before: Mutex::default(),
        });
        let watched: Arc<dyn Observer> = observer.clone();
        let honest = scope.spawn(move || run(job, watched, &CancelToken::new()));
        let address = address.recv_timeout(Duration::from_secs(60)).unwrap();
        let seen = watch(&pair, &agreement, address, attack.way, &observer);
        let result = honest.join().unwrap();
        assert_eq!(observer.output.exists(), result.is_ok(), "{result:?}");
        let before = observer.before.lock().unwrap().take().unwrap();
        (seen, before, result)
    })
}

fn item(pair: &Pair, agreement: &Agreement, key: &str) -> Item {
    let path = pair.path("key.csv");
    fs::write(&path, format!("id\n{key}\n")).unwrap();
    let source = Source::open(path, &ReadOptions::default()).unwrap();
    let columns = key_columns(agreement, None, &Default::default()).unwrap();
    let limits = KeyLimits { max_rows: None, strict: true, may_be_empty: false };
    let hash = key_items(agreement, &columns);
    let mut go_on = |_| std::ops::ControlFlow::Continue(());
    let keys =
        read_keys_with(&source, &columns, extra(agreement, None, None), &hash, &limits, &mut go_on);
    keys.unwrap().items[0]
}

fn text(key: &[u8], len: usize) -> Vec<u8> {
    let mut text = (key.len() as u16).to_le_bytes().to_vec();
    text.extend_from_slice(key);
    text.resize(len, 0);
    text
}

fn mark(mark: u8, len: usize) -> Vec<u8> {
    let mut text = vec![0xff, 0xff, mark];
    text.resize(len, 0);
    text
}

/// The sender's set: one key and self-check items, with values or texts, changed by the deviation.
fn input(agreement: &Agreement, items: [Item; 2], secret: &[u8], way: Way) -> Input {
    let announced = if way == Way::Text { 2 } else { 1 };
    let mut set = items.to_vec();
    set.extend((0..(announced + CHECK_ITEMS - 2) as u8).map(|i| Item::from_bytes([100 + i; 16])));
    for i in 0..CHECK_ITEMS as u64 {
        let check_item =
            hash::derive("vesica v1 shared self-check item", &[secret, &i.to_le_bytes()]);
        let check_item = match way {
            Way::NoCheckItems => [200 + i as u8; 16],
            _ => check_item[..16].try_into().unwrap(),
        };
        set.push(Item::from_bytes(check_item));
    }
    let shared = set.len() - CHECK_ITEMS;
    match &agreement.question {
        vesica_agreement::Question::Sum(_) => {
            // Ten bits below the values count self-check items.
            let values = (0..set.len()).map(|i| match i {
                0 => 3 << 10,
                1 if way == Way::Value => (3 << 10) | 1,
                1 => 3 << 10,
                i if i < shared => 17,
                _ => 1,
            });
            Input::with_values(Arc::new(set.clone()), Arc::new(values.collect()))
        }
        vesica_agreement::Question::Union { key_bytes } => {
            let len = *key_bytes as usize + 2;
            let texts = (0..set.len()).flat_map(|i| match i {
                0 => text(KNOWN.as_bytes(), len),
                1 if way == Way::Text => mark(9, len),
                1 => text(TARGET.as_bytes(), len),
                i if i < shared => mark(1, len),
                _ => mark(0, len),
            });
            Input::with_texts(Arc::new(set.clone()), Arc::new(texts.collect()))
        }
        _ => match &agreement.columns {
            Some(columns) => {
                let len = columns.payload_len();
                let payloads = (0..set.len()).flat_map(|i| match i {
                    1 if way == Way::Column => vec![0xff; len],
                    _ => vec![0; len],
                });
                Input::with_payloads(Arc::new(set.clone()), Arc::new(payloads.collect()))
            }
            None => Arc::new(set).into(),
        },
    }
}

fn query(agreement: &Agreement) -> Query {
    use vesica_agreement::Question;
    match &agreement.question {
        Question::Cardinality => Query::Cardinality,
        Question::Sum(_) => Query::Sum(Values::new(Role::Sender, 8 + 10).unwrap()),
        Question::Union { key_bytes } => Query::Union(TextLen::new(key_bytes + 2).unwrap()),
        Question::PrivateId => Query::PrivateId,
        _ => match &agreement.columns {
            Some(columns) => {
                Query::Payloads(PayloadLen::new(columns.payload_len() as u32).unwrap())
            }
            None => Query::Intersection,
        },
    }
}

fn watch(
    pair: &Pair,
    agreement: &Agreement,
    address: String,
    way: Way,
    receiver: &Watched,
) -> Seen {
    let hash = agreement.hash();
    let link = LinkOptions {
        endpoint: Endpoint::Connect(address),
        wait: Duration::from_secs(30),
        idle: Duration::from_secs(60),
        total: None,
        proxy: None,
    };
    let identity = Identity::load(&pair.keys[1]).unwrap();
    let peer = pair.identities[0].parse().unwrap();
    let session = establish(&identity, &[peer], &link, &|_| {}, &CancelToken::new()).unwrap();
    let peers = vec![(Role::Receiver, Arc::new(session.clone()) as Arc<dyn Streams>)];
    let pool = Pool::new(NonZeroUsize::MIN).unwrap();
    let mut ctx = Context::new(peers, [7; 32], pool, Meter::new()).unwrap();

    let mut hello = vec![0; 64];
    hello[..6].copy_from_slice(b"vesica");
    hello[6..8].copy_from_slice(&WIRE_VERSION.to_le_bytes());
    hello[16..48].copy_from_slice(hash.as_bytes());
    ctx.peer().unwrap().send(&hello).unwrap();
    ctx.peer().unwrap().recv(64).unwrap();
    let announced: u64 = if way == Way::Text { 2 } else { 1 };
    ctx.peer().unwrap().send(&announced.to_le_bytes()).unwrap();
    assert_eq!(ctx.peer().unwrap().recv(8).unwrap(), 3_u64.to_le_bytes());

    let id = session.export("EXPORTER-vesica-session", hash.as_bytes());
    let secret = session.export("EXPORTER-vesica-self-check", hash.as_bytes());
    let items = [KNOWN, TARGET].map(|key| item(pair, agreement, key));
    let input = input(agreement, items, &secret, way);
    let learns = agreement.learns();
    let more = 2 * CHECK_ITEMS as u64;
    let params = PsiParams::new(SessionId::from_bytes(id), announced + more, 3 + more, learns)
        .unwrap()
        .with_query(query(agreement));
    let party = agreement.candidates()[0].party(Role::Sender, params, input).unwrap();
    let output = ctx.fork(1).unwrap()[0]
        .child("matching", |ctx| {
            let output = party.run(ctx)?;
            ctx.finish().map(|()| output)
        })
        .unwrap();
    let mut bytes = ctx.meter().bytes_under("matching");
    let mut closing = last_words(&mut ctx, &output, bytes);
    if learns == Learns::Both && agreement.candidates()[0].bytes_depend_on_result {
        // They differ between two runs of the same sets: a match ends comparisons, in a random
        // order.
        bytes = (0, 0);
        closing.iter_mut().for_each(|closing| closing[1..17].fill(0));
    }
    drop(ctx);
    receiver.assert_waits();
    Seen { bytes, closing: closing.map_err(|error| error.to_string()), end: end(&session) }
}

fn end(session: &Session) -> Result<(), String> {
    session.close_within(Duration::from_secs(60)).map_err(|error| error.to_string())
}

/// The receiver's last message.
fn last_words(
    ctx: &mut Context,
    output: &Output,
    (sent, received): (u64, u64),
) -> vesica_core::Result<Vec<u8>> {
    if let Output::Ids(ids) = output {
        // The first is of a key, the second of the target; the others before the shared ones are
        // its own self-check items.
        let own = &ids.own[1..=CHECK_ITEMS];
        ctx.peer()?.send(own.as_flattened())?;
        ctx.peer()?.recv(16 * CHECK_ITEMS)?;
    }
    let mut closing = [0; 33];
    closing[1..9].copy_from_slice(&sent.to_le_bytes());
    closing[9..17].copy_from_slice(&received.to_le_bytes());
    ctx.peer()?.send(&closing)?;
    let mut theirs = ctx.peer()?.recv(33)?;
    if matches!(output, Output::Ids(_)) {
        // A hash of identifiers, which are random.
        theirs.truncate(17);
    }
    Ok(theirs)
}

const WITH: [&str; 3] = [KNOWN, TARGET, "other"];
const WITHOUT: [&str; 3] = [KNOWN, "another", "other"];

/// Checks that the sender sees the same, and a successful end, whether or not the receiver has the
/// target.
fn sees_nothing(case: &Attack, keys: [[&str; 3]; 2]) -> [Result<Report, Error>; 2] {
    let [with, without] = keys.map(|keys| attack(case, keys));
    assert_eq!(with.0, without.0, "{}", case.protocol);
    assert!(with.0.closing.is_ok() && with.0.end.is_ok(), "{}: {:?}", case.protocol, with.0);
    assert_eq!(with.1, without.1, "{}", case.protocol);
    [with.2, without.2]
}

#[track_caller]
fn assert_fails_alone(result: &Result<Report, Error>) {
    let Err(Error::PeerMisbehaved { phase: Phase::Checking, kind, .. }) = result else {
        panic!("{result:?}")
    };
    assert!(matches!(kind, Misbehaviour::SelfCheckFailed | Misbehaviour::InvalidValue));
}

const ROWS: &str = "operation = \"intersection\"\nreceives = \"one\"";
const ROWS_FOR_BOTH: &str = "operation = \"intersection\"\nreceives = \"all\"";
const COUNT: &str = "operation = \"cardinality\"\nreceives = \"one\"";
const SUM: &str = "operation = \"sum\"\nreceives = \"one\"";
const SUM_TABLE: &str = "[sum]\nof = \"two\"\ncolumn = \"v\"\nbits = 8\n";

// `rr22_malicious` has no such case: its sets hold no self-check items that only one side knows,
// and either side is refused without the shared ones; see the tests of the protocol and of
// `sorted_tags`.
#[test]
fn keys_in_place_of_self_check_items_reveal_nothing() {
    for (protocol, head, tables) in [
        ("rr22", ROWS, ""),
        ("dh", ROWS, ""),
        ("gmrss21_intersection", ROWS, ""),
        ("scs_wn", ROWS, ""),
        ("scs_sort_gmw", ROWS, ""),
        ("pwc", ROWS, ""),
        ("pwc_gmw", ROWS, ""),
        ("gmrss21_cardinality", COUNT, ""),
        ("gmrss21_cardinality_sum", SUM, SUM_TABLE),
        ("psty19", SUM, SUM_TABLE),
    ] {
        let case = Attack { protocol, head, tables, way: Way::More };
        let results = sees_nothing(&case, [WITH, WITHOUT]);
        // Nothing is wrong with the result itself, and one that is larger than was announced is
        // none either.
        for (result, keys) in results.iter().zip([2, 1]) {
            let result = result.as_ref().unwrap_or_else(|error| panic!("{protocol}: {error}"));
            let counts = protocol != "psty19";
            assert_eq!(result.result.matched_keys, counts.then_some(keys), "{protocol}");
        }
    }
}

#[test]
fn missing_self_check_items_are_found_out_and_the_sender_does_not_see_it() {
    for (protocol, head, tables) in [
        ("rr22", ROWS, ""),
        ("scs_wn", ROWS, ""),
        ("scs_sort_gmw", ROWS, ""),
        ("pwc", ROWS, ""),
        ("pwc_gmw", ROWS, ""),
        ("gmrss21_cardinality", COUNT, ""),
        ("gmrss21_cardinality_sum", SUM, SUM_TABLE),
        ("psty19", SUM, SUM_TABLE),
    ] {
        let case = Attack { protocol, head, tables, way: Way::NoCheckItems };
        sees_nothing(&case, [WITH, WITHOUT]).iter().for_each(assert_fails_alone);
    }
}

/// The sender learns how many keys are common, and that is the same in either case.
#[test]
fn missing_self_check_items_reveal_nothing_where_both_learn() {
    let keys = [[TARGET, "another", "other"], [KNOWN, "another", "other"]];
    for protocol in
        ["rr22", "dh", "gmrss21_intersection", "scs_wn", "scs_sort_gmw", "pwc", "pwc_gmw"]
    {
        let case = Attack { protocol, head: ROWS_FOR_BOTH, tables: "", way: Way::NoCheckItems };
        sees_nothing(&case, keys).iter().for_each(assert_fails_alone);
    }
}

/// Rows of all kinds of results are written, or refused, only after the last message.
#[test]
fn what_is_done_before_the_last_message_does_not_depend_on_the_result() {
    for protocol in ["rr22", "scs_wn", "pwc_gmw"] {
        let of = |way, keys| {
            let (_, before, result) =
                attack(&Attack { protocol, head: ROWS, tables: "", way }, keys);
            (before, result)
        };
        let (all, matched) = of(Way::More, WITH);
        assert_eq!(matched.unwrap().result.matched_keys, Some(2), "{protocol}");
        let (none, matched) = of(Way::More, ["some", "another", "other"]);
        assert_eq!(matched.unwrap().result.matched_keys, Some(0), "{protocol}");
        let (refused, result) = of(Way::NoCheckItems, WITH);
        assert_fails_alone(&result);
        assert_eq!([&none, &refused], [&all; 2], "{protocol}");
        let phases =
            ["preparing", "connecting", "agreeing", "sizes", "choosing", "matching", "checking"];
        assert_eq!(all.events, phases, "{protocol}");
    }
}

#[test]
fn an_invalid_value_in_a_sum_reveals_nothing() {
    for protocol in ["gmrss21_cardinality_sum", "psty19"] {
        let case = Attack { protocol, head: SUM, tables: SUM_TABLE, way: Way::Value };
        let [with, without] = sees_nothing(&case, [WITH, WITHOUT]);
        assert_fails_alone(&with);
        assert!(without.is_ok(), "{protocol}: {without:?}");
    }
}

#[test]
fn an_invalid_text_reveals_nothing() {
    let head = "operation = \"union\"\nreceives = \"one\"";
    let case = Attack { protocol: "gmrss21_union", head, tables: "", way: Way::Text };
    let [with, without] = sees_nothing(&case, [WITH, WITHOUT]);
    assert!(with.is_ok(), "{with:?}");
    assert_fails_alone(&without);
}

#[test]
fn columns_of_another_form_reveal_nothing() {
    let tables = "[[columns]]\nof = \"two\"\nnames = [\"v\"]\ntypes = [\"text 30\"]\n\
                  duplicates = \"first\"\n";
    for protocol in ["rr22", "rr22_low_communication"] {
        let case = Attack { protocol, head: ROWS, tables, way: Way::Column };
        let [with, without] = sees_nothing(&case, [WITH, WITHOUT]);
        assert_fails_alone(&with);
        assert!(without.is_ok(), "{protocol}: {without:?}");
    }
}

#[test]
fn an_invalid_self_check_identifier_reveals_nothing() {
    let head = "operation = \"private-id\"\nreceives = \"all\"";
    let case = Attack { protocol: "private_id_oprf", head, tables: "", way: Way::CheckItem };
    // One key in common in either case; the sender learns that, but not which.
    let keys = [[TARGET, "another", "other"], [KNOWN, "another", "other"]];
    let [with, without] = sees_nothing(&case, keys);
    assert_fails_alone(&with);
    assert!(without.is_ok(), "{without:?}");
}
