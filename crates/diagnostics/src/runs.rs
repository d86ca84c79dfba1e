//! The runs in a store, for its operator: what is there, what was removed, and why that failed.

use crate::arguments::ArgumentFault;
use crate::words::{and, counted, duration};
use crate::{Message, files, stores};
use serde_json::{Value, json};
use std::fmt::Write;
use std::time::{Duration, SystemTime};
use vesica_agreement::Agreement;
use vesica_agreement::figures::bytes;
use vesica_store_session::{Cleaned, FileTotals, RunState, RunsError, Side, StoredRun};

/// The name and version of the layout of [`json`].
const SCHEMA: &str = "vesica-exchange-status/1";

/// From this age on, ages are in days.
const DAYS: Duration = Duration::from_secs(48 * 3600);

const DAY_SECS: u64 = 24 * 3600;

/// What messages call the parties 0 and 1.
pub type Names = [String; 2];

/// The names of the parties of `agreement`; without one, "party 0" and "party 1".
///
/// # Errors
/// [`ArgumentFault::NoRunsWithHelper`].
pub fn names(agreement: Option<&Agreement>) -> Result<Names, ArgumentFault> {
    match agreement {
        None => Ok(["party 0", "party 1"].map(str::to_owned)),
        Some(agreement) if agreement.helper.is_some() => Err(ArgumentFault::NoRunsWithHelper),
        Some(agreement) => Ok([0, 1].map(|party| agreement.parties[party].name.clone())),
    }
}

/// The number of the party `asked`, which is a name in `agreement` or the number itself.
///
/// # Errors
/// [`ArgumentFault::NotANumberOfAParty`], [`ArgumentFault::NoSuchParty`].
pub fn number(
    agreement: Option<&Agreement>,
    names: &Names,
    asked: &str,
) -> Result<u8, ArgumentFault> {
    let known = agreement.map(|_| names);
    match (asked, known) {
        (name, Some([zero, _])) if name == zero => Ok(0),
        (name, Some([_, one])) if name == one => Ok(1),
        ("0", _) => Ok(0),
        ("1", _) => Ok(1),
        (name, None) => Err(ArgumentFault::NotANumberOfAParty { asked: name.to_owned() }),
        (name, Some(known)) => {
            Err(ArgumentFault::NoSuchParty { asked: name.to_owned(), known: known.to_vec() })
        }
    }
}

/// The runs of `place` could not be listed or removed.
pub fn error(fault: RunsError, place: &str) -> Message {
    match fault {
        RunsError::CannotList => Message::here(
            format!("{place} cannot list its objects"),
            "manage it with its operator's tools",
        ),
        RunsError::CannotRemove => Message::here(
            format!("nothing can be removed from {place}"),
            "remove old runs with the tools of its operator",
        ),
        RunsError::Store(kind) if stores::is_url(place) => stores::cause(place, kind),
        RunsError::Store(kind) => Message::here(
            format!("the folder {place} cannot be used: {}", files::cause(kind)),
            files::read_hint(kind),
        ),
    }
}

/// How far a run is.
pub fn state(state: RunState, names: &Names) -> String {
    let name = |party: u8| &names[usize::from(party)];
    match state {
        RunState::Started { by } => format!("only {} has started", name(by)),
        RunState::UnderWay => "in progress".to_owned(),
        RunState::Ended { by } => format!("{} has finished", name(by)),
        RunState::Finished => "finished".to_owned(),
        RunState::GivenUp { by } => {
            let by: Vec<&String> =
                names.iter().zip(by).filter_map(|(name, has)| has.then_some(name)).collect();
            format!("abandoned by {}", and(&by))
        }
    }
}

/// How long ago an object of the store was written, as seen `now`.
pub fn age(written: Option<SystemTime>, now: SystemTime) -> String {
    // The clock of the store may be ahead.
    let age = written.map(|written| now.duration_since(written).unwrap_or_default());
    match age {
        None => "unknown".to_owned(),
        Some(age) if age >= DAYS => format!("{} days ago", age.as_secs() / DAY_SECS),
        Some(age) => format!("{} ago", duration(Duration::from_secs(age.as_secs()))),
    }
}

/// A table of the runs, one on each line.
pub fn table(runs: &[StoredRun], names: &Names, now: SystemTime) -> String {
    let [zero, one] = names.clone();
    let head = ["run", "state", "next", &zero, &one, "last write"].map(str::to_owned);
    let side = |side: &Side| {
        if side.has_started() {
            format!("{}, {}", counted(side.objects.into(), "object"), bytes(side.object_bytes))
        } else {
            "–".to_owned()
        }
    };
    let rows = runs.iter().map(|run| {
        let turn = run.turn().map_or("–", |party| &names[usize::from(party)]);
        let [zero, one] = &run.sides;
        [
            run.name.to_string(),
            state(run.state(), names),
            turn.to_owned(),
            side(zero),
            side(one),
            age(run.written(), now),
        ]
    });
    let rows: Vec<[String; 6]> = std::iter::once(head).chain(rows).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let mut table = String::new();
    for row in &rows {
        let cells = row
            .iter()
            .enumerate()
            .map(|(i, cell)| format!("{cell:0$}", width(i).unwrap_or_default()));
        table += cells.collect::<Vec<_>>().join("  ").trim_end();
        table.push('\n');
    }
    table
}

/// The runs as one JSON object; `parties` are the names of the parties, if they are known.
pub fn json(runs: &[StoredRun], parties: Option<&Names>) -> Value {
    let runs: Vec<Value> = runs.iter().map(json_of).collect();
    json!({ "schema": SCHEMA, "parties": parties, "runs": runs })
}

fn json_of(run: &StoredRun) -> Value {
    let time = |at: Option<SystemTime>| {
        at.and_then(|at| jiff::Timestamp::try_from(at).ok()).map(|at| at.to_string())
    };
    let (state, by) = match run.state() {
        RunState::Started { by } => ("begun", vec![by]),
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

/// What was removed, or in a dry run would be: one line for each run, and the totals.
pub fn cleaned(cleaned: &Cleaned, is_dry_run: bool, now: SystemTime) -> String {
    let mut text = String::new();
    let mut line = |name: &str, words: String| {
        let _ = writeln!(text, "{name:21}  {words}");
    };
    let pile =
        |pile: FileTotals| format!("{}, {}", counted(pile.objects, "object"), bytes(pile.bytes));
    let done = if is_dry_run { "would remove" } else { "removed" };
    let (mut all, mut runs, mut empty) = (FileTotals::default(), 0, 0);
    for cleaned in &cleaned.runs {
        let (name, written) = (cleaned.run.name.to_string(), age(cleaned.run.written(), now));
        if cleaned.removed.objects > 0 {
            line(&name, format!("{done} {}; last write {written}", pile(cleaned.removed)));
            all.objects += cleaned.removed.objects;
            all.bytes += cleaned.removed.bytes;
            runs += 1;
        }
        if cleaned.denied.objects > 0 {
            line(&name, format!("permission denied for {}", pile(cleaned.denied)));
        }
        empty += u64::from(cleaned.removed.objects + cleaned.denied.objects == 0);
    }
    for run in &cleaned.kept {
        let written = age(run.written(), now);
        line(&run.name.to_string(), format!("kept; last write {written}"));
    }
    if cleaned.unfinished.objects > 0 {
        line("unfinished writes", format!("{done} {}", pile(cleaned.unfinished)));
    }
    if cleaned.unfinished_denied.objects > 0 {
        let denied = pile(cleaned.unfinished_denied);
        line("unfinished writes", format!("permission denied for {denied}"));
    }
    if empty > 0 {
        let _ = writeln!(text, "nothing to remove in {}", counted(empty, "older run"));
    }
    let _ = writeln!(text, "{done} {} of {}", pile(all), counted(runs, "run"));
    text
}
