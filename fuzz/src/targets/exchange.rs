//! What comes through a store: objects of the peer and their names; what comes over the lines of a
//! mirror; and what is in a party's own folder: the journal, the results of partitions, and what
//! detached programs get.

use super::{Target, fresh, scratch};
use vesica_core::Block;
use vesica_detached::PartitionResult;
use vesica_net::{Flight, StreamId};
use vesica_partitions::{
    Cost, FinishedAddends, FinishedLists, FinishedPartition, FinishedStep, Listed, PartitionOutput,
};
use vesica_store_session::fuzzing;

/// Own items of the partition that is read.
const OWN_LEN: usize = 19;

/// Bytes of a step in addition to the values: coins, and the values of two shared items.
const REST_LEN: usize = 48 + 2 * 16;

/// Columns of the sums that are read.
const COLUMNS: usize = 2;

/// The most bytes of the list that is read.
const MOST: usize = 3 * OWN_LEN * 16;

pub(super) const OBJECTS: Target =
    Target { name: "exchange_objects", run: objects, seeds, tokens: &[], max_len: 4096 };

pub(super) const MIRROR: Target = Target {
    name: "exchange_mirror",
    run: mirror,
    seeds: || fuzzing::lines().to_vec(),
    tokens: &[
        b"0011223344556677-0001/0-hello",
        b"0011223344556677-0002/0-hello",
        b"0011223344556677-0001/1-hello",
        b"0011223344556677-0001/0-000001",
        b"0011223344556677-0001/1-000000",
        b"0-given-up",
        b"../",
    ],
    max_len: 4096,
};

/// What the other side says, received into a folder of its own.
fn mirror(bytes: &[u8]) {
    let folder = scratch().path().join(format!("mirror-{}", fresh()));
    std::fs::create_dir(&folder).expect("a folder can be made");
    fuzzing::receive(&folder, bytes);
    std::fs::remove_dir_all(&folder).expect("a folder can be removed");
}

fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = fuzzing::samples().to_vec();
    seeds.push(b"0011223344556677-0001/0-000012".to_vec());
    let given = PartitionOutput { own: Some(vec![true; OWN_LEN]), refused: None };
    let cost = Cost { payload: (3, 4), direction_changes: 2 };
    seeds.push(FinishedPartition { given, cost }.to_bytes(OWN_LEN));
    seeds.push(FinishedAddends { count: 5, sums: vec![6; COLUMNS], cost }.to_bytes());
    let ids = Listed::Ids { own: vec![[1; 16]; OWN_LEN], all: vec![[1; 16]; 2 * OWN_LEN] };
    for listed in [Listed::Nothing, Listed::Texts(b"a text".to_vec()), ids] {
        seeds.extend(FinishedLists { listed, refused: None, cost }.to_bytes(MOST));
    }
    let values = (0..OWN_LEN as u128).map(Block::new).collect();
    seeds.push(FinishedStep { rest: vec![1; REST_LEN], values, refused: None, cost }.to_bytes());
    let pieces = [7, 9].map(|stream| (StreamId::from_u64(stream), vec![1; stream as usize]));
    seeds.push(Flight::from_iter(pieces).to_bytes());
    // That 5 items are common, the result being good; bytes and changes of direction.
    let ended = [5, 3, 4, 2].iter().flat_map(|number: &u64| number.to_le_bytes());
    seeds.push([1, 0].into_iter().chain(ended).collect());
    seeds
}

fn objects(bytes: &[u8]) {
    fuzzing::read_object(bytes);
    fuzzing::read_journal(bytes);
    fuzzing::read_name(bytes);
    fuzzing::read_desk(bytes);
    if let Some(flight) = Flight::from_bytes(bytes) {
        let again = Flight::from_bytes(&flight.to_bytes());
        assert_eq!(again, Some(flight), "a flight reads back");
    }
    let written = [
        PartitionResult::from_bytes(bytes).map(|ended| {
            let _ = ended.refused();
            ended.to_bytes()
        }),
        FinishedPartition::from_bytes(bytes, OWN_LEN).map(|over| over.to_bytes(OWN_LEN)),
        FinishedStep::from_bytes(bytes, REST_LEN, OWN_LEN).map(|over| over.to_bytes()),
        FinishedAddends::from_bytes(bytes, COLUMNS).map(|over| over.to_bytes()),
        FinishedLists::from_bytes(bytes, OWN_LEN, MOST).and_then(|over| over.to_bytes(MOST)),
    ];
    for again in written.iter().flatten() {
        assert!(again == bytes, "what a partition gave has one form");
    }
}
