//! Reads a party's file, for all ways of matching.

use crate::error::{ConfigFault, InputFault};
use crate::event::reading;
use crate::terms::{extra, key_columns, key_items, key_limits, payload_columns, value_columns};
use crate::{Error, Event, Job, Observer, Phase, output};
use std::ops::ControlFlow;
use vesica_agreement::Agreement;
use vesica_core::{Item, Operation};
use vesica_own_rows::added_columns;
use vesica_protocols::Security;
use vesica_records::payloads::PayloadColumns;
use vesica_records::{
    Extra, KeyColumn, KeyItems, KeyLimits, KeySet, RefusedList, StreamError, Streamed,
    ValueColumns, read_keys_with, stream_items_with,
};
use vesica_tables::{
    InputError, Origin, OutputOptions, Progress, Source, check_added, check_table_output,
};

/// A party's file, and how its rows become items.
pub(crate) struct Reader<'a> {
    agreement: &'a Agreement,
    source: &'a Source,
    key: Vec<KeyColumn>,
    values: Option<ValueColumns>,
    payloads: Option<PayloadColumns>,
    hash: KeyItems,
    limits: KeyLimits,
    refused: Option<&'a OutputOptions>,
    min_rows: u64,
    observer: &'a dyn Observer,
}

impl<'a> Reader<'a> {
    /// Checks what can be checked of `party`'s job before its rows are read. `may_overwrite` says
    /// whether an existing file at the result's path may be replaced although the job does not
    /// allow it.
    pub(crate) fn new(
        job: &'a Job,
        party: &str,
        may_overwrite: bool,
        observer: &'a dyn Observer,
    ) -> Result<Self, Error> {
        let Job { agreement, source, columns, output, mark, order, refused, .. } = job;
        let insecure = agreement.candidates().iter().find(|row| row.security == Security::Insecure);
        if let (Some(row), false) = (insecure, job.allow_insecure) {
            return Err(ConfigFault::Insecure { protocol: row.id }.into());
        }
        if let Some(mark) = mark {
            check_has_rows(agreement, party)?;
            check_added(source, &added_columns(agreement, Some(party), Some(mark)))?;
        }
        if let Some(output) = output {
            if !agreement.is_receiver_of_result(party) {
                return Err(ConfigFault::OutputNotLearned { party: party.to_owned() }.into());
            }
            let force = output.force || may_overwrite;
            let mark = mark.as_deref();
            let options = OutputOptions { force, ..output.clone() };
            output::check(agreement, party, source, mark, &options)?;
        }
        if let Some(order) = order {
            let operation = agreement.operation();
            let are_shares = matches!(operation, Operation::Shares | Operation::SharedValues);
            if !are_shares || agreement.question.computed().is_some() {
                return Err(ConfigFault::NoOrder { operation }.into());
            }
            let force = order.force || may_overwrite;
            output::check_order(source, &OutputOptions { force, ..order.clone() })?;
        }
        if let Some(refused) = refused {
            check_table_output(Origin::OwnersAlone(source), refused)?;
        }
        let key = key_columns(agreement, Some(party), columns)?;
        let values = value_columns(agreement, party, columns);
        let payloads = payload_columns(agreement, party, columns);
        let terms = agreement.terms_of(party);
        Ok(Self {
            agreement,
            source,
            hash: key_items(agreement, &key),
            limits: key_limits(terms, job.strict),
            refused: refused.as_ref(),
            min_rows: terms.min_rows,
            key,
            values,
            payloads,
            observer,
        })
    }

    /// Whether this party sends columns of its rows.
    pub(crate) fn sends_columns(&self) -> bool {
        self.payloads.is_some()
    }

    /// The key columns as the file names them.
    pub(crate) fn columns(&self) -> Vec<String> {
        self.key.iter().map(|key| key.column.clone()).collect()
    }

    /// Passes the item of every row to `sink`, in the order of the rows.
    ///
    /// # Errors
    /// Errors of the file and of `sink`, and [`InputFault::TooFewKeys`] if fewer than `min_rows`
    /// rows have a key.
    pub(crate) fn items(
        &self,
        sink: &mut dyn FnMut(&[Item]) -> Result<(), Error>,
        go_on: impl Fn(Progress) -> ControlFlow<()>,
    ) -> Result<Streamed, Error> {
        self.observer.event(&Event::Phase(Phase::Reading));
        let mut progress = |progress| {
            self.observer.event(&reading(progress));
            go_on(progress)
        };
        let (key, hash) = (&self.key, &self.hash);
        let (source, limits) = (self.source, &self.limits);
        let list = self.list()?;
        let streamed =
            stream_items_with(source, key, list.as_ref(), hash, limits, sink, &mut progress)
                .map_err(|error| match error {
                    StreamError::Input(error) => error.into(),
                    StreamError::Sink(error) => error,
                });
        let streamed = keep(list, streamed)?;
        // Repeated keys are not known yet.
        self.check_number(streamed.items)?;
        Ok(streamed)
    }

    /// The distinct keys, with the values, texts and payloads that the operation needs.
    ///
    /// # Errors
    /// Errors of the file.
    pub(crate) fn keys(
        &self,
        go_on: impl Fn(Progress) -> ControlFlow<()>,
    ) -> Result<KeySet, Error> {
        self.observer.event(&Event::Phase(Phase::Reading));
        let mut progress = |progress| {
            self.observer.event(&reading(progress));
            go_on(progress)
        };
        let list = self.list()?;
        let extra = extra(self.agreement, self.values.as_ref(), self.payloads.as_ref());
        let extra = Extra { refused: list.as_ref(), ..extra };
        let (key, hash) = (&self.key, &self.hash);
        let read = read_keys_with(self.source, key, extra, hash, &self.limits, &mut progress);
        keep(list, read.map_err(Error::from))
    }

    /// An empty list for refused rows, if one is wanted.
    fn list(&self) -> Result<Option<RefusedList>, Error> {
        let list = self.refused.map(|file| RefusedList::create(self.source, file));
        Ok(list.transpose()?)
    }

    /// Refuses fewer `distinct` keys than this party must bring.
    ///
    /// # Errors
    /// [`InputFault::TooFewKeys`].
    pub(crate) fn check_number(&self, distinct: u64) -> Result<(), Error> {
        let min = self.min_rows;
        if distinct < min { Err(InputFault::TooFewKeys { distinct, min }.into()) } else { Ok(()) }
    }
}

/// Refuses a mark if the result says nothing of rows, or this party does not receive it.
fn check_has_rows(agreement: &Agreement, party: &str) -> Result<(), ConfigFault> {
    let operation = agreement.operation();
    if !matches!(operation, Operation::Intersection | Operation::Union | Operation::PrivateId) {
        return Err(ConfigFault::NoMark { operation });
    }
    if agreement.is_receiver_of_result(party) {
        Ok(())
    } else {
        Err(ConfigFault::MarkNotLearned { party: party.to_owned() })
    }
}

/// Completes the list after a pass that read all rows, even if none of them has a key. A list of
/// only a part of the file would look complete.
fn keep<T>(list: Option<RefusedList>, read: Result<T, Error>) -> Result<T, Error> {
    let is_whole = match &read {
        Err(Error::Input(InputFault::Data(error))) => matches!(error, InputError::NoKeys { .. }),
        read => read.is_ok(),
    };
    let kept = list.filter(|_| is_whole).map_or(Ok(()), RefusedList::finish);
    let read = read?;
    kept?;
    Ok(read)
}
