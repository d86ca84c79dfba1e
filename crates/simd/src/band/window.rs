//! The words of slots for which tables are prepared.

use std::ops::Range;

/// Number of words of 64 slots that are prepared at a time.
pub(super) const WORDS: usize = 16;

/// The prepared words; word w is at index w modulo [`WORDS`].
#[derive(Default)]
pub(super) struct Window(Range<usize>);

impl Window {
    /// Moves the window up to include all of `wanted`, at most [`WORDS`] words; returns the words
    /// that must be prepared.
    pub(super) fn slide_up(&mut self, wanted: Range<usize>) -> Range<usize> {
        if !self.0.contains(&wanted.start) {
            self.0 = wanted.start..wanted.start;
        }
        let new = self.0.end..wanted.end.max(self.0.end);
        self.0 = self.0.start.max(new.end.saturating_sub(WORDS))..new.end;
        new
    }

    /// Like [`slide_up`](Window::slide_up), for windows that move down.
    pub(super) fn slide_down(&mut self, wanted: Range<usize>) -> Range<usize> {
        if self.0.is_empty() || !self.0.contains(&(wanted.end - 1)) {
            self.0 = wanted.end..wanted.end;
        }
        let new = wanted.start.min(self.0.start)..self.0.start;
        self.0 = new.start..self.0.end.min(new.start + WORDS);
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wanted_word_is_prepared_exactly_once() {
        let mut window = Window::default();
        let mut prepared = [None; WORDS];
        for start in [0, 0, 1, 2, 2, 9, 9, 100, 101, 3, 4, 4, 5] {
            let wanted = start..start + 14;
            for word in window.slide_up(wanted.clone()) {
                assert_ne!(prepared[word % WORDS], Some(word));
                prepared[word % WORDS] = Some(word);
            }
            assert!(wanted.into_iter().all(|word| prepared[word % WORDS] == Some(word)));
        }
        let mut window = Window::default();
        let mut prepared = [None; WORDS];
        for start in (0..40).rev() {
            let wanted = start..start + 8;
            for word in window.slide_down(wanted.clone()) {
                assert_ne!(prepared[word % WORDS], Some(word));
                prepared[word % WORDS] = Some(word);
            }
            assert!(wanted.into_iter().all(|word| prepared[word % WORDS] == Some(word)));
        }
    }
}
