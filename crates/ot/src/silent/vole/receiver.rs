use super::{Challenge, DIGEST_LEN, FIELD_BITS, TREES_PER_MESSAGE, Values, digest, request};
use crate::silent::code::Codes;
use crate::silent::dual;
use crate::silent::parameters::{Plan, Start, Steps};
use crate::silent::stream::{Noise, Stream};
use crate::silent::tree::{Functions, Leaves, Punctured};
use crate::softspoken::{self, ReceiverOutput, Voles};
use rand::Rng;
use rayon::prelude::*;
use vesica_core::{Block, Misbehaviour, Result, Secret, Security, SessionId};
use vesica_net::{Context, Pool};
use vesica_simd::{gf128, lpn};

/// The party that holds the values, after the setup: any number of extensions.
pub struct Receiver<S: Security> {
    softspoken: softspoken::Receiver<S>,
}

/// A receiver's correlations: a and c = a·Δ + b, in order.
pub struct ReceiverStream(Stream<ReceiverNoise, 2>);

impl<S: Security> Receiver<S> {
    /// Runs the setup.
    ///
    /// # Errors
    /// Of the connection; [`Misbehaviour::InvalidPoint`].
    pub fn setup(ctx: &mut Context, session: &SessionId) -> Result<Self> {
        Ok(Self { softspoken: softspoken::Receiver::setup(ctx, session, FIELD_BITS)? })
    }

    /// All communication for `len` new correlations; their computation follows as the stream is
    /// read.
    ///
    /// # Errors
    /// Of the connection; [`vesica_core::ParameterError::UnsupportedOperation`];
    /// [`Misbehaviour::CorrelationCheckFailed`].
    pub fn extend(
        &mut self,
        ctx: &mut Context,
        len: usize,
        values: Values,
    ) -> Result<ReceiverStream> {
        values.check::<S>()?;
        if len == 0 {
            return Ok(ReceiverStream::of_start(ctx.pool(), [Vec::new(), Vec::new()]));
        }
        let plan = Plan::new(len, values);
        let lift = values.map();
        if plan.start == Start::Direct {
            let unchecked = self.softspoken.extend(ctx, request::<S>(&plan, &lift))?;
            let Voles { values, blocks } = unchecked.prove(ctx)?.voles;
            ctx.peer()?.flush()?;
            let a = values.into_iter().map(|value| lift.apply(value)).collect();
            return Ok(ReceiverStream::of_start(ctx.pool(), [a, blocks]));
        }
        let mut code_seed = [0; Block::LEN];
        ctx.rng().fill_bytes(&mut code_seed);
        ctx.peer()?.send(&code_seed)?;
        let unchecked = self.softspoken.extend(ctx, request::<S>(&plan, &lift))?;
        ctx.peer()?.flush()?;
        let below = unchecked.prove(ctx)?;

        let mut tree_seed = [0; Block::LEN];
        ctx.peer()?.recv_into(&mut tree_seed)?;
        let tree_count = plan.dual_trees() + plan.steps.all_trees();
        let functions = Functions::new(Block::from_le_bytes(tree_seed), tree_count);
        let codes = Codes::new(Block::from_le_bytes(code_seed), values.coefficients());
        let mut noise_values: Vec<Block> =
            below.voles.values.iter().map(|value| lift.apply(*value)).collect();
        let spare_value = noise_values.split_off(plan.dual_trees());

        let dual = Trees::receive(
            ctx,
            &functions,
            &below,
            (0, 0, plan.dual_depth() as usize),
            noise_values,
            &below.voles.blocks[..plan.dual_trees()],
        )?;
        let noise = dual.all_leaves(ctx.pool(), &functions, plan.dual_depth());
        drop(dual);
        let dual_noise = if S::MALICIOUS { noise.clone() } else { Default::default() };
        let mut start = dual::compress(&codes, noise, plan.start_len);
        let [noise_values, noise_blocks] = start
            .each_mut()
            .map(|column| column.split_off(plan.start_len - plan.steps.all_trees()));

        let first = (plan.dual_trees(), plan.dual_transfers(), plan.steps.row.depth as usize);
        let trees = Trees::receive(ctx, &functions, &below, first, noise_values, &noise_blocks)?;
        let noise = ReceiverNoise { functions, trees };
        if let (Some(value), Some(block)) = (spare_value.last(), below.voles.blocks.last()) {
            noise.check(ctx, &plan, &dual_noise, (*value, *block))?;
        }
        Ok(ReceiverStream(Stream::new(ctx.pool(), noise, codes, plan.steps, len, start)))
    }
}

/// Trees with one error each.
struct Trees {
    punctured: Vec<Punctured>,
    /// The errors.
    values: Secret<Vec<Block>>,
}

impl Trees {
    fn none() -> Self {
        Self { punctured: Vec::new(), values: Secret::new(Vec::new()) }
    }

    /// Receives the messages of one tree for each error: trees number `tree` on of `depth` levels, by the
    /// transfers from number `transfer` on. `blocks` are the errors' M.
    fn receive(
        ctx: &mut Context,
        functions: &Functions,
        below: &ReceiverOutput,
        (mut tree, mut transfer, depth): (usize, usize, usize),
        values: Vec<Block>,
        blocks: &[Block],
    ) -> Result<Self> {
        let mut punctured = Vec::with_capacity(values.len());
        for blocks in blocks.chunks(TREES_PER_MESSAGE) {
            let mut message = vec![Block::ZERO; blocks.len() * depth];
            ctx.peer()?.recv_into(Block::as_bytes_mut(&mut message))?;
            for (message, block) in message.chunks_exact_mut(depth).zip(blocks) {
                message[depth - 1] ^= *block;
                let transfers = transfer..transfer + depth;
                let choices = transfers.clone().map(|i| below.cots.choices.get(i));
                let keys = &below.cots.blocks[transfers];
                punctured.push(Punctured::new(functions, tree, choices, keys, message));
                transfer += depth;
                tree += 1;
            }
        }
        Ok(Self { punctured, values: Secret::new(values) })
    }

    /// Sets `errors` to zero but for the tree's error, and `leaves` to its leaves.
    fn fill(&self, functions: &Functions, tree: usize, [errors, leaves]: [&mut [Block]; 2]) {
        errors.fill(Block::ZERO);
        lpn::add_at(errors, self.punctured[tree].alpha, self.values.expose()[tree]);
        self.punctured[tree].leaves(functions, Leaves::Hashed, leaves);
    }

    /// [`fill`](Self::fill) for all trees.
    fn all_leaves(&self, pool: &Pool, functions: &Functions, depth: u32) -> [Vec<Block>; 2] {
        let mut columns = [(); 2].map(|()| vec![Block::ZERO; self.punctured.len() << depth]);
        let [errors, leaves] = &mut columns;
        pool.run(|| {
            let trees = errors.par_chunks_mut(1 << depth).zip(leaves.par_chunks_mut(1 << depth));
            trees.enumerate().for_each(|(tree, (errors, leaves))| {
                self.fill(functions, tree, [errors, leaves]);
            });
        });
        columns
    }
}

/// The errors of the steps.
struct ReceiverNoise {
    functions: Functions,
    trees: Trees,
}

impl Noise<2> for ReceiverNoise {
    fn fill(&self, tree: usize, columns: [&mut [Block]; 2]) {
        self.trees.fill(&self.functions, tree, columns);
    }
}

impl ReceiverNoise {
    /// Checks all trees; `dual` are the dual code's errors, `spare` is a VOLE used for nothing else.
    fn check(
        &self,
        ctx: &mut Context,
        plan: &Plan,
        dual: &[Vec<Block>; 2],
        spare: (Block, Block),
    ) -> Result<()> {
        let mut seed = [0; Block::LEN];
        ctx.rng().fill_bytes(&mut seed);
        let seed = Block::from_le_bytes(seed);
        let chi = Challenge::new(seed, plan);
        let (dual_chi, step_chi) = chi.trees.split_at(plan.dual_trees());
        let sums = |mu: Block, [errors, leaves]: [&[Block]; 2]| {
            let chi = &chi.leaves[..leaves.len()];
            [errors, leaves].map(|column| gf128::mul(gf128::inner_product(column, chi), mu))
        };
        let add = |a: [Block; 2], b: [Block; 2]| [a[0] ^ b[0], a[1] ^ b[1]];
        let zero = [Block::ZERO; 2];
        let dual_len = 1 << plan.dual_depth();
        let dual = dual[0].chunks_exact(dual_len).zip(dual[1].chunks_exact(dual_len));
        let dual = dual.zip(dual_chi).map(|((e, w), mu)| sums(*mu, [e, w])).fold(zero, add);
        let steps = ctx.pool().run(|| {
            let tree_len = plan.steps.row.tree_len();
            let of_tree = |columns: &mut [Vec<Block>; 2], (tree, mu): (usize, &Block)| {
                self.fill(tree, columns.each_mut().map(|column| column.as_mut_slice()));
                sums(*mu, columns.each_ref().map(|column| column.as_slice()))
            };
            let scratch = || [(); 2].map(|()| vec![Block::ZERO; tree_len]);
            let trees = step_chi.par_iter().enumerate().map_init(scratch, of_tree);
            trees.reduce(|| zero, add)
        });
        let [x, expected] = add(add(dual, steps), spare.into());
        ctx.peer()?.send(Block::as_bytes(&[seed, x]))?;
        let mut answer = [0; DIGEST_LEN];
        ctx.peer()?.recv_into(&mut answer)?;
        if answer != digest(expected) {
            return Err(Misbehaviour::CorrelationCheckFailed.into());
        }
        Ok(())
    }
}

impl ReceiverStream {
    fn of_start(pool: &Pool, start: [Vec<Block>; 2]) -> Self {
        let noise =
            ReceiverNoise { functions: Functions::new(Block::ZERO, 0), trees: Trees::none() };
        let codes = Codes::new(Block::ZERO, Values::Full.coefficients());
        let len = start[0].len();
        Self(Stream::new(pool, noise, codes, Steps::none(), len, start))
    }

    /// How many correlations are left.
    pub fn left(&self) -> usize {
        self.0.left()
    }

    /// The next correlations: no communication.
    ///
    /// # Errors
    /// [`vesica_core::Error::Bug`] when fewer are left, or the lengths differ.
    pub fn fill(&mut self, pool: &Pool, a: &mut [Block], c: &mut [Block]) -> Result<()> {
        self.0.fill(pool, [a, c])
    }
}
