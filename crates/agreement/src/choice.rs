//! Which protocol runs: the one that the agreement names, or with `auto` the one that suits the
//! sizes and the network. If the agreement leaves the roles open, also in which roles: those in
//! which it is estimated to take less time over a nominal network.
//!
//! Both sides choose alone and must choose alike, so everything that counts is public and the same
//! at both: the catalogue (compared in the hello), the announced sizes, and the figures that both
//! measured and exchanged. Estimates are whole nanoseconds.

use crate::agreement::Agreement;
use crate::figures;
use crate::network::Network;
use crate::roles::Roles;
use crate::split;
use std::fmt;
use vesica_core::{PsiParams, hash};
use vesica_protocols::{Protocol, Traffic};

const CANDIDATES_LABEL: &str = "vesica v1 candidates";

/// Length of [`candidates_digest`].
pub const DIGEST_LEN: usize = 7;

/// For a run of fewer bytes a measurement would cost more than it saves.
const PROBE_FROM_BYTES: u64 = 2 << 20;

/// The first row in the catalogue that costs at most one part in this many more than the fastest is
/// taken: a row before the fastest is at least as strong.
const TOLERANCE: u64 = 10;

/// The protocol of a run, and why this one.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The row of the protocol in the catalogue.
    pub row: &'static Protocol,
    /// Why this protocol.
    pub reason: Reason,
    /// All candidates in the catalogue's order, at least one, with the estimated cost of each.
    pub candidates: Vec<Estimate>,
    /// The roles.
    pub roles: Roles,
}

/// Why a protocol was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The agreement names it.
    Named,
    /// No other reaches the security asked for.
    Only,
    /// The least estimated time over any network: the run is small, or no other candidate is better
    /// in anything.
    AnyNetwork,
    /// The least estimated time over the network as measured.
    Measured(Network),
}

/// The estimated cost of one candidate at the sizes of a run.
#[derive(Clone, Copy, Debug)]
pub struct Estimate {
    /// The candidate.
    pub row: &'static Protocol,
    /// Computation, flights and transfer, in nanoseconds.
    pub nanos: u64,
    /// Payload bytes both ways.
    pub bytes: u64,
}

impl Estimate {
    fn new(figures: &Figures, network: &Network) -> Self {
        let Figures { row, traffic, nanos, flights, .. } = *figures;
        let transfer = |bytes: u64, rate: u64| u128::from(bytes) * 1_000_000_000 / u128::from(rate);
        let nanos = u128::from(nanos)
            + u128::from(flights) * u128::from(network.round_trip_ns) / 2
            + transfer(traffic.sender_to_receiver, network.to_receiver_bytes_per_s)
            + transfer(traffic.receiver_to_sender, network.to_sender_bytes_per_s);
        let nanos = u64::try_from(nanos).unwrap_or(u64::MAX);
        Self { row, nanos, bytes: traffic.total() }
    }

    /// The estimate in seconds.
    pub fn seconds(&self) -> f64 {
        self.nanos as f64 / 1e9
    }
}

/// The figures of a row at the sizes of a run. Computed once: circuits count their gates for them.
#[derive(Clone, Copy)]
pub struct Figures {
    row: &'static Protocol,
    roles: Roles,
    /// Between the parties as seated, in any roles.
    pub traffic: Traffic,
    /// Of computation.
    nanos: u64,
    /// Of the run.
    pub flights: u64,
}

impl Figures {
    fn of(row: &'static Protocol, roles: Roles) -> Self {
        let plan = split::plan(row, &roles.params);
        let params = &split::typical(plan, &roles.params);
        let Traffic { sender_to_receiver, receiver_to_sender } = split::traffic(row, &roles.params);
        let traffic = if roles.are_exchanged {
            Traffic {
                sender_to_receiver: receiver_to_sender,
                receiver_to_sender: sender_to_receiver,
            }
        } else {
            Traffic { sender_to_receiver, receiver_to_sender }
        };
        Self {
            row,
            roles,
            traffic,
            nanos: ((row.seconds)(params) * 1e9) as u64 * plan.partitions(),
            flights: split::flights(row, &roles.params),
        }
    }

    /// The figures in the one of the `allowed` roles, at least one, for which the row is estimated
    /// to take less time; the first of nearly equal ones.
    ///
    /// Over a nominal network: the network is measured only to decide between protocols.
    fn of_best(row: &'static Protocol, allowed: &[Roles]) -> Self {
        let all: Vec<_> = allowed.iter().map(|roles| Self::of(row, *roles)).collect();
        let nanos = |figures: &Self| Estimate::new(figures, &Network::NOMINAL).nanos;
        let near = near(all.iter().map(nanos));
        *all.iter().find(|figures| nanos(figures) <= near).expect("some roles are allowed")
    }

    fn of_all(rows: &[&'static Protocol], allowed: &[Roles]) -> Vec<Self> {
        rows.iter().map(|row| Self::of_best(row, allowed)).collect()
    }
}

/// The largest time that counts as nearly the least of `nanos`.
fn near(nanos: impl Iterator<Item = u64>) -> u64 {
    let least = nanos.min().unwrap_or(0);
    least.saturating_add(least / TOLERANCE)
}

/// The figures of `row` in a run of `agreement` in which both parties bring their `max_rows`, in
/// the roles that [`Terms::role_of`](crate::Terms::role_of) gives.
pub fn at_most(agreement: &Agreement, row: &'static Protocol) -> Figures {
    Figures::of_best(row, &Roles::largest(agreement))
}

/// The protocols and roles that are possible in a run, with their costs.
pub struct Candidates {
    all: Vec<Figures>,
    is_auto: bool,
}

impl Candidates {
    /// The candidates of `agreement` in the roles `allowed`, at least one.
    pub fn new(agreement: &Agreement, allowed: &[Roles]) -> Self {
        let all = Figures::of_all(agreement.candidates(), allowed);
        Self { all, is_auto: agreement.is_auto() }
    }

    /// The least payload of a candidate in bytes, if the network could change the choice and the
    /// run is long enough for a measurement.
    pub fn worth_measuring(&self) -> Option<u64> {
        let least = self.all.iter().map(|figures| figures.traffic.total()).min();
        least.filter(|_| worth_measuring(&self.all))
    }

    /// The choice, over the network as `measured` or the nominal one.
    pub fn choose(&self, measured: Option<Network>) -> Choice {
        pick(&self.all, self.is_auto, measured)
    }
}

/// Whether the network could change the choice and the run is long enough for a measurement.
fn worth_measuring(all: &[Figures]) -> bool {
    let long = all.iter().all(|figures| figures.traffic.total() >= PROBE_FROM_BYTES);
    let costs = |figures: &Figures| {
        let Figures { traffic, nanos, flights, .. } = *figures;
        [traffic.sender_to_receiver, traffic.receiver_to_sender, nanos, flights]
    };
    let better_in_all = |one: &Figures, other: &Figures| {
        costs(one).iter().zip(costs(other)).all(|(one, other)| *one <= other)
    };
    let settled = all.iter().any(|one| all.iter().all(|other| better_in_all(one, other)));
    long && !settled
}

/// The choice out of `all` over the network `measured`, or the nominal one.
fn pick(all: &[Figures], auto: bool, measured: Option<Network>) -> Choice {
    let network = measured.unwrap_or(Network::NOMINAL);
    let candidates: Vec<_> = all.iter().map(|figures| Estimate::new(figures, &network)).collect();
    let near = near(candidates.iter().map(|estimate| estimate.nanos));
    let chosen = candidates
        .iter()
        .position(|estimate| estimate.nanos <= near)
        .expect("an agreement has at least one candidate");
    let Figures { row, roles, .. } = all[chosen];
    let reason = match measured {
        _ if !auto => Reason::Named,
        _ if all.len() == 1 => Reason::Only,
        Some(network) if roles.are_exchanged => Reason::Measured(network.exchanged()),
        Some(network) => Reason::Measured(network),
        None => Reason::AnyNetwork,
    };
    Choice { row, reason, candidates, roles }
}

/// A digest of the candidates of an `auto` agreement and of their estimates; zeros for a named
/// protocol.
///
/// Two sides whose software has other candidates or estimates would run different protocols. So the
/// hello compares this first.
pub fn candidates_digest(agreement: &Agreement) -> [u8; DIGEST_LEN] {
    if agreement.is_auto() {
        digest(agreement.candidates(), agreement.compared_params())
    } else {
        [0; DIGEST_LEN]
    }
}

/// The digest of the figures of each row at each of two `sizes`: different formulas can agree at
/// one.
fn digest(rows: &[&'static Protocol], sizes: [PsiParams; 2]) -> [u8; DIGEST_LEN] {
    let mut text = String::new();
    for params in &sizes {
        for Figures { row, traffic, nanos, flights, .. } in
            Figures::of_all(rows, &[Roles::seated(*params)])
        {
            let (there, back) = (traffic.sender_to_receiver, traffic.receiver_to_sender);
            text += &format!("{} {flights} {there} {back} {nanos}\n", row.id);
        }
    }
    let mut digest = [0; DIGEST_LEN];
    digest.copy_from_slice(&hash::derive(CANDIDATES_LABEL, &[text.as_bytes()])[..DIGEST_LEN]);
    digest
}

/// The reason, in words that follow "because it is".
impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reason {
            Reason::Named => return f.write_str("named in the agreement"),
            Reason::Only => {
                return f.write_str(
                    "the only one that offers the operation with the security asked for",
                );
            }
            Reason::AnyNetwork => f.write_str("estimated the fastest at these sizes")?,
            Reason::Measured(network) => write!(
                f,
                "estimated the fastest at these sizes over {} to the receiver and {} to the \
                 sender a second, round trip {:.1} ms",
                figures::bytes(network.to_receiver_bytes_per_s),
                figures::bytes(network.to_sender_bytes_per_s),
                network.round_trip_ns as f64 / 1e6,
            )?,
        }
        let least = self.candidates.iter().min_by_key(|estimate| estimate.nanos);
        if least.is_some_and(|least| least.row.id != self.row.id) {
            f.write_str(", or within a tenth of it and as secure")?;
        }
        for (i, estimate) in self.candidates.iter().enumerate() {
            let before = if i == 0 { ": " } else { ", " };
            write!(f, "{before}{} {:.3} s", estimate.row.id, estimate.seconds())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vesica_core::{Learns, Role, SessionId};
    use vesica_protocols::catalogue;

    macro_rules! row {
        ($id:expr, $nanos_per_item:expr, $bytes_per_item:expr) => {{
            let mut row = copy(&catalogue()[0]);
            row.id = $id;
            row.seconds = |params| 1e-9 * $nanos_per_item * params.sender_len() as f64;
            row.bytes = |params| Traffic {
                sender_to_receiver: 100_000 + 10 * params.sender_len() as u64,
                receiver_to_sender: 100_000 + $bytes_per_item * params.receiver_len() as u64,
            };
            &*Box::leak(Box::new(row))
        }};
    }

    fn copy(row: &Protocol) -> Protocol {
        Protocol { item_bits: row.item_bits.clone(), ..*row }
    }

    fn params(n: u64) -> PsiParams {
        PsiParams::new(SessionId::from_bytes([0; 32]), n, n, Learns::Receiver).unwrap()
    }

    fn roles(n: u64) -> [Roles; 1] {
        [Roles::seated(params(n))]
    }

    fn network(megabytes_per_s: u64, round_trip_ms: u64) -> Network {
        let rate = megabytes_per_s * 1_000_000;
        Network {
            round_trip_ns: round_trip_ms * 1_000_000,
            to_receiver_bytes_per_s: rate,
            to_sender_bytes_per_s: rate,
        }
    }

    fn chosen(rows: &[&'static Protocol], n: u64, network: Network) -> &'static str {
        pick(&Figures::of_all(rows, &roles(n)), true, Some(network)).row.id
    }

    #[test]
    fn a_fast_network_takes_the_least_work_and_a_slow_one_the_fewest_bytes() {
        let rows = [row!("fast", 300.0, 20), row!("small", 600.0, 9)];
        assert_eq!(chosen(&rows, 1 << 20, network(1000, 0)), "fast");
        assert_eq!(chosen(&rows, 1 << 20, network(125, 1)), "fast");
        assert_eq!(chosen(&rows, 1 << 20, network(6, 80)), "small");
    }

    #[test]
    fn the_slower_direction_is_the_one_that_counts() {
        let rows = [row!("fast", 300.0, 20), row!("small", 600.0, 9)];
        let up = Network { to_sender_bytes_per_s: 6_000_000, ..network(1000, 1) };
        let down = Network { to_receiver_bytes_per_s: 6_000_000, ..network(1000, 1) };
        assert_eq!(chosen(&rows, 1 << 20, up), "small");
        assert_eq!(chosen(&rows, 1 << 20, down), "fast");
    }

    #[test]
    fn of_nearly_equal_ones_the_first_is_taken() {
        let rows = [row!("strong", 320.0, 20), row!("fast", 300.0, 20)];
        assert_eq!(chosen(&rows, 1 << 20, network(125, 1)), "strong");
        let rows = [row!("strong", 900.0, 20), row!("fast", 300.0, 20)];
        assert_eq!(chosen(&rows, 1 << 20, network(125, 1)), "fast");
    }

    #[test]
    fn only_a_long_run_of_different_candidates_is_worth_measuring() {
        let (fast, small) = (row!("fast", 300.0, 20), row!("small", 600.0, 9));
        let worse = row!("worse", 700.0, 30);
        assert!(worth_measuring(&Figures::of_all(&[fast, small], &roles(1 << 20))));
        assert!(worth_measuring(&Figures::of_all(&[fast, worse, small], &roles(1 << 20))));
        assert!(!worth_measuring(&Figures::of_all(&[fast, small], &roles(1 << 10))));
        assert!(!worth_measuring(&Figures::of_all(&[fast], &roles(1 << 20))));
        assert!(!worth_measuring(&Figures::of_all(&[fast, worse], &roles(1 << 20))));
        assert!(!worth_measuring(&Figures::of_all(&[fast, fast], &roles(1 << 20))));
    }

    #[test]
    fn the_reason_names_every_candidate_and_what_was_measured() {
        let rows = [row!("fast", 300.0, 20), row!("small", 600.0, 9)];
        let text =
            pick(&Figures::of_all(&rows, &roles(1 << 20)), true, Some(network(6, 80))).to_string();
        for word in ["fast ", "small ", "6.0 MB", "80.0 ms"] {
            assert!(text.contains(word), "{word}: {text}");
        }
        let only = pick(&Figures::of_all(&rows[..1], &roles(1)), true, None);
        assert_eq!(only.reason, Reason::Only);
        assert_eq!(
            pick(&Figures::of_all(&rows[..1], &roles(1)), false, None).reason,
            Reason::Named
        );
        assert_eq!(pick(&Figures::of_all(&rows, &roles(1)), true, None).reason, Reason::AnyNetwork);
    }

    #[test]
    fn candidates_that_agree_at_only_one_of_the_sizes_are_distinguished() {
        let row = row!("one", 300.0, 20);
        let mut other = copy(row);
        // The same bytes at 1,000 items, and at no other size.
        other.bytes = |params| Traffic {
            sender_to_receiver: 100_000 + 10 * params.sender_len() as u64,
            receiver_to_sender: 80_000 + 40 * params.receiver_len() as u64,
        };
        let other = &*Box::leak(Box::new(other));
        for sizes in [[1000, 2000], [2000, 1000]] {
            let sizes = sizes.map(params);
            assert_eq!(digest(&[row], sizes), digest(&[row], sizes));
            assert_ne!(digest(&[row], sizes), digest(&[other], sizes));
        }
        assert_eq!(digest(&[row], [params(1000); 2]), digest(&[other], [params(1000); 2]));
    }

    /// An agreement in which both parties receive and neither has values.
    fn open_agreement(operation: &str, protocol: &str) -> Agreement {
        let identity = |byte| vesica_link::PublicIdentity::from_bytes([byte; 32]);
        Agreement::parse(&format!(
            "version = 2\ntitle = \"t\"\noperation = \"{operation}\"\nreceives = \"all\"\n\
             security = \"semi-honest\"\nprotocol = \"{protocol}\"\n\
             [[key]]\nname = \"k\"\nprofile = \"exact\"\n\
             [party.a]\nidentity = \"{}\"\nmax_rows = 1_000_000_000\n\
             [party.b]\nidentity = \"{}\"\nmax_rows = 1_000_000_000\n",
            identity(1),
            identity(2)
        ))
        .unwrap()
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(200))]

        #[test]
        fn two_sides_choose_alike(
            (of_a, of_b) in (1_u64..5_000_000, 1_u64..5_000_000),
            (shift_a, shift_b) in (0_u32..22, 0_u32..22),
            case in 0_usize..7,
            to_receiver in 1_u64..2_000_000_000,
            to_sender in 1_u64..2_000_000_000,
            is_measured: bool,
        ) {
            let (operation, protocol) = [
                ("intersection", "auto"),
                ("intersection", "kkrt16"),
                ("intersection", "gbf_malicious"),
                ("shares", "auto"),
                ("private-id", "auto"),
                ("union", "auto"),
                ("cardinality", "gmrss21_cardinality"),
            ][case];
            let agreement = open_agreement(operation, protocol);
            let sizes = [of_a >> shift_a, of_b >> shift_b];
            let measured = is_measured.then_some(Network {
                round_trip_ns: 1_000_000,
                to_receiver_bytes_per_s: to_receiver,
                to_sender_bytes_per_s: to_sender,
            });
            // As each side does it, knowing its own size and what the other announced.
            let side = |party: &str, here: u64, there: u64| {
                let seat = agreement.role_of(party);
                let by_seat = if seat == Role::Sender { [here, there] } else { [there, here] };
                let session = SessionId::from_bytes([0; 32]);
                let allowed = Roles::allowed(&agreement, session, by_seat).unwrap();
                let figures = Figures::of_all(agreement.candidates(), &allowed);
                let choice = pick(&figures, agreement.is_auto(), measured);
                let role = choice.roles.role(seat);
                let own_len = match role {
                    Role::Sender => choice.roles.params.sender_len(),
                    _ => choice.roles.params.receiver_len(),
                };
                proptest::prop_assert_eq!(
                    own_len as u64,
                    here + agreement.self_check_items()
                );
                Ok((choice.row.id, role, choice.roles.params))
            };
            let a = side("a", sizes[0], sizes[1])?;
            let b = side("b", sizes[1], sizes[0])?;
            proptest::prop_assert_eq!((a.0, a.2), (b.0, b.2));
            proptest::prop_assert_eq!(a.1.other(), Some(b.1));
            if sizes[0] == sizes[1] {
                proptest::prop_assert_eq!(a.1, Role::Receiver);
            }
        }
    }

    #[test]
    fn the_cheaper_roles_are_chosen_for_either_party() {
        let agreement = open_agreement("shares", "auto");
        let sender_len = |by_seat| {
            let session = SessionId::from_bytes([0; 32]);
            let allowed = Roles::allowed(&agreement, session, by_seat).unwrap();
            let choice = pick(&Figures::of_all(agreement.candidates(), &allowed), true, None);
            (choice.roles.params.sender_len(), choice.candidates[0].bytes)
        };
        let [one, other] = [[5, 10_000], [10_000, 5]].map(sender_len);
        assert_eq!(one, other);
        assert_eq!(one.0, 5);
    }

    #[test]
    fn no_figures_of_a_peer_overflow_an_estimate() {
        let rows = [row!("fast", 300.0, 20), row!("small", 600.0, 9)];
        let slowest = Network {
            round_trip_ns: u64::MAX,
            to_receiver_bytes_per_s: 1,
            to_sender_bytes_per_s: 1,
        };
        let choice =
            pick(&Figures::of_all(&rows, &roles(u64::from(u32::MAX))), true, Some(slowest));
        assert!(choice.candidates.iter().all(|estimate| estimate.nanos > 0));
    }
}
