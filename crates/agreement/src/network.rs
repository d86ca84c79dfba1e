//! A network as the parties of a run have measured it.

/// What both sides measured together, the same numbers at both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    /// The shorter of the two round trips measured, in nanoseconds.
    pub round_trip_ns: u64,
    /// Bytes a second from the sender to the receiver, as the receiver measured.
    pub to_receiver_bytes_per_s: u64,
    /// Bytes a second from the receiver to the sender, as the sender measured.
    pub to_sender_bytes_per_s: u64,
}

impl Network {
    /// The assumed network if a measurement would cost more than it saves: 1 Gbit/s and 1 ms.
    pub const NOMINAL: Network = Network {
        round_trip_ns: 1_000_000,
        to_receiver_bytes_per_s: 125_000_000,
        to_sender_bytes_per_s: 125_000_000,
    };

    /// What is assumed of a store: a second each way, and 50 MB/s.
    pub const STORE: Network = Network {
        round_trip_ns: 2_000_000_000,
        to_receiver_bytes_per_s: 50_000_000,
        to_sender_bytes_per_s: 50_000_000,
    };

    /// The network as seen with the other party as the sender.
    pub(crate) fn exchanged(self) -> Self {
        Self {
            to_receiver_bytes_per_s: self.to_sender_bytes_per_s,
            to_sender_bytes_per_s: self.to_receiver_bytes_per_s,
            ..self
        }
    }
}
