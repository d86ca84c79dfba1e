//! Parses the answers of a Redis server (protocol RESP2).

use crate::error::{BackendError, ServerCode};
use crate::socket::Socket;
use std::io::{self, BufRead, BufReader, Read};
use vesica_labels::Label;

/// Longest accepted line of an answer: errors are a sentence.
const LINE_LIMIT: u64 = 4096;

/// Buffered answers.
pub(super) struct Replies {
    from: BufReader<Socket>,
    line: Vec<u8>,
}

impl Replies {
    pub(super) fn of(socket: Socket) -> Self {
        Self { from: BufReader::with_capacity(1 << 17, socket), line: Vec::new() }
    }

    /// Expects `+OK`.
    pub(super) fn ok(&mut self) -> Result<(), BackendError> {
        self.simple(b"OK")
    }

    /// Reads the number of removed keys.
    pub(super) fn removed(&mut self) -> Result<usize, BackendError> {
        self.number(b':')
    }

    /// Reads the answers to a transaction that adds `lens` different members of `width` bytes to
    /// empty sets. Stores the common members in `found`, in no order.
    pub(super) fn transaction(
        &mut self,
        lens: &[usize],
        width: usize,
        found: &mut Vec<Label>,
    ) -> Result<(), BackendError> {
        let nonsense = Err(BackendError::Nonsense);
        self.ok()?;
        for _ in 0..lens.len() + 2 {
            self.simple(b"QUEUED")?;
        }
        if self.number(b'*')? != lens.len() + 2 {
            return nonsense;
        }
        for len in lens {
            // Fewer would mean that the key existed before.
            if self.number(b':')? != *len {
                return nonsense;
            }
        }
        let members = self.number(b'*')?;
        if lens.iter().any(|len| *len < members) {
            return nonsense;
        }
        found.clear();
        for _ in 0..members {
            if self.number(b'$')? != width {
                return nonsense;
            }
            let mut wide = [0; 18];
            self.from.read_exact(&mut wide[..width + 2])?;
            if wide[width..width + 2] != *b"\r\n" {
                return nonsense;
            }
            wide[width] = 0;
            wide[width + 1] = 0;
            let label = wide.first_chunk().map(|label| Label::from_be_bytes(*label));
            found.extend(label);
        }
        if self.number(b':')? == lens.len() { Ok(()) } else { nonsense }
    }

    fn simple(&mut self, expected: &[u8]) -> Result<(), BackendError> {
        match self.line()?.split_first() {
            Some((b'+', text)) if text == expected => Ok(()),
            _ => Err(BackendError::Nonsense),
        }
    }

    fn number(&mut self, kind: u8) -> Result<usize, BackendError> {
        let digits = self.line()?.strip_prefix(&[kind]).and_then(|digits| {
            let number = std::str::from_utf8(digits).ok()?;
            number.parse().ok()
        });
        digits.ok_or(BackendError::Nonsense)
    }

    /// The next line without its end.
    fn line(&mut self) -> Result<&[u8], BackendError> {
        self.line.clear();
        self.from.by_ref().take(LINE_LIMIT).read_until(b'\n', &mut self.line)?;
        if self.line.is_empty() {
            return Err(BackendError::Unreachable(io::ErrorKind::UnexpectedEof));
        }
        match self.line.strip_suffix(b"\r\n") {
            Some([b'-', error @ ..]) => Err(failure(error)),
            Some(line) => Ok(line),
            None if self.line.len() as u64 == LINE_LIMIT => Err(BackendError::Nonsense),
            None => Err(BackendError::Unreachable(io::ErrorKind::UnexpectedEof)),
        }
    }
}

/// The error for an error line: its first word is its code.
fn failure(line: &[u8]) -> BackendError {
    // The cause of a failed transaction follows, with its own code.
    let line = line.strip_prefix(b"EXECABORT Transaction discarded because of: ").unwrap_or(line);
    let code = ServerCode::of(line);
    match code.as_str() {
        "NOAUTH" | "WRONGPASS" | "NOPERM" => BackendError::Refused,
        "OOM" | "MISCONF" => BackendError::OutOfSpace,
        _ if line.starts_with(b"ERR max number of clients") => {
            BackendError::Unreachable(io::ErrorKind::ResourceBusy)
        }
        "LOADING" | "BUSY" | "MASTERDOWN" | "CLUSTERDOWN" | "TRYAGAIN" => {
            BackendError::Unreachable(io::ErrorKind::ResourceBusy)
        }
        _ => BackendError::Failed(code),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_distinguished_by_their_codes() {
        let busy = BackendError::Unreachable(io::ErrorKind::ResourceBusy);
        for (line, error) in [
            ("WRONGPASS invalid username-password pair", BackendError::Refused),
            ("EXECABORT Transaction discarded because of: NOPERM no", BackendError::Refused),
            ("OOM command not allowed", BackendError::OutOfSpace),
            ("LOADING Redis is loading the dataset in memory", busy),
            ("ERR max number of clients reached", busy),
            ("ERR unknown command", BackendError::Failed(ServerCode::of(b"ERR"))),
        ] {
            assert_eq!(failure(line.as_bytes()), error, "{line}");
        }
    }
}
