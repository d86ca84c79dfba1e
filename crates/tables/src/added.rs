//! The columns that a result has besides those of its file.

/// The columns that a result has after those of the file.
#[derive(Clone, Copy, Default)]
pub struct Added<'a> {
    /// A column of texts.
    pub texts: Option<AddedTexts<'a>>,
    /// The name of a last column that says whether a row's bit is set: `1` or `0` in text, a
    /// boolean in Parquet. Then every row is written.
    pub mark: Option<&'a str>,
}

impl<'a> Added<'a> {
    /// A mark alone.
    pub fn mark(name: &'a str) -> Self {
        Self { mark: Some(name), texts: None }
    }

    /// The names of the columns, in their order.
    pub fn names(&self) -> impl Iterator<Item = &'a str> {
        self.texts.map(|texts| texts.name).into_iter().chain(self.mark)
    }
}

/// A column of texts.
#[derive(Clone, Copy)]
pub struct AddedTexts<'a> {
    /// Its name.
    pub name: &'a str,
    /// The text of a row; rows count from 0.
    pub of: &'a dyn Fn(u64) -> String,
}
