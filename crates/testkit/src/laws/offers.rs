//! What a protocol offers, and that it refuses all else.

use super::{items_for, law_bits, payload_len};
use std::sync::Arc;
use vesica_core::{
    Bounds, Error, Item, Learns, ParameterError, PsiParams, Query, Role, SessionId, TextLen, Values,
};
use vesica_party::{Input, Operation, Partitions, Protocol};

/// The receiver's values of an inner product.
pub(crate) fn factors(bits: u32) -> Values {
    Values::new(Role::Receiver, bits).expect("1 to 64 bits")
}

/// A query that `protocol` offers.
fn offered_query(protocol: &Protocol) -> Query {
    let values = Values::new(Role::Sender, 8).expect("values have 8 bits");
    match protocol.operations.first() {
        Some(Operation::Cardinality) => Query::Cardinality,
        Some(Operation::Threshold) => Query::Threshold { min: 1 },
        Some(Operation::Sum) => Query::Sum(values),
        Some(Operation::InnerProduct) => Query::InnerProduct { values, factors: factors(8) },
        Some(Operation::Union) => Query::Union(TextLen::MAX),
        Some(Operation::PrivateId) => Query::PrivateId,
        Some(Operation::Shares) => Query::Shares(None),
        Some(Operation::SharedValues) => Query::SharedValues { values, default: 0 },
        _ => Query::Intersection,
    }
}

/// Law for what a protocol does not offer: it is refused before anything is sent.
pub fn what_is_not_offered_is_refused(protocol: &Protocol) {
    let bits = law_bits(protocol);
    let query = offered_query(protocol);
    let of = |learns| {
        PsiParams::new(SessionId::from_bytes([3; 32]), 2, 2, learns)
            .and_then(|params| params.with_item_bits(bits))
            .expect("test sets are small")
            .with_query(query)
    };
    let learners = protocol.learners_of(query.operation());
    let params = of(*learners.last().expect("some party learns the result"));
    let set = Arc::new(items_for(protocol, 0..2));
    let refused = |params, input: Input| {
        [Role::Sender, Role::Receiver].map(|role| protocol.party(role, params, input.clone()).err())
    };
    let values = Values::new(Role::Sender, 8).expect("values have 8 bits");
    let others = [
        Query::Intersection,
        Query::Cardinality,
        Query::Threshold { min: 1 },
        Query::Sum(values),
        Query::InnerProduct { values, factors: factors(8) },
        Query::Union(TextLen::MAX),
        Query::PrivateId,
        Query::Shares(None),
        Query::SharedValues { values, default: 0 },
    ];
    for query in others {
        if !protocol.operations.contains(&query.operation()) {
            let error = Some(ParameterError::UnsupportedOperation.into());
            let found = refused(params.with_query(query), Arc::clone(&set).into());
            assert_eq!(found, [error.clone(), error], "{}", protocol.id);
        }
    }
    if protocol.operations.contains(&Operation::Intersection) && !protocol.payloads {
        let error = Some(ParameterError::UnsupportedPayloads.into());
        let with_payloads = params.with_query(Query::Payloads(payload_len(1)));
        let found = refused(with_payloads, Arc::clone(&set).into());
        assert_eq!(found, [error.clone(), error], "{}", protocol.id);
    }
    if !protocol.bounds.are_kept() {
        let bounded = params.with_bounds(Bounds::new(Some(1), None).expect("one bound"));
        let error = Some(ParameterError::UnsupportedBounds.into());
        assert_eq!(refused(bounded, Arc::clone(&set).into()), [error.clone(), error]);
    }
    let values_refused = Some(Error::from(ParameterError::UnsupportedValues));
    let wide = values.with_columns(2).expect("two columns").signed();
    if protocol.operations.contains(&Operation::Sum) {
        let of_receiver = Values::new(Role::Receiver, 8).expect("values have 8 bits");
        let not_taken = if protocol.wide_values { of_receiver } else { wide };
        let found = refused(params.with_query(Query::Sum(not_taken)), Arc::clone(&set).into());
        assert_eq!(found, [values_refused.clone(), values_refused], "{}", protocol.id);
    }
    if protocol.operations.contains(&Operation::InnerProduct) {
        for (values, factors) in [
            (values, Values::new(Role::Sender, 8).expect("values have 8 bits")),
            (values, factors(8).signed()),
            (values, factors(8).with_columns(2).expect("two columns")),
            (values, factors(33)),
            (factors(8), factors(8)),
        ] {
            let query = Query::InnerProduct { values, factors };
            let found = refused(params.with_query(query), Arc::clone(&set).into());
            let error = Some(Error::from(ParameterError::UnsupportedValues));
            assert_eq!(found, [error.clone(), error], "{} {query:?}", protocol.id);
        }
    }
    if !learners.contains(&Learns::Both) {
        let error = Some(Error::from(ParameterError::IsForReceiver));
        let found = refused(of(Learns::Both), Arc::clone(&set).into());
        assert_eq!(found, [error.clone(), error], "{}", protocol.id);
    }
    if offered_query(protocol).operation().is_for_both() {
        let params = PsiParams::new(SessionId::from_bytes([3; 32]), 2, 2, Learns::Receiver)
            .expect("test sets are small")
            .with_query(offered_query(protocol));
        let error = Some(Error::from(ParameterError::IsForBoth));
        let found = refused(params, Arc::clone(&set).into());
        assert_eq!(found, [error.clone(), error], "{}", protocol.id);
    }
    if protocol.operations.contains(&Operation::Union) {
        let error = Some(Error::from(ParameterError::Texts));
        let too_few = Input::with_texts(Arc::clone(&set), Arc::new(vec![0; 4096]));
        assert_eq!(refused(params, too_few), [error.clone(), error.clone()], "{}", protocol.id);
        let found = refused(params, Arc::clone(&set).into());
        assert_eq!(found, [error.clone(), error], "{}", protocol.id);
    }
    if protocol.operations.contains(&Operation::Sum) {
        let params = params.with_query(Query::Sum(values));
        let with = |values: Vec<u64>| Input::with_values(Arc::clone(&set), Arc::new(values));
        let wrong = Some(Error::from(ParameterError::Values));
        let too_long = Some(Error::from(ParameterError::ValueTooLong { bits: 8 }));
        let [sender, receiver] = refused(params, with(vec![1, 2]));
        assert_eq!((sender, receiver), (None, wrong.clone()), "{}", protocol.id);
        let [sender, receiver] = refused(params, Arc::clone(&set).into());
        assert_eq!((sender, receiver), (wrong.clone(), None), "{}", protocol.id);
        assert_eq!(refused(params, with(vec![1]))[0], wrong, "{}", protocol.id);
        assert_eq!(refused(params, with(vec![1, 256]))[0], too_long, "{}", protocol.id);
    }
    if protocol.operations.contains(&Operation::Cardinality) {
        let twice = Arc::new(vec![set[0], set[0]]);
        let params = params.with_query(Query::Cardinality);
        let error = Some(ParameterError::DuplicateItem.into());
        assert_eq!(refused(params, twice.into()), [error.clone(), error], "{}", protocol.id);
    }
    if protocol.partitions == Partitions::No || bits < Item::BITS {
        let params = params.with_runs(2).expect("two runs");
        let error = Some(ParameterError::UnsupportedRuns.into());
        assert_eq!(refused(params, Arc::clone(&set).into()), [error.clone(), error]);
    }
    if protocol.partitions != Partitions::No && protocol.takes_integers() {
        let params = params.with_runs(2).and_then(|params| params.with_item_bits(32));
        let error = Some(ParameterError::UnsupportedRuns.into());
        let found = refused(params.expect("integers"), Arc::clone(&set).into());
        assert_eq!(found, [error.clone(), error], "{}", protocol.id);
    }
    if protocol.reserves_zero {
        let zero = Arc::new(vec![Item::from_integer(0), Item::from_integer(1)]);
        let error = Some(ParameterError::ReservedItem.into());
        assert_eq!(refused(params, zero.into()), [error.clone(), error], "{}", protocol.id);
    }
    for bits in [protocol.item_bits.start() - 1, protocol.item_bits.end() + 1] {
        if let Ok(params) = params.with_item_bits(bits) {
            let error = Some(ParameterError::ItemBits { bits }.into());
            assert_eq!(refused(params, Arc::clone(&set).into()), [error.clone(), error]);
        }
    }
}
