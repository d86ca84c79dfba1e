//! Strict reading of TOML files that people write: agreements, settings.
//!
//! * [`load`] — the text of a file of limited size.
//! * [`document`], [`Table`] — its tables: every field is known, has its type, and has a position.
//! * [`Located`] — a fault and its line; [`Fault`] — the faults of one kind of file, which include
//!   [`TableFault`] and [`FileFault`].
//!
//! ```
//! use vesica_strict_toml::{Fault, FileFault, Located, Table, TableFault, document};
//!
//! #[derive(Debug, thiserror::Error)]
//! enum MenuFault {
//!     #[error(transparent)]
//!     File(#[from] FileFault),
//!     #[error(transparent)]
//!     Table(#[from] TableFault),
//! }
//!
//! impl Fault for MenuFault {
//!     const TEXT: &'static str = "menu";
//! }
//!
//! fn seats(text: &str) -> Result<Option<u64>, Located<MenuFault>> {
//!     let document = document(text)?;
//!     let table = Table::new(text, String::new(), document.get_ref(), document.span(), &[]);
//!     table.refuse_unknown(&["seats"])?;
//!     Ok(table.number("seats", 1..=100)?.map(|seats| seats.value))
//! }
//!
//! assert_eq!(seats("seats = 4").unwrap(), Some(4));
//! let error = seats("# tables\nchairs = 4").unwrap_err();
//! assert_eq!(error.to_string(), "menu, line 2, column 1: unknown field \"chairs\"");
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod fault;
mod file;
mod table;

pub use fault::{Fault, FileFault, Located, Position, TableFault};
pub use file::load;
pub use table::{At, Field, Table, Texts, document, nearest};
