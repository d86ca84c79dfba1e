//! `vesica check` under an agreement with a helper.

use super::teller::{AidedTeller, short_hash};
use crate::args::CheckArgs;
use crate::commands::check::{
    describe_input, refuse_faults, show_all_shapes, show_faults, show_refused,
};
use crate::commands::run::cancel_on_interrupt;
use crate::commands::{protocols, seat};
use crate::failure::{Aided, AidedFailure, Failure};
use crate::messages::{and, counted};
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::sync::Arc;
use vesica_core::Item;
use vesica_engine::aided::{
    AidedAgreement, AidedSeen, aided_key_columns, aided_key_items, look_aided,
};
use vesica_engine::explain::grouped;
use vesica_engine::{ConfigFault, Error, Event, InputFault, Observer};
use vesica_link::{CancelToken, Identity};
use vesica_records::{
    Faults, InputError, KeyColumn, KeyLimits, NO_ITEM, Source, StreamError, Streamed, survey_items,
};

/// Most items of which it is told how many are different: 256 MiB of them.
const MAX_COMPARED_ITEMS: usize = 1 << 24;

pub(crate) fn run(
    args: &CheckArgs,
    agreement: &AidedAgreement,
    out: &mut impl Write,
) -> Result<(), Failure> {
    if args.place.listen.is_some() {
        return Err(Failure::NotWithHelper { option: "--listen" });
    }
    let link = args.place.look_link_options();
    let helper = agreement.helper.name.clone();
    if args.reach && link.is_none() {
        return Err(Failure::NoHelperAddress { helper });
    }
    let identity = args.key.as_ref().map(Identity::load).transpose()?;
    let party = seat::aided_party(agreement, identity.as_ref(), args.party.as_deref())?;
    let source = Source::open(&args.data.input, &args.data.form.read_options())?;
    let key = aided_key_columns(agreement, &args.data.column_choices()?)?;

    let cancel = cancel_on_interrupt();
    describe(args, agreement, party, &source, out)?;
    let teller = Arc::new(AidedTeller::new(&args.talk, agreement, party.unwrap_or_default()));
    let terms = party.map(|party| &agreement.parties[party]);
    let limits = KeyLimits {
        max_rows: terms.map(|terms| terms.max_rows),
        strict: args.data.strict,
        may_be_empty: terms.is_some_and(|terms| terms.min_rows == 0),
    };
    let mut faults = Faults::default();
    let counts = match count(agreement, &source, &key, &limits, &mut faults, &teller, &cancel) {
        Ok(counts) => counts,
        // Then the shapes tell what is wrong.
        Err(error @ InputError::NoKeys { rows, .. }) => {
            show_all_shapes(&source, &key, args.rows.min(rows), out)?;
            return Err(error.into());
        }
        Err(error) => {
            show_faults(&faults, out)?;
            return Err(error.into());
        }
    };
    show_counts(&counts, out)?;
    show_faults(&faults, out)?;
    if counts.streamed.rows > 0 {
        show_all_shapes(&source, &key, args.rows.min(counts.streamed.rows), out)?;
    }
    refuse_faults(faults)?;
    if let Some(terms) = terms {
        let (distinct, min) = (counts.distinct.unwrap_or(counts.streamed.keyed), terms.min_rows);
        if distinct < min {
            return Err(InputFault::TooFewKeys { distinct, min }.into());
        }
    }
    if let (Some(on), true) = (agreement.expires, agreement.is_expired(jiff::Timestamp::now())) {
        return Err(Error::Config(ConfigFault::Expired { on }).into());
    }
    if let (Some(link), Some(identity)) = (link, identity) {
        out.flush()?;
        let address = args.place.connect.clone().unwrap_or_default();
        let observer = Arc::clone(&teller) as Arc<dyn Observer>;
        let seen = look_aided(agreement, identity, &address, link, observer, &cancel);
        teller.finish();
        let seen = seen.map_err(|error| {
            let what = AidedFailure::Run(error);
            Failure::Aided(Box::new(Aided { what, helper, address, folder: None }))
        })?;
        show_seen(agreement, &seen, out)?;
    }
    Ok(())
}

fn describe(
    args: &CheckArgs,
    agreement: &AidedAgreement,
    party: Option<usize>,
    source: &Source,
    out: &mut impl Write,
) -> Result<(), Failure> {
    writeln!(out, "agreement   {} ({})", agreement.title, agreement.hash().short())?;
    writeln!(out, "protocol    {}", protocols::aided_in_words(agreement))?;
    writeln!(out, "helper      {}", agreement.helper.name)?;
    if let Some(party) = party {
        let terms = &agreement.parties[party];
        let receives = agreement.receives(party);
        writeln!(
            out,
            "you are     {}, {} the result; at most {}, at least {}",
            terms.name,
            if receives { "who receives" } else { "who does not receive" },
            counted(terms.max_rows, "row"),
            counted(terms.min_rows, "different key"),
        )?;
    }
    describe_input(args, source, out)
}

/// What a file holds.
struct Counts {
    streamed: Streamed,
    /// Different keys, where there are not too many to compare them here.
    distinct: Option<u64>,
}

fn count(
    agreement: &AidedAgreement,
    source: &Source,
    key: &[KeyColumn],
    limits: &KeyLimits,
    faults: &mut Faults,
    teller: &AidedTeller,
    cancel: &CancelToken,
) -> Result<Counts, InputError> {
    let mut progress = |progress: vesica_records::Progress| {
        teller.event(&Event::Reading {
            bytes_done: progress.bytes_done,
            bytes_total: progress.bytes_total,
            rows: progress.rows,
        });
        if cancel.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let mut items = Some(Vec::<[u8; Item::LEN]>::new());
    let mut sink = |batch: &[Item]| {
        if let Some(kept) = &mut items {
            let usable = batch.iter().filter(|item| **item != NO_ITEM);
            kept.extend(usable.map(|item| *item.as_bytes()));
        }
        // Too many to be compared here: the run does it.
        if items.as_ref().is_some_and(|kept| kept.len() > MAX_COMPARED_ITEMS) {
            items = None;
        }
        io::Result::Ok(())
    };
    let hash = aided_key_items(agreement);
    let streamed = survey_items(source, key, &hash, limits, faults, &mut sink, &mut progress);
    teller.finish();
    let streamed = streamed.map_err(|error| match error {
        StreamError::Input(error) => error,
        StreamError::Sink(error) => {
            let (path, reason) = (source.path().to_path_buf(), error.kind());
            InputError::Unreadable { path, reason }
        }
    })?;
    let distinct = items.map(|mut items| {
        items.sort_unstable();
        items.dedup();
        items.len() as u64
    });
    Ok(Counts { streamed, distinct })
}

fn show_counts(counts: &Counts, out: &mut impl Write) -> Result<(), Failure> {
    let Counts { streamed, distinct } = counts;
    writeln!(out, "\n{:>13}  rows", grouped(streamed.rows))?;
    writeln!(out, "{:>13}  without a key", grouped(streamed.counts.empty))?;
    writeln!(out, "{:>13}  refused by their profile", grouped(streamed.counts.refused))?;
    match distinct {
        Some(distinct) => {
            let repeated = streamed.keyed.saturating_sub(*distinct);
            writeln!(out, "{:>13}  with a key seen before", grouped(repeated))?;
            writeln!(out, "{:>13}  different keys", grouped(*distinct))?;
        }
        None => writeln!(out, "{:>13}  with a key", grouped(streamed.keyed))?,
    }
    show_refused(&streamed.counts, out)
}

fn show_seen(
    agreement: &AidedAgreement,
    seen: &AidedSeen,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let helper = &agreement.helper.name;
    writeln!(out, "\n{helper} is there and would take this run")?;
    match seen.present.as_slice() {
        [] => writeln!(out, "no party has come yet")?,
        present => writeln!(out, "{} came already", and(present))?,
    }
    if let Some(hash) = &seen.other_agreement {
        writeln!(
            out,
            "another party waits there with another agreement ({}): compare `vesica agree show`",
            short_hash(hash)
        )?;
    }
    Ok(())
}
