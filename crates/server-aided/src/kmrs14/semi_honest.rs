//! # Figure 1: the helper follows the protocol
//!
//! ```text
//!   P_i: S_i, for i = 1 … n                                helper
//!
//!   1. K, tossed by all parties
//!   2. T_i = π_i(F_K(S_i + D_0 + D_i))   ── Labels ──▶
//!      |T_i|                             ── Size ────▶
//!                                                          3. I = T_1 ∩ … ∩ T_n
//!                                        ◀── Answer ──        for each label of T_i: is it in I?
//!   4. aborts unless all of D_0 and nothing of D_i is in I;
//!      outputs the x of S_i with F_K(x) in I
//! ```
//!
//! D_0 and D_i are dummies, a self-check that the paper only has from Figure 2 on.

use super::helper::Steps;
use super::label_keys::LabelKeys;
use super::party::{Outcome, PartySteps};
use super::slot::Kind;
use vesica_core::{Items, Refusal, Result};

impl PartySteps<'_> {
    /// P_i. K, D_0 and D_i of step 1 are in `f_k`.
    pub(super) fn semi_honest(&self, f_k: &LabelKeys, s_i: &dyn Items) -> Result<Outcome> {
        let mut board = self.boards.open()?;
        // 2.
        let t_i = self.sort(f_k, s_i)?;
        let t_i = self.send(&mut *board, t_i)?;
        // 3.
        let len = t_i.len();
        let (i, sizes) = self.receive_answer(&mut *board, len)?;
        // 4.
        let output = i.map(|i| t_i.common_rows(self.run.spec, &i));
        Outcome::of(output, sizes)
    }
}

impl Steps<'_> {
    /// The helper; returns whether it wrote anything.
    pub(super) fn semi_honest(&self) -> Result<bool, Refusal> {
        if !self.filled_by_all(Kind::Size) || self.is_answered()? {
            return Ok(false);
        }
        // 3.
        let Some(i) = self.intersect()? else { return Ok(false) };
        for party in self.receivers() {
            self.write_parts(Kind::Answer, party, i[usize::from(party)].as_bytes())?;
        }
        Ok(true)
    }
}
