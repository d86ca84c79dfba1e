use crate::two_parties::{BothRun, Runner};
use vesica_net::Context;
use vesica_party::{Output, Party};
use vesica_simd::ristretto::remember_repeated_calls;

/// What both parties of a protocol's run ended with.
pub type Outcomes = BothRun<Output, Output>;

/// Runs `sender` and `receiver` in one process over an unshaped in-memory connection.
pub fn run(sender: Box<dyn Party>, receiver: Box<dyn Party>) -> Outcomes {
    Runner::default().run(sender, receiver)
}

impl Runner {
    /// Runs `sender` and `receiver`, each on its own thread. Laws run protocols many times from the
    /// same seeds, so group operations that they repeat are computed once.
    ///
    /// # Panics
    /// When a party panics: that is what the test is for.
    pub fn run(&self, sender: Box<dyn Party>, receiver: Box<dyn Party>) -> Outcomes {
        let end = |ctx: &mut Context, party: Box<dyn Party>| {
            let output = party.run(ctx)?;
            ctx.finish()?;
            output.checked()
        };
        remember_repeated_calls();
        self.run_both(|ctx| end(ctx, sender), |ctx| end(ctx, receiver))
    }
}
