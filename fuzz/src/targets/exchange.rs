//! What comes through a store: objects of the peer and their names; and what is in a party's own folder: the journal, and
//! what partitions gave.

use super::Target;
use vesica_exchange::fuzzing;
use vesica_partitions::{Given, Over};

/// Own items of the partition that is read.
const OWN_LEN: usize = 19;

pub(super) const OBJECTS: Target =
    Target { name: "exchange_objects", run: objects, seeds, tokens: &[], max_len: 4096 };

fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = fuzzing::samples().to_vec();
    seeds.push(b"0011223344556677-0001/0-000012".to_vec());
    let given = Given { own: Some(vec![true; OWN_LEN]), refused: None };
    let over = Over { given, payload: (3, 4), direction_changes: 2 };
    seeds.push(over.to_bytes(OWN_LEN));
    seeds
}

fn objects(bytes: &[u8]) {
    fuzzing::read_object(bytes);
    fuzzing::read_journal(bytes);
    fuzzing::read_name(bytes);
    if let Some(over) = Over::from_bytes(bytes, OWN_LEN) {
        let own = over.given.own.as_ref();
        assert!(own.is_none_or(|own| own.len() == OWN_LEN), "a bit for each item");
    }
}
