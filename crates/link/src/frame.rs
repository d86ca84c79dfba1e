//! The frames inside the TLS connection: thirteen bytes of header, and for data its payload.
//!
//! `kind u8 ‖ stream u64 ‖ number u32`, little-endian. The number is the payload length of data,
//! the bytes of credit, the code of a stop, and otherwise zero. In place of the stream, an
//! acknowledgement has the number of frames that have arrived.

use vesica_core::{StopReason, TransportError};
use vesica_net::StreamId;

pub(crate) const HEADER_LEN: usize = 13;

/// Largest payload of one data frame. Small enough that streams alternate quickly.
pub(crate) const MAX_DATA_LEN: usize = 64 << 10;

/// A frame and its payload, if any.
pub(crate) type Packet = ([u8; HEADER_LEN], Vec<u8>);

/// The stream field of frames that concern the whole session.
const NO_STREAM: StreamId = StreamId::from_u64(0);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    /// The sender is alive.
    KeepAlive,
    /// `len` bytes of payload follow.
    Data { stream: StreamId, len: usize },
    /// The receiver of the frame may send `bytes` more on the stream.
    Credit { stream: StreamId, bytes: u32 },
    /// No more data on the stream.
    Finish { stream: StreamId },
    /// The sender ends the session early.
    Stop(StopReason),
    /// The sender will send no more data in this session.
    Goodbye,
    /// How many numbered frames have arrived from the receiver of this one, in all connections of
    /// the session.
    Arrived { frames: u64 },
}

impl Frame {
    pub(crate) fn encode(self) -> [u8; HEADER_LEN] {
        let (kind, stream, number) = match self {
            Frame::KeepAlive => (0, NO_STREAM, 0),
            // The payload is at most MAX_DATA_LEN.
            Frame::Data { stream, len } => (1, stream, len as u32),
            Frame::Credit { stream, bytes } => (2, stream, bytes),
            Frame::Finish { stream } => (3, stream, 0),
            Frame::Stop(reason) => (4, NO_STREAM, u32::from(reason.code())),
            Frame::Goodbye => (5, NO_STREAM, 0),
            Frame::Arrived { frames } => (6, StreamId::from_u64(frames), 0),
        };
        let mut header = [0; HEADER_LEN];
        header[0] = kind;
        header[1..9].copy_from_slice(&stream.as_u64().to_le_bytes());
        header[9..].copy_from_slice(&number.to_le_bytes());
        header
    }

    /// # Errors
    /// [`TransportError::PeerBrokeFraming`] for an unknown kind or a number out of range.
    pub(crate) fn decode(header: &[u8; HEADER_LEN]) -> Result<Self, TransportError> {
        let [kind, rest @ ..] = header;
        let (id, number) = rest.split_at(8);
        let id = id.try_into().map_or(0, u64::from_le_bytes);
        let number = number.try_into().map_or(0, u32::from_le_bytes);
        let stream = StreamId::from_u64(id);
        match (kind, id, number) {
            (0, 0, 0) => Ok(Frame::KeepAlive),
            (1, _, 1..) if number as usize <= MAX_DATA_LEN => {
                Ok(Frame::Data { stream, len: number as usize })
            }
            (2, _, 1..) => Ok(Frame::Credit { stream, bytes: number }),
            (3, _, 0) => Ok(Frame::Finish { stream }),
            (4, 0, 0..=255) => Ok(Frame::Stop(StopReason::from_code(number as u8))),
            (5, 0, 0) => Ok(Frame::Goodbye),
            (6, frames, 0) => Ok(Frame::Arrived { frames }),
            _ => Err(TransportError::PeerBrokeFraming),
        }
    }

    /// Whether a session that can be mended numbers the frame, and sends it again if it is lost.
    pub(crate) fn is_numbered(self) -> bool {
        match self {
            Frame::Data { .. } | Frame::Credit { .. } | Frame::Finish { .. } | Frame::Goodbye => {
                true
            }
            Frame::KeepAlive | Frame::Stop(_) | Frame::Arrived { .. } => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_survive_the_wire() {
        let stream = StreamId::ROOT.child(3);
        for frame in [
            Frame::KeepAlive,
            Frame::Data { stream, len: 1 },
            Frame::Data { stream, len: MAX_DATA_LEN },
            Frame::Credit { stream, bytes: 1 },
            Frame::Credit { stream, bytes: u32::MAX },
            Frame::Finish { stream },
            Frame::Stop(StopReason::Misbehaviour),
            Frame::Goodbye,
            Frame::Arrived { frames: 0 },
            Frame::Arrived { frames: u64::MAX },
        ] {
            assert_eq!(Frame::decode(&frame.encode()), Ok(frame));
        }
    }

    #[test]
    fn frames_out_of_range_are_refused() {
        let header = |kind: u8, id: u64, number: u32| {
            let mut header = [kind; HEADER_LEN];
            header[1..9].copy_from_slice(&id.to_le_bytes());
            header[9..].copy_from_slice(&number.to_le_bytes());
            header
        };
        for (kind, id, number) in [
            (0, 0, 1),
            (0, 1, 0),
            (1, 1, 0),
            (1, 1, MAX_DATA_LEN as u32 + 1),
            (1, 1, u32::MAX),
            (2, 1, 0),
            (3, 1, 1),
            (4, 0, 256),
            (4, 1, 1),
            (5, 0, 1),
            (6, 0, 1),
            (7, 0, 0),
            (255, 1, 1),
        ] {
            assert_eq!(
                Frame::decode(&header(kind, id, number)),
                Err(TransportError::PeerBrokeFraming),
                "kind {kind}, id {id}, number {number}"
            );
        }
    }
}
