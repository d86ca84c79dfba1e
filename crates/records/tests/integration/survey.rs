//! A pass over a whole file, even if rows have faults.

use crate::common::{Scratch, hash, key, open, silent};
use vesica_core::Item;
use vesica_records::{
    Duplicates, Extra, Faults, KeyCounts, KeyLimits, KeySet, Survey, ValueColumns, read_keys_with,
    survey_items, survey_keys,
};
use vesica_tables::{InputError, Place};

struct Asked {
    values: Option<ValueColumns>,
    texts: Option<usize>,
    strict: bool,
}

const KEYS: Asked = Asked { values: None, texts: None, strict: false };

fn values(duplicates: Duplicates) -> Option<ValueColumns> {
    Some(ValueColumns {
        columns: vec!["amount".into()],
        groups: None,
        bits: 8,
        signed: false,
        duplicates,
    })
}

/// A kind of fault as text, the number of rows with it, and their first lines.
type Found = (String, u64, Vec<u64>);

/// The faults of the file `text`.
fn survey(text: impl AsRef<[u8]>, asked: &Asked) -> (Vec<Found>, Faults, KeySet) {
    let dir = Scratch::new();
    let source = open(dir.file("a.csv", text)).unwrap();
    let columns = key(&[("mail", "email")]);
    let limits = KeyLimits { strict: asked.strict, ..KeyLimits::default() };
    let extra = Extra { values: asked.values.as_ref(), texts: asked.texts, ..Extra::default() };
    let mut survey = Survey::new(columns.clone(), 100);
    let set = survey_keys(&source, extra, &hash(), &limits, &mut survey, &mut silent);
    let (faults, shapes) = survey.finish();
    let read = read_keys_with(&source, &columns, extra, &hash(), &limits, &mut silent);
    assert_eq!(read.is_err(), !faults.is_empty(), "a run refuses what a check finds: {read:?}");
    if let Err(error) = &read {
        let known = |kind: &vesica_records::FaultCount| kind.example == *error;
        assert!(faults.kinds().iter().any(known), "{error:?} is not in {faults:?}");
    }
    if asked.values.is_none() && asked.texts.is_none() {
        let mut streamed = Survey::new(columns, 100);
        let mut sink = |_: &[Item]| Ok::<_, ()>(());
        survey_items(&source, &hash(), &limits, &mut streamed, None, &mut sink, &mut silent)
            .unwrap();
        assert_eq!(streamed.finish(), (faults.clone(), shapes));
    }
    let line = |place: &Place| match place {
        Place::Line(line) | Place::Row(line) => *line,
        place => panic!("{place} of one file"),
    };
    let name = |error: &InputError| {
        format!("{error:?}").split([' ', '{']).next().unwrap_or_default().to_owned()
    };
    let told = faults
        .kinds()
        .iter()
        .map(|kind| (name(&kind.example), kind.count, kind.first.iter().map(line).collect()));
    (told.collect(), faults.clone(), set.unwrap())
}

fn told(list: &[(&str, u64, &[u64])]) -> Vec<(String, u64, Vec<u64>)> {
    list.iter().map(|(name, count, lines)| ((*name).into(), *count, lines.to_vec())).collect()
}

#[test]
fn a_good_file_has_no_faults() {
    let text = "mail,amount\na@b.de,1\nA@b.de,2\nx,9\n,3\n";
    let (faults, all, set) = survey(text, &KEYS);
    assert!(faults.is_empty() && all.is_empty() && !all.is_cut());
    let KeyCounts { rows, empty, refused, duplicates, distinct, .. } = set.counts;
    assert_eq!((rows, empty, refused, duplicates, distinct), (4, 1, 1, 1, 1));
}

#[test]
fn every_kind_is_counted_with_its_first_lines_and_good_rows_are_read() {
    let mut text = b"mail,amount\n".to_vec();
    text.extend_from_slice(b"a@b.de,1\n"); // 2
    text.extend_from_slice(b"b@b.de\n"); // 3, too few
    text.extend_from_slice(b"\"c@b.de\"x,1\n"); // 4, after a quote
    text.extend_from_slice(b"caf\xe9@b.de,\xe9\n"); // 5, not UTF-8
    text.extend_from_slice(b"d@b.de,1\n"); // 6
    text.extend_from_slice(b"e\0@b.de,1\r\n"); // 7, NUL
    text.extend_from_slice(b"f@b.de,1,2,3\r\n"); // 8, too many
    text.extend_from_slice(b" \"g@b.de\",1\r"); // 9, blank before a quote
    text.extend_from_slice(b"h@b.de,1\n"); // 10
    text.extend_from_slice(b"\"i\n@b.de\xff\",1\n"); // 11 and 12, not UTF-8
    text.extend_from_slice(b"\"j@b.de\"\"\"y\n"); // 13, after a quote, without a second cell
    text.extend_from_slice(b"k@b.de,1\n"); // 14
    let (faults, all, set) = survey(&text, &KEYS);
    let expected = told(&[
        ("Ragged", 2, &[3, 8]),
        ("Stray", 2, &[4, 13]),
        // Text that is not UTF-8 has the place of its byte.
        ("InvalidUtf8", 2, &[5, 12]),
        ("Stray", 1, &[7]),
        ("Misquoted", 1, &[9]),
    ]);
    assert_eq!(faults, expected);
    assert!(!all.is_cut());
    // a, d, h and k; and g, whose fault is its spelling: its address is refused.
    assert_eq!((set.counts.rows, set.counts.distinct, set.counts.refused), (5, 4, 1));
}

#[test]
fn more_faults_than_are_listed_are_counted() {
    let text = format!("mail,amount\n{}", "a@b.de,1,2\n".repeat(100_000));
    let (faults, all, _) = survey(text, &KEYS);
    assert_eq!(faults, told(&[("Ragged", 100_000, &[2, 3, 4, 5, 6])]));
    assert_eq!(all.total(), 100_000);
}

#[test]
fn faults_at_every_place_of_the_buffer_do_not_affect_other_rows() {
    // Records of about the buffer's size, so that a fault lies on each of its edges.
    for pad in (250_000..262_200).step_by(977).chain(262_120..262_150) {
        let mut text = b"mail,amount\n".to_vec();
        text.extend_from_slice(format!("a@b.de,{}\n", "1".repeat(pad)).as_bytes());
        text.extend_from_slice(b"\"b@b.de\"x,1\r\nc@b.de,1\r\nd\xff@b.de,1\r\ne@b.de,1\r\n");
        let (faults, _, set) = survey(&text, &KEYS);
        let expected = told(&[("Stray", 1, &[3]), ("InvalidUtf8", 1, &[5])]);
        assert_eq!((faults, set.counts.distinct), (expected, 3), "{pad}");
    }
}

#[test]
fn a_fault_that_hides_the_rest_ends_the_pass_and_is_reported() {
    let (faults, all, set) = survey("mail,amount\na@b.de\nb@b.de,1\n\"c,1\nd@b.de,1\n", &KEYS);
    assert_eq!(faults, told(&[("Ragged", 1, &[2]), ("UnterminatedQuote", 1, &[4])]));
    assert!(all.is_cut());
    assert_eq!(set.counts.distinct, 1);
}

#[test]
fn all_invalid_values_are_reported() {
    let text = "mail,amount\na@b.de,-1\nb@b.de,12.5\nc@b.de,300\nd@b.de,x\ne@b.de,-2\nf@b.de,7\n";
    let asked = Asked { values: values(Duplicates::Sum), ..KEYS };
    let (faults, ..) = survey(text, &asked);
    let one = |line| ("BadValue", 1, line);
    let lines: [&[u64]; 3] = [&[3], &[4], &[5]];
    let [a, b, c] = lines.map(one);
    assert_eq!(faults, told(&[("BadValue", 2, &[2, 6]), a, b, c]));
}

#[test]
fn all_repeated_keys_and_too_large_totals_are_reported() {
    let text = "mail,amount\na@b.de,200\nb@b.de,1\na@b.de,100\nb@b.de,2\nb@b.de,3\nc@b.de,9\n";
    let refuse = Asked { values: values(Duplicates::Refuse), ..KEYS };
    assert_eq!(survey(text, &refuse).0, told(&[("DuplicateKey", 3, &[4, 5, 6])]));
    let sum = Asked { values: values(Duplicates::Sum), ..KEYS };
    assert_eq!(survey(text, &sum).0, told(&[("TotalTooLarge", 1, &[4])]));
    let first = Asked { values: values(Duplicates::First), ..KEYS };
    assert_eq!(survey(text, &first).0, told(&[]));
}

#[test]
fn all_long_keys_and_strictly_refused_ones_are_reported() {
    let text = "mail,amount\na@b.de,1\nlong.one@b.de,1\nx,1\nlong.two@b.de,1\ny,1\nb@b.de,1\n";
    let asked = Asked { texts: Some(8), ..KEYS };
    let (faults, _, set) = survey(text, &asked);
    assert_eq!(faults, told(&[("KeyTooLong", 2, &[3, 5])]));
    let counts = &set.counts;
    assert_eq!((counts.distinct, counts.refused, counts.duplicates), (2, 2, 0));
    assert_eq!(set.texts.map(|texts| texts.len()), Some(2));
    let asked = Asked { texts: Some(8), strict: true, ..KEYS };
    let (faults, ..) = survey(text, &asked);
    assert_eq!(faults, told(&[("KeyTooLong", 2, &[3, 5]), ("Refused", 2, &[4, 6])]));
}
