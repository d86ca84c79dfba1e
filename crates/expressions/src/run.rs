//! Two parties compute an expression.

use crate::evaluate::evaluate;
use crate::plan::{Condition, Part};
use crate::{Combine, Plan};
use vesica_circuit::yao::{Evaluator, Garbler};
use vesica_circuit::{Cost, Reveal, gmw, word, yao};
use vesica_core::hash;
use vesica_core::{Error, Misbehaviour, Result, Role, SessionId};
use vesica_net::Context;
use vesica_ot::{Bits, Traffic};

const DIGEST_LABEL: &str = "vesica v1 expression";
const SESSION_LABEL: &str = "vesica v1 expression session";

/// Bytes of the digest of what is computed.
const DIGEST_LEN: usize = 32;

/// How the circuit is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// A garbled circuit (Yao): a few flights, 32 bytes a gate.
    Garbled,
    /// On shares (GMW): a flight for each layer of gates, less than a byte a gate.
    Shared,
}

/// A result of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A number.
    Number(i128),
    /// Whether a condition holds.
    Condition(bool),
}

impl Plan {
    /// Computes the expression with the other party, as the party in `role`. Returns the results in
    /// their order, with one for each bucket; `None` at a party that does not learn them.
    ///
    /// `shares` are this party's: the shares of each column of the table, one of each entry. The
    /// sender has the first of two shares. `session` is the same at both parties and of this
    /// computation alone.
    ///
    /// Semi-honest: the values stay secret from a party that follows the protocol. See
    /// [`vesica_circuit::yao`] and [`vesica_circuit::gmw`].
    ///
    /// # Errors
    /// Connection errors; [`Misbehaviour::InvalidValue`], before any share is used, if the other
    /// party computes another expression, over another table, with another engine or for others;
    /// [`Error::Bug`] if the shares are not those of the table's columns and entries.
    pub fn run(
        &self,
        ctx: &mut Context,
        session: &SessionId,
        role: Role,
        engine: Engine,
        to: Reveal,
        shares: &[Vec<u64>],
    ) -> Result<Option<Vec<Answer>>> {
        let has_shape = shares.len() == self.table.columns.len()
            && shares.iter().all(|column| column.len() == self.table.entries);
        if !has_shape {
            return Err(Error::Bug("shares of other columns or entries than the plan's"));
        }
        let digest = self.digest(engine, to);
        let mut other = [0; DIGEST_LEN];
        ctx.peer()?.exchange(&digest, &mut other)?;
        if digest != other {
            return Err(Misbehaviour::InvalidValue.into());
        }
        let session = hash::derive(SESSION_LABEL, &[session.as_bytes(), &digest]);
        let session = SessionId::from_bytes(session);
        let cost = self.cost(engine, to)?;
        let revealed = if cost.results.is_empty() {
            // Everything is known.
            to.includes(role).then(Vec::new)
        } else {
            match (engine, role) {
                (Engine::Shared, _) => {
                    let mut c = gmw::Gmw::new(ctx, &session, role, Role::Receiver, &cost)?;
                    evaluate(&mut c, self, Some(shares), to)?
                }
                (Engine::Garbled, Role::Sender) => {
                    let mut c = Garbler::new(ctx, &session, &cost)?;
                    evaluate(&mut c, self, Some(shares), to)?
                }
                (Engine::Garbled, _) => {
                    let mut c = Evaluator::new(ctx, &session, &cost)?;
                    evaluate(&mut c, self, Some(shares), to)?
                }
            }
        };
        Ok(revealed.map(|revealed| self.answers(revealed)))
    }

    /// Payload bytes of [`run`](Self::run).
    ///
    /// # Errors
    /// [`Error::Bug`].
    pub fn bytes(&self, engine: Engine, to: Reveal) -> Result<Traffic> {
        let (each, cost) = (DIGEST_LEN as u64, self.cost(engine, to)?);
        let digests = Traffic { sender_to_receiver: each, receiver_to_sender: each };
        Ok(digests
            + match engine {
                _ if cost.results.is_empty() => Traffic::default(),
                Engine::Garbled => yao::bytes(&cost),
                Engine::Shared => gmw::bytes(&cost, Role::Receiver),
            })
    }

    fn cost(&self, engine: Engine, to: Reveal) -> Result<Cost> {
        let mut counting = match engine {
            Engine::Garbled => yao::counting(),
            Engine::Shared => gmw::counting(),
        };
        evaluate(&mut counting, self, None, to)?;
        Ok(counting.cost().clone())
    }

    /// Of everything that both parties must agree on.
    fn digest(&self, engine: Engine, to: Reveal) -> [u8; DIGEST_LEN] {
        let combine = match self.table.combine {
            Combine::Xor => 0,
            Combine::Sum => 1,
        };
        let engine = match engine {
            Engine::Garbled => 0,
            Engine::Shared => 1,
        };
        let to = match to {
            Reveal::Receiver => 0,
            Reveal::Sender => 1,
            Reveal::Both => 2,
        };
        let (codes, entries) = ([combine, engine, to], (self.table.entries as u64).to_le_bytes());
        let kinds: Vec<[u8; 2]> = self
            .table
            .columns
            .iter()
            .map(|column| [column.bits as u8, u8::from(column.signed)])
            .collect();
        let mut parts = vec![self.text.as_bytes(), &codes, &entries];
        for (column, kind) in self.table.columns.iter().zip(&kinds) {
            parts.extend([column.name.as_bytes(), kind]);
        }
        hash::derive(DIGEST_LABEL, &parts)
    }

    /// All results: those that are known and `revealed`.
    fn answers(&self, revealed: Vec<Vec<Bits>>) -> Vec<Answer> {
        let mut revealed = revealed.into_iter();
        let mut bits = || -> u128 {
            let wires = revealed.next().unwrap_or_default();
            word::numbers(&wires).first().copied().unwrap_or_default()
        };
        let answer = |part: &Part| match part {
            Part::Condition(Condition::Known(known)) => Answer::Condition(*known),
            Part::Condition(_) => Answer::Condition(bits() == 1),
            Part::Number(number) if number.is_constant() => Answer::Number(number.min),
            Part::Number(number) if number.is_signed() => {
                // The sign continues above the highest bit.
                let above = i128::BITS as usize - number.width();
                Answer::Number((bits() << above) as i128 >> above)
            }
            Part::Number(_) => Answer::Number(bits() as i128),
        };
        self.results.iter().map(answer).collect()
    }
}
