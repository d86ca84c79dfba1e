//! Why a helper does not continue; sent to a party as two bytes.

/// Why a helper rejected a party's request or ended a run. Parties are numbered from 0, in the
/// order of the agreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The party and the helper use different versions.
    #[error("it uses a different version")]
    Version,
    /// The helper does not serve this identity.
    #[error("it does not serve this identity")]
    UnknownIdentity,
    /// The identity does not belong to a party of the requested run.
    #[error("this identity does not belong to a party of the run")]
    NotAParty,
    /// The helper's rules do not allow a run with this description.
    #[error("its rules do not allow this run")]
    BadRun,
    /// The slot has other contents: the party runs twice, or lost its state of a run in progress.
    #[error("this party already took part with other data")]
    AlreadyThere,
    /// More rows, bytes, runs or connections than the helper's settings allow.
    #[error("more than it allows")]
    OverLimit(Excess),
    /// A party's data violates the run's format.
    #[error("the data of party {party} is malformed")]
    Malformed {
        /// The party.
        party: u8,
    },
    /// A party opened a different list than it had sent.
    #[error("party {party} opened a different set than it had sent")]
    OpenedOther {
        /// The party.
        party: u8,
    },
    /// The parties opened different secrets, so one of them deviates.
    #[error("the parties opened different secrets")]
    OpenedDifferently,
    /// The opened lists match what was sent, but a party's checks would fail with them: one of the
    /// parties searched for such a list.
    #[error("the opened lists would fail a party's checks")]
    AtOdds,
    /// A party has fewer different items than agreed.
    #[error("party {party} has fewer different items than agreed")]
    TooFew {
        /// The party.
        party: u8,
    },
    /// The run can no longer be ended: both parties have opened their lists, so both must get the
    /// answer.
    #[error("the run can no longer be ended")]
    TooLate,
    /// A party ended the run for all parties.
    #[error("party {party} ended the run")]
    Ended {
        /// The party.
        party: u8,
    },
    /// The helper no longer has this instance of the run: it expired, was ended, or was lost.
    #[error("the run is no longer known")]
    Expired,
    /// The helper cannot store more: its disk is full or fails. The run can continue after a
    /// repair.
    #[error("its disk is full or fails")]
    Storage,
    /// The helper has no room for the whole run now: other runs use it, or the disk is nearly full.
    /// The run can start once there is room.
    #[error("it has no room for this run now")]
    NoRoom,
    /// The party has started and ended more runs in a short time than the helper allows it. It can
    /// continue after a while.
    #[error("this party begins and ends runs too often")]
    TooOften,
    /// The helper no longer serves a party of the run.
    #[error("it no longer serves party {party}")]
    Revoked {
        /// The party.
        party: u8,
    },
    /// The helper cannot reach its database. The run can continue when the database is back.
    #[error("it cannot reach its database")]
    Backend,
    /// The helper is shutting down. The run can continue when the helper is back.
    #[error("it is shutting down")]
    ShuttingDown,
    /// The run hit a defect of the helper and has ended.
    #[error("the run hit a defect of the helper and has ended")]
    Broken,
    /// The helper hit a defect of its own.
    #[error("it hit a defect of its own")]
    Internal,
}

/// A limit of the helper's settings that a run exceeds. All parties of the run learn it: the helper
/// refuses the one that connects, whose limit it is or not. Any identity that the helper serves can
/// ask for a run that names others, and learn their limits; without the figures it would need some
/// more runs for that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Excess {
    /// The party that the limit is for; `None` if it is for the reader, or for all runs.
    pub party: Option<u8>,
    /// Which limit; `None` if the helper does not say.
    pub limit: Option<Limit>,
    /// What it allows, in the unit of the limit; at most [`Excess::MAX_ALLOWED`].
    pub allowed: u64,
}

/// Which limit of the helper's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Limit {
    /// The rows that the agreement allows the party: `max_rows`.
    Rows,
    /// The runs of the party at once: `max_runs`.
    Runs,
    /// The stored data of the party, in units of 2^20 bytes: `max_stored_mb`.
    StoredByParty,
    /// The stored data of all runs, in units of 2^20 bytes: `helper.max_stored_mb`.
    StoredByAll,
    /// The connections of the party at once: `max_connections`.
    Connections,
}

impl Limit {
    const ALL: [Limit; 5] =
        [Limit::Rows, Limit::Runs, Limit::StoredByParty, Limit::StoredByAll, Limit::Connections];

    /// Its name in the helper's settings.
    pub const fn setting(self) -> &'static str {
        match self {
            Limit::Rows => "max_rows",
            Limit::Runs => "max_runs",
            Limit::StoredByParty => "max_stored_mb",
            Limit::StoredByAll => "helper.max_stored_mb",
            Limit::Connections => "max_connections",
        }
    }
}

impl Excess {
    /// Length in bytes of its figures on the wire.
    pub const FIGURES_LEN: usize = 6;

    /// The largest figure that fits.
    pub const MAX_ALLOWED: u64 = (1 << 40) - 1;

    /// The `limit` of this party, or of the reader or all runs, allows this.
    pub const fn new(party: Option<u8>, limit: Limit, allowed: u64) -> Self {
        Self { party, limit: Some(limit), allowed }
    }

    /// The byte in place of a party.
    const NO_PARTY: u8 = 255;

    const fn party_byte(&self) -> u8 {
        match self.party {
            Some(party) => party,
            None => Self::NO_PARTY,
        }
    }

    /// Without figures.
    const fn of_party(party: u8) -> Self {
        let party = if party == Self::NO_PARTY { None } else { Some(party) };
        Self { party, limit: None, allowed: 0 }
    }

    /// The limit, counted from 1, and what it allows in 5 bytes.
    fn figures(&self) -> [u8; Self::FIGURES_LEN] {
        let mut out = [0; Self::FIGURES_LEN];
        out[1..].copy_from_slice(&self.allowed.min(Self::MAX_ALLOWED).to_le_bytes()[..5]);
        out[0] = match self.limit {
            Some(limit) => limit as u8 + 1,
            None => 0,
        };
        out
    }

    /// With the figures from the wire. Unknown limits become `None`.
    fn with_figures(self, figures: [u8; Self::FIGURES_LEN]) -> Self {
        let [limit, a, b, c, d, e] = figures;
        let limit = usize::from(limit).checked_sub(1).and_then(|at| Limit::ALL.get(at).copied());
        Self { limit, allowed: u64::from_le_bytes([a, b, c, d, e, 0, 0, 0]), ..self }
    }
}

impl Refusal {
    /// The bytes on the wire: the reason and the party. The figures of an [`Excess`] are not among
    /// them.
    pub const fn code(self) -> [u8; 2] {
        match self {
            Refusal::Version => [1, 0],
            Refusal::UnknownIdentity => [2, 0],
            Refusal::NotAParty => [3, 0],
            Refusal::BadRun => [4, 0],
            Refusal::AlreadyThere => [5, 0],
            Refusal::OverLimit(excess) => [6, excess.party_byte()],
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
            Refusal::TooOften => [22, 0],
        }
    }

    /// The refusal for bytes from the wire; unknown bytes become [`Refusal::Internal`].
    pub const fn from_code([what, party]: [u8; 2]) -> Self {
        match what {
            1 => Refusal::Version,
            2 => Refusal::UnknownIdentity,
            3 => Refusal::NotAParty,
            4 => Refusal::BadRun,
            5 => Refusal::AlreadyThere,
            6 => Refusal::OverLimit(Excess::of_party(party)),
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
            22 => Refusal::TooOften,
            _ => Refusal::Internal,
        }
    }

    /// [`code`](Self::code), and the figures of an [`Excess`]; zeros for all others.
    pub fn code_and_figures(self) -> [u8; 2 + Excess::FIGURES_LEN] {
        let mut out = [0; 2 + Excess::FIGURES_LEN];
        out[..2].copy_from_slice(&self.code());
        if let Refusal::OverLimit(excess) = self {
            out[2..].copy_from_slice(&excess.figures());
        }
        out
    }

    /// With the figures at the beginning of `bytes` from the wire, which only an [`Excess`] has.
    pub fn with_figures(self, bytes: &[u8]) -> Self {
        match (self, bytes.first_chunk()) {
            (Refusal::OverLimit(excess), Some(figures)) => {
                Refusal::OverLimit(excess.with_figures(*figures))
            }
            (refusal, _) => refusal,
        }
    }

    /// Whether the party can return later and continue where it was.
    pub const fn passes(self) -> bool {
        matches!(
            self,
            Refusal::Storage
                | Refusal::NoRoom
                | Refusal::TooOften
                | Refusal::Backend
                | Refusal::ShuttingDown
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_survive_a_round_trip() {
        let mut known = 0;
        for what in 0..=255 {
            let refusal = Refusal::from_code([what, 3]);
            let [code, party] = refusal.code();
            assert_eq!(Refusal::from_code([code, party]), refusal);
            known += u32::from(code == what);
        }
        assert_eq!(known, 22);
    }
}
