//! What comes through a store: objects of the peer, and the journal in a party's own folder.

use super::Target;
use vesica_exchange::fuzzing;

pub(super) const OBJECTS: Target =
    Target { name: "exchange_objects", run: objects, seeds, tokens: &[], max_len: 4096 };

fn seeds() -> Vec<Vec<u8>> {
    fuzzing::samples().to_vec()
}

fn objects(bytes: &[u8]) {
    fuzzing::read_object(bytes);
    fuzzing::read_journal(bytes);
}
