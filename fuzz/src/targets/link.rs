//! The frames of a session.

use super::{Target, no_seeds};
use crate::input::Input;
use vesica_addresses::fuzzing::proxy_answer;
use vesica_link::fuzzing::{FrameFeed, HEADER_LEN, frame};

pub(super) const MENDED: Target =
    Target { name: "link_mended", run: mended, seeds: no_seeds, tokens: &[], max_len: 2048 };

pub(super) const FRAMES: Target =
    Target { name: "link_frames", run: frames, seeds: no_seeds, tokens: &[], max_len: 2048 };

pub(super) const PROXY: Target =
    Target { name: "proxy", run: proxy, seeds: proxy_seeds, tokens: &[], max_len: 1 << 15 };

/// Most bytes of an answer: the head of one over HTTP.
const MOST_ANSWERED: usize = 16 << 10;

fn proxy_seeds() -> Vec<Vec<u8>> {
    let answers: [&[u8]; 4] = [
        b"\0HTTP/1.1 200 OK\r\nVia: some\r\n\r\nrest",
        b"\0HTTP/1.0 407 Login\r\n\r\n",
        b"\x01\x05\x00\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x50rest",
        b"\x01\x05\x02\x01\x00\x05\x00\x00\x03\x02ab\x00\x50rest",
    ];
    answers.map(<[u8]>::to_vec).to_vec()
}

/// The answer of a proxy, after a byte that says of which kind it is.
fn proxy(bytes: &[u8]) {
    let Some((kind, answer)) = bytes.split_first() else { return };
    let scheme = if kind % 2 == 0 { "http" } else { "socks5" };
    let proxy = format!("{scheme}://ann:secret@proxy.example");
    let proxy = proxy.parse().expect("the URL of a proxy");
    if let Some(taken) = proxy_answer(&proxy, answer) {
        assert!(taken <= MOST_ANSWERED, "an answer is bounded");
        assert_eq!(proxy_answer(&proxy, &answer[..taken]), Some(taken), "what follows is not read");
        assert_eq!(proxy_answer(&proxy, &answer[..taken - 1]), None, "all of it is needed");
    }
}

/// Most bytes that a peer can make us store: a window of each stream that an input can open, and
/// the first window of all streams that may be unopened.
const MOST_HELD: usize = 16 * (4 << 20) + 512 * (256 << 10);

/// Frames of a peer, and actions of this end in between. Streams have small numbers, so that they
/// collide.
fn frames(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let mut feed = FrameFeed::default();
    let (mut window, mut given) = (0_u64, 0_u64);
    while !input.is_empty() {
        let op = input.byte();
        let stream = u64::from(input.byte() % 16);
        match op % 16 {
            0 => feed.open(stream),
            1 => feed.send(stream, 1 + usize::from(input.u16())),
            2 => drop(feed.read(stream)),
            3 => feed.leave(stream),
            4 => {
                for header in feed.sent() {
                    assert_eq!(frame(&header), Some(header), "what is sent is a frame");
                    if header[0] == 1 {
                        given += header_number(&header);
                    }
                }
                assert!(given <= window + 16 * (256 << 10), "no more than the peer allows");
            }
            // Any header.
            5 => {
                let header: [u8; HEADER_LEN] = input.array();
                if let Some(written) = frame(&header) {
                    assert_eq!(frame(&written), Some(written), "a frame survives being written");
                    if header[0] != 4 {
                        assert_eq!(written, header, "a frame has one form");
                    }
                }
                if header[0] == 2 {
                    window += header_number(&header);
                }
                if feed.take(&header).is_err() {
                    return;
                }
            }
            kind => {
                let number = match kind {
                    6..=8 => u32::from(input.u16()) % (64 << 10) + 1,
                    9 | 10 => 1 + input.u32() % (1 << 22),
                    _ => 0,
                };
                let kind = match kind {
                    6..=8 => 1,
                    9 | 10 => 2,
                    11 => 3,
                    12 => 5,
                    _ => 0,
                };
                if kind == 2 {
                    window += u64::from(number);
                }
                let named = if matches!(kind, 0 | 5) { 0 } else { stream };
                let mut header = [0; HEADER_LEN];
                header[0] = kind;
                header[1..9].copy_from_slice(&named.to_le_bytes());
                header[9..].copy_from_slice(&number.to_le_bytes());
                if feed.take(&header).is_err() {
                    return;
                }
            }
        }
        assert!(feed.held_bytes() <= MOST_HELD, "memory is bounded by the windows");
    }
}

/// What a session keeps that outlives its connection: no more than the window of new frames and one
/// batch beyond it.
const MOST_KEPT: usize = (16 << 20) + (1 << 20);

/// What a peer says has arrived, over connections that are lost at any moment. A model holds the
/// numbers and the headers of the frames that this end has made.
fn mended(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let mut feed = FrameFeed::mendable();
    let mut made: Vec<[u8; HEADER_LEN]> = Vec::new();
    // Of these, how many were sent on the present connection or are known to have arrived, and how
    // many have arrived.
    let (mut sent, mut arrived) = (0_u64, 0_u64);
    let mut holds = false;
    (0..4).for_each(|stream| feed.open(stream));
    while !input.is_empty() {
        let stream = u64::from(input.byte() % 4);
        match input.byte() % 6 {
            0 | 1 => feed.send(stream, 1 + usize::from(input.u16())),
            2 => {
                for header in
                    feed.sent().into_iter().filter(|header| matches!(header[0], 1..=3 | 5))
                {
                    assert!(!holds, "no frame is sent before the peer has reported what arrived");
                    match made.get(sent as usize) {
                        Some(before) => assert_eq!(*before, header, "frames come again in order"),
                        None => made.push(header),
                    }
                    sent += 1;
                }
            }
            3 => {
                feed.lose();
                holds = true;
            }
            4 => {
                let mut header = [0; HEADER_LEN];
                header[0] = 2;
                header[1..9].copy_from_slice(&stream.to_le_bytes());
                header[9..].copy_from_slice(&(1 + u32::from(input.u16())).to_le_bytes());
                if feed.take(&header).is_err() {
                    return;
                }
            }
            _ => {
                // Mostly near what is true.
                let claim = match input.byte() {
                    255 => u64::from_le_bytes(input.array()),
                    step => arrived.wrapping_add(u64::from(step)).wrapping_sub(2),
                };
                let mut header = [0; HEADER_LEN];
                header[0] = 6;
                header[1..9].copy_from_slice(&claim.to_le_bytes());
                let is_possible = (arrived..=made.len() as u64).contains(&claim);
                assert_eq!(feed.take(&header).is_ok(), is_possible, "{claim} of {}", made.len());
                if !is_possible {
                    return;
                }
                arrived = claim;
                if std::mem::take(&mut holds) {
                    sent = claim;
                }
            }
        }
        assert!(feed.kept_bytes() <= MOST_KEPT, "memory is bounded");
    }
}

fn header_number(header: &[u8; HEADER_LEN]) -> u64 {
    let mut number = [0; 4];
    number.copy_from_slice(&header[9..]);
    u64::from(u32::from_le_bytes(number))
}
