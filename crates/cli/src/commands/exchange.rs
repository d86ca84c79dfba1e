//! `vesica exchange`.

use crate::args::exchange::{
    CleanArgs, ExchangeCommand, ExchangeCommandArgs, RunsArgs, StatusArgs,
};
use crate::args::groups::open_store;
use crate::failure::Failure;
use std::io::Write;
use std::sync::Arc;
use std::time::SystemTime;
use vesica_agreement::Agreement;
use vesica_diagnostics::runs::{Names, cleaned, json, names, number, table};
use vesica_store_session::{CleanScope, Cleaning, RunsError, Store};

pub(crate) fn run(args: &ExchangeCommandArgs, out: &mut impl Write) -> Result<(), Failure> {
    match &args.what {
        ExchangeCommand::Status(args) => status(args, out),
        ExchangeCommand::Clean(args) => clean(args, out),
    }
}

fn status(args: &StatusArgs, out: &mut impl Write) -> Result<(), Failure> {
    let asked = Asked::of(&args.runs)?;
    let now = SystemTime::now();
    let runs = vesica_store_session::runs(&*asked.store, asked.hash().as_ref())
        .map_err(|fault| asked.failure(fault))?;
    if args.json {
        let value = json(&runs, asked.agreement.is_some().then_some(&asked.names));
        return Ok(writeln!(out, "{value:#}")?);
    }
    if runs.is_empty() {
        let of = if asked.agreement.is_some() { " of this agreement" } else { "" };
        return Ok(writeln!(out, "there are no runs{of} in {}", asked.store.place())?);
    }
    Ok(write!(out, "{}", table(&runs, &asked.names, now))?)
}

fn clean(args: &CleanArgs, out: &mut impl Write) -> Result<(), Failure> {
    let asked = Asked::of(&args.runs)?;
    let which = match &args.party {
        Some(party) => CleanScope::OfParty(asked.party(party)?),
        None if args.all => CleanScope::WithMarks,
        None => CleanScope::OfBoth,
    };
    let now = SystemTime::now();
    let before = now.checked_sub(args.older_than).unwrap_or(SystemTime::UNIX_EPOCH);
    let cleaning = Cleaning { before, which, dry_run: args.dry_run };
    let done = vesica_store_session::clean(&*asked.store, asked.hash().as_ref(), cleaning)
        .map_err(|fault| asked.failure(fault))?;
    write!(out, "{}", cleaned(&done, args.dry_run, now))?;
    done.fault.map_or(Ok(()), |fault| Err(asked.failure(fault)))
}

/// The store and the runs that the command was asked about.
struct Asked {
    store: Arc<dyn Store>,
    agreement: Option<Agreement>,
    names: Names,
}

impl Asked {
    fn of(args: &RunsArgs) -> Result<Self, Failure> {
        let agreement = args.agreement.as_ref().map(Agreement::load).transpose()?;
        let names = names(agreement.as_ref())?;
        Ok(Self { store: open_store(&args.place)?, agreement, names })
    }

    fn hash(&self) -> Option<[u8; 32]> {
        self.agreement.as_ref().map(|agreement| *agreement.hash().as_bytes())
    }

    /// The number of the party `asked`.
    fn party(&self, asked: &str) -> Result<u8, Failure> {
        Ok(number(self.agreement.as_ref(), &self.names, asked)?)
    }

    fn failure(&self, fault: RunsError) -> Failure {
        Failure::Runs { fault, place: self.store.place() }
    }
}
