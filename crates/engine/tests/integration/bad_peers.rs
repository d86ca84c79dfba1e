//! A peer with the right key that deviates from the protocol: each deviation has a name.

use crate::support::{Listening, Pair, TERMS, Terms, run, small_files};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use vesica_core::params::WHOLE_SET_LEN;
use vesica_core::{Item, Learns, Misbehaviour, PsiParams, Role, SessionId};
use vesica_engine::{Error, Incompatible, Phase, WIRE_VERSION};
use vesica_link::{CancelToken, Endpoint, Identity, LinkOptions, establish};
use vesica_net::{Context, Meter, Pool};
use vesica_partitions::session_of;
use vesica_protocols::Output;

/// How far a scripted peer follows the protocol before it deviates.
#[derive(Clone, Copy, PartialEq)]
enum Deviation {
    /// Its hello names another wire version.
    Version,
    /// Its hello is no hello.
    Magic,
    /// Its hello has another length.
    HelloLen,
    /// It claims another agreement, whose text is built to exhaust the reader's stack.
    DeepAgreement,
    /// The agreement leaves the protocol open, and the peer's software would choose from different
    /// candidates.
    Candidates,
    /// Its hello names candidates where the agreement names the protocol.
    NeedlessCandidates,
    /// It announces this many items.
    Announces(u64),
    /// It announces enough items for a split run, and runs the protocol on its set as a whole.
    NotSplit,
    /// It announces its true size, and runs the protocol as on one of two partitions.
    Split,
    /// It runs the protocol without the shared self-check items.
    NoCheckItems,
    /// Its closing has other byte counts.
    Counts,
    /// It follows the protocol.
    None,
}

/// The outcome of the honest receiver `one` with a sender `two` that deviates like this.
fn meet(deviation: Deviation) -> Result<vesica_engine::Report, Error> {
    let pair = Pair::new();
    small_files(&pair);
    let (told, address) = std::sync::mpsc::channel();
    let observer = Arc::new(Listening(Mutex::new(told)));
    std::thread::scope(|scope| {
        let honest = scope.spawn(|| {
            let job = pair.job(0, &terms(deviation), Endpoint::Listen("127.0.0.1:0".into()));
            run(job, observer, &CancelToken::new())
        });
        let address = address.recv_timeout(Duration::from_secs(20)).unwrap();
        // The scripted peer may fail once the honest one has detected the deviation.
        let _ = script(&pair, address, deviation);
        honest.join().unwrap()
    })
}

fn terms(deviation: Deviation) -> Terms {
    match deviation {
        Deviation::Candidates => Terms { protocol: "auto", ..TERMS },
        Deviation::NotSplit | Deviation::Split => {
            Terms { protocol: "rr22", max_rows: 2 * WHOLE_SET_LEN, ..TERMS }
        }
        _ => TERMS,
    }
}

fn script(pair: &Pair, address: String, deviation: Deviation) -> vesica_core::Result<()> {
    let agreement = pair.agreement(&terms(deviation));
    let hash = agreement.hash();
    let link = LinkOptions {
        endpoint: Endpoint::Connect(address),
        wait: Duration::from_secs(10),
        idle: Duration::from_secs(10),
        total: None,
        proxy: None,
    };
    let identity = Identity::load(&pair.keys[1]).unwrap();
    let peer = pair.identities[0].parse().unwrap();
    let session = establish(&identity, &[peer], &link, &|_| {}, &CancelToken::new()).unwrap();
    let pool = Pool::new(NonZeroUsize::MIN)?;
    let peers = vec![(Role::Receiver, Arc::new(session.clone()) as Arc<dyn vesica_net::Streams>)];
    let mut ctx = Context::new(peers, [7; 32], pool, Meter::new())?;

    let mut hello = vec![0; 64];
    hello[..6].copy_from_slice(b"vesica");
    let version = WIRE_VERSION + u16::from(deviation == Deviation::Version);
    hello[6..8].copy_from_slice(&version.to_le_bytes());
    hello[16..48].copy_from_slice(hash.as_bytes());
    match deviation {
        Deviation::Magic => hello[0] = b'x',
        Deviation::HelloLen => hello.push(0),
        Deviation::DeepAgreement => hello[16] ^= 1,
        Deviation::Candidates | Deviation::NeedlessCandidates => hello[9] = 1,
        _ => {}
    }
    ctx.peer()?.send(&hello)?;
    ctx.peer()?.recv(64)?;
    if deviation == Deviation::DeepAgreement {
        let dotted = vec!["a"; 78].join(".");
        let opening = format!("{{{dotted}=").repeat(70);
        let text = format!("[{dotted}]\n{dotted}={opening}1{}\n", "}".repeat(70));
        ctx.peer()?.send(&(text.len() as u32).to_le_bytes())?;
        ctx.peer()?.send(text.as_bytes())?;
        // Closing at once could overtake the text: receive the honest one's, then wait until it
        // closes.
        let mut len = [0; 4];
        ctx.peer()?.recv_into(&mut len)?;
        ctx.peer()?.recv(u32::from_le_bytes(len) as usize)?;
        ctx.peer()?.recv(1)?;
    }

    let announced: u64 = match deviation {
        Deviation::Announces(len) => len,
        Deviation::NotSplit => WHOLE_SET_LEN + 1,
        _ => 3,
    };
    ctx.peer()?.send(&announced.to_le_bytes())?;
    ctx.peer()?.recv(8)?;

    let id = session.export("EXPORTER-vesica-session", hash.as_bytes());
    let secret = session.export("EXPORTER-vesica-self-check", hash.as_bytes());
    let mut items: Vec<Item> = (0..19).map(|i| Item::from_bytes([i; 16])).collect();
    for i in 0..16u64 {
        let parts: [&[u8]; 2] = [&secret, &i.to_le_bytes()];
        let check_item = vesica_core::hash::derive("vesica v1 shared self-check item", &parts);
        let check_item = match deviation {
            Deviation::NoCheckItems => [100 + i as u8; 16],
            _ => check_item[..16].try_into().unwrap(),
        };
        items.push(Item::from_bytes(check_item));
    }
    let id = SessionId::from_bytes(id);
    let id = if deviation == Deviation::Split { session_of(&id, 2, 0) } else { id };
    let params = PsiParams::new(id, 35, 35, Learns::Receiver)?;
    let row = vesica_protocols::find(terms(deviation).protocol)?;
    let party = row.party(Role::Sender, params, Arc::new(items))?;
    let output = ctx.fork(1)?[0].child("matching", |ctx| {
        let output = party.run(ctx)?;
        ctx.finish().map(|()| output)
    })?;
    assert_eq!(output, Output::Nothing);

    let (sent, received) = ctx.meter().bytes_under("matching");
    let sent = if deviation == Deviation::Counts { sent + 1 } else { sent };
    let mut closing = [0; 33];
    closing[1..9].copy_from_slice(&sent.to_le_bytes());
    closing[9..17].copy_from_slice(&received.to_le_bytes());
    ctx.peer()?.send(&closing)?;
    ctx.peer()?.recv(33)?;
    drop(ctx);
    session.close().map_err(Into::into)
}

fn assert_misbehaved(deviation: Deviation, in_phase: Phase, named: Misbehaviour) {
    match meet(deviation) {
        Err(Error::PeerMisbehaved { peer, phase, kind }) => {
            assert_eq!((peer.as_str(), phase, kind), ("two", in_phase, named));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_peer_that_follows_the_script_is_an_honest_one() {
    let report = meet(Deviation::None).unwrap();
    assert_eq!(report.result.matched_keys, Some(0));
    assert_eq!(report.result.rows_written, Some(0));
}

#[test]
fn a_peer_of_another_version_is_incompatible() {
    let result = meet(Deviation::Version);
    let other = Error::PeerIncompatible(Incompatible::Version {
        here: WIRE_VERSION,
        there: WIRE_VERSION + 1,
    });
    assert_eq!(result.unwrap_err().to_string(), other.to_string());
}

#[test]
fn a_peer_that_would_choose_from_other_protocols_is_incompatible() {
    let result = meet(Deviation::Candidates);
    let named = matches!(result, Err(Error::PeerIncompatible(Incompatible::Candidates)));
    assert!(named, "{result:?}");
    assert_misbehaved(Deviation::NeedlessCandidates, Phase::Agreeing, Misbehaviour::InvalidValue);
}

#[test]
fn a_peer_without_a_hello_has_misbehaved() {
    assert_misbehaved(Deviation::Magic, Phase::Agreeing, Misbehaviour::InvalidValue);
    let wrong = Misbehaviour::WrongMessageLen { expected: 64, actual: 65 };
    assert_misbehaved(Deviation::HelloLen, Phase::Agreeing, wrong);
}

#[test]
fn an_agreement_built_to_exhaust_the_stack_is_refused() {
    assert_misbehaved(Deviation::DeepAgreement, Phase::Agreeing, Misbehaviour::InvalidValue);
}

#[test]
fn a_peer_that_announces_too_many_items_has_misbehaved() {
    for len in [0, 1001, 1 << 32, u64::MAX] {
        let outside = Misbehaviour::SizeOutsideAgreement { len, min: 1, max: 1000 };
        assert_misbehaved(Deviation::Announces(len), Phase::Sizes, outside);
    }
}

/// The number of partitions follows from the announced sizes. A peer that uses another number gets
/// no result.
#[test]
fn a_peer_that_splits_its_set_otherwise_makes_no_result() {
    // Their messages have other lengths, which the peer, whose protocol is correct, detects first.
    let result = meet(Deviation::NotSplit);
    let ended = matches!(
        result,
        Err(Error::PeerMisbehaved { phase: Phase::Matching, .. }
            | Error::Transport { phase: Phase::Matching, .. })
    );
    assert!(ended, "{result:?}");
    // In the session of a partition the same item has another tag.
    assert_misbehaved(Deviation::Split, Phase::Checking, Misbehaviour::SelfCheckFailed);
}

#[test]
fn a_result_without_the_shared_check_items_is_no_result() {
    assert_misbehaved(Deviation::NoCheckItems, Phase::Checking, Misbehaviour::SelfCheckFailed);
}

#[test]
fn counts_that_differ_end_the_run() {
    assert_misbehaved(Deviation::Counts, Phase::Checking, Misbehaviour::CountsDiffer);
}
