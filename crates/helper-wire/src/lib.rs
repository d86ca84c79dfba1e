//! The messages between a party and the helper on one channel.
//!
//! ```text
//!   party                                                    helper
//!     "vesica" ‖ version ‖ purpose ‖ 0 ‖ spec length   ──▶
//!     instance ‖ spec                                  ──▶
//!                                                      ◀──   outcome ‖ parties present ‖ instance ‖ other agreement
//!     op ‖ kind ‖ party ‖ 0 ‖ part ‖ length [‖ body]   ──▶
//!                                                      ◀──   outcome ‖ 0 ‖ length [‖ body]
//! ```
//!
//! Numbers are little-endian. A put has no reply: the next sync confirms all puts before it. While
//! a party waits for a welcome or a reply, the thread of the helper that will give it sends a sign
//! at intervals, so that a party can tell a helper that hangs.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod messages;

pub use messages::{
    BadRequest, HEAD_LEN, Instance, MAX_SPEC_LEN, NO_INSTANCE, Opening, Purpose, Reply, Request,
    VERSION, WAITING_LEN, WELCOME_LEN, WaitingFor, Welcome, max_len, parties_of,
};
