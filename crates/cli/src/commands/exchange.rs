//! `vesica exchange`.

use crate::args::exchange::{
    CleanArgs, ExchangeCommand, ExchangeCommandArgs, RunsArgs, StatusArgs,
};
use crate::args::groups::open_store;
use crate::failure::Failure;
use serde_json::{Value, json};
use std::io::Write;
use std::sync::Arc;
use std::time::SystemTime;
use vesica_agreement::Agreement;
use vesica_exchange::{Cleaning, RunState, RunsError, Store, StoredRun, Which};
use vesica_messages::arguments::ArgumentFault;
use vesica_messages::runs::{Names, cleaned, table};

pub(crate) fn run(args: &ExchangeCommandArgs, out: &mut impl Write) -> Result<(), Failure> {
    match &args.what {
        ExchangeCommand::Status(args) => status(args, out),
        ExchangeCommand::Clean(args) => clean(args, out),
    }
}

fn status(args: &StatusArgs, out: &mut impl Write) -> Result<(), Failure> {
    let asked = Asked::of(&args.runs)?;
    let now = SystemTime::now();
    let runs = vesica_exchange::runs(&*asked.store, asked.hash().as_ref());
    let runs = runs.map_err(|fault| asked.failure(fault))?;
    if args.json {
        let runs: Vec<Value> = runs.iter().map(json_of).collect();
        let parties = asked.agreement.is_some().then_some(&asked.names);
        let schema = "vesica-exchange-status/1";
        let value = json!({ "schema": schema, "parties": parties, "runs": runs });
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
        Some(party) => Which::OfParty(asked.party(party)?),
        None if args.all => Which::WithMarks,
        None => Which::OfBoth,
    };
    let now = SystemTime::now();
    let before = now.checked_sub(args.older_than).unwrap_or(SystemTime::UNIX_EPOCH);
    let cleaning = Cleaning { before, which, dry_run: args.dry_run };
    let done = vesica_exchange::clean(&*asked.store, asked.hash().as_ref(), cleaning)
        .map_err(|fault| asked.failure(fault))?;
    write!(out, "{}", cleaned(&done, args.dry_run, now))?;
    done.fault.map_or(Ok(()), |fault| Err(asked.failure(fault)))
}

/// The runs that the command is about.
struct Asked {
    store: Arc<dyn Store>,
    agreement: Option<Agreement>,
    names: Names,
}

impl Asked {
    fn of(args: &RunsArgs) -> Result<Self, Failure> {
        let agreement = args.agreement.as_ref().map(Agreement::load).transpose()?;
        let names = match &agreement {
            None => ["party 0", "party 1"].map(str::to_owned),
            Some(agreement) if agreement.helper.is_some() => {
                return Err(ArgumentFault::NoRunsWithHelper.into());
            }
            Some(agreement) => [0, 1].map(|party| agreement.parties[party].name.clone()),
        };
        Ok(Self { store: open_store(&args.place)?, agreement, names })
    }

    fn hash(&self) -> Option<[u8; 32]> {
        self.agreement.as_ref().map(|agreement| *agreement.hash().as_bytes())
    }

    /// The number of the party that is `asked` for.
    fn party(&self, asked: &str) -> Result<u8, Failure> {
        let named = self.names.iter().position(|name| self.agreement.is_some() && name == asked);
        match (named, asked, &self.agreement) {
            (Some(party), ..) => Ok(party as u8),
            (None, "0", _) => Ok(0),
            (None, "1", _) => Ok(1),
            (None, _, None) => {
                Err(ArgumentFault::NotANumberOfAParty { asked: asked.to_owned() }.into())
            }
            (None, _, Some(_)) => {
                let known = self.names.to_vec();
                Err(ArgumentFault::NoSuchParty { asked: asked.to_owned(), known }.into())
            }
        }
    }

    fn failure(&self, fault: RunsError) -> Failure {
        Failure::Runs { fault, place: self.store.place() }
    }
}

fn json_of(run: &StoredRun) -> Value {
    let time = |at: Option<SystemTime>| {
        at.and_then(|at| jiff::Timestamp::try_from(at).ok()).map(|at| at.to_string())
    };
    let (state, by) = match run.state() {
        RunState::Begun { by } => ("begun", vec![by]),
        RunState::UnderWay => ("under-way", vec![]),
        RunState::Ended { by } => ("ended", vec![by]),
        RunState::Finished => ("finished", vec![0, 1]),
        RunState::GivenUp { by } => {
            ("given-up", (0..2).filter(|party| by[usize::from(*party)]).collect())
        }
    };
    let sides = run.sides.each_ref().map(|side| {
        json!({
            "hello": side.has_hello,
            "shares": side.has_shares,
            "end": side.has_ended,
            "given_up": side.has_given_up,
            "objects": side.objects,
            "object_bytes": side.object_bytes,
            "written_at": time(side.written),
        })
    });
    json!({
        "run": run.name.to_string(),
        "number": run.name.number(),
        "state": state,
        "by": by,
        "turn": run.turn(),
        "written_at": time(run.written()),
        "sides": sides,
    })
}
