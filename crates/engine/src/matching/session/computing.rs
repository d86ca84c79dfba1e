//! The answers that are computed on the shares of a run, before it ends.

use super::{Matched, SessionRun};
use vesica_core::hash::derive;
use vesica_core::{Misbehaviour, PsiParams, Result, Role, SessionId};
use vesica_expressions::Answer;
use vesica_net::Context;
use vesica_protocols::Output;

const SESSION_LABEL: &str = "vesica engine 2026 session of a computation on shares v1";

/// The label of the computation, below that of the protocol.
const COMPUTING: &str = "computing";

impl SessionRun<'_> {
    /// The answers on the shares in `output`, if the agreement asks for them; `None` too at a party
    /// that does not receive them, and outside the bounds.
    pub(super) fn compute(
        &self,
        ctx: &mut Context,
        matched: Matched<'_>,
        output: &Output,
    ) -> Result<Option<Vec<Answer>>> {
        let Some((values, computation)) = self.agreement.question.computed() else {
            return Ok(None);
        };
        let mut output = output;
        // Wrong shares are reported after the last message only: before, the peer would see it.
        while let Output::Refused { output: refused, .. } = output {
            output = refused;
        }
        let Output::Shares(shares) = output else { return Ok(None) };
        let Matched { role, params, .. } = matched;
        if shares.len > params.sender_len().min(params.receiver_len()) {
            return Err(Misbehaviour::SelfCheckFailed.into());
        }
        let width = values.columns.len();
        let column = |i: usize| shares.values.iter().skip(i).step_by(width).copied().collect();
        let columns: Vec<Vec<u64>> = (0..width).map(column).collect();
        let plan = computation.plan(values, shares.len)?;
        let session = derive(SESSION_LABEL, &[params.session().as_bytes()]);
        let (session, to) = (SessionId::from_bytes(session), self.agreement.reveals_to());
        ctx.child(COMPUTING, |ctx| plan.run(ctx, &session, role, computation.engine, to, &columns))
    }

    /// The most bytes that an honest peer of the party in `role` sends for the answers.
    pub(super) fn most_computed(&self, params: &PsiParams, role: Role) -> Result<u64> {
        let Some((values, computation)) = self.agreement.question.computed() else { return Ok(0) };
        let entries = params.sender_len().min(params.receiver_len());
        let bytes = computation.bytes(values, entries, self.agreement.reveals_to())?;
        Ok(match role {
            Role::Sender => bytes.receiver_to_sender,
            _ => bytes.sender_to_receiver,
        })
    }
}
