//! Laws for protocols that place items in a hash table.

use super::{run_psi, run_with_bits};
use crate::Runner;
use crate::sets::items;
use std::time::Duration;
use vesica_core::{Error, Item, Learns, ParameterError};
use vesica_party::{Output, Protocol};

/// Law for protocols that place items in hash tables: if there is no room, both parties end with an
/// error, which does not say what had no room.
pub fn placing_that_fails_ends_both_parties(protocol: &Protocol) {
    // The same repeated item always has the same few bins.
    let y = vec![items(0..1)[0]; 40];
    let idle = Duration::from_millis(500);
    for n_x in [1, 1000] {
        let runner = Runner { idle, ..Runner::default() };
        let run = run_psi(protocol, &runner, Learns::Receiver, &items(0..n_x), &y);
        let expected = Error::Parameter(ParameterError::HashingFailed);
        assert_eq!(run.receiver.output, Err(expected), "{}", protocol.id);
        assert!(run.sender.output.is_err(), "{}", protocol.id);
    }
}

/// In a domain of eight bits, all of which the sender has, any value in an empty place of the
/// receiver's table would be common. `psz14`, which computes masks of empty places of the stash,
/// asserts that it finds none of them.
pub fn empty_places_hold_no_item(protocol: &Protocol) {
    let bits = 8.max(*protocol.item_bits.start());
    let (x, y): (Vec<_>, Vec<_>) =
        ((0..256).map(Item::from_integer).collect(), (1..41).map(Item::from_integer).collect());
    let run = run_with_bits(protocol, &Runner::default(), Learns::Receiver, bits, &x, &y);
    let expected = Output::Positions((0..40).collect());
    assert_eq!(run.receiver.output.as_ref(), Ok(&expected), "{}", protocol.id);
}
