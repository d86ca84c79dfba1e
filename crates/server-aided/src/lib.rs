//! Protocols with a helper, which the literature calls a server.
//!
//! | module | protocol | security |
//! |---|---|---|
//! | [`kmrs14`] | server-aided intersection, for any number of parties (Kamara, Mohassel, Raykova, Sadeghian 2014) | of the helper: semi-honest, malicious |
//!
//! What a helper that may cheat learns, and how many copies of each key and dummies show a wrong
//! answer:
//!
//! ```
//! use vesica_server_aided::kmrs14::{Check, Noun, find_aided};
//!
//! let row = find_aided("server_aided_malicious")?;
//! assert_eq!(
//!     row.helper_learns.words(Noun::Keys),
//!     "who takes part, the size of each set, and how many keys are common",
//! );
//! let check = Check::cheapest(1_000_000);
//! assert!(check.bits(1_000_000) >= 40.0);
//! assert_eq!(check.labels(1_000_000), u64::from(check.copies) * 1_000_000 + 2 * u64::from(check.dummies));
//! # Ok::<(), vesica_core::Error>(())
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

pub mod kmrs14;
