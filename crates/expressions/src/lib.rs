//! Expressions over shared values: two parties that hold shares of a table learn `sum(a * b) >
//! 1000`, and nothing else of its values.
//!
//! This is g of Figure 9 of G. Garimella, P. Mohassel, M. Rosulek, S. Sadeghian, J. Singh, "Private
//! set operations from oblivious switching", PKC 2021: any function of the intersection, by a
//! circuit over the shares of Figure 13.
//!
//! * [`Expression`] — what is asked, as a text; [`ExpressionError`] — what is wrong with it.
//! * [`Table`] — what both parties know of the shared table; [`Column`], [`Combine`].
//! * [`Plan`] — an expression over a table: its circuit, evaluated by [`Plan::run`] with either
//!   [`Engine`].
//! * [`Answer`] — what it gives; [`Reveal`] — to whom.
//!
//! ```
//! use vesica_core::{Result, Role, SessionId};
//! use vesica_expressions::{Answer, Column, Combine, Engine, Expression, Plan, Reveal, Table};
//!
//! let column = |name: &str| Column { name: name.to_owned(), bits: 16, signed: false };
//! let columns = vec![column("price"), column("units")];
//! let table = Table { columns, entries: 2, combine: Combine::Xor };
//! let expression = Expression::parse("sum(price * units) > 1000, count(where price < 20)")?;
//! let plan = Plan::new(&expression, &table)?;
//!
//! // The shares of two prices, 30 and 10, and of their units, 40 and 5.
//! let sender = [vec![7, 7], vec![9, 9]];
//! let receiver = [vec![7 ^ 30, 7 ^ 10], vec![9 ^ 40, 9 ^ 5]];
//! let (session, to) = (SessionId::from_bytes([1; 32]), Reveal::Receiver);
//! let (nothing, answers) = vesica_net::run_both(
//!     |ctx| plan.run(ctx, &session, Role::Sender, Engine::Garbled, to, &sender),
//!     |ctx| plan.run(ctx, &session, Role::Receiver, Engine::Garbled, to, &receiver),
//! )?;
//! assert_eq!(nothing, None);
//! assert_eq!(answers, Some(vec![Answer::Condition(true), Answer::Number(1)]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod error;
mod evaluate;
mod parse;
mod plan;
mod run;
mod syntax;
mod table;
mod tokens;

pub use error::ExpressionError;
pub use parse::Expression;
pub use plan::Plan;
pub use run::{Answer, Engine};
pub use table::{Column, Combine, Table};
pub use vesica_circuit::Reveal;
