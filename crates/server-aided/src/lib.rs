//! Protocols with a helper, which the literature calls a server.
//!
//! | module | protocol | security |
//! |---|---|---|
//! | [`kmrs14`] | server-aided intersection, for any number of parties (Kamara, Mohassel, Raykova, Sadeghian 2014) | of the helper: semi-honest, malicious |

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

pub mod kmrs14;
