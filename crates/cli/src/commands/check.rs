//! `vesica check`.

use super::output::NamedFile;
use super::run::no_address;
use super::{AGREEMENT, REFUSED, output, protocols, seat};
use crate::args::CheckArgs;
use crate::failure::Failure;
use crate::interrupt::cancel_on_interrupt;
use crate::logging;
use crate::messages::SPEECH;
use crate::progress::{Reporter, short_hash};
use serde::Serialize;
use serde_json::{Value, json};
use std::io::Write;
use std::ops::ControlFlow;
use std::sync::Arc;
use vesica_agreement::Agreement;
use vesica_agreement::figures::bytes;
use vesica_diagnostics::arguments::ArgumentFault;
use vesica_diagnostics::checked;
use vesica_diagnostics::with_helper::AidedFailure;
use vesica_diagnostics::words::{and, counted};
use vesica_engine::{Error, Event, InputFault, Observer, look};
use vesica_link::{CancelToken, Identity, LinkOptions};
use vesica_preflight::{Check, Checked, Options, Refused};
use vesica_tables::{InputError, Source, shown};

pub(crate) fn run(args: &CheckArgs, out: &mut impl Write) -> Result<(), Failure> {
    if (args.place.listen.is_some() || args.place.connect.is_some()) && args.key.is_none() {
        return Err(ArgumentFault::NoKey.into());
    }
    refuse_shared_files(args)?;
    logging::start(&args.talk)?;
    let agreement = &Agreement::load(&args.agreement)?;
    let link = args.place.link_options_for_check(agreement)?;
    if args.reach && link.is_none() {
        return Err(no_address(agreement));
    }
    let identity = args.key.as_ref().map(Identity::load).transpose()?;
    let party = seat::party(agreement, identity.as_ref(), args.party.as_deref())?;
    let source = Source::open(&args.data.input, &args.data.form.read_options())?;
    let options = Options {
        columns: args.data.column_choices()?,
        strict: args.data.strict,
        shape_rows: args.rows,
        memory_bytes: args.memory.bytes(),
        scratch: args.memory.scratch.clone(),
        refused: args.data.refused_output(),
    };
    let check = Check::new(agreement, party.as_deref(), &options)?;

    let cancel = cancel_on_interrupt();
    if !args.json {
        describe(args, agreement, party.as_deref(), &source, out)?;
    }
    let reporter = Arc::new(Reporter::new(&args.talk, agreement, party.as_deref()));
    let checked = check.run(&source, &mut |progress| {
        reporter.event(&Event::Reading {
            bytes_done: progress.bytes_done,
            bytes_total: progress.bytes_total,
            rows: progress.rows,
        });
        if cancel.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    reporter.finish();
    let checked = checked.map_err(InputFault::from).map_err(Error::from)?;
    let meeting = || {
        let (Some(link), Some(identity)) = (link, identity) else { return Ok(None) };
        connect(agreement, identity, link, party.as_deref(), &reporter, &cancel).map(Some)
    };
    if args.json {
        let mut document = document(args, agreement, party.as_deref(), &source, &checked);
        let ended = verdict(checked).and_then(|()| meeting());
        if let Ok(there) = &ended {
            document["reached"] = json!(there);
        }
        writeln!(out, "{document:#}")?;
        return ended.map(drop);
    }
    checked::show(&checked, args.rows, SPEECH, out)?;
    verdict(checked)?;
    out.flush()?;
    match meeting()? {
        Some(there) => show_there(agreement, &there, out),
        None => Ok(()),
    }
}

/// Refuses a check in which one file would replace another.
fn refuse_shared_files(args: &CheckArgs) -> Result<(), Failure> {
    let mut taken = vec![
        NamedFile { what: AGREEMENT, path: &args.agreement },
        NamedFile { what: "input", path: &args.data.input },
    ];
    taken.extend(args.key.iter().map(|path| NamedFile { what: "key", path }));
    if let Some(path) = args.data.refused.as_deref() {
        let file = NamedFile { what: REFUSED, path };
        output::refuse_same(file, &taken)?;
        taken.push(file);
    }
    match args.talk.log_file.as_deref() {
        Some(path) => output::refuse_same(NamedFile { what: "log", path }, &taken),
        None => Ok(()),
    }
}

/// The failure of a run with these rows.
fn verdict(checked: Checked) -> Result<(), Failure> {
    match checked.refused {
        None => Ok(()),
        Some(Refused::Data(error @ InputError::NoKeys { .. })) => {
            Err(Failure::Checked(Box::new(error)))
        }
        Some(refused) => Err(refused
            .error()
            .map_or_else(|| Failure::Faults(Box::new(checked.faults)), Failure::from)),
    }
}

/// Everything that a check prints, as one object.
fn document(
    args: &CheckArgs,
    agreement: &Agreement,
    party: Option<&str>,
    source: &Source,
    checked: &Checked,
) -> Value {
    let mut document = checked::document(checked, SPEECH);
    document["agreement"] = json!({
        "title": agreement.title,
        "hash": agreement.hash().to_string(),
        "protocol": protocols::in_words(agreement),
        "helper": agreement.helper.as_ref().map(|helper| &helper.name),
    });
    document["receives"] = json!(party.map(|party| agreement.is_receiver_of_result(party)));
    document["input"] = json!({
        "path": args.data.input.to_string_lossy(),
        "format": source.format().to_string(),
        "delimiter": source.delimiter().map(char::from),
        "columns": source.columns().len(),
        "bytes": source.len_bytes(),
    });
    document["reached"] = Value::Null;
    document
}

/// Which parties are there.
#[derive(Serialize)]
struct There {
    /// The peer; with a helper, the parties that are connected to it.
    present: Vec<String>,
    /// With a helper: the hash of a different agreement with which another party waits there.
    other_agreement: Option<String>,
}

/// Connects to the peer, or asks the helper.
fn connect(
    agreement: &Agreement,
    identity: Identity,
    link: LinkOptions,
    party: Option<&str>,
    reporter: &Arc<Reporter>,
    cancel: &CancelToken,
) -> Result<There, Failure> {
    if let Some(aided) = agreement.with_helper() {
        let observer = Arc::clone(reporter) as Arc<dyn Observer>;
        let seen = look(aided, identity, link.clone(), observer, cancel);
        reporter.finish();
        let seen = seen.map_err(|error| {
            Failure::with_helper(AidedFailure::Run(error), agreement, &link, None)
        })?;
        let other_agreement = seen.other_agreement.as_ref().map(short_hash);
        return Ok(There { present: seen.present, other_agreement });
    }
    let reached = vesica_engine::reach(agreement, &identity, &link, &**reporter, cancel);
    reporter.finish();
    reached.map_err(|error| Failure::of_engine(error, Some(&link.endpoint)))?;
    let peer = party.map(|party| agreement.peer_of(party).name.clone());
    Ok(There { present: peer.into_iter().collect(), other_agreement: None })
}

fn show_there(agreement: &Agreement, there: &There, out: &mut impl Write) -> Result<(), Failure> {
    let Some(helper) = &agreement.helper else {
        let peer = there.present.concat();
        return Ok(writeln!(out, "\n{peer} is connected and has the same agreement")?);
    };
    writeln!(out, "\n{} can be reached and accepts this run", helper.name)?;
    match there.present.as_slice() {
        [] => writeln!(out, "no party is connected yet")?,
        present => writeln!(out, "already connected: {}", and(present))?,
    }
    if let Some(hash) = &there.other_agreement {
        writeln!(
            out,
            "another party waits there with a different agreement ({hash}): compare `vesica agree \
             show`"
        )?;
    }
    Ok(())
}

fn describe(
    args: &CheckArgs,
    agreement: &Agreement,
    party: Option<&str>,
    source: &Source,
    out: &mut impl Write,
) -> Result<(), Failure> {
    writeln!(out, "agreement   {} ({})", agreement.title, agreement.hash().short())?;
    writeln!(out, "protocol    {}", protocols::in_words(agreement))?;
    if let Some(helper) = &agreement.helper {
        writeln!(out, "helper      {}", helper.name)?;
    }
    if let Some(party) = party {
        let terms = agreement.terms_of(party);
        let receives = agreement.is_receiver_of_result(party);
        writeln!(
            out,
            "you are     {party}, {} the result; at most {}, at least {}",
            if receives { "who receives" } else { "who does not receive" },
            counted(terms.max_rows, "row"),
            counted(terms.min_rows, "different key"),
        )?;
    }
    describe_input(args, source, out)?;
    match args.memory.default() {
        Some(default) => Ok(checked::show_memory_default(&default, SPEECH, out)?),
        None => Ok(()),
    }
}

fn describe_input(args: &CheckArgs, source: &Source, out: &mut impl Write) -> Result<(), Failure> {
    let delimiter = source.delimiter().map_or(String::new(), |delimiter| match delimiter {
        b'\t' => ", fields separated by tabs".to_owned(),
        byte => format!(", fields separated by {:?}", char::from(byte)),
    });
    let columns = source.columns().len();
    let files = source
        .parts()
        .map_or(String::new(), |files| format!("{} of ", counted(files as u64, "file")));
    writeln!(
        out,
        "input       {}: {files}{}{delimiter}, {} column{}, {}",
        shown(&args.data.input),
        source.format(),
        columns,
        if columns == 1 { "" } else { "s" },
        bytes(source.len_bytes()),
    )?;
    Ok(())
}
