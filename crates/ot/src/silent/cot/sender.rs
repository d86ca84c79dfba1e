use super::{CHOICE, FIELD_BITS, clear_choices, request};
use crate::CotSender;
use crate::poison::Poison;
use crate::silent::check::{Check, Weights};
use crate::silent::code::{Codes, Coefficients};
use crate::silent::parameters::{self, CotPlan};
use crate::silent::seed;
use crate::silent::sender_trees::SenderTrees;
use crate::silent::stream::{Noise, Stream};
use crate::silent::tree::{Functions, Leaves};
use crate::softspoken;
use vesica_core::{Block, Result, Secret, Security, SessionId};
use vesica_net::{Context, Pool};

/// The party with Δ, after the setup; runs any number of extensions.
pub struct Sender<S: Security> {
    softspoken: softspoken::Sender<S>,
    poison: Poison,
}

/// A sender's transfers: K, in order; the lowest bit of each is zero.
pub struct SenderStream(Stream<SenderNoise, 1>);

impl<S: Security> Sender<S> {
    /// Runs the setup with a random Δ whose lowest bit is one.
    ///
    /// # Errors
    /// As [`softspoken::SenderSetup::receive`].
    pub fn setup(ctx: &mut Context, session: &SessionId) -> Result<Self> {
        let mut delta = softspoken::random_block(ctx);
        *delta.expose_mut() = Block::new(delta.expose().get() | CHOICE.get());
        let softspoken = softspoken::Sender::setup_with_delta(ctx, session, FIELD_BITS, delta)?;
        Ok(Self { softspoken, poison: Poison::default() })
    }

    /// Δ, in a wrapper that wipes it.
    pub fn delta(&self) -> Secret<Block> {
        self.softspoken.delta()
    }

    /// All communication for `len` new transfers; reading the stream computes them.
    ///
    /// # Errors
    /// [`vesica_core::ParameterError::TooManyCorrelations`] above 2^32; connection errors;
    /// [`vesica_core::Misbehaviour::CorrelationCheckFailed`]. After a connection error or a failed
    /// check, every further call returns that error.
    pub fn extend(&mut self, ctx: &mut Context, len: usize) -> Result<SenderStream> {
        self.poison.check()?;
        parameters::check_len(len)?;
        let result = self.extend_once(ctx, len);
        self.poison.keep(result)
    }

    fn extend_once(&mut self, ctx: &mut Context, len: usize) -> Result<SenderStream> {
        let plan = CotPlan::new(len);
        if len == 0 {
            return Ok(SenderStream::of_start(ctx.pool(), Vec::new()));
        }
        if plan.steps.is_empty() {
            let mut below = self.softspoken.extend(ctx, request::<S>(&plan))?;
            return Ok(SenderStream::of_start(ctx.pool(), std::mem::take(&mut below.cots)));
        }
        let code_seed = seed::receive(ctx)?;
        let mut below = self.softspoken.extend(ctx, request::<S>(&plan))?;

        let tree_seed = seed::draw_and_send(ctx)?;
        let groups = plan.groups();
        let tree_count = groups.iter().map(|group| group.trees).sum();
        let trees = SenderTrees {
            functions: Functions::new(tree_seed, tree_count),
            kind: Leaves::Correlated,
            delta: self.delta(),
        };
        trees.send(ctx, &groups, &below.cots, &[])?;
        ctx.peer()?.flush()?;

        if S::MALICIOUS {
            let check = Check { setup: self.softspoken.binding(), code_seed, tree_seed };
            let challenge = check.receive_challenge(ctx)?;
            let chi = Weights::new(challenge.seed, &groups);
            let sum = trees.sum(ctx.pool(), &chi, &groups, &below.cots);
            let spare = *below.voles.last().expect("a spare VOLE was requested");
            check.respond(ctx, challenge, sum ^ spare, &trees.delta)?;
        }
        let first_keys = SenderTrees::first_keys(&groups, &below.cots);
        below.cots.truncate(plan.start_len);
        clear_choices(&mut below.cots);
        let noise = SenderNoise { trees, first_keys };
        let codes = Codes::new(code_seed, Coefficients::Binary);
        let start = [std::mem::take(&mut below.cots)];
        Ok(SenderStream(Stream::new(ctx.pool(), noise, codes, plan.steps, len, start)))
    }
}

/// The leaves of the trees, with the choice bit cleared.
struct SenderNoise {
    trees: SenderTrees,
    first_keys: Secret<Vec<Block>>,
}

impl Noise<1> for SenderNoise {
    fn fill(&self, tree: usize, [leaves]: [&mut [Block]; 1]) {
        self.trees.leaves(tree, self.first_keys.expose()[tree], leaves);
        clear_choices(leaves);
    }
}

impl SenderStream {
    fn of_start(pool: &Pool, mut start: Vec<Block>) -> Self {
        clear_choices(&mut start);
        let trees = SenderTrees {
            functions: Functions::new(Block::ZERO, 0),
            kind: Leaves::Correlated,
            delta: Secret::new(CHOICE),
        };
        let noise = SenderNoise { trees, first_keys: Secret::new(Vec::new()) };
        let codes = Codes::new(Block::ZERO, Coefficients::Binary);
        let len = start.len();
        Self(Stream::new(pool, noise, codes, Vec::new(), len, [start]))
    }

    /// Number of transfers left.
    pub fn left(&self) -> usize {
        self.0.left()
    }

    /// Writes the next transfers to `keys`, without communication.
    ///
    /// # Errors
    /// [`vesica_core::Error::Bug`] if fewer are left.
    pub fn fill(&mut self, pool: &Pool, keys: &mut [Block]) -> Result<()> {
        self.0.fill(pool, [keys])
    }
}

impl<S: Security> CotSender for Sender<S> {
    fn delta(&self) -> Secret<Block> {
        Sender::delta(self)
    }

    fn extend(&mut self, ctx: &mut Context, len: usize) -> Result<Vec<Block>> {
        let mut stream = Sender::extend(self, ctx, len)?;
        let mut keys = vec![Block::ZERO; len];
        stream.fill(ctx.pool(), &mut keys)?;
        Ok(keys)
    }
}
