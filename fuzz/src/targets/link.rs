//! The frames of a session.

use super::{Target, no_seeds};
use crate::input::Input;
use vesica_link::fuzzing::{FrameFeed, HEADER_LEN, frame};

pub(super) const FRAMES: Target =
    Target { name: "link_frames", run: frames, seeds: no_seeds, tokens: &[], max_len: 2048 };

/// Most bytes that a peer can make us store: a window of each stream that an input can open, and the
/// first window of all streams that may be unopened.
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

fn header_number(header: &[u8; HEADER_LEN]) -> u64 {
    let mut number = [0; 4];
    number.copy_from_slice(&header[9..]);
    u64::from(u32::from_le_bytes(number))
}
