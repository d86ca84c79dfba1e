//! Reading the folder of an interrupted run with a helper.

use crate::state::State;
use std::path::Path;
use vesica_protocols::kmrs14::{Kind, Memory};

/// Opens the folder of the party `owner` and reads all of it twice.
///
/// # Panics
/// If the second reading differs from the first.
pub fn reopen_state(folder: &Path, owner: [u8; 32]) {
    let read = || {
        let state = State::open(folder, owner).ok()?;
        let had_started = state.has_started();
        let secrets =
            state.secrets().ok().map(|(meeting, own)| (meeting.to_bytes().to_vec(), *own.expose()));
        let shares = state.shares(|| vec![1]).ok();
        let seen = state.is_same(Kind::Commitment, &[1; 32]).ok();
        let rows = state.keep_rows(&[1; 32]).ok();
        let instance = state.instance().ok().flatten();
        let answer = state.answer(2, 70).and_then(Result::ok);
        let done = (state.has_sent_done().ok(), answer);
        Some((had_started, secrets, shares, seen, rows, instance, done))
    };
    let Some(first) = read() else { return };
    let second = read();
    if first.0 && first.1.is_some() {
        assert!(second == Some(first), "a second reading of the folder differs");
    }
}
