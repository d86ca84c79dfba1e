//! Which parties a party waits for at the helper, and since when.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Which parties of a run one of them waits for at the helper, according to the
/// [events](crate::RemoteEvent) of its connection to the helper.
#[derive(Debug)]
pub struct Waits {
    /// The names of the parties.
    parties: Vec<String>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Since when the helper has sent no data, and which parties it waits for.
    current: Option<(Instant, Vec<u8>)>,
    received_bytes: u64,
}

impl Waits {
    /// For a run of parties with these names, in the order of their numbers. The helper waits for
    /// none of them yet.
    pub fn new(parties: Vec<String>) -> Self {
        Self { parties, state: Mutex::default() }
    }

    /// The names of `parties`; unknown numbers are left out.
    pub fn names(&self, parties: &[u8]) -> Vec<String> {
        let known = parties.iter().filter_map(|party| self.parties.get(usize::from(*party)));
        known.cloned().collect()
    }

    /// Records that the helper waits for these `parties`; if there are none, the helper computes.
    /// Returns whether that is a change.
    pub fn wait_for(&self, parties: &[u8]) -> bool {
        let current = &mut self.state().current;
        let is_news = current.as_ref().is_none_or(|(_, known)| known != parties);
        match current {
            // Some of the parties have acted: the wait for the remaining ones continues.
            Some((_, known)) if !known.is_empty() && !parties.is_empty() => {
                *known = parties.to_vec();
            }
            _ => *current = Some((Instant::now(), parties.to_vec())),
        }
        is_news
    }

    /// Records that the helper has sent this party `bytes` bytes of slots so far. Returns whether
    /// that ends a wait. Data that this party sends ends no wait, as it does not show that the
    /// other parties have acted.
    pub fn received(&self, bytes: u64) -> bool {
        let mut state = self.state();
        let is_more = bytes > state.received_bytes;
        state.received_bytes = state.received_bytes.max(bytes);
        is_more && state.current.take().is_some()
    }

    /// How long this party has been waiting for other parties, and their names; `None` if it waits
    /// for none.
    pub fn current(&self) -> Option<(Duration, Vec<String>)> {
        let state = self.state();
        let (since, parties) = state.current.as_ref().filter(|(_, parties)| !parties.is_empty())?;
        Some((since.elapsed(), self.names(parties)))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(waits: &Waits) -> Option<Vec<String>> {
        waits.current().map(|(_, names)| names)
    }

    #[test]
    fn a_wait_is_news_at_first_and_when_the_parties_change() {
        let waits = Waits::new(["a", "b", "c"].map(str::to_owned).to_vec());
        assert_eq!(names(&waits), None);
        let news = [&[1, 2][..], &[1, 2], &[2], &[], &[], &[0, 9]].map(|who| waits.wait_for(who));
        assert_eq!(news, [true, false, true, true, false, true]);
        assert_eq!(names(&waits), Some(vec!["a".to_owned()]));
    }

    #[test]
    fn a_wait_goes_on_while_some_of_its_parties_are_missing() {
        let waits = Waits::new(["a", "b", "c"].map(str::to_owned).to_vec());
        waits.wait_for(&[1, 2]);
        let pause = Duration::from_millis(20);
        std::thread::sleep(pause);
        waits.wait_for(&[2]);
        assert!(waits.current().is_some_and(|(waited, _)| waited >= pause));
        // While the helper computes, the party waits for no other party: its next wait starts from
        // zero.
        waits.wait_for(&[]);
        assert_eq!(names(&waits), None);
        let start = Instant::now();
        waits.wait_for(&[2]);
        assert!(waits.current().is_some_and(|(waited, _)| waited <= start.elapsed()));
    }

    #[test]
    fn only_more_received_bytes_end_a_wait() {
        let waits = Waits::new(["a", "b"].map(str::to_owned).to_vec());
        assert!(!waits.received(5));
        waits.wait_for(&[1]);
        assert!(!waits.received(5));
        assert_eq!(names(&waits), Some(vec!["b".to_owned()]));
        assert!(waits.received(6));
        assert_eq!(names(&waits), None);
    }
}
