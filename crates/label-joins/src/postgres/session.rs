//! A connection to a PostgreSQL server: the required part of its protocol, version 3 (PostgreSQL
//! manual, chapter "Frontend/Backend Protocol"). The crate `postgres-protocol` computes the proof
//! of the password.

use crate::error::{BackendError, ServerCode};
use crate::socket::Socket;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use std::io::{BufReader, Read, Write};
use vesica_labels::Label;

/// Protocol version 3.0.
const VERSION: u32 = 3 << 16;

/// Longest accepted message of the server.
const MESSAGE_LIMIT: u32 = 1 << 20;

/// Bytes of a table's rows sent at once.
const PIECE_BYTES: usize = 1 << 16;

/// Most iterations of a password's hash: a second of work. PostgreSQL's default is 4,096.
const MOST_ITERATIONS: u32 = 1_000_000;

const LABEL_BYTES: usize = size_of::<Label>();

/// A row of one `uuid`: number of columns, length, value.
const ROW_BYTES: usize = 2 + 4 + LABEL_BYTES;

/// The head of binary copies: a signature, no flags, no extension.
const COPY_HEAD: [u8; 19] = *b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";

/// In place of the number of columns: no more rows.
const COPY_END: [u8; 2] = [0xff; 2];

/// An authenticated connection.
pub(super) struct Session {
    from: BufReader<Socket>,
    to: Socket,
    message: Vec<u8>,
}

impl Session {
    /// Authenticates.
    pub(super) fn start(
        socket: Socket,
        user: &str,
        password: Option<&str>,
        database: &str,
        name: &str,
    ) -> Result<Self, BackendError> {
        let from = BufReader::with_capacity(1 << 17, socket.again()?);
        let mut session = Self { from, to: socket, message: Vec::new() };
        let mut body = VERSION.to_be_bytes().to_vec();
        for text in ["user", user, "database", database, "application_name", name] {
            body.extend_from_slice(text.as_bytes());
            body.push(0);
        }
        body.push(0);
        let len = body.len() as u32 + 4;
        session.to.write_all(&[&len.to_be_bytes()[..], &body].concat())?;
        session.log_in(password)?;
        session.until_ready()?;
        Ok(session)
    }

    fn log_in(&mut self, password: Option<&str>) -> Result<(), BackendError> {
        let mut proof = None;
        loop {
            let (kind, body) =
                self.expect(b'R')?.split_first_chunk().ok_or(BackendError::Nonsense)?;
            let answer = match (u32::from_be_bytes(*kind), &mut proof) {
                (0, _) => return Ok(()),
                (10, None) => {
                    let mut offered = body.split(|byte| *byte == 0);
                    if !offered.any(|offer| offer == SCRAM_SHA_256.as_bytes()) {
                        return Err(BackendError::WeakAuthentication);
                    }
                    let password = password.ok_or(BackendError::Refused)?.as_bytes();
                    let new = ScramSha256::new(password, ChannelBinding::unsupported());
                    let response = proof.insert(new).message();
                    let len = (response.len() as u32).to_be_bytes();
                    [SCRAM_SHA_256.as_bytes(), &[0], &len, response].concat()
                }
                (11, Some(proof)) => {
                    if !is_bearable(body) {
                        return Err(BackendError::Nonsense);
                    }
                    proof.update(body).map_err(|_| BackendError::Refused)?;
                    proof.message().to_vec()
                }
                (12, Some(proof)) => {
                    // The server proves that it knows the password too.
                    proof.finish(body).map_err(|_| BackendError::Refused)?;
                    continue;
                }
                // The password itself, an MD5 hash of it, and kinds that need more than a password.
                (2..=9, _) => return Err(BackendError::WeakAuthentication),
                _ => return Err(BackendError::Nonsense),
            };
            self.send(b'p', &answer)?;
        }
    }

    /// Runs statements. Returns the first column of the last row of their results.
    pub(super) fn query(&mut self, sql: &str) -> Result<Vec<u8>, BackendError> {
        self.send_query(sql)?;
        self.until_ready()
    }

    /// Runs `sql`, which copies each of `lists` into a table, each label once, and then returns the
    /// common ones.
    pub(super) fn intersect(
        &mut self,
        sql: &str,
        lists: &[&[Label]],
    ) -> Result<Vec<Label>, BackendError> {
        self.send_query(sql)?;
        for labels in lists {
            self.expect(b'G')?;
            self.send_rows(labels)?;
            self.expect(b'C')?;
        }
        self.expect(b'H')?;
        let fewest = lists.iter().map(|labels| labels.len()).min().unwrap_or(0);
        let most_bytes = COPY_HEAD.len() + fewest * ROW_BYTES + COPY_END.len();
        let mut bytes = Vec::new();
        // The server may split the bytes into messages as it likes.
        while self.next()? == b'd' {
            bytes.extend_from_slice(&self.message);
            if bytes.len() > most_bytes {
                return Err(BackendError::Nonsense);
            }
        }
        self.until_ready()?;
        let rows = bytes
            .strip_prefix(&COPY_HEAD)
            .and_then(|rows| rows.strip_suffix(&COPY_END))
            .ok_or(BackendError::Nonsense)?
            .chunks(ROW_BYTES);
        let labels = rows.map(|row| match row.split_first_chunk() {
            Some(([0, 1, 0, 0, 0, 16], label)) => label.try_into().ok().map(Label::from_be_bytes),
            _ => None,
        });
        labels.collect::<Option<_>>().ok_or(BackendError::Nonsense)
    }

    fn send_rows(&mut self, labels: &[Label]) -> Result<(), BackendError> {
        let mut bytes = Vec::with_capacity(PIECE_BYTES + ROW_BYTES);
        bytes.extend_from_slice(&COPY_HEAD);
        let mut last = None;
        for label in labels {
            if last.replace(label) == Some(label) {
                continue;
            }
            bytes.extend_from_slice(&[0, 1, 0, 0, 0, LABEL_BYTES as u8]);
            bytes.extend_from_slice(&label.to_be_bytes());
            if bytes.len() >= PIECE_BYTES {
                self.send(b'd', &bytes)?;
                bytes.clear();
            }
        }
        bytes.extend_from_slice(&COPY_END);
        self.send(b'd', &bytes)?;
        self.send(b'c', &[])
    }

    fn send_query(&mut self, sql: &str) -> Result<(), BackendError> {
        self.send(b'Q', &[sql.as_bytes(), &[0]].concat())
    }

    fn send(&mut self, tag: u8, body: &[u8]) -> Result<(), BackendError> {
        let [a, b, c, d] = (body.len() as u32 + 4).to_be_bytes();
        let sent = self.to.write_all(&[tag, a, b, c, d]).and_then(|()| self.to.write_all(body));
        // A server that disconnects sends the reason, which is the better error.
        sent.map_err(|error| self.reported_error().unwrap_or(error.into()))
    }

    fn reported_error(&mut self) -> Option<BackendError> {
        loop {
            match self.next() {
                Err(BackendError::Unreachable(_)) => return None,
                Err(error) => return Some(error),
                Ok(_) => {}
            }
        }
    }

    /// Reads until the server is ready for a query. Returns the first column of the last row.
    fn until_ready(&mut self) -> Result<Vec<u8>, BackendError> {
        let mut column = Vec::new();
        loop {
            match self.next()? {
                b'Z' => return Ok(column),
                b'D' => {
                    // Number of columns, length of the first, its bytes.
                    let first = self.message.get(2..).and_then(<[u8]>::split_first_chunk);
                    let (len, rest) = first.ok_or(BackendError::Nonsense)?;
                    let value = rest.get(..u32::from_be_bytes(*len) as usize);
                    column = value.ok_or(BackendError::Nonsense)?.to_vec();
                }
                _ => {}
            }
        }
    }

    /// The body of the next message, which must be of kind `tag`.
    fn expect(&mut self, tag: u8) -> Result<&[u8], BackendError> {
        if self.next()? == tag { Ok(&self.message) } else { Err(BackendError::Nonsense) }
    }

    /// Reads the next message that is neither a notice nor a setting; returns its kind.
    ///
    /// # Errors
    /// Errors that the server reports, among others.
    fn next(&mut self) -> Result<u8, BackendError> {
        loop {
            let mut head = [0; 5];
            self.from.read_exact(&mut head)?;
            let [tag, len @ ..] = head;
            let len = u32::from_be_bytes(len);
            if !(4..MESSAGE_LIMIT).contains(&len) {
                return Err(BackendError::Nonsense);
            }
            self.message.resize(len as usize - 4, 0);
            self.from.read_exact(&mut self.message)?;
            match tag {
                b'E' => return Err(failure(code(&self.message))),
                b'N' | b'S' | b'A' => {}
                tag => return Ok(tag),
            }
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // So that the server does not log a lost connection. Its arrival does not matter.
        let _ = self.to.write_all(b"X\0\0\0\x04");
    }
}

/// Whether a challenge of SCRAM (RFC 5802 §7: `r=…,s=…,i=…`) requires a bounded amount of work.
/// Only the server limits the iterations; a large number would take hours before the server is
/// authenticated.
fn is_bearable(challenge: &[u8]) -> bool {
    let fields = challenge.split(|byte| *byte == b',');
    let mut iterations = fields.filter_map(|field| field.strip_prefix(b"i="));
    iterations.all(|number| {
        let number = std::str::from_utf8(number).ok().and_then(|number| number.parse::<u32>().ok());
        number.is_some_and(|number| number <= MOST_ITERATIONS)
    })
}

/// The code of an error: fields of a letter and a text that ends with zero; `C` is the code.
fn code(mut fields: &[u8]) -> &[u8] {
    while let Some((kind, rest)) = fields.split_first().filter(|(kind, _)| **kind != 0) {
        let end = rest.iter().position(|byte| *byte == 0).unwrap_or(rest.len());
        if *kind == b'C' {
            return &rest[..end];
        }
        fields = rest.get(end + 1..).unwrap_or_default();
    }
    &[]
}

/// The error for a server's error code (PostgreSQL manual, appendix A).
fn failure(code: &[u8]) -> BackendError {
    use std::io::ErrorKind::{ConnectionAborted, ResourceBusy};
    match code {
        b"42501" | [b'2', b'8', ..] => BackendError::Refused,
        [b'5', b'3', b'3', ..] => BackendError::Unreachable(ResourceBusy),
        [b'5', b'3', ..] => BackendError::OutOfSpace,
        [b'5', b'7', b'P', ..] | [b'0', b'8', ..] => BackendError::Unreachable(ConnectionAborted),
        _ => BackendError::Failed(ServerCode::of(code)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_cannot_require_endless_work() {
        for (challenge, is_taken) in [
            (&b"r=nonce,s=c2FsdA==,i=4096"[..], true),
            (b"r=nonce,s=c2FsdA==,i=1000000", true),
            (b"r=nonce,s=c2FsdA==,i=1000001", false),
            (b"r=nonce,s=c2FsdA==,i=4000000000", false),
            (b"r=nonce,s=c2FsdA==,i=99999999999999999999", false),
            (b"r=nonce,s=c2FsdA==,i=4096,i=4000000000", false),
        ] {
            assert_eq!(is_bearable(challenge), is_taken, "{}", challenge.escape_ascii());
        }
    }

    #[test]
    fn an_error_is_its_code() {
        assert_eq!(code(b"SFATAL\0VFATAL\0C28P01\0Mpassword\0\0"), b"28P01");
        for bad in [&b""[..], b"\0", b"S", b"SFATAL", b"SFATAL\0\0C28P01"] {
            assert_eq!(code(bad), b"");
        }
    }
}
