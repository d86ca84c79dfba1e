//! Who is the sender of a run and who the receiver.
//!
//! An agreement seats the two parties: see [`Terms::role_of`](crate::agreement::Terms::role_of). If
//! it leaves the roles open, the cost of a run can depend on who has the larger set. Both sides
//! then take the roles that cost less. A peer that waits for our size before it announces its own
//! can pick its role (`SECURITY.md`).

use crate::agreement::{Agreement, PartyTerms};
use vesica_core::{PsiParams, Role, SessionId};

/// One way to give the seated parties their roles, and the parameters of a run with them.
#[derive(Clone, Copy, Debug)]
pub struct Roles {
    /// The parameters.
    pub params: PsiParams,
    /// Whether the roles differ from the seats.
    pub are_exchanged: bool,
}

impl Roles {
    /// The roles as seated.
    pub fn seated(params: PsiParams) -> Self {
        Self { params, are_exchanged: false }
    }

    /// All roles that `agreement` allows, the seated ones first, for the sets of the parties on the
    /// sender's and on the receiver's seat. Both sides compute the same list.
    ///
    /// # Errors
    /// Errors of [`Agreement::params`].
    pub fn allowed(
        agreement: &Agreement,
        session: SessionId,
        [sender_len, receiver_len]: [u64; 2],
    ) -> vesica_core::Result<Vec<Self>> {
        let mut all = vec![Self::seated(agreement.params(session, sender_len, receiver_len)?)];
        if agreement.roles_are_open() && sender_len != receiver_len {
            let params = agreement.params(session, receiver_len, sender_len)?;
            all.push(Self { params, are_exchanged: true });
        }
        Ok(all)
    }

    /// The possible roles of a run in which both parties have `max_items` items; the roles by
    /// default are among them.
    pub fn largest(agreement: &Agreement) -> Vec<Self> {
        let lens = agreement.seated(PartyTerms::max_items);
        Self::allowed(agreement, SessionId::from_bytes([0; 32]), lens)
            .expect("MAX_ROWS leaves room for the self-check")
    }

    /// The role of the party on the `seat`.
    pub fn role(self, seat: Role) -> Role {
        match (self.are_exchanged, seat) {
            (true, Role::Sender) => Role::Receiver,
            (true, Role::Receiver) => Role::Sender,
            _ => seat,
        }
    }
}
