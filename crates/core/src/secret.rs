use std::fmt;
use zeroize::Zeroize;

/// A value that is wiped from memory when dropped, and never printed.
pub struct Secret<T: Zeroize>(T);

impl<T: Zeroize> Secret<T> {
    /// Takes ownership of `value`.
    pub fn new(value: T) -> Self {
        Self(value)
    }

    /// Reads the value. The name makes each access visible in a review.
    pub fn expose(&self) -> &T {
        &self.0
    }

    /// Changes the value in place, so that no other copy remains.
    pub fn expose_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T: Zeroize> Drop for Secret<T> {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl<T: Zeroize> fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_never_shows_the_value() {
        assert_eq!(format!("{:?}", Secret::new([7u8; 4])), "Secret(..)");
    }
}
