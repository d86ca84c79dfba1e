//! Entry points for fuzzers: plain functions of bytes.

use crate::store::{self, Disk, Keeping, Record, Store};
use std::path::Path;
use vesica_helper_wire::{
    HEAD_LEN, Opening, Purpose, Reply, Request, WAITING_LEN, WELCOME_LEN, WaitingFor, Welcome,
};
use vesica_server_aided::kmrs14::{Kind, Slot};

/// Decodes a message at the start of some bytes and encodes it again; `None` if it is invalid.
pub type Message = fn(&[u8]) -> Option<Vec<u8>>;

/// The messages between party and helper, and the helper's record of a run.
pub const MESSAGES: &[Message] = &[opening, welcome, request, reply, waiting, record];

fn opening(bytes: &[u8]) -> Option<Vec<u8>> {
    let opening = Opening::decode(bytes.first_chunk::<HEAD_LEN>()?).ok()?;
    Some(opening.encode().to_vec())
}

fn welcome(bytes: &[u8]) -> Option<Vec<u8>> {
    Some(match Welcome::decode(bytes.first_chunk::<WELCOME_LEN>()?).transpose() {
        None => Welcome::not_yet().to_vec(),
        Some(welcome) => Welcome::encode(welcome).to_vec(),
    })
}

/// A request.
pub fn request(bytes: &[u8]) -> Option<Vec<u8>> {
    let request = Request::decode(bytes.first_chunk::<HEAD_LEN>()?).ok()?;
    Some(request.encode().to_vec())
}

fn reply(bytes: &[u8]) -> Option<Vec<u8>> {
    let reply = Reply::decode(bytes.first_chunk::<HEAD_LEN>()?)?;
    Some(reply.encode().to_vec())
}

fn waiting(bytes: &[u8]) -> Option<Vec<u8>> {
    Some(WaitingFor::decode(bytes.first_chunk::<WAITING_LEN>()?).encode().to_vec())
}

fn record(bytes: &[u8]) -> Option<Vec<u8>> {
    Record::from_bytes(bytes).map(|record| record.to_bytes())
}

/// One head of each kind.
pub fn heads() -> Vec<Vec<u8>> {
    let slot = Slot::part(Kind::Labels, 1, 3);
    let requests = [
        Request::Put { slot, len: 100 },
        Request::Sync,
        Request::Get { slot },
        Request::Filled { kind: Kind::Labels, parts: 9 },
        Request::Done,
        Request::End,
    ];
    let opening = Opening { purpose: Purpose::TakePart, spec_len: 140 };
    let mut heads: Vec<Vec<u8>> = requests.map(|request| request.encode().to_vec()).to_vec();
    heads.push(opening.encode().to_vec());
    heads.extend([Reply::Body(9), Reply::Waiting].map(|reply| reply.encode().to_vec()));
    heads
}

/// A file of a run as the service writes it: its body, and a digest of body and name.
pub fn stored_file(name: &str, body: &[u8]) -> Vec<u8> {
    store::stored_file(name, body)
}

/// The first steps of a service with an existing directory: finds its runs and the records of ended
/// ones, and checks all their files. Returns the number of runs.
///
/// # Errors
/// The directory cannot be used.
pub fn reopen(directory: &Path) -> Result<usize, crate::StoreError> {
    let (store, found) = Store::open(directory, Keeping::Files, Disk::default())?;
    let _ = store.find_ended();
    for (_, record, run) in &found {
        let _ = run.check(&mut || false);
        let parties = record.spec.parties.len();
        run.charges(parties);
        run.joined();
        let _ = run.filled(Kind::Labels, 0, 64);
    }
    Ok(found.len())
}
