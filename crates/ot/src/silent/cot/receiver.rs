use super::{CHOICE, FIELD_BITS, clear_choices, request};
use crate::poison::Poison;
use crate::silent::check::{Check, Tagged, Weights};
use crate::silent::code::{Codes, Coefficients};
use crate::silent::parameters::{self, CotPlan, Step};
use crate::silent::receiver_trees::ReceiverTrees;
use crate::silent::seed;
use crate::silent::stream::{Noise, Stream};
use crate::silent::tree::{Functions, Leaves};
use crate::{Bits, CotReceiver, Cots, softspoken};
use std::sync::Arc;
use vesica_core::{Block, Result, Security, SessionId};
use vesica_net::{Context, Pool};
use vesica_simd::ggm;
use zeroize::Zeroize;

/// The party with the choices, after the setup; runs any number of extensions.
pub struct Receiver<S: Security> {
    softspoken: softspoken::Receiver<S>,
    poison: Poison,
}

/// A receiver's transfers: M = K + r·Δ, in order; the lowest bit of each is r.
pub struct ReceiverStream(Stream<Arc<ReceiverNoise>, 1>);

impl<S: Security> Receiver<S> {
    /// Runs the setup.
    ///
    /// # Errors
    /// Connection errors; [`vesica_core::Misbehaviour::InvalidPoint`].
    pub fn setup(ctx: &mut Context, session: &SessionId) -> Result<Self> {
        let softspoken = softspoken::Receiver::setup(ctx, session, FIELD_BITS)?;
        Ok(Self { softspoken, poison: Poison::default() })
    }

    /// The extension below, for tests of a receiver that deviates there.
    #[cfg(test)]
    pub(crate) fn below(&mut self) -> &mut softspoken::Receiver<S> {
        &mut self.softspoken
    }

    /// All communication for `len` new transfers; reading the stream computes them.
    ///
    /// # Errors
    /// [`vesica_core::ParameterError::TooManyCorrelations`] above 2^32; connection errors;
    /// [`vesica_core::Misbehaviour::CorrelationCheckFailed`]. After a connection error or a failed
    /// check, every further call returns that error.
    pub fn extend(&mut self, ctx: &mut Context, len: usize) -> Result<ReceiverStream> {
        self.extend_readers(ctx, len).map(|[stream]| stream)
    }

    /// Like [`extend`](Self::extend), with `N` streams of the same transfers, for callers that need
    /// a part of all of them before the whole of any.
    ///
    /// # Errors
    /// As [`extend`](Self::extend).
    pub fn extend_readers<const N: usize>(
        &mut self,
        ctx: &mut Context,
        len: usize,
    ) -> Result<[ReceiverStream; N]> {
        self.poison.check()?;
        parameters::check_len(len)?;
        let result = self.extend_once(ctx, len);
        let source = self.poison.keep(result)?;
        Ok(std::array::from_fn(|_| source.stream(ctx.pool(), len)))
    }

    fn extend_once(&mut self, ctx: &mut Context, len: usize) -> Result<Source> {
        let plan = CotPlan::new(len);
        if len == 0 {
            return Ok(Source::of_start(Cots::default()));
        }
        if plan.steps.is_empty() {
            let output = self.softspoken.extend(ctx, request::<S>(&plan))?;
            ctx.peer()?.flush()?;
            return Ok(Source::of_start(output.cots));
        }
        let code_seed = seed::draw_and_send(ctx)?;
        let mut below = self.softspoken.extend(ctx, request::<S>(&plan))?;
        ctx.peer()?.flush()?;

        let tree_seed = seed::receive(ctx)?;
        let groups = plan.groups();
        let tree_count = groups.iter().map(|group| group.trees).sum();
        let functions = Functions::new(tree_seed, tree_count);
        let kind = Leaves::Correlated;
        let trees =
            ReceiverTrees::receive(ctx, &functions, kind, &groups, &below.cots, Vec::new(), &[])?;
        if S::MALICIOUS {
            let seed = seed::draw(ctx);
            let chi = Weights::new(seed, &groups);
            let [x, sum] = trees.sums(ctx.pool(), &functions, &chi, &groups);
            let spare = below.voles.values.last().zip(below.voles.blocks.last());
            let (s, m) = spare.expect("a spare VOLE was requested");
            let check = Check { setup: self.softspoken.binding(), code_seed, tree_seed };
            check.verify(ctx, seed, Tagged { value: x ^ Block::new(*s), tag: sum ^ *m })?;
        }
        below.cots.blocks.truncate(plan.start_len);
        show_choices(&mut below.cots);
        let noise = Arc::new(ReceiverNoise { functions, trees });
        let start = std::mem::take(&mut below.cots.blocks);
        Ok(Source { noise, code_seed, steps: plan.steps, start })
    }
}

/// The common data of streams of the same transfers; wiped on drop.
struct Source {
    noise: Arc<ReceiverNoise>,
    code_seed: Block,
    steps: Vec<Step>,
    start: Vec<Block>,
}

impl Source {
    /// For an extension whose transfers all come from the extension below.
    fn of_start(mut start: Cots) -> Self {
        show_choices(&mut start);
        let noise = Arc::new(ReceiverNoise {
            functions: Functions::new(Block::ZERO, 0),
            trees: ReceiverTrees::none(Leaves::Correlated),
        });
        let start = std::mem::take(&mut start.blocks);
        Self { noise, code_seed: Block::ZERO, steps: Vec::new(), start }
    }

    fn stream(&self, pool: &Pool, len: usize) -> ReceiverStream {
        let codes = Codes::new(self.code_seed, Coefficients::Binary);
        let (noise, start) = (Arc::clone(&self.noise), [self.start.clone()]);
        ReceiverStream(Stream::new(pool, noise, codes, self.steps.clone(), len, start))
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        self.start.zeroize();
    }
}

/// Writes each choice into the lowest bit of its block.
fn show_choices(cots: &mut Cots) {
    clear_choices(&mut cots.blocks);
    for (block, choice) in cots.blocks.iter_mut().zip(cots.choices.iter()) {
        *block ^= Block::mask(choice) & CHOICE;
    }
}

/// The leaves of the trees; the choices are at the errors.
struct ReceiverNoise {
    functions: Functions,
    trees: ReceiverTrees,
}

impl Noise<1> for ReceiverNoise {
    fn fill(&self, tree: usize, [leaves]: [&mut [Block]; 1]) {
        self.trees.leaves(&self.functions, tree, leaves);
        clear_choices(leaves);
        ggm::add_at(leaves, self.trees.alpha(tree), CHOICE);
    }
}

impl ReceiverStream {
    /// Number of transfers left.
    pub fn left(&self) -> usize {
        self.0.left()
    }

    /// Writes the next transfers to `blocks`, without communication.
    ///
    /// # Errors
    /// [`vesica_core::Error::Bug`] if fewer are left.
    pub fn fill(&mut self, pool: &Pool, blocks: &mut [Block]) -> Result<()> {
        self.0.fill(pool, [blocks])
    }
}

impl<S: Security> CotReceiver for Receiver<S> {
    fn extend(&mut self, ctx: &mut Context, len: usize) -> Result<Cots> {
        let mut stream = Receiver::extend(self, ctx, len)?;
        let mut blocks = vec![Block::ZERO; len];
        stream.fill(ctx.pool(), &mut blocks)?;
        let choices: Bits = blocks.iter().map(|block| block.bit(0)).collect();
        Ok(Cots { choices, blocks })
    }
}
