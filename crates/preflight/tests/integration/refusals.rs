//! Why a run would refuse rows.

use crate::support::{AIDED, SUM, TERMS, Terms};
use std::ops::ControlFlow;
use vesica_engine::{ConfigFault, Error, InputFault, Phase};
use vesica_preflight::{Limits, Options, Refused};
use vesica_records::FaultCount;
use vesica_tables::{InputError, Place};

/// The lines of a kind of fault.
fn lines(kind: &FaultCount) -> Vec<Place> {
    assert_eq!(kind.count, kind.first.len() as u64);
    kind.first.clone()
}

#[test]
fn faults_are_counted_next_to_the_good_rows() {
    let table = "email,amount\na@a.example,1\nb@b.example,-2\nc@c.example\nd@d.example,300\n\
                 e@e.example,-5\n";
    let checked = SUM.check(table, &Options::default());
    assert_eq!(checked.refused, Some(Refused::Faults));
    let kinds = checked.faults.kinds();
    let told: Vec<_> = kinds.iter().map(lines).collect();
    assert_eq!(
        told,
        [vec![3, 6], vec![4], vec![5]]
            .map(|all| all.into_iter().map(Place::Line).collect::<Vec<_>>())
    );
    assert!(matches!(kinds[1].example, InputError::Ragged { line: 4, .. }));
    let read = checked.read.unwrap();
    assert_eq!((read.counts.rows, read.distinct), (4, Some(4)));
    assert_eq!(checked.key[0].shape_rows(), 4);
}

#[test]
fn refused_values_are_faults_only_if_strict() {
    let table = "email\na@a.example\nx\n";
    for terms in [TERMS, AIDED] {
        assert_eq!(terms.check(table, &Options::default()).refused, None);
        let strict = terms.check(table, &Options { strict: true, ..Options::default() });
        assert_eq!(strict.refused, Some(Refused::Faults));
        assert_eq!(lines(&strict.faults.kinds()[0]), [Place::Line(3)]);
    }
}

#[test]
fn an_unclosed_quote_hides_the_rest() {
    let checked = TERMS.check("email\na@a.example\n\"b@b.example\n", &Options::default());
    assert!(checked.faults.is_cut());
    assert_eq!((checked.refused, checked.read.unwrap().distinct), (Some(Refused::Faults), Some(1)));
}

#[test]
fn too_few_different_keys_are_refused_with_all_counts() {
    let table = "email\na@a.example\nA@a.example\nb@b.example\n";
    for terms in [TERMS, AIDED] {
        let few = Terms { min_rows: 3, ..terms };
        let checked = few.check(table, &Options::default());
        assert_eq!(checked.limits, Some(Limits { min_rows: 3, max_rows: 100 }));
        assert_eq!((checked.has_too_few_keys(), checked.has_too_many_rows()), (Some(true), false));
        assert_eq!(checked.read.unwrap().distinct, Some(2));
        let refused = checked.refused.unwrap();
        assert_eq!(refused, Refused::TooFewKeys { distinct: 2, min: 3 });
        let error = refused.error();
        let expected = InputFault::TooFewKeys { distinct: 2, min: 3 };
        assert!(matches!(error, Some(Error::Input(fault)) if fault == expected));
        let enough = Terms { min_rows: 2, ..few };
        let checked = enough.check(table, &Options::default());
        assert_eq!((checked.has_too_few_keys(), checked.refused), (Some(false), None));
    }
}

#[test]
fn too_many_rows_end_the_pass_and_what_was_found_is_kept() {
    let table = "email\na@a.example\nb@b.example,\nc@c.example\nd@d.example\n";
    for terms in [TERMS, AIDED] {
        let exact = Terms { max_rows: 3, ..terms };
        assert_eq!(exact.check(table, &Options::default()).refused, Some(Refused::Faults));
        let checked = Terms { max_rows: 2, ..exact }.check(table, &Options::default());
        assert_eq!((checked.has_too_few_keys(), checked.has_too_many_rows()), (None, true));
        assert_eq!(checked.read, None);
        assert_eq!(lines(&checked.faults.kinds()[0]), [Place::Line(3)]);
        assert_eq!(checked.key[0].shape_rows(), 2);
        let Some(Refused::Data(error)) = checked.refused else { panic!("it is refused") };
        assert!(matches!(error, InputError::TooManyRows { limit: 2, .. }), "{error:?}");
    }
}

#[test]
fn data_without_a_key_is_refused_unless_it_may_be_empty() {
    for terms in [TERMS, AIDED] {
        let may = Terms { min_rows: 0, ..terms };
        let none = "email\n\nx\n\"\"\n";
        let checked = may.check(none, &Options::default());
        assert_eq!((checked.refused, checked.read.unwrap().distinct), (None, Some(0)));
        let must = Terms { min_rows: 1, ..may };
        let checked = must.check(none, &Options::default());
        let Some(Refused::Data(error)) = &checked.refused else { panic!("it is refused") };
        assert!(matches!(error, InputError::NoKeys { rows: 2, empty: 1, refused: 1, .. }));
        // The counts and shapes say what is wrong.
        assert_eq!(checked.read.unwrap().counts.refused_by[0].first, [Place::Line(3)]);
        assert_eq!(checked.key[0].shape_rows(), 2);
        let checked = must.check("email\n", &Options::default());
        assert!(matches!(checked.refused, Some(Refused::Data(InputError::NoRows { .. }))));
        assert_eq!(checked.read.unwrap().counts.rows, 0);
    }
}

#[test]
fn an_agreement_that_is_over_is_told_last() {
    let over = Terms { fields: "expires = 2001-02-03", ..TERMS };
    let checked = over.check("email\na@a.example\n", &Options::default());
    let refused = checked.refused.unwrap();
    assert_eq!(refused.to_string(), "the agreement expired on 2001-02-03");
    assert!(matches!(refused.error(), Some(Error::Config(ConfigFault::Expired { .. }))));
    let checked = over.check("email\nx,y\n", &Options::default());
    assert_eq!((checked.refused, checked.expired.is_some()), (Some(Refused::Faults), true));
    let lasts = Terms { fields: "expires = 2999-02-03", ..over };
    let checked = lasts.check("email\na@a.example\n", &Options::default());
    assert_eq!((checked.refused, checked.expired), (None, None));
}

#[test]
fn the_caller_can_end_the_pass() {
    for terms in [TERMS, AIDED] {
        let stop = &mut |_| ControlFlow::Break(());
        let checked = terms.check_with("email\na@a.example\n", None, &Options::default(), stop);
        assert_eq!(checked.read, None);
        let error = checked.refused.and_then(|refused| refused.error());
        assert!(matches!(error, Some(Error::Interrupted { phase: Phase::Reading })), "{error:?}");
    }
}
