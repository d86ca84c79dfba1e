//! How many operations in groups and modulo large numbers a run needs, counted while both parties
//! run in this process: Table 2 of Huang, Evans and Katz, NDSS 2012.

use crate::measure::BenchError;
use clap::ValueEnum;
use rand::Rng;
use serde::Serialize;
use std::sync::Arc;
use vesica_core::group_operations::{self, GroupOperation};
use vesica_core::{Error, Item, Learns, PsiParams, Result, Role, SessionId};
use vesica_net::Context;
use vesica_ot::base;
use vesica_party::{Output, Protocol};
use vesica_public_key_psi::{dl_dt10, rsa_dt10};

/// Base transfers of an extension.
const TRANSFERS: usize = 128;

const SESSION: SessionId = SessionId::from_bytes([7; 32]);

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Counted {
    /// PSI from one-more Diffie–Hellman
    DlDt10,
    /// PSI from blind RSA signatures
    RsaDt10,
    /// The 128 base transfers of an extension
    BaseTransfers,
}

/// The counts of both parties together.
#[derive(Serialize)]
struct Figure {
    schema: &'static str,
    powers: u64,
    powers_from_table: u64,
    short_powers: u64,
    roots: u64,
    inversions: u64,
    hashes_to_group: u64,
}

/// Counts one run; `items` are those of each party, half of them common.
pub(crate) fn to_json(counted: Counted, items: u32) -> std::result::Result<String, BenchError> {
    let before = group_operations::counts();
    match counted {
        Counted::DlDt10 => intersect(&dl_dt10::ROW, items)?,
        Counted::RsaDt10 => intersect(&rsa_dt10::ROW, items)?,
        Counted::BaseTransfers => transfer()?,
    }
    let counts = group_operations::counts().since(&before);
    let figure = Figure {
        schema: "vesica-bench-public-key/1",
        powers: counts.of(GroupOperation::Power),
        powers_from_table: counts.of(GroupOperation::PowerFromTable),
        short_powers: counts.of(GroupOperation::ShortPower),
        roots: counts.of(GroupOperation::Root),
        inversions: counts.of(GroupOperation::Inversion),
        hashes_to_group: counts.of(GroupOperation::HashToGroup),
    };
    Ok(serde_json::to_string_pretty(&figure)?)
}

fn intersect(row: &Protocol, n: u32) -> Result<()> {
    let set = |first: u32| {
        let items = first..first + n;
        Arc::new(items.map(|i| Item::from_integer(i.into())).collect::<Vec<_>>())
    };
    let params = PsiParams::new(SESSION, n.into(), n.into(), Learns::Receiver)?;
    let sender = row.party(Role::Sender, params, set(0))?;
    let receiver = row.party(Role::Receiver, params, set(n / 2))?;
    let (_, found) = vesica_net::run_both(|ctx| sender.run(ctx), |ctx| receiver.run(ctx))?;
    let common: Vec<usize> = (0..(n - n / 2) as usize).collect();
    if found != Output::Positions(common) {
        return Err(Error::Bug("the result is not what both have"));
    }
    Ok(())
}

fn transfer() -> Result<()> {
    let receive = |ctx: &mut Context| {
        let choices: Vec<bool> = (0..TRANSFERS).map(|_| ctx.rng().next_u32() & 1 == 1).collect();
        let keys = base::Receiver::send(ctx, &SESSION, choices.iter().copied())?.receive(ctx)?;
        Ok((choices, keys))
    };
    let (sent, (choices, received)) =
        vesica_net::run_both(|ctx| base::send(ctx, &SESSION, TRANSFERS), receive)?;
    let mut all = sent.keys.iter().zip(&choices).zip(received.keys.iter());
    if !all.all(|((keys, choice), key)| keys[usize::from(*choice)] == *key) {
        return Err(Error::Bug("a transfer gave another key than the chosen one"));
    }
    Ok(())
}
