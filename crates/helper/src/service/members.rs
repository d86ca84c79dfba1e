//! The parties that the service serves, which may change while it runs, and their usage.

use super::options::PartyLimits;
use crate::locks::{Guard, Lock, Rank};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Instant;
use vesica_link::PublicIdentity;

/// The name of a party that only an earlier process served.
const FORMER: &str = "(not served)";

/// A party that is or was served.
pub(super) struct Member {
    pub(super) identity: PublicIdentity,
    limits: Lock<Arc<PartyLimits>>,
    is_served: AtomicBool,
    pace: Lock<Pace>,
    pub(super) connections: AtomicU32,
    /// Bytes reserved for it, in all runs together. Changed only under the lock of the
    /// [`Ledger`](super::room::Ledger).
    pub(super) reserved_bytes: AtomicU64,
    /// Bytes of slots stored for it.
    pub(super) stored_bytes: AtomicU64,
}

impl Member {
    fn new(limits: PartyLimits, is_served: bool) -> Self {
        Self {
            identity: limits.identity,
            limits: Lock::new(Rank::Leaf, Arc::new(limits)),
            is_served: AtomicBool::new(is_served),
            pace: Lock::new(Rank::Leaf, Pace::new(Instant::now())),
            connections: AtomicU32::new(0),
            reserved_bytes: AtomicU64::new(0),
            stored_bytes: AtomicU64::new(0),
        }
    }

    /// Its current name and limits.
    pub(super) fn limits(&self) -> Arc<PartyLimits> {
        Arc::clone(&self.limits.lock())
    }

    pub(super) fn is_served(&self) -> bool {
        self.is_served.load(Ordering::Acquire)
    }

    /// Whether it may begin or end a run now; counts it.
    pub(super) fn may_change_runs(&self) -> bool {
        let most = self.limits().max_runs_a_minute;
        self.pace.lock().step(most, Instant::now())
    }

    fn set(&self, limits: PartyLimits) {
        *self.limits.lock() = Arc::new(limits);
        self.is_served.store(true, Ordering::Release);
    }
}

/// A rate limit: the allowance of a minute returns evenly, and does not accumulate.
struct Pace {
    /// The used part of the allowance.
    used: f64,
    at: Instant,
}

impl Pace {
    fn new(at: Instant) -> Self {
        Self { used: 0.0, at }
    }

    /// Counts one more, unless there have been `most` in a minute.
    fn step(&mut self, most: u32, now: Instant) -> bool {
        let most = f64::from(most);
        let back = now.saturating_duration_since(self.at).as_secs_f64() / 60.0 * most;
        (self.used, self.at) = ((self.used - back).max(0.0), self.at.max(now));
        let is_allowed = self.used + 1.0 <= most;
        self.used += if is_allowed { 1.0 } else { 0.0 };
        is_allowed
    }
}

#[derive(Default)]
struct Table {
    /// Never shrinks: runs know parties by their numbers.
    all: Vec<Arc<Member>>,
    by_identity: HashMap<PublicIdentity, usize>,
}

/// All parties that are or were served since the service started.
pub(super) struct Members {
    table: Lock<Table>,
}

/// The effect of a change of the parties, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changed {
    /// Newly served.
    pub added: Vec<String>,
    /// Served with another name or other limits.
    pub changed: Vec<String>,
    /// No longer served.
    pub revoked: Vec<String>,
}

impl Members {
    pub(super) fn new(parties: Vec<PartyLimits>) -> Self {
        let members = Self { table: Lock::new(Rank::Members, Table::default()) };
        members.replace(parties);
        members
    }

    /// The party with this number.
    pub(super) fn get(&self, number: usize) -> Arc<Member> {
        Arc::clone(&self.table().all[number])
    }

    /// The number of a served party.
    pub(super) fn served(&self, identity: &PublicIdentity) -> Option<usize> {
        let table = self.table();
        let number = *table.by_identity.get(identity)?;
        table.all[number].is_served().then_some(number)
    }

    /// The number of a party, also of one that is not served.
    pub(super) fn number(&self, identity: &PublicIdentity) -> usize {
        let mut table = self.table();
        let number = table.all.len();
        let number = *table.by_identity.entry(*identity).or_insert(number);
        if number == table.all.len() {
            let former = PartyLimits::new(FORMER, *identity);
            table.all.push(Arc::new(Member::new(former, false)));
        }
        number
    }

    /// All served parties.
    pub(super) fn all_served(&self) -> Vec<Arc<Member>> {
        self.table().all.iter().filter(|member| member.is_served()).cloned().collect()
    }

    /// Serves only `parties` from now on.
    pub(super) fn replace(&self, parties: Vec<PartyLimits>) -> Changed {
        let mut table = self.table();
        let mut changed = Changed::default();
        let stays = |member: &Member| parties.iter().any(|party| party.identity == member.identity);
        for member in table.all.iter().filter(|member| member.is_served() && !stays(member)) {
            member.is_served.store(false, Ordering::Release);
            changed.revoked.push(member.limits().name.clone());
        }
        for party in parties {
            let name = party.name.clone();
            match table.by_identity.get(&party.identity).copied() {
                Some(number) => {
                    let member = &table.all[number];
                    if !member.is_served() {
                        changed.added.push(name);
                    } else if *member.limits() != party {
                        changed.changed.push(name);
                    }
                    member.set(party);
                }
                None => {
                    let number = table.all.len();
                    table.by_identity.insert(party.identity, number);
                    table.all.push(Arc::new(Member::new(party, true)));
                    changed.added.push(name);
                }
            }
        }
        changed
    }

    fn table(&self) -> Guard<'_, Table> {
        self.table.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn party(name: &str, byte: u8) -> PartyLimits {
        PartyLimits::new(name, PublicIdentity::from_bytes([byte; 32]))
    }

    #[test]
    fn a_pace_comes_back_evenly_and_does_not_add_up() {
        let start = Instant::now();
        let mut pace = Pace::new(start);
        let mut steps = |seconds| {
            let now = start + Duration::from_secs(seconds);
            (0..100).take_while(|_| pace.step(6, now)).count()
        };
        assert_eq!((steps(0), steps(0), steps(9), steps(10)), (6, 0, 0, 1));
        assert_eq!((steps(30), steps(3600), steps(3600)), (2, 6, 0));
        // The clock does not go back, and a lower limit applies at once.
        assert_eq!(steps(1), 0);
        assert!(!pace.step(1, start + Duration::from_secs(3600)));
    }

    #[test]
    fn numbers_survive_changes_of_the_parties() {
        let members = Members::new(vec![party("a", 1), party("b", 2)]);
        let identity = |byte| PublicIdentity::from_bytes([byte; 32]);
        let b = members.served(&identity(2)).unwrap();
        let limited = PartyLimits { max_rows: 7, ..party("a", 1) };
        let changed = members.replace(vec![limited, party("c", 3)]);
        let names =
            |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let (added, was, revoked) = (names(&["c"]), names(&["a"]), names(&["b"]));
        assert_eq!(changed, Changed { added, changed: was, revoked });
        assert_eq!(members.served(&identity(2)), None);
        assert_eq!((members.number(&identity(2)), members.get(b).is_served()), (b, false));
        assert_eq!(members.get(members.number(&identity(9))).limits().name, FORMER);
        let changed = members.replace(vec![party("b", 2)]);
        assert_eq!((changed.added, changed.revoked), (names(&["b"]), names(&["a", "c"])));
        assert_eq!((members.served(&identity(2)), members.all_served().len()), (Some(b), 1));
    }
}
