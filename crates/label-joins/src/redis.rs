//! In a Redis server, as in §4.5 of "Scaling Private Set Intersection to Billion-Element Sets"
//! (Financial Cryptography 2014): the labels of each list become a set, and the server intersects
//! the sets.
//!
//! There are two differences. The lists are cut into slices of some thousand labels, so that the
//! server, which executes one command at a time, never blocks its other users for more than some
//! milliseconds. And a slice is one transaction,
//!
//! ```text
//! MULTI · SADD of each list · SINTER · UNLINK · EXEC
//! ```
//!
//! which the server executes completely or not at all. So a slice exists only while it is
//! processed: nothing remains when the connection or this process dies, no other client ever sees
//! the keys, no late command of a lost connection can affect its successor, and a server that
//! evicts keys when its memory is full cannot evict half of a slice and corrupt the answer. The
//! server needs memory for one slice, however long the lists. Transactions are pipelined.
//!
//! The user needs `+auth +select +multi +exec +sadd +sinter +unlink ~vesica:*`. A server with an
//! append-only file writes the labels to it.

mod replies;

use crate::backend::{Answers, Backend, RunName, Stop};
use crate::error::{BackendError, BadUrl};
use crate::slices::Slices;
use crate::socket::{Endpoint, Socket};
use crate::url::Url;
use replies::Replies;
use std::io::Write;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use vesica_core::Secret;
use vesica_labels::{Bits, Label, List, Ranges, compared_bits, set_common};

/// Labels of all lists together in a slice: the server takes some milliseconds for them.
const SLICE_LABELS: usize = 1 << 13;

/// Most slices without an answer.
const SLICES_UNDER_WAY: usize = 16;

/// More lists than any run has.
const MOST_LISTS: usize = 256;

const DEFAULT_PORT: u16 = 6379;

/// A Redis server.
#[derive(Debug)]
pub(crate) struct Redis {
    endpoint: Endpoint,
    user: Option<String>,
    password: Option<Secret<String>>,
    database: u32,
}

impl Redis {
    pub(crate) fn at(url: Url) -> Result<Self, BadUrl> {
        let (endpoint, database) = if url.scheme == "redis" {
            if !url.parameters.is_empty() {
                return Err(BadUrl::Parameter);
            }
            (url.endpoint(DEFAULT_PORT)?, url.path.clone())
        } else {
            if url.path.is_empty() || !url.host.is_empty() {
                return Err(BadUrl::Path);
            }
            let database = match &url.parameters[..] {
                [] => String::new(),
                [(name, database)] if name == "db" => database.clone(),
                _ => return Err(BadUrl::Parameter),
            };
            (Endpoint::Unix(format!("/{}", url.path).into()), database)
        };
        let database =
            if database.is_empty() { 0 } else { database.parse().map_err(|_| BadUrl::Database)? };
        Ok(Self { endpoint, user: url.user, password: url.password, database })
    }

    fn connect(&self) -> Result<Connection, BackendError> {
        let mut socket = self.endpoint.connect()?;
        let mut replies = Replies::of(socket.again()?);
        let mut out = Secret::new(Vec::new());
        if let Some(password) = &self.password {
            let arguments = ["AUTH"].into_iter().chain(self.user.as_deref());
            let arguments: Vec<&str> = arguments.chain([password.expose().as_str()]).collect();
            command(out.expose_mut(), &arguments);
            socket.write_all(out.expose())?;
            // Old servers have no code for a wrong password, so any error counts as one.
            replies.ok().map_err(|error| match error {
                BackendError::Failed(_) => BackendError::Refused,
                other => other,
            })?;
        }
        if self.database != 0 {
            let mut out = Vec::new();
            command(&mut out, &["SELECT", &self.database.to_string()]);
            socket.write_all(&out)?;
            replies.ok()?;
        }
        Ok(Connection { socket, replies })
    }
}

impl Backend for Redis {
    fn name(&self) -> &'static str {
        "redis"
    }

    fn common(&self, run: &RunName, lists: &[List<'_>], stop: Stop<'_>) -> Answers {
        if lists.is_empty() {
            return Ok(Some(Vec::new()));
        }
        let Connection { mut socket, mut replies } = self.connect()?;
        forget(&mut socket, &mut replies, run, lists.len())?;
        let mut bits: Vec<Bits> = lists.iter().map(|list| Bits::new(list.len())).collect();
        let keys: Vec<String> = (0..lists.len()).map(|list| key(run, list)).collect();
        let width = compared_bits(lists).div_ceil(8) as usize;
        let (sent, under_way) = sync_channel(SLICES_UNDER_WAY);
        let (sent_result, answer_result) = thread::scope(|scope| {
            let requests = scope.spawn(|| {
                let sent_result = send_slices(
                    lists,
                    Requests { socket: &socket, keys: &keys, width, sent, stop },
                );
                if sent_result.is_err() {
                    // The thread that waits for answers would wait forever.
                    socket.end();
                }
                sent_result
            });
            let answer_result = read_answers(&mut replies, under_way, width, &mut bits);
            if answer_result.is_err() {
                socket.end();
            }
            (requests.join(), answer_result)
        });
        let sent_result = sent_result.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        match (sent_result, answer_result) {
            (Ok(Progress::Done), Ok(())) => Ok(Some(bits)),
            (Ok(Progress::Stopped), _) => Ok(None),
            // The server's error is more informative than the end of the connection; an error of a
            // list caused that end.
            (Err(error @ (BackendError::Malformed { .. } | BackendError::Storage { .. })), _)
            | (_, Err(error))
            | (Err(error), _) => Err(error),
        }
    }

    fn check(&self) -> Result<(), BackendError> {
        // A slice of one label, which needs all rights that a run needs. As a transaction, it
        // disturbs no other.
        let Connection { mut socket, mut replies } = self.connect()?;
        let key = ["vesica:check".to_owned()];
        let mut out = Vec::new();
        transaction(&mut out, &key, &[&[Label::MAX]], 1);
        socket.write_all(&out)?;
        let mut found = Vec::new();
        replies.transaction(&[1], 1, &mut found)?;
        if found == [Label::MAX << 120] { Ok(()) } else { Err(BackendError::Nonsense) }
    }

    fn forget(&self, run: &RunName) -> Result<(), BackendError> {
        let Connection { mut socket, mut replies } = self.connect()?;
        forget(&mut socket, &mut replies, run, MOST_LISTS)
    }
}

/// Removes the keys of a run. No transaction leaves any, finished or not: they come from other
/// programs.
fn forget(
    socket: &mut Socket,
    replies: &mut Replies,
    run: &RunName,
    lists: usize,
) -> Result<(), BackendError> {
    let keys: Vec<String> = (0..lists).map(|list| key(run, list)).collect();
    let arguments: Vec<&str> =
        ["UNLINK"].into_iter().chain(keys.iter().map(String::as_str)).collect();
    let mut out = Vec::new();
    command(&mut out, &arguments);
    socket.write_all(&out)?;
    replies.removed().map(drop)
}

struct Connection {
    socket: Socket,
    replies: Replies,
}

/// A slice without an answer: the position and labels of each list.
struct Slice(Vec<(u64, Vec<Label>)>);

enum Progress {
    Done,
    Stopped,
}

struct Requests<'a> {
    socket: &'a Socket,
    keys: &'a [String],
    width: usize,
    sent: SyncSender<Slice>,
    stop: Stop<'a>,
}

/// Sends all slices in which every list has a label.
fn send_slices(lists: &[List<'_>], requests: Requests<'_>) -> Result<Progress, BackendError> {
    let mut socket = requests.socket.again()?;
    let mut ranges = Ranges::new(lists);
    let mut out = Vec::new();
    for range in 0..ranges.len() {
        if (requests.stop)() {
            return Ok(Progress::Stopped);
        }
        ranges.seek(range).map_err(BackendError::of_list)?;
        if ranges.lacks_any() {
            continue;
        }
        let all = ranges.all();
        for piece in Slices::new(&all, SLICE_LABELS / lists.len()) {
            if piece.iter().any(|part| part.is_empty()) {
                continue;
            }
            if (requests.stop)() {
                return Ok(Progress::Stopped);
            }
            let labels: Vec<&[Label]> =
                all.iter().zip(&piece).map(|(labels, part)| &labels[part.clone()]).collect();
            out.clear();
            transaction(&mut out, requests.keys, &labels, requests.width);
            let places = piece.iter().enumerate();
            let places = places.map(|(list, part)| ranges.place(list) + part.start as u64);
            let slice = places.zip(labels).map(|(place, labels)| (place, labels.to_vec()));
            if requests.sent.send(Slice(slice.collect())).is_err() {
                // The answering thread has ended and reports why.
                return Ok(Progress::Done);
            }
            socket.write_all(&out)?;
        }
    }
    Ok(Progress::Done)
}

/// Receives the answers to the pending slices.
fn read_answers(
    replies: &mut Replies,
    under_way: Receiver<Slice>,
    width: usize,
    bits: &mut [Bits],
) -> Result<(), BackendError> {
    let mut found = Vec::new();
    for Slice(slice) in under_way {
        let lens: Vec<usize> = slice.iter().map(|(_, labels)| different(labels).count()).collect();
        replies.transaction(&lens, width, &mut found)?;
        found.sort_unstable();
        for ((place, labels), bits) in slice.iter().zip(&mut *bits) {
            if set_common(bits, *place, labels, &found) != found.len() {
                return Err(BackendError::Nonsense);
            }
        }
    }
    Ok(())
}

fn key(run: &RunName, list: usize) -> String {
    format!("vesica:{run}:{list}")
}

/// Appends the transaction of one slice.
fn transaction(out: &mut Vec<u8>, keys: &[String], lists: &[&[Label]], width: usize) {
    let keys = || keys.iter().map(String::as_str);
    command(out, &["MULTI"]);
    for (key, labels) in keys().zip(lists) {
        let members = different(labels).count();
        array(out, 2 + members);
        bulk_string(out, b"SADD");
        bulk_string(out, key.as_bytes());
        for label in different(labels) {
            bulk_string(out, &label.to_be_bytes()[..width]);
        }
    }
    for verb in ["SINTER", "UNLINK"] {
        command(out, &[verb].into_iter().chain(keys()).collect::<Vec<_>>());
    }
    command(out, &["EXEC"]);
}

/// Each label once; they are ascending.
fn different(labels: &[Label]) -> impl Iterator<Item = Label> {
    let mut last = None;
    labels.iter().copied().filter(move |label| last.replace(*label) != Some(*label))
}

fn command(out: &mut Vec<u8>, arguments: &[&str]) {
    array(out, arguments.len());
    arguments.iter().for_each(|text| bulk_string(out, text.as_bytes()));
}

fn array(out: &mut Vec<u8>, len: usize) {
    out.push(b'*');
    number(out, len);
}

fn bulk_string(out: &mut Vec<u8>, bytes: &[u8]) {
    out.push(b'$');
    number(out, bytes.len());
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\r\n");
}

fn number(out: &mut Vec<u8>, number: usize) {
    let mut digits = [0; 20];
    let (mut at, mut rest) = (digits.len(), number);
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
    out.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_is_one_transaction_of_different_members() {
        let mut out = Vec::new();
        let keys = [key(&RunName([0xab; 16]), 0), key(&RunName([0xab; 16]), 1)];
        let labels = [0x61, 0x61, 0x62].map(|byte| byte << 120);
        transaction(&mut out, &keys, &[&labels, &labels[2..]], 1);
        let name = "vesica:".to_owned() + &"ab".repeat(16);
        let key = |list: usize| format!("$41\r\n{name}:{list}\r\n");
        let expected = [
            "*1\r\n$5\r\nMULTI\r\n",
            &format!("*4\r\n$4\r\nSADD\r\n{}$1\r\na\r\n$1\r\nb\r\n", key(0)),
            &format!("*3\r\n$4\r\nSADD\r\n{}$1\r\nb\r\n", key(1)),
            &format!("*3\r\n$6\r\nSINTER\r\n{}{}", key(0), key(1)),
            &format!("*3\r\n$6\r\nUNLINK\r\n{}{}", key(0), key(1)),
            "*1\r\n$4\r\nEXEC\r\n",
        ];
        assert_eq!(String::from_utf8(out).unwrap(), expected.concat());
    }
}
