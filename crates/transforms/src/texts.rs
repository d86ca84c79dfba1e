//! What transforms give.

/// A list of texts in one buffer, for many values: clearing it keeps the memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts {
    all: String,
    /// Where each text ends.
    ends: Vec<usize>,
}

impl Texts {
    /// An empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Removes all texts.
    pub fn clear(&mut self) {
        self.all.clear();
        self.ends.clear();
    }

    /// The number of texts.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The texts, in the order in which they were appended.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.ends.iter().scan(0, |start, end| {
            let text = &self.all[*start..*end];
            *start = *end;
            Some(text)
        })
    }

    /// Appends a text.
    pub fn push(&mut self, text: &str) {
        self.push_joined(&[text]);
    }

    /// Appends one text of these pieces.
    pub(crate) fn push_joined(&mut self, pieces: &[&str]) {
        pieces.iter().for_each(|piece| self.all.push_str(piece));
        self.ends.push(self.all.len());
    }

    /// Appends a text in ASCII.
    pub(crate) fn push_ascii(&mut self, text: &[u8]) {
        self.all.extend(text.iter().map(|byte| char::from(*byte)));
        self.ends.push(self.all.len());
    }
}
