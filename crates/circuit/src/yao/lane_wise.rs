//! Several threads garble or evaluate a part of a circuit in which no lane depends on another: each
//! takes some of the lanes, for all gates of the part.
//!
//! The messages are those of one thread. A first pass on no lanes finds the calls of the part; with
//! the number of lanes they give the number of each gate and the place of its ciphertexts.

use super::LANES_AT_ONCE;
use super::labels::Labels;
use super::messages::{BLOCKS, Progress, pieces, threads};
use crate::{Gates, Known, LaneWise, Lanes, word};
use std::iter::Peekable;
use std::ops::Range;
use std::vec::IntoIter;
use vesica_core::{Block, Error, Result, Secret};
use vesica_net::Pool;
use vesica_simd::garble::{GateHash, evaluate_and, garble_and};

/// The kernels process this many lanes at a time.
const LANES_PER_KERNEL: usize = 64;

/// Larger parts are left to one thread, which sends each message as soon as it is full: the
/// ciphertexts of a part are in memory at once, 32 bytes for each gate.
const MOST_GATES: usize = 1 << 20;

const OTHER_CALLS: Error =
    Error::Bug("a lane-wise part of a circuit makes other calls on other lanes");

/// A part of a circuit, and which lanes each thread takes.
pub(super) struct Part {
    /// Pairs of wires in each call.
    calls: Vec<usize>,
    lanes: usize,
    threads: Vec<Range<usize>>,
    /// The number of the first gate.
    first: u64,
}

/// Some gates of one thread: consecutive lanes of one pair in one message.
struct Share<T> {
    call: usize,
    pair: usize,
    /// Counted from the thread's first lane.
    lanes: Range<usize>,
    /// The number of the first gate.
    first: u64,
    /// The ciphertexts of the generator halves, and of the evaluator halves.
    table: [T; 2],
}

impl Part {
    /// How the threads of `pool` share `circuit`, which takes the next gates; `None` if one thread
    /// is as fast, or the part is too large.
    ///
    /// # Panics
    /// If the words differ in their number of lanes.
    pub(super) fn new(
        pool: &Pool,
        gates: &mut Progress,
        circuit: &impl LaneWise,
        words: &[&[Labels]],
    ) -> Result<Option<Self>> {
        let lanes = words.first().map_or(0, |word| word::lanes(word));
        if pool.len() == 1 || lanes < 2 * LANES_PER_KERNEL {
            return Ok(None);
        }
        let mut wires = words.iter().flat_map(|word| word.iter());
        assert!(wires.all(|wire| wire.len() == lanes), "the same number of lanes");
        let calls = Calls::of(circuit, words)?;
        let total = lanes * calls.iter().sum::<usize>();
        let threads = threads(pool, total).min(lanes / LANES_PER_KERNEL);
        if threads < 2 || total > MOST_GATES {
            return Ok(None);
        }
        let kernels = lanes.div_ceil(LANES_PER_KERNEL);
        let end = |thread: usize| (kernels * thread / threads * LANES_PER_KERNEL).min(lanes);
        let threads = (0..threads).map(|thread| end(thread)..end(thread + 1)).collect();
        Ok(Some(Self { calls, lanes, threads, first: gates.number(total) }))
    }

    /// Ciphertexts of the part.
    pub(super) fn table_len(&self) -> usize {
        2 * self.lanes * self.calls.iter().sum::<usize>()
    }

    /// The ciphertexts of each message, in order.
    pub(super) fn messages(&self) -> impl Iterator<Item = usize> {
        let calls = self.calls.iter().flat_map(|pairs| pieces(self.pairs(*pairs), BLOCKS / 2));
        calls.filter(|piece| piece.is_first()).map(|piece| 2 * piece.message)
    }

    fn pairs(&self, pairs: usize) -> impl Iterator<Item = usize> + Clone {
        std::iter::repeat_n(self.lanes, pairs)
    }

    /// The shares of each thread. `take` gives the next ciphertexts.
    fn shares<T>(&self, mut take: impl FnMut(usize) -> Result<T>) -> Result<Vec<Vec<Share<T>>>> {
        let mut shares: Vec<Vec<_>> = self.threads.iter().map(|_| Vec::new()).collect();
        let mut first = self.first;
        for (call, pairs) in self.calls.iter().enumerate() {
            for piece in pieces(self.pairs(*pairs), BLOCKS / 2) {
                let of = |thread: &Range<usize>| {
                    piece.lanes.start.max(thread.start)..piece.lanes.end.min(thread.end)
                };
                let parts: Vec<_> = self.threads.iter().map(of).collect();
                let mut halves = || parts.iter().map(|part| take(part.len())).collect();
                let [generator, evaluator]: [Result<Vec<_>>; 2] = [halves(), halves()];
                let tables = generator?.into_iter().zip(evaluator?);
                for (thread, (lanes, (generator, evaluator))) in
                    parts.into_iter().zip(tables).enumerate()
                {
                    let of_piece = lanes.start.saturating_sub(piece.lanes.start) as u64;
                    let start = self.threads[thread].start;
                    if lanes.is_empty() {
                        continue;
                    }
                    shares[thread].push(Share {
                        call,
                        pair: piece.list,
                        lanes: lanes.start - start..lanes.end - start,
                        first: first + of_piece,
                        table: [generator, evaluator],
                    });
                }
                first += piece.lanes.len() as u64;
            }
        }
        Ok(shares)
    }

    /// Garbles `circuit`, and writes its ciphertexts to `table`.
    pub(super) fn garble(
        &self,
        pool: &Pool,
        hash: GateHash,
        delta: &Secret<Block>,
        circuit: &impl LaneWise,
        words: &[&[Labels]],
        mut table: &mut [Block],
    ) -> Result<Vec<Labels>> {
        let shares = self.shares(|len| table.split_off_mut(..len).ok_or(OTHER_CALLS))?;
        let and = |share: Share<&mut [Block]>, [a, b]: [&[Block]; 2], out: &mut [Block]| {
            garble_and(hash, share.first, *delta.expose(), a, b, out, share.table);
        };
        self.run(pool, circuit, words, shares, Some(delta), &and)
    }

    /// Evaluates `circuit` with the ciphertexts in `table`.
    pub(super) fn evaluate(
        &self,
        pool: &Pool,
        hash: GateHash,
        circuit: &impl LaneWise,
        words: &[&[Labels]],
        mut table: &[Block],
    ) -> Result<Vec<Labels>> {
        let shares = self.shares(|len| table.split_off(..len).ok_or(OTHER_CALLS))?;
        let and = |share: Share<&[Block]>, [a, b]: [&[Block]; 2], out: &mut [Block]| {
            evaluate_and(hash, share.first, a, b, share.table, out);
        };
        self.run(pool, circuit, words, shares, None, &and)
    }

    fn run<T: Send>(
        &self,
        pool: &Pool,
        circuit: &impl LaneWise,
        words: &[&[Labels]],
        shares: Vec<Vec<Share<T>>>,
        delta: Option<&Secret<Block>>,
        and: &And<'_, T>,
    ) -> Result<Vec<Labels>> {
        let mut results: Vec<_> = shares.iter().map(|_| Ok(Vec::new())).collect();
        let tasks = self.threads.iter().zip(shares).zip(&mut results).collect();
        pool.for_each(tasks, |((lanes, shares), result): ((&Range<usize>, _), &mut Result<_>)| {
            let shares: Vec<Share<T>> = shares;
            let words: Vec<_> =
                words.iter().map(|word| word::slice(word, lanes.start, lanes.len())).collect();
            let words: Vec<_> = words.iter().map(Vec::as_slice).collect();
            let mut thread = Thread { delta, and, call: 0, shares: shares.into_iter().peekable() };
            *result = circuit.evaluate(&mut thread, &words);
            if result.is_ok() && thread.shares.next().is_some() {
                *result = Err(OTHER_CALLS);
            }
        });
        let parts: Vec<Vec<Labels>> = results.into_iter().collect::<Result<_>>()?;
        Ok(word::concat(&parts))
    }
}

/// Garbles or evaluates the gates of a share: takes the labels of their inputs, and writes those of
/// their outputs.
type And<'a, T> = dyn Fn(Share<T>, [&[Block]; 2], &mut [Block]) + Sync + 'a;

/// The gates of one thread.
struct Thread<'a, T> {
    /// At the garbler.
    delta: Option<&'a Secret<Block>>,
    and: &'a And<'a, T>,
    call: usize,
    shares: Peekable<IntoIter<Share<T>>>,
}

impl<T> Gates for Thread<'_, T> {
    type Wires = Labels;

    fn constant(&mut self, bit: bool, len: usize) -> Labels {
        let delta = self.delta.map_or(Block::ZERO, |delta| *delta.expose());
        Labels::new(vec![delta & Block::mask(bit); len])
    }

    fn xor(&self, a: &Labels, b: &Labels) -> Labels {
        a.xor(b)
    }

    fn not(&self, a: &Labels) -> Labels {
        self.delta.map_or_else(|| a.clone(), |delta| a.plus(*delta.expose()))
    }

    fn and(&mut self, pairs: &[(&Labels, &Labels)]) -> Result<Vec<Labels>> {
        let mut results: Vec<_> = pairs.iter().map(|(a, _)| Labels::zeros(a.len())).collect();
        let mut left: usize = results.iter().map(Lanes::len).sum();
        while let Some(share) = self.shares.next_if(|share| share.call == self.call) {
            let ((a, b), out) =
                pairs.get(share.pair).zip(results.get_mut(share.pair)).ok_or(OTHER_CALLS)?;
            let lanes = share.lanes.clone();
            left = left.checked_sub(lanes.len()).ok_or(OTHER_CALLS)?;
            let inputs = [a, b].map(|wires| wires.blocks().get(lanes.clone()));
            let [Some(a), Some(b)] = inputs else { return Err(OTHER_CALLS) };
            (self.and)(share, [a, b], out.blocks_mut().get_mut(lanes).ok_or(OTHER_CALLS)?);
        }
        self.call += 1;
        if left == 0 { Ok(results) } else { Err(OTHER_CALLS) }
    }

    fn and_known(&mut self, _: &[(Known<'_>, &[&Labels])]) -> Result<Vec<Vec<Labels>>> {
        Err(OTHER_CALLS)
    }

    fn lanes_at_once(&self) -> usize {
        LANES_AT_ONCE
    }

    fn prefers_depth(&self) -> bool {
        false
    }
}

/// The number of pairs in each call.
#[derive(Default)]
struct Calls(Vec<usize>);

impl Calls {
    fn of(circuit: &impl LaneWise, words: &[&[Labels]]) -> Result<Vec<usize>> {
        let none: Vec<Vec<Labels>> =
            words.iter().map(|word| word.iter().map(|_| Labels::zeros(0)).collect()).collect();
        let none: Vec<&[Labels]> = none.iter().map(Vec::as_slice).collect();
        let mut calls = Self::default();
        circuit.evaluate(&mut calls, &none)?;
        Ok(calls.0)
    }
}

impl Gates for Calls {
    type Wires = Labels;

    fn constant(&mut self, _: bool, len: usize) -> Labels {
        Labels::zeros(len)
    }

    fn xor(&self, a: &Labels, _: &Labels) -> Labels {
        a.clone()
    }

    fn not(&self, a: &Labels) -> Labels {
        a.clone()
    }

    fn and(&mut self, pairs: &[(&Labels, &Labels)]) -> Result<Vec<Labels>> {
        self.0.push(pairs.len());
        Ok(pairs.iter().map(|(a, _)| (*a).clone()).collect())
    }

    fn and_known(&mut self, _: &[(Known<'_>, &[&Labels])]) -> Result<Vec<Vec<Labels>>> {
        Err(OTHER_CALLS)
    }

    fn lanes_at_once(&self) -> usize {
        LANES_AT_ONCE
    }

    fn prefers_depth(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cost;
    use std::num::NonZeroUsize;

    /// Calls of one pair and of all pairs; on a number of lanes another one before, or only the
    /// first.
    struct TwoCalls {
        one_more_on: usize,
        one_on: usize,
    }

    impl LaneWise for TwoCalls {
        fn evaluate<G: Gates>(&self, g: &mut G, words: &[&[G::Wires]]) -> Result<Vec<G::Wires>> {
            let word = words[0];
            let pairs: Vec<_> = word.iter().map(|wires| (wires, wires)).collect();
            let first = g.and(&pairs[..1])?;
            if word[0].len() == self.one_on {
                return Ok(first);
            }
            if word[0].len() == self.one_more_on {
                g.and(&pairs[..1])?;
            }
            g.and(&pairs)
        }
    }

    const CALLS: TwoCalls = TwoCalls { one_more_on: usize::MAX, one_on: usize::MAX };

    fn pool(threads: usize) -> Pool {
        Pool::new(NonZeroUsize::new(threads).unwrap()).unwrap()
    }

    fn word(lanes: usize) -> Vec<Labels> {
        (0..5).map(|_| Labels::zeros(lanes)).collect()
    }

    fn part(threads: usize, lanes: usize) -> Option<Part> {
        let gates = &mut Progress::new(&Cost::default());
        gates.number(17);
        Part::new(&pool(threads), gates, &CALLS, &[&word(lanes)]).unwrap()
    }

    #[test]
    fn threads_share_parts_that_are_large_enough() {
        for (threads, lanes, shared) in
            [(1, 10_000, 0), (4, 1300, 0), (4, 1400, 2), (4, 174_762, 4), (4, 174_763, 0)]
        {
            assert_eq!(part(threads, lanes).map_or(0, |part| part.threads.len()), shared);
        }
        // Many wires of few lanes: a thread takes the lanes of a kernel at least.
        let wide = |lanes| {
            let word: Vec<_> = (0..200).map(|_| Labels::zeros(lanes)).collect();
            let gates = &mut Progress::new(&Cost::default());
            Part::new(&pool(4), gates, &CALLS, &[&word]).unwrap().map(|part| part.threads)
        };
        assert_eq!(wide(127), None);
        assert_eq!(wide(129), Some(vec![0..64, 64..129]));
        assert_eq!(part(3, 10_001).unwrap().threads, [0..3328, 3328..6656, 6656..10_001]);
    }

    #[test]
    fn every_gate_is_in_one_share_with_the_ciphertexts_of_one_thread() {
        let part = part(3, 10_001).unwrap();
        let mut next = 0;
        let shares = part.shares(|len| {
            next += len;
            Ok(next - len..next)
        });
        assert_eq!(next, part.table_len());
        assert_eq!(part.messages().sum::<usize>(), part.table_len());
        let mut gates = vec![0; 6 * 10_001];
        for (shares, thread) in shares.unwrap().iter().zip(&part.threads) {
            for share in shares {
                let pair = (share.call + share.pair) * part.lanes;
                let first = pair + thread.start + share.lanes.start;
                assert_eq!(share.first, 17 + first as u64);
                gates[first..first + share.lanes.len()].iter_mut().for_each(|gate| *gate += 1);
                // In one message: it begins with the generator halves of its gates of the pair.
                assert!(share.table.iter().all(|half| half.len() == share.lanes.len()));
                let message = |half: &Range<usize>| {
                    let ends = part.messages().scan(0, |end, len| {
                        *end += len;
                        Some(*end)
                    });
                    ends.filter(|end| *end <= half.start).count()
                };
                assert_eq!(message(&share.table[0]), message(&share.table[1]));
            }
        }
        assert!(gates.iter().all(|times| *times == 1));
    }

    #[test]
    fn other_calls_on_some_lanes_are_a_bug() {
        let (pool, part, word) = (pool(3), part(3, 10_001).unwrap(), word(10_001));
        let table = Block::zeros(part.table_len());
        let evaluate = |circuit| {
            let hash = GateHash::new(Block::ZERO);
            part.evaluate(&pool, hash, circuit, &[&word], &table).map(|word| word.len())
        };
        assert_eq!(evaluate(&CALLS), Ok(5));
        assert_eq!(evaluate(&TwoCalls { one_more_on: 3328, ..CALLS }), Err(OTHER_CALLS));
        assert_eq!(evaluate(&TwoCalls { one_on: 3328, ..CALLS }), Err(OTHER_CALLS));
    }

    #[test]
    #[should_panic = "the same number of lanes"]
    fn words_of_other_lanes_are_refused() {
        let gates = &mut Progress::new(&Cost::default());
        let _ = Part::new(&pool(2), gates, &CALLS, &[&word(10_000), &word(10_001)]);
    }
}
