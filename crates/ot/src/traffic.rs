use std::ops::Add;

/// Payload bytes of a step, in each direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// From the sender to the receiver.
    pub sender_to_receiver: u64,
    /// From the receiver to the sender.
    pub receiver_to_sender: u64,
}

impl Traffic {
    /// The same bytes with the roles exchanged.
    pub const fn reversed(self) -> Self {
        Self {
            sender_to_receiver: self.receiver_to_sender,
            receiver_to_sender: self.sender_to_receiver,
        }
    }

    /// The sum of both directions.
    pub const fn total(self) -> u64 {
        self.sender_to_receiver + self.receiver_to_sender
    }
}

impl Add for Traffic {
    type Output = Traffic;

    fn add(self, other: Traffic) -> Traffic {
        Traffic {
            sender_to_receiver: self.sender_to_receiver + other.sender_to_receiver,
            receiver_to_sender: self.receiver_to_sender + other.receiver_to_sender,
        }
    }
}
