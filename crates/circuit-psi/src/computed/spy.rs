//! A garbled run whose evaluator records all values that are revealed to it.

use super::{Circuit, Yao, cost};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;
use vesica_circuit::yao::{Evaluator, Garbler};
use vesica_circuit::{Computation, Gates, Known, Reveal};
use vesica_core::{Item, PsiParams, Result, Role};
use vesica_net::{Context, Meter, Pool, Shape, Streams, memory};
use vesica_ot::Bits;

struct Spy<'a, C> {
    inner: C,
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

/// A party's context, its randomness made by `seed`.
pub(crate) fn context(peer: Role, streams: Arc<dyn Streams>, seed: u8) -> Context {
    let pool = Pool::new(NonZeroUsize::MIN).unwrap();
    Context::new(vec![(peer, streams)], [seed; 32], pool, Meter::new()).unwrap()
}

/// The values revealed to the receiver, wire by wire. `seeds` are of the randomness of sender and receiver.
pub(crate) fn shown<P: Circuit>(
    params: &PsiParams,
    [x, y]: [&[Item]; 2],
    seeds: [u8; 2],
) -> Vec<Bits> {
    let (sender_end, receiver_end) = memory::pair_with(Shape::LOOPBACK, Duration::from_secs(60));
    let cost = &cost::<P, Yao>(params);
    let input = |items: &[Item]| Arc::new(items.to_vec()).into();
    std::thread::scope(|scope| {
        let sending = scope.spawn(move || {
            let mut ctx = context(Role::Receiver, sender_end, seeds[0]);
            let circuit = P::private(&mut ctx, params, Role::Sender, input(x)).unwrap();
            let mut garbler = Garbler::new(&mut ctx, params.session(), cost).unwrap();
            circuit.evaluate(&mut garbler).unwrap();
            drop(garbler);
            ctx.finish().unwrap();
        });
        let mut shown = Vec::new();
        let mut ctx = context(Role::Sender, receiver_end, seeds[1]);
        let circuit = P::private(&mut ctx, params, Role::Receiver, input(y)).unwrap();
        let inner = Evaluator::new(&mut ctx, params.session(), cost).unwrap();
        circuit.evaluate(&mut Spy { inner, shown: &mut shown }).unwrap();
        ctx.finish().unwrap();
        sending.join().unwrap();
        shown
    })
}
