//! Server-aided intersection: the answer is the plain one for all inputs; a run with a helper or a
//! party that does not follow the protocol ends as the paper says.

mod board;
mod cheats;
mod laws;
mod lost;
mod room;
