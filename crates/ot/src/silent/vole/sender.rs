use super::{Challenge, DIGEST_LEN, FIELD_BITS, TREES_PER_MESSAGE, Values, digest, request};
use crate::silent::code::Codes;
use crate::silent::dual;
use crate::silent::parameters::{Plan, Start, Steps};
use crate::silent::stream::{Noise, Stream};
use crate::silent::tree::{Functions, Leaves, sender_leaves, sender_message};
use crate::softspoken::{self, ChallengedSender, SenderOutput};
use rand::Rng;
use rayon::prelude::*;
use vesica_core::{Block, Result, Secret, Security, SessionId};
use vesica_net::{Context, Pool};
use vesica_simd::gf128;

/// The party that holds Δ, after the setup: any number of extensions.
pub struct Sender<S: Security> {
    softspoken: softspoken::Sender<S>,
    /// Whether something depends on Δ already.
    used: bool,
}

/// A sender's correlations: b, in order.
pub struct SenderStream(Stream<SenderNoise, 1>);

/// The correlations of the extension below, checked or not yet.
enum Below<S: Security> {
    Provisional(ChallengedSender<S>),
    Checked(SenderOutput),
}

impl<S: Security> Below<S> {
    fn get(&self) -> &SenderOutput {
        match self {
            Below::Provisional(challenged) => challenged.provisional(),
            Below::Checked(output) => output,
        }
    }

    fn check(self, ctx: &mut Context) -> Result<SenderOutput> {
        match self {
            Below::Provisional(challenged) => challenged.verify(ctx),
            Below::Checked(output) => Ok(output),
        }
    }
}

impl<S: Security> Sender<S> {
    /// Runs the setup with a random Δ.
    ///
    /// # Errors
    /// As [`softspoken::SenderSetup::receive`].
    pub fn setup(ctx: &mut Context, session: &SessionId) -> Result<Self> {
        let softspoken = softspoken::Sender::setup(ctx, session, FIELD_BITS)?;
        Ok(Self { softspoken, used: false })
    }

    /// Δ.
    pub fn delta(&self) -> Block {
        self.softspoken.delta()
    }

    /// All communication for `len` new correlations; their computation follows as the stream is
    /// read.
    ///
    /// # Errors
    /// Of the connection; [`vesica_core::ParameterError::UnsupportedOperation`];
    /// [`vesica_core::Misbehaviour::CorrelationCheckFailed`].
    pub fn extend(
        &mut self,
        ctx: &mut Context,
        len: usize,
        values: Values,
    ) -> Result<SenderStream> {
        values.check::<S>()?;
        if len == 0 {
            return Ok(SenderStream::of_start(ctx.pool(), Vec::new()));
        }
        let plan = Plan::new(len, values);
        let lift = values.map();
        if plan.start == Start::Direct {
            let unchecked = self.softspoken.extend(ctx, request::<S>(&plan, &lift))?;
            let output = unchecked.challenge(ctx)?.verify(ctx)?;
            self.used = true;
            return Ok(SenderStream::of_start(ctx.pool(), output.voles));
        }
        let mut code_seed = [0; Block::LEN];
        ctx.peer()?.recv_into(&mut code_seed)?;
        let unchecked = self.softspoken.extend(ctx, request::<S>(&plan, &lift))?;
        let challenged = unchecked.challenge(ctx)?;
        let below = if S::MALICIOUS && self.used {
            Below::Checked(challenged.verify(ctx)?)
        } else {
            Below::Provisional(challenged)
        };
        self.used = true;

        let mut tree_seed = [0; Block::LEN];
        ctx.rng().fill_bytes(&mut tree_seed);
        ctx.peer()?.send(&tree_seed)?;
        let trees = Trees {
            functions: Functions::new(
                Block::from_le_bytes(tree_seed),
                plan.dual_trees() + plan.steps.all_trees(),
            ),
            delta: Secret::new(self.delta()),
        };
        let codes = Codes::new(Block::from_le_bytes(code_seed), values.coefficients());
        let noise = trees.dual(ctx, &plan, below.get())?;
        let start = if S::MALICIOUS { noise.clone() } else { Vec::new() };
        let [mut start_values] = dual::compress(&codes, [noise], plan.start_len);
        let noise_keys = start_values.split_off(plan.start_len - plan.steps.all_trees());
        trees.primal(ctx, &plan, below.get(), &noise_keys)?;
        ctx.peer()?.flush()?;
        let output = below.check(ctx)?;
        if S::MALICIOUS {
            trees.answer(ctx, &plan, &output, &start)?;
        }
        let first_keys = output.cots[plan.dual_transfers()..]
            .iter()
            .step_by(plan.steps.row.depth as usize)
            .copied();
        let noise = SenderNoise {
            trees,
            first_tree: plan.dual_trees(),
            first_keys: Secret::new(first_keys.collect()),
        };
        Ok(SenderStream(Stream::new(ctx.pool(), noise, codes, plan.steps, len, [start_values])))
    }
}

/// The sender's trees of one extension.
struct Trees {
    functions: Functions,
    delta: Secret<Block>,
}

impl Trees {
    /// Sends the messages of the dual code's trees, and gives their leaves.
    fn dual(&self, ctx: &mut Context, plan: &Plan, below: &SenderOutput) -> Result<Vec<Block>> {
        let depth = plan.dual_depth() as usize;
        let mut leaves = vec![Block::ZERO; plan.dual_trees() << depth];
        let mut message = vec![Block::ZERO; plan.dual_trees() * depth];
        ctx.pool().run(|| {
            let parts = leaves.par_chunks_mut(1 << depth).zip(message.par_chunks_mut(depth));
            let inputs = below.cots.par_chunks(depth).zip(&below.voles);
            parts.zip(inputs).enumerate().for_each(|(tree, ((leaves, message), (keys, key)))| {
                self.message((tree, keys, *key), leaves, message);
            });
        });
        ctx.peer()?.send(Block::as_bytes(&message))?;
        Ok(leaves)
    }

    /// Sends the messages of the steps' trees.
    fn primal(
        &self,
        ctx: &mut Context,
        plan: &Plan,
        below: &SenderOutput,
        noise_keys: &[Block],
    ) -> Result<()> {
        let depth = plan.steps.row.depth as usize;
        let keys = &below.cots[plan.dual_transfers()..];
        let parts = keys.chunks(TREES_PER_MESSAGE * depth);
        let mut tree = plan.dual_trees();
        for (keys, noise_keys) in parts.zip(noise_keys.chunks(TREES_PER_MESSAGE)) {
            let mut message = vec![Block::ZERO; noise_keys.len() * depth];
            ctx.pool().run(|| {
                let inputs = keys.par_chunks(depth).zip(noise_keys);
                message.par_chunks_mut(depth).zip(inputs).enumerate().for_each_init(
                    || vec![Block::ZERO; 1 << depth],
                    |leaves, (i, (message, (keys, key)))| {
                        self.message((tree + i, keys, *key), leaves, message);
                    },
                );
            });
            ctx.peer()?.send(Block::as_bytes(&message))?;
            tree += noise_keys.len();
        }
        Ok(())
    }

    fn message(&self, tree: (usize, &[Block], Block), leaves: &mut [Block], message: &mut [Block]) {
        let delta = *self.delta.expose();
        sender_message(&self.functions, Leaves::Hashed, delta, tree, leaves, message);
    }

    /// Answers the receiver's check; `noise` are the leaves of the dual code's trees.
    fn answer(
        &self,
        ctx: &mut Context,
        plan: &Plan,
        below: &SenderOutput,
        noise: &[Block],
    ) -> Result<()> {
        let mut question = [Block::ZERO; 2];
        ctx.peer()?.recv_into(Block::as_bytes_mut(&mut question))?;
        let [seed, x] = question;
        let chi = Challenge::new(seed, plan);
        let (dual_chi, primal_chi) = chi.trees.split_at(plan.dual_trees());
        let (dual_len, tree_len) = (1 << plan.dual_depth(), plan.steps.row.tree_len());
        let depth = plan.steps.row.depth as usize;
        let keys = &below.cots[plan.dual_transfers()..];
        let spare = *below.voles.last().expect("one was asked for");
        let dual = noise.chunks_exact(dual_len).zip(dual_chi).fold(Block::ZERO, |sum, (v, mu)| {
            sum ^ gf128::mul(gf128::inner_product(v, &chi.leaves[..dual_len]), *mu)
        });
        let primal = ctx.pool().run(|| {
            let trees = keys.par_chunks(depth.max(1)).zip(primal_chi).enumerate();
            let sums = trees.map_init(
                || vec![Block::ZERO; tree_len],
                |leaves, (tree, (keys, mu))| {
                    self.leaves(plan.dual_trees() + tree, keys[0], leaves);
                    gf128::mul(gf128::inner_product(leaves, &chi.leaves[..tree_len]), *mu)
                },
            );
            sums.reduce(|| Block::ZERO, |a, b| a ^ b)
        });
        let delta = *self.delta.expose();
        let answer: [u8; DIGEST_LEN] = digest(dual ^ primal ^ spare ^ gf128::mul(x, delta));
        ctx.peer()?.send(&answer)?;
        ctx.peer()?.flush()
    }

    fn leaves(&self, tree: usize, first_key: Block, leaves: &mut [Block]) {
        let delta = *self.delta.expose();
        sender_leaves(&self.functions, Leaves::Hashed, delta, (tree, first_key), leaves);
    }
}

/// The leaves of the steps' trees.
struct SenderNoise {
    trees: Trees,
    first_tree: usize,
    first_keys: Secret<Vec<Block>>,
}

impl Noise<1> for SenderNoise {
    fn fill(&self, tree: usize, [leaves]: [&mut [Block]; 1]) {
        self.trees.leaves(self.first_tree + tree, self.first_keys.expose()[tree], leaves);
    }
}

impl SenderStream {
    fn of_start(pool: &Pool, b: Vec<Block>) -> Self {
        let trees =
            Trees { functions: Functions::new(Block::ZERO, 0), delta: Secret::new(Block::ZERO) };
        let noise = SenderNoise { trees, first_tree: 0, first_keys: Secret::new(Vec::new()) };
        let codes = Codes::new(Block::ZERO, Values::Full.coefficients());
        let len = b.len();
        Self(Stream::new(pool, noise, codes, Steps::none(), len, [b]))
    }

    /// How many correlations are left.
    pub fn left(&self) -> usize {
        self.0.left()
    }

    /// The next correlations: no communication.
    ///
    /// # Errors
    /// [`vesica_core::Error::Bug`] when fewer are left.
    pub fn fill(&mut self, pool: &Pool, b: &mut [Block]) -> Result<()> {
        self.0.fill(pool, [b])
    }
}
