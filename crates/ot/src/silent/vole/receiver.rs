use super::{FIELD_BITS, Values, request};
use crate::poison::Poison;
use crate::silent::check::{Check, Tagged, Weights};
use crate::silent::code::Codes;
use crate::silent::dual;
use crate::silent::parameters::{self, Start, VolePlan};
use crate::silent::receiver_trees::ReceiverTrees;
use crate::silent::seed;
use crate::silent::stream::{Noise, Stream};
use crate::silent::tree::{Functions, Leaves};
use crate::softspoken;
use vesica_core::{Block, Result, Security, SessionId};
use vesica_net::{Context, Pool};
use zeroize::Zeroizing;

/// The party with the values, after the setup; runs any number of extensions.
pub struct Receiver<S: Security> {
    softspoken: softspoken::Receiver<S>,
    poison: Poison,
}

/// A receiver's correlations: a and c = a·Δ + b, in order.
pub struct ReceiverStream(Stream<ReceiverNoise, 2>);

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
    ) -> Result<ReceiverStream> {
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
    ) -> Result<ReceiverStream> {
        if len == 0 {
            return Ok(ReceiverStream::of_start(ctx.pool(), [Vec::new(), Vec::new()]));
        }
        let plan = VolePlan::new(len, values);
        let lift = values.map();
        if plan.start == Start::Direct {
            let mut voles = self.softspoken.extend(ctx, request::<S>(&plan, &lift))?.voles;
            ctx.peer()?.flush()?;
            let a = voles.values.iter().map(|value| lift.apply(*value)).collect();
            let c = std::mem::take(&mut voles.blocks);
            return Ok(ReceiverStream::of_start(ctx.pool(), [a, c]));
        }
        let code_seed = seed::draw_and_send(ctx)?;
        let below = self.softspoken.extend(ctx, request::<S>(&plan, &lift))?;
        ctx.peer()?.flush()?;

        let tree_seed = seed::receive(ctx)?;
        let functions = Functions::new(tree_seed, plan.trees());
        let codes = Codes::new(code_seed, values.coefficients());
        let mut noise_values: Vec<Block> =
            below.voles.values.iter().map(|value| lift.apply(*value)).collect();
        let spare_value = Zeroizing::new(noise_values.split_off(plan.dual_trees()));

        let (groups, dual_group) = (plan.groups(), plan.dual_group());
        let (kind, cots) = (Leaves::Hashed, &below.cots);
        let blocks = &below.voles.blocks[..dual_group.trees];
        let dual = ReceiverTrees::receive(
            ctx,
            &functions,
            kind,
            &[dual_group],
            cots,
            noise_values,
            blocks,
        )?;
        let noise = dual.all(ctx.pool(), &functions, dual_group.tree_len());
        let mut start = dual::compress(&codes, noise, plan.start_len);
        let first_error = plan.start_len - plan.step_trees();
        let [values, blocks] = start.each_mut().map(|column| column.split_off(first_error));
        let blocks = Zeroizing::new(blocks);
        let trees = ReceiverTrees::receive(ctx, &functions, kind, &groups, cots, values, &blocks)?;

        if S::MALICIOUS {
            let seed = seed::draw(ctx);
            let chi = Weights::new(seed, &[&[dual_group], &*groups].concat());
            let [x, sum] = dual.sums(ctx.pool(), &functions, &chi, &[dual_group]);
            let [step_x, step_sum] = trees.sums(ctx.pool(), &functions, &chi, &groups);
            let spare = spare_value.last().zip(below.voles.blocks.last());
            let (s, m) = spare.expect("a spare VOLE was requested");
            let check = Check { setup: self.softspoken.binding(), code_seed, tree_seed };
            check.verify(ctx, seed, Tagged { value: x ^ step_x ^ *s, tag: sum ^ step_sum ^ *m })?;
        }
        let noise = ReceiverNoise { functions, trees };
        Ok(ReceiverStream(Stream::new(ctx.pool(), noise, codes, plan.steps, len, start)))
    }
}

/// The errors of the steps.
struct ReceiverNoise {
    functions: Functions,
    trees: ReceiverTrees,
}

impl Noise<2> for ReceiverNoise {
    fn fill(&self, tree: usize, [errors, leaves]: [&mut [Block]; 2]) {
        self.trees.errors(tree, errors);
        self.trees.leaves(&self.functions, tree, leaves);
    }
}

impl ReceiverStream {
    fn of_start(pool: &Pool, start: [Vec<Block>; 2]) -> Self {
        let noise = ReceiverNoise {
            functions: Functions::new(Block::ZERO, 0),
            trees: ReceiverTrees::none(Leaves::Hashed),
        };
        let codes = Codes::new(Block::ZERO, Values::Full.coefficients());
        let len = start[0].len();
        Self(Stream::new(pool, noise, codes, Vec::new(), len, start))
    }

    /// Number of correlations left.
    pub fn left(&self) -> usize {
        self.0.left()
    }

    /// Writes the next correlations to `a` and `c`, without communication.
    ///
    /// # Errors
    /// [`vesica_core::Error::Bug`] if fewer are left, or the lengths differ.
    pub fn fill(&mut self, pool: &Pool, a: &mut [Block], c: &mut [Block]) -> Result<()> {
        self.0.fill(pool, [a, c])
    }
}
