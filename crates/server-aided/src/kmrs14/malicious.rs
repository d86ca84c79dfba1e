//! # Figure 2: the helper may deviate
//!
//! ```text
//!   P_i: S_i, for i = 1, 2                                       helper
//!
//!   1. D_0, D_1, D_2: t dummies each, outside the range of items
//!   2. nothing to check: the dummies come from the coin toss
//!   3. K, tossed by both parties
//!   4. T_i = π_i(F_K(S_i^c + D_0 + D_i))     ── Labels ──▶
//!      |T_i|                                 ── Size ────▶
//!                                                                5. I = T_1 ∩ T_2
//!                                            ◀── Answer ──          for each label of T_i: is it in I?
//!   6. aborts unless
//!      (a) all of D_0 and nothing of D_i is in I
//!      (b) of each x of S_i all c copies are in I, or none
//!   7. outputs the x of S_i whose copies are in I
//! ```
//!
//! S^c has c copies of each item, each labelled under its own key; the paper's λ is c. With fewer
//! copies or dummies the protocol is covert.

use super::helper::Steps;
use super::label_keys::LabelKeys;
use super::party::{Outcome, PartySteps};
use vesica_core::{Items, Refusal, Result};

impl PartySteps<'_> {
    /// P_i.
    pub(super) fn malicious(&self, s_i: &dyn Items) -> Result<Outcome> {
        let mut board = self.boards.open()?;
        // 1. to 3. A key for each copy, for D_0 and for D_i.
        let f_k = LabelKeys::new(self.run.secret.expose(), self.run.spec, self.run.party);
        // 4.
        let t_i = self.sort(&f_k, s_i)?;
        let t_i = self.send(&mut *board, t_i)?;
        // 5.
        let len = t_i.len();
        let (i, sizes) = self.receive_answer(&mut *board, len)?;
        // 6. and 7.
        let output = i.map(|i| t_i.common_rows(self.run.spec, &i));
        Outcome::of(output, sizes)
    }
}

impl Steps<'_> {
    /// The helper; returns whether it wrote anything.
    pub(super) fn malicious(&self) -> Result<bool, Refusal> {
        // 5. is step 3 of Figure 1, of two parties.
        self.semi_honest()
    }
}
