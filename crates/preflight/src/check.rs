//! One pass over a party's rows.

use crate::checked::{Checked, CheckedKey, Limits, Read, Refused, RuleRead};
use crate::needs::Needs;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::ops::ControlFlow;
use std::path::PathBuf;
use vesica_agreement::Agreement;
use vesica_core::{Item, Operation};
use vesica_engine::disk::check_scratch;
use vesica_engine::terms::{
    check_result_columns, extra, key_columns, key_items, key_limits, payload_columns, value_columns,
};
use vesica_engine::{ConfigFault, Error, MEMORY_BYTES_DEFAULT};
use vesica_records::payloads::PayloadColumns;
use vesica_records::{
    Extra, KeyColumn, KeyLimits, KeyRule, NO_ITEM, RefusedList, StreamError, Survey, ValueColumns,
    survey_items, survey_keys,
};
use vesica_tables::{InputError, OutputError, OutputOptions, Progress, Source, check_columns};

/// Upper bound on the items that a check compares to count the different ones: 256 MiB.
const MAX_COMPARED_ITEMS: usize = 1 << 24;

/// The caller's options.
#[derive(Clone, Debug)]
pub struct Options {
    /// For a key or a column of values of the agreement the column of the data that holds it, if
    /// the names differ.
    pub columns: BTreeMap<String, String>,
    /// Whether a refused value is a fault rather than a skipped and counted row.
    pub strict: bool,
    /// Number of rows, from the first one, whose shapes are counted; at least one.
    pub shape_rows: u64,
    /// About how many bytes of memory the run may use.
    pub memory_bytes: u64,
    /// The run's folder for intermediate data; by default the current one.
    pub scratch: Option<PathBuf>,
    /// The file for a [`RefusedList`], if one is wanted.
    pub refused: Option<OutputOptions>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            columns: BTreeMap::new(),
            strict: false,
            shape_rows: 100_000,
            memory_bytes: MEMORY_BYTES_DEFAULT,
            scratch: None,
            refused: None,
        }
    }
}

/// A check of a party's rows against an agreement.
///
/// ```
/// # use std::{collections::BTreeMap, fs, ops::ControlFlow};
/// use vesica_preflight::{Check, Options};
/// use vesica_agreement::Agreement;
/// # use vesica_link::Identity;
/// use vesica_tables::{ReadOptions, Source};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("customers.csv");
/// # fs::write(&path, "mail\nann@a.org\nAnn@a.org\n\nbob\n")?;
/// # let [clinic, register] = [Identity::generate()?, Identity::generate()?];
/// # let agreement = Agreement::parse(&format!(
/// #     r#"
/// # version = 2
/// # title = "example"
/// # operation = "intersection"
/// # receives = "clinic"
/// # security = "semi-honest"
/// # [[key]]
/// # name = "email"
/// # profile = "email"
/// # [party.clinic]
/// # identity = "{}"
/// # max_rows = 100
/// # min_rows = 2
/// # [party.register]
/// # identity = "{}"
/// # max_rows = 100
/// # "#,
/// #     clinic.public(),
/// #     register.public(),
/// # ))?;
/// let source = Source::open(path, &ReadOptions::default())?;
/// let columns = BTreeMap::from([("email".to_owned(), "mail".to_owned())]);
/// let options = Options { columns, ..Options::default() };
/// let check = Check::new(&agreement, Some("clinic"), &options)?;
/// let checked = check.run(&source, &mut |_| ControlFlow::Continue(()))?;
///
/// let read = checked.read.as_ref().expect("the file was read to its end");
/// assert_eq!((read.counts.rows, read.counts.refused, read.distinct), (3, 1, Some(1)));
/// assert_eq!(checked.key[0].shapes.shapes[0].pattern, "Aa+@a.a+");
/// let refused = checked.refused.expect("the agreement asks for more");
/// assert_eq!(refused.to_string(), "1 different keys where the agreement asks for at least 2");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Check<'a> {
    agreement: &'a Agreement,
    party: Option<&'a str>,
    key: Vec<KeyColumn>,
    values: Option<ValueColumns>,
    payloads: Option<PayloadColumns>,
    options: Options,
}

impl<'a> Check<'a> {
    /// A check of the rows of `party`, or of rows whose party is not known: these have no limits
    /// and no values.
    ///
    /// # Errors
    /// [`ConfigFault::UnknownKey`](vesica_engine::ConfigFault::UnknownKey) if the columns name
    /// something that is neither a key of the agreement nor a column of values that may be this
    /// party's.
    ///
    /// # Panics
    /// When the agreement has no such party, as [`Agreement::terms_of`].
    pub fn new(
        agreement: &'a Agreement,
        party: Option<&str>,
        options: &Options,
    ) -> Result<Self, Error> {
        let party = party.map(|party| &*agreement.terms_of(party).name);
        let key = key_columns(agreement, party, &options.columns)?;
        let columns = &options.columns;
        let values = party.and_then(|party| value_columns(agreement, party, columns));
        let payloads = party.and_then(|party| payload_columns(agreement, party, columns));
        Ok(Self { agreement, party, key, values, payloads, options: options.clone() })
    }

    /// Reads all rows of `source` once, even if they have faults.
    ///
    /// Takes as much memory as a run's first pass; for an intersection as much as the items of at
    /// most 2^24 rows. `progress` is called at most some tens of times a second. `Break` ends the
    /// pass; [`Checked::refused`] then holds [`InputError::Interrupted`].
    ///
    /// # Errors
    /// The file for the list of refused rows cannot be written.
    pub fn run(
        &self,
        source: &Source,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Checked, OutputError> {
        let terms = self.party.map(|party| self.agreement.terms_of(party));
        let strict = self.options.strict;
        let agreed = terms.map_or(KeyLimits::default(), |terms| key_limits(terms, strict));
        // A file without keys also has counts and shapes; the code below decides whether it is
        // refused.
        let limits = KeyLimits { strict, may_be_empty: true, ..agreed };
        let list = self
            .options
            .refused
            .as_ref()
            .map(|file| RefusedList::create(source, file))
            .transpose()?;
        let mut survey = Survey::new(self.key.clone(), self.options.shape_rows);
        let pass = match self.agreement.operation() {
            // Such a run does not keep all items in memory, and neither does its check.
            Operation::Intersection if self.payloads.is_none() => {
                self.stream(source, &limits, &mut survey, list.as_ref(), progress)
            }
            _ => self.keep(source, &limits, &mut survey, list.as_ref(), progress),
        };
        // A list of only a part of the file would look complete.
        list.filter(|_| pass.is_ok()).map_or(Ok(()), RefusedList::finish)?;
        let (faults, shapes) = survey.finish();
        let has_expired = self.agreement.is_expired(jiff::Timestamp::now());
        let (read, ended) = match pass {
            // A run with a result also reads the other columns.
            Ok(read) => (Some(read), check_columns(source).err()),
            Err(error) => (None, Some(error)),
        };
        let needs = read.as_ref().and_then(|read| {
            // Under rules a row without a key takes room, too.
            let is_plain = self.agreement.rules.is_empty();
            self.needs(if is_plain { read.keyed() } else { read.counts.rows })
        });
        let mut checked = Checked {
            party: self.party.map(str::to_owned),
            read,
            key: self
                .key
                .iter()
                .zip(shapes)
                .map(|(key, shapes)| CheckedKey::new(key, shapes))
                .collect(),
            value_columns: self.values.iter().flat_map(ValueColumns::all).cloned().collect(),
            sent_columns: self.payloads.iter().flat_map(PayloadColumns::names).collect(),
            faults,
            limits: terms
                .map(|terms| Limits { min_rows: terms.min_rows, max_rows: terms.max_rows }),
            expired: self.agreement.expires.filter(|_| has_expired),
            needs,
            refused: None,
        };
        let fault = || self.output_fault(source).or_else(|| self.scratch_fault(source));
        let judge = || checked.judge(source, agreed.may_be_empty, fault);
        checked.refused = ended.map(Refused::Data).or_else(judge);
        Ok(checked)
    }

    /// What a run of that many `rows` needs, if the party is known and the folder can be examined.
    fn needs(&self, rows: u64) -> Option<Needs> {
        let Options { memory_bytes, scratch, .. } = &self.options;
        Needs::of(self.agreement, self.party?, rows, *memory_bytes, scratch.clone()).ok()?
    }

    /// A column that the result of this party cannot have.
    fn output_fault(&self, source: &Source) -> Option<Refused> {
        let receives = |party| self.agreement.is_receiver_of_result(party);
        let is_written = self.party.is_none_or(receives);
        check_result_columns(self.agreement, self.party, source)
            .err()
            .filter(|_| is_written)
            .map(Refused::Output)
    }

    /// The folder for intermediate data, if a run would refuse it.
    fn scratch_fault(&self, source: &Source) -> Option<Refused> {
        let Options { memory_bytes, scratch, .. } = &self.options;
        let checked =
            check_scratch(self.agreement, self.party, source, *memory_bytes, scratch.as_deref());
        match checked.err()? {
            ConfigFault::Scratch { folder, kind } => Some(Refused::Scratch { folder, kind }),
            _ => None,
        }
    }

    /// The pass of a run that stores what it reads.
    fn keep(
        &self,
        source: &Source,
        limits: &KeyLimits,
        survey: &mut Survey,
        refused: Option<&RefusedList>,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Read, InputError> {
        let (values, payloads) = (self.values.as_ref(), self.payloads.as_ref());
        let extra = Extra { refused, ..extra(self.agreement, values, payloads) };
        let hash = key_items(self.agreement, &self.key);
        let set = survey_keys(source, extra, &hash, limits, survey, progress)?;
        Ok(Read { distinct: Some(set.counts.distinct), counts: set.counts, rules: Vec::new() })
    }

    /// The pass of an intersection.
    fn stream(
        &self,
        source: &Source,
        limits: &KeyLimits,
        survey: &mut Survey,
        refused: Option<&RefusedList>,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Read, InputError> {
        let hash = key_items(self.agreement, &self.key);
        let entries = self.agreement.rules.iter().map(|rule| rule.most);
        let mut kept = Some(KeptItems::new(entries.collect()));
        let mut sink = |batch: &[Item]| {
            if let Some(kept) = &mut kept {
                kept.take(batch);
            }
            // Too many to compare here; the run compares them.
            kept.take_if(|kept| kept.len > MAX_COMPARED_ITEMS);
            Ok::<_, Infallible>(())
        };
        let streamed = survey_items(source, &hash, limits, survey, refused, &mut sink, progress);
        let counts = match streamed {
            Ok(streamed) => streamed.counts,
            Err(StreamError::Input(error)) => return Err(error),
            Err(StreamError::Sink(never)) => match never {},
        };
        let counted = kept.map(|kept| (kept.len as u64, kept.count()));
        let rules = (0..).zip(&self.agreement.rules);
        let rules = rules.map(|(number, rule): (usize, &KeyRule)| {
            let of_rule = counted.as_ref().map(|(_, rules)| rules[number]);
            RuleRead {
                name: rule.name.clone(),
                rows: counts.by_rule[number].rows,
                too_many: counts.by_rule[number].too_many,
                not_taken: counts.by_rule[number].not_taken,
                distinct: of_rule.map(|of| of.distinct),
                repeated: of_rule.map(|of| of.repeated),
            }
        });
        let rules = rules.collect();
        let distinct =
            counted.map(|(items, of)| (items, of.iter().map(|of| of.distinct).sum::<u64>()));
        let mut read = Read { counts, distinct: distinct.map(|(_, distinct)| distinct), rules };
        if let Some((items, distinct)) = distinct {
            (read.counts.distinct, read.counts.duplicates) = (distinct, items - distinct);
        }
        Ok(read)
    }
}

/// The items of rows, by rule.
struct KeptItems {
    by_rule: Vec<Vec<Item>>,
    /// How many entries a row has under each rule.
    entries: Vec<usize>,
    len: usize,
}

/// The keys under one rule.
#[derive(Clone, Copy)]
struct KeysOfRule {
    distinct: u64,
    /// Of more than one row.
    repeated: u64,
}

impl KeptItems {
    /// For rows with these numbers of entries under rules; without rules they have one.
    fn new(entries: Vec<usize>) -> Self {
        let entries = if entries.is_empty() { vec![1] } else { entries };
        Self { by_rule: vec![Vec::new(); entries.len()], entries, len: 0 }
    }

    /// Takes the entries of whole rows.
    fn take(&mut self, batch: &[Item]) {
        for mut row in batch.chunks_exact(self.entries.iter().sum()) {
            for (items, entries) in self.by_rule.iter_mut().zip(&self.entries) {
                let (of_rule, others) = row.split_at(*entries);
                let before = items.len();
                items.extend(of_rule.iter().filter(|item| **item != NO_ITEM));
                self.len += items.len() - before;
                row = others;
            }
        }
    }

    fn count(self) -> Vec<KeysOfRule> {
        let of_rule = |mut items: Vec<Item>| {
            items.sort_unstable();
            let groups = items.chunk_by(|one, two| one == two);
            let repeated = groups.clone().filter(|group| group.len() > 1).count() as u64;
            KeysOfRule { distinct: groups.count() as u64, repeated }
        };
        self.by_rule.into_iter().map(of_rule).collect()
    }
}
