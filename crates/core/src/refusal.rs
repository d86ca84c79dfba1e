//! Why a helper does not go on; told to a party as two bytes.

/// Why a helper refused what a party asked, or ended a run. Parties are counted from 0, in the order of the
/// agreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The party and the helper speak different versions.
    #[error("it speaks another version")]
    Version,
    /// The identity is not one that the helper serves.
    #[error("it does not serve this identity")]
    Stranger,
    /// The identity is no party of the run it asks for.
    #[error("this identity is no party of the run")]
    NotAParty,
    /// The run is described otherwise than the helper's rules allow.
    #[error("it does not take runs like this")]
    BadRun,
    /// Something else stands there already: the party runs twice, or has lost what it had of a run that goes on.
    #[error("this party has already taken part with other data")]
    AlreadyThere,
    /// More rows, bytes, runs or connections than the helper allows the party.
    #[error("more than it allows this party")]
    OverLimit,
    /// What a party sent is not as the run's format says.
    #[error("what party {party} sent is malformed")]
    Malformed {
        /// Which.
        party: u8,
    },
    /// What a party opened is not what it had sent.
    #[error("party {party} opened another set than it had sent")]
    OpenedOther {
        /// Which.
        party: u8,
    },
    /// The parties opened different secrets: one of them does not follow the protocol.
    #[error("the parties opened different secrets")]
    OpenedDifferently,
    /// With the lists that were opened a party's checks would fail, though they are what was sent: one of the parties
    /// has searched for such a list.
    #[error("the opened lists would fail a party's checks")]
    AtOdds,
    /// A party brought fewer different items than was agreed.
    #[error("party {party} brought fewer different items than was agreed")]
    TooFew {
        /// Which.
        party: u8,
    },
    /// A run cannot be ended any more: both parties have opened their lists, and both are to have the answer.
    #[error("the run cannot be ended any more")]
    TooLate,
    /// A party ended the run for all.
    #[error("party {party} ended the run")]
    Ended {
        /// Which.
        party: u8,
    },
    /// The instance of the run that the party knows is gone: it was not finished in time, was ended, or was lost.
    #[error("the run is not known any more")]
    Expired,
    /// The helper cannot keep more: its disk is full or fails. The run can go on when it is mended.
    #[error("its disk is full or fails")]
    Storage,
    /// The helper has no room for the whole run now: other runs take it, or its disk is nearly full. It can begin when
    /// there is.
    #[error("it has no room for this run now")]
    NoRoom,
    /// The helper no longer serves a party of the run.
    #[error("it no longer serves party {party}")]
    Revoked {
        /// Which.
        party: u8,
    },
    /// The database that the helper uses is not there. The run can go on when it is back.
    #[error("its database is not there")]
    Backend,
    /// The helper is being shut down. The run can go on when it is back.
    #[error("it is shutting down")]
    ShuttingDown,
    /// The run met a defect of the helper's, and is over.
    #[error("the run met a defect of the helper's and is over")]
    Broken,
    /// A defect of the helper's.
    #[error("it met a defect of its own")]
    Internal,
}

impl Refusal {
    /// The bytes on the wire: what, and which party.
    pub const fn code(self) -> [u8; 2] {
        match self {
            Refusal::Version => [1, 0],
            Refusal::Stranger => [2, 0],
            Refusal::NotAParty => [3, 0],
            Refusal::BadRun => [4, 0],
            Refusal::AlreadyThere => [5, 0],
            Refusal::OverLimit => [6, 0],
            Refusal::Malformed { party } => [7, party],
            Refusal::OpenedOther { party } => [8, party],
            Refusal::Ended { party } => [9, party],
            Refusal::Expired => [10, 0],
            Refusal::Storage => [11, 0],
            Refusal::Backend => [12, 0],
            Refusal::ShuttingDown => [13, 0],
            Refusal::Internal => [14, 0],
            Refusal::OpenedDifferently => [15, 0],
            Refusal::TooFew { party } => [16, party],
            Refusal::TooLate => [17, 0],
            Refusal::AtOdds => [18, 0],
            Refusal::Broken => [19, 0],
            Refusal::NoRoom => [20, 0],
            Refusal::Revoked { party } => [21, party],
        }
    }

    /// The refusal for bytes from the wire; unknown ones read as [`Refusal::Internal`].
    pub const fn from_code([what, party]: [u8; 2]) -> Self {
        match what {
            1 => Refusal::Version,
            2 => Refusal::Stranger,
            3 => Refusal::NotAParty,
            4 => Refusal::BadRun,
            5 => Refusal::AlreadyThere,
            6 => Refusal::OverLimit,
            7 => Refusal::Malformed { party },
            8 => Refusal::OpenedOther { party },
            9 => Refusal::Ended { party },
            10 => Refusal::Expired,
            11 => Refusal::Storage,
            12 => Refusal::Backend,
            13 => Refusal::ShuttingDown,
            15 => Refusal::OpenedDifferently,
            16 => Refusal::TooFew { party },
            17 => Refusal::TooLate,
            18 => Refusal::AtOdds,
            19 => Refusal::Broken,
            20 => Refusal::NoRoom,
            21 => Refusal::Revoked { party },
            _ => Refusal::Internal,
        }
    }

    /// Whether the party can come back later and go on where it was.
    pub const fn passes(self) -> bool {
        matches!(
            self,
            Refusal::Storage | Refusal::NoRoom | Refusal::Backend | Refusal::ShuttingDown
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_survive_the_wire() {
        let mut known = 0;
        for what in 0..=255 {
            let refusal = Refusal::from_code([what, 3]);
            let [code, party] = refusal.code();
            assert_eq!(Refusal::from_code([code, party]), refusal);
            known += u32::from(code == what);
        }
        assert_eq!(known, 21);
    }
}
