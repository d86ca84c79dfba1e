//! Runs whose parties record all values that are revealed to them, and a test of what is drawn at
//! random.

use super::cost::cost;
use super::{Circuit, Engine, Yao};
use std::collections::HashMap;
use std::fmt::Debug;
use std::hash::Hash;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use vesica_circuit::{Computation, Gates, Known, Reveal};
use vesica_core::{Item, PsiParams, Result, Role};
use vesica_net::{Context, Meter, Pool, Shape, Streams, memory};
use vesica_ot::Bits;
use vesica_party::{Input, Output};

struct Spy<'a, C> {
    inner: &'a mut C,
    shown: &'a mut Vec<Bits>,
}

impl<C: Computation> Gates for Spy<'_, C> {
    type Wires = C::Wires;

    fn constant(&mut self, bit: bool, len: usize) -> C::Wires {
        self.inner.constant(bit, len)
    }

    fn xor(&self, a: &C::Wires, b: &C::Wires) -> C::Wires {
        self.inner.xor(a, b)
    }

    fn not(&self, a: &C::Wires) -> C::Wires {
        self.inner.not(a)
    }

    fn and(&mut self, pairs: &[(&C::Wires, &C::Wires)]) -> Result<Vec<C::Wires>> {
        self.inner.and(pairs)
    }

    fn and_known(&mut self, lists: &[(Known<'_>, &[&C::Wires])]) -> Result<Vec<Vec<C::Wires>>> {
        self.inner.and_known(lists)
    }

    fn lanes_at_once(&self) -> usize {
        self.inner.lanes_at_once()
    }

    fn prefers_depth(&self) -> bool {
        self.inner.prefers_depth()
    }

    fn only_counts(&self) -> bool {
        self.inner.only_counts()
    }
}

impl<C: Computation> Computation for Spy<'_, C> {
    fn role(&self) -> Role {
        self.inner.role()
    }

    fn input(
        &mut self,
        of: Role,
        bits: Option<&[Bits]>,
        width: usize,
        len: usize,
    ) -> Result<Vec<C::Wires>> {
        self.inner.input(of, bits, width, len)
    }

    fn reveal(&mut self, wires: &[C::Wires], to: Reveal) -> Result<Option<Vec<Bits>>> {
        let values = self.inner.reveal(wires, to)?;
        self.shown.extend(values.iter().flatten().cloned());
        Ok(values)
    }

    fn reveal_checked(&mut self, wires: &[C::Wires]) -> Result<Vec<Bits>> {
        self.inner.reveal_checked(wires)
    }

    fn context(&mut self) -> Option<&mut Context> {
        self.inner.context()
    }
}

/// `N` runs of a circuit, one after the other: each draws its own secrets, and all share a setup of
/// the engine.
struct Runs<P, const N: usize> {
    circuits: Vec<P>,
    /// What each run revealed to this party.
    shown: Mutex<Vec<Vec<Bits>>>,
}

impl<P: Circuit, const N: usize> Circuit for Runs<P, N> {
    const CHOOSER: Role = P::CHOOSER;

    fn private(ctx: &mut Context, params: &PsiParams, role: Role, input: Input) -> Result<Self> {
        let circuits = (0..N).map(|_| P::private(ctx, params, role, input.clone()));
        Ok(Self { circuits: circuits.collect::<Result<_>>()?, shown: Mutex::default() })
    }

    fn evaluate<C: Computation>(&self, c: &mut C) -> Result<Output> {
        for circuit in &self.circuits {
            let mut shown = Vec::new();
            circuit.evaluate(&mut Spy { inner: c, shown: &mut shown })?;
            self.shown.lock().unwrap().push(shown);
        }
        Ok(Output::Nothing)
    }

    fn public(params: &PsiParams) -> Self {
        let circuits = (0..N).map(|_| P::public(params)).collect();
        Self { circuits, shown: Mutex::default() }
    }
}

/// A run of a circuit, and what it reveals to this party.
struct Spied<P> {
    circuit: P,
    shown: Mutex<Vec<Bits>>,
}

impl<P: Circuit> Circuit for Spied<P> {
    const CHOOSER: Role = P::CHOOSER;

    fn private(ctx: &mut Context, params: &PsiParams, role: Role, input: Input) -> Result<Self> {
        let circuit = P::private(ctx, params, role, input)?;
        Ok(Self { circuit, shown: Mutex::default() })
    }

    fn evaluate<C: Computation>(&self, c: &mut C) -> Result<Output> {
        self.circuit.evaluate(&mut Spy { inner: c, shown: &mut self.shown.lock().unwrap() })
    }

    fn public(params: &PsiParams) -> Self {
        Self { circuit: P::public(params), shown: Mutex::default() }
    }
}

/// A run, seen from both sides.
pub(crate) struct Run<P> {
    pub(crate) sender: P,
    pub(crate) receiver: P,
    /// The values revealed to the receiver, wire by wire.
    pub(crate) shown: Vec<Bits>,
}

/// A party's context, its randomness made by `seed`.
pub(crate) fn context(peer: Role, streams: Arc<dyn Streams>, seed: [u8; 32]) -> Context {
    let pool = Pool::new(NonZeroUsize::MIN).unwrap();
    Context::new(vec![(peer, streams)], seed, pool, Meter::new()).unwrap()
}

/// `N` runs over the same sets. `seeds` are of the randomness of sender and receiver.
pub(crate) fn runs<P: Circuit, E: Engine, const N: usize>(
    params: &PsiParams,
    [x, y]: [&[Item]; 2],
    seeds: [[u8; 32]; 2],
) -> Vec<Run<P>> {
    let (sender_end, receiver_end) = memory::pair_with(Shape::LOOPBACK, Duration::from_secs(60));
    let cost = &cost::<Runs<P, N>, E>(params);
    let run = |role: Role, peer: Role, streams: Arc<dyn Streams>, seed, items: &[Item]| {
        let mut ctx = context(peer, streams, seed);
        let input = Arc::new(items.to_vec()).into();
        let runs: Runs<P, N> = Runs::private(&mut ctx, params, role, input).unwrap();
        E::evaluate(&mut ctx, params.session(), role, cost, &runs).unwrap();
        ctx.finish().unwrap();
        runs
    };
    std::thread::scope(|scope| {
        let sending = scope.spawn(|| run(Role::Sender, Role::Receiver, sender_end, seeds[0], x));
        let receivers = run(Role::Receiver, Role::Sender, receiver_end, seeds[1], y);
        let senders = sending.join().unwrap();
        let shown = receivers.shown.into_inner().unwrap();
        let parties = senders.circuits.into_iter().zip(receivers.circuits);
        let all = parties.zip(shown);
        all.map(|((sender, receiver), shown)| Run { sender, receiver, shown }).collect()
    })
}

/// A run between parties of which `deviate` may change what they enter: what sender and receiver
/// end with, and the values revealed to the receiver, wire by wire.
pub(crate) fn deviating<P: Circuit, E: Engine>(
    params: &PsiParams,
    [x, y]: [Input; 2],
    deviate: impl Fn(Role, &mut P) + Sync,
) -> ([Output; 2], Vec<Bits>) {
    let (sender_end, receiver_end) = memory::pair_with(Shape::LOOPBACK, Duration::from_secs(60));
    let cost = &cost::<P, E>(params);
    let run = |role: Role, peer: Role, streams: Arc<dyn Streams>, input: Input| {
        let mut ctx = context(peer, streams, [peer as u8; 32]);
        let mut spied: Spied<P> = Spied::private(&mut ctx, params, role, input).unwrap();
        deviate(role, &mut spied.circuit);
        let output = E::evaluate(&mut ctx, params.session(), role, cost, &spied).unwrap();
        let output = spied.circuit.finish(&mut ctx, role, output).unwrap();
        ctx.finish().unwrap();
        (output, spied.shown.into_inner().unwrap())
    };
    std::thread::scope(|scope| {
        let sending = scope.spawn(|| run(Role::Sender, Role::Receiver, sender_end, x));
        let (received, shown) = run(Role::Receiver, Role::Sender, receiver_end, y);
        let (sent, _) = sending.join().unwrap();
        ([sent, received], shown)
    })
}

/// The values revealed to the receiver of one garbled run, wire by wire. `seeds` are of the
/// randomness of sender and receiver.
pub(crate) fn shown<P: Circuit>(
    params: &PsiParams,
    sets: [&[Item]; 2],
    [sender, receiver]: [u8; 2],
) -> Vec<Bits> {
    let runs = runs::<P, Yao, 1>(params, sets, [[sender; 32], [receiver; 32]]);
    runs.into_iter().next().unwrap().shown
}

/// Least chance of outcomes that a test accepts.
const LEAST_CHANCE: f64 = 1e-10;

/// Fails if the outcomes are not drawn uniformly from `of` different ones. It fails wrongly at most
/// once in 10^10 times.
#[track_caller]
pub(crate) fn assert_are_uniform<T: Eq + Hash + Debug>(
    outcomes: impl IntoIterator<Item = T>,
    of: usize,
) {
    let mut counts: HashMap<T, u64> = HashMap::new();
    outcomes.into_iter().for_each(|outcome| *counts.entry(outcome).or_default() += 1);
    assert!(counts.len() <= of, "{} different outcomes: {counts:?}", counts.len());
    let numbers: Vec<u64> = counts.values().copied().collect();
    let chance = chance(&numbers, of);
    assert!(chance > LEAST_CHANCE, "chance of 2^{:.0}: {counts:?}", chance.log2());
}

/// A bound on the chance that uniform draws from `of` outcomes are as far from uniform as those
/// counted: with d the relative entropy times the number of draws, and k = `of` - 1, it is
/// e^-d·(e·d/k)^k. (R. Agrawal, "Finite-sample concentration of the multinomial in relative
/// entropy", IEEE Transactions on Information Theory 2020.)
fn chance(counts: &[u64], of: usize) -> f64 {
    let all = counts.iter().sum::<u64>() as f64;
    let counts = counts.iter().map(|count| *count as f64).filter(|count| *count > 0.0);
    let d: f64 = counts.map(|count| count * (count * of as f64 / all).ln()).sum();
    let k = of as f64 - 1.0;
    if d <= k { 1.0 } else { (k - d + k * (d / k).ln()).exp() }
}

#[test]
fn only_outcomes_far_from_uniform_have_little_chance() {
    // Uniform; and a standard deviation off everywhere.
    assert_eq!(chance(&[100; 24], 24), 1.0);
    assert!(chance(&[[110, 90]; 12].concat(), 24) > 0.1);
    // Always the same; half of them never; one that comes twice as often.
    assert!(chance(&[40], 24) < LEAST_CHANCE);
    assert!(chance(&[100; 12], 24) < LEAST_CHANCE);
    assert!(chance(&[vec![400], vec![200; 23]].concat(), 24) < LEAST_CHANCE);
    // A Waksman network of four lanes whose switches are set at random, and not for a random
    // permutation.
    assert!(chance(&[[125; 8].as_slice(), &[62; 16]].concat(), 24) < LEAST_CHANCE);
    // Two outcomes: the bound is above the chance, 2^-19, of twenty equal ones.
    let equal = chance(&[20], 2);
    assert!((2f64.powi(-19)..2f64.powi(-14)).contains(&equal), "{equal}");
}
