//! Server-aided intersection: the answer is the plain one, whatever the parties bring; what a helper or a party that
//! does not follow the protocol can do ends as the paper says.

mod board;
mod cheats;
mod laws;
mod lost;
mod room;
