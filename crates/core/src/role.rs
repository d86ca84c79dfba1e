use std::fmt;

/// The role of a party in one protocol run.
///
/// The **receiver** learns the result. A **helper** is an untrusted server without input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// Holds a set and learns only what the catalogue row says, usually the size of the other set.
    Sender,
    /// Holds a set and learns the result.
    Receiver,
    /// Holds no set; serves the parties.
    Helper,
}

impl Role {
    /// The other role of a two-party protocol; `None` for [`Role::Helper`].
    pub fn other(self) -> Option<Role> {
        match self {
            Role::Sender => Some(Role::Receiver),
            Role::Receiver => Some(Role::Sender),
            Role::Helper => None,
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Role::Sender => "sender",
            Role::Receiver => "receiver",
            Role::Helper => "helper",
        })
    }
}
