use super::{FIELD_BITS, Values, request};
use crate::poison::Poison;
use crate::silent::check::{Check, Weights};
use crate::silent::code::Codes;
use crate::silent::dual;
use crate::silent::parameters::{self, Start, VolePlan};
use crate::silent::seed;
use crate::silent::sender_trees::SenderTrees;
use crate::silent::stream::{Noise, Stream};
use crate::silent::tree::{Functions, Leaves};
use crate::softspoken;
use vesica_core::{Block, Result, Secret, Security, SessionId};
use vesica_net::{Context, Pool};
use zeroize::Zeroizing;

/// The party with Δ, after the setup; runs any number of extensions.
pub struct Sender<S: Security> {
    softspoken: softspoken::Sender<S>,
    poison: Poison,
}

/// A sender's correlations: b, in order.
pub struct SenderStream(Stream<SenderNoise, 1>);

impl<S: Security> Sender<S> {
    /// Runs the setup with a random Δ.
    ///
    /// # Errors
    /// As [`softspoken::SenderSetup::receive`].
    pub fn setup(ctx: &mut Context, session: &SessionId) -> Result<Self> {
        let softspoken = softspoken::Sender::setup(ctx, session, FIELD_BITS)?;
        Ok(Self { softspoken, poison: Poison::default() })
    }

    /// Δ, in a wrapper that wipes it.
    pub fn delta(&self) -> Secret<Block> {
        self.softspoken.delta()
    }

    /// All communication for `len` new correlations; reading the stream computes them.
    ///
    /// # Errors
    /// [`vesica_core::ParameterError::UnsupportedOperation`];
    /// [`vesica_core::ParameterError::TooManyCorrelations`] above 2^32; connection errors;
    /// [`vesica_core::Misbehaviour::CorrelationCheckFailed`]. After a connection error or a failed
    /// check, every further call returns that error.
    pub fn extend(
        &mut self,
        ctx: &mut Context,
        len: usize,
        values: Values,
    ) -> Result<SenderStream> {
        self.poison.check()?;
        values.check::<S>()?;
        parameters::check_len(len)?;
        let result = self.extend_once(ctx, len, values);
        self.poison.keep(result)
    }

    fn extend_once(
        &mut self,
        ctx: &mut Context,
        len: usize,
        values: Values,
    ) -> Result<SenderStream> {
        if len == 0 {
            return Ok(SenderStream::of_start(ctx.pool(), Vec::new()));
        }
        let plan = VolePlan::new(len, values);
        let lift = values.map();
        if plan.start == Start::Direct {
            let mut below = self.softspoken.extend(ctx, request::<S>(&plan, &lift))?;
            return Ok(SenderStream::of_start(ctx.pool(), std::mem::take(&mut below.voles)));
        }
        let code_seed = seed::receive(ctx)?;
        let below = self.softspoken.extend(ctx, request::<S>(&plan, &lift))?;

        let tree_seed = seed::draw_and_send(ctx)?;
        let trees = SenderTrees {
            functions: Functions::new(tree_seed, plan.trees()),
            kind: Leaves::Hashed,
            delta: self.delta(),
        };
        let codes = Codes::new(code_seed, values.coefficients());
        let (groups, dual_group) = (plan.groups(), plan.dual_group());
        let (cots, noise_keys) = (&below.cots, &below.voles[..dual_group.trees]);
        let noise = trees.send_and_keep(ctx, dual_group, cots, noise_keys)?;
        let dual_noise = Secret::new(if S::MALICIOUS { noise.clone() } else { Vec::new() });
        let [mut start] = dual::compress(&codes, [noise], plan.start_len);
        let noise_keys = Zeroizing::new(start.split_off(plan.start_len - plan.step_trees()));
        trees.send(ctx, &groups, cots, &noise_keys)?;
        ctx.peer()?.flush()?;

        if S::MALICIOUS {
            let check = Check { setup: self.softspoken.binding(), code_seed, tree_seed };
            let challenge = check.receive_challenge(ctx)?;
            let chi = Weights::new(challenge.seed, &[&[dual_group], &*groups].concat());
            let dual_trees = dual_noise.expose().chunks_exact(dual_group.tree_len()).enumerate();
            let dual_sums = dual_trees.map(|(tree, leaves)| chi.sum(tree, leaves));
            let spare = *below.voles.last().expect("a spare VOLE was requested");
            let steps = trees.sum(ctx.pool(), &chi, &groups, cots);
            let sum = dual_sums.fold(steps, |sum, of_tree| sum ^ of_tree);
            check.respond(ctx, challenge, sum ^ spare, &trees.delta)?;
        }
        let noise = SenderNoise {
            trees,
            first_tree: plan.dual_trees(),
            first_keys: SenderTrees::first_keys(&groups, cots),
        };
        Ok(SenderStream(Stream::new(ctx.pool(), noise, codes, plan.steps, len, [start])))
    }
}

/// The leaves of the steps' trees.
struct SenderNoise {
    trees: SenderTrees,
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
        let trees = SenderTrees {
            functions: Functions::new(Block::ZERO, 0),
            kind: Leaves::Hashed,
            delta: Secret::new(Block::ZERO),
        };
        let noise = SenderNoise { trees, first_tree: 0, first_keys: Secret::new(Vec::new()) };
        let codes = Codes::new(Block::ZERO, Values::Full.coefficients());
        let len = b.len();
        Self(Stream::new(pool, noise, codes, Vec::new(), len, [b]))
    }

    /// Number of correlations left.
    pub fn left(&self) -> usize {
        self.0.left()
    }

    /// Writes the next correlations to `b`, without communication.
    ///
    /// # Errors
    /// [`vesica_core::Error::Bug`] if fewer are left.
    pub fn fill(&mut self, pool: &Pool, b: &mut [Block]) -> Result<()> {
        self.0.fill(pool, [b])
    }
}
