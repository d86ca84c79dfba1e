//! Receiving what the other side of a mirror sends.

use super::wire::{Fault, Kind, LEAVE, have_of, object_of};
use super::{Core, Line};
use crate::FolderStore;
use crate::store::Store;
use std::io;
use std::path::Path;
use std::sync::{Condvar, Mutex};
use vesica_core::TransportError;
use vesica_link::CancelToken;
use vesica_net::StreamReader;

const PREFIX: &str = "0011223344556677";

/// The number of this side's party.
const OWN: u8 = 1;

/// The bytes that the other side sends, after which the connection is closed.
struct Sent<'a>(&'a [u8]);

impl StreamReader for Sent<'_> {
    fn read_exact(&mut self, buf: &mut [u8]) -> Result<(), TransportError> {
        let (read, rest) = self.0.split_at_checked(buf.len()).ok_or(TransportError::Closed)?;
        buf.copy_from_slice(read);
        self.0 = rest;
        Ok(())
    }
}

fn name(object: &str) -> String {
    format!("{PREFIX}-0001/{object}")
}

/// What an honest side sends: once without objects, and once with the objects of a run.
pub fn lines() -> [Vec<u8>; 2] {
    let names = ["0-hello", "0-shares", "0-000000", "0-end"].map(name);
    let objects = names.iter().flat_map(|name| [object_of(name, 5), vec![7; 5]].concat());
    let all = [have_of(&names), objects.collect(), vec![LEAVE]].concat();
    [[have_of(&[]), vec![LEAVE]].concat(), all]
}

/// Receives `sent` at a side that keeps its objects in `folder`, which exists and is empty, and
/// that has started a run.
///
/// # Panics
/// If this side keeps anything that is not an object of a run, or more bytes than were sent; if the
/// error blames this side's folder.
pub fn receive(folder: &Path, sent: &[u8]) {
    let local = FolderStore::open(folder).expect("the folder is there");
    local.put_if_absent(&name("1-hello"), b"").expect("the folder can be written");
    let core = Core {
        local,
        prefix: PREFIX.to_owned(),
        own: OWN,
        line: Mutex::new(Line::default()),
        changed: Condvar::new(),
        cancel: CancelToken::new(),
    };
    match core.receive(&mut Sent(sent)) {
        Err(Fault::Line | Fault::There | Fault::SetBack) => {}
        Err(Fault::Here(kind)) => {
            panic!("bytes of the other side are no fault of this side's folder: {kind}")
        }
        Ok(()) => panic!("the other side's bytes have ended, and the reader did not stop"),
    }
    let mut bytes = 0;
    for run in folders(folder).expect("the folder can be listed") {
        for object in core.local.list(&run).expect("the folder can be listed") {
            let name = format!("{run}/{}", object.name);
            let kind = Kind::of(&name, PREFIX, OWN);
            assert!(kind.is_some_and(|kind| kind != Kind::Own), "{name} is kept");
            bytes += object.bytes;
        }
    }
    let line = core.line();
    assert!(bytes <= sent.len() as u64, "{bytes} bytes are kept of {}", sent.len());
    assert!(line.theirs.len() <= sent.len(), "a name takes a byte");
    assert!(line.runs.iter().all(|run| line.theirs.iter().any(|name| name.starts_with(run))));
}

/// The names of everything in `folder`.
fn folders(folder: &Path) -> io::Result<Vec<String>> {
    std::fs::read_dir(folder)?
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect()
}
