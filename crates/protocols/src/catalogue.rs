//! The one list of protocols. The command line's help, the planner, the documents, the tests and
//! the benchmarks all read it.

mod row;

pub use row::{Row, TrustModel};

use vesica_circuit_psi::{bwa, circuit_phasing, psty19, pwc, scs};
use vesica_core::{Operation, ParameterError, Result};
use vesica_ot_psi::{gbf, gbf_malicious, kkrt16, ot_phasing, psz14, rr22, rr22_malicious};
use vesica_party::{Learners, Protocol, Security};
use vesica_public_key_psi::{dh, dl_dt10, naive_hash, rsa_dt10};
use vesica_set_operations::gmrss21;

static CATALOGUE: &[Protocol] = &[
    rr22_malicious::ROW,
    gbf_malicious::ROW,
    rr22::FAST_ROW,
    rr22::LOW_COMMUNICATION_ROW,
    dh::ROW,
    kkrt16::ROW,
    ot_phasing::ROW,
    ot_phasing::PAPER_ROW,
    psz14::ROW,
    gbf::SILENT_ROW,
    gbf::IKNP_ROW,
    gbf::PAPER_ROW,
    dl_dt10::ROW,
    dl_dt10::ROW_3072,
    rsa_dt10::ROW,
    rsa_dt10::ROW_3072,
    psty19::ROW,
    circuit_phasing::ROW,
    circuit_phasing::PAPER_ROW,
    circuit_phasing::IKNP_ROW,
    circuit_phasing::YAO_ROW,
    scs::WAKSMAN_ROW,
    scs::WAKSMAN_ONE_SIDED_ROW,
    scs::WAKSMAN_GMW_ROW,
    scs::WAKSMAN_GMW_IKNP_ROW,
    scs::BY_COUNT_ROW,
    scs::SORT_ROW,
    scs::SORT_GMW_ROW,
    scs::HE_ROW,
    scs::HE_3072_ROW,
    scs::HE_GMW_ROW,
    pwc::ROW,
    pwc::GMW_ROW,
    bwa::ROW,
    bwa::ONE_SIDED_ROW,
    bwa::GMW_ROW,
    gmrss21::CARDINALITY_ROW,
    gmrss21::CARDINALITY_SHORT_ROW,
    gmrss21::CARDINALITY_PAPER_ROW,
    gmrss21::SUM_ROW,
    gmrss21::SUM_PAPER_ROW,
    gmrss21::INNER_PRODUCT_ROW,
    gmrss21::INTERSECTION_ROW,
    gmrss21::INTERSECTION_PAPER_ROW,
    gmrss21::UNION_ROW,
    gmrss21::UNION_SHORT_ROW,
    gmrss21::UNION_PAPER_ROW,
    gmrss21::PRIVATE_ID_OPRF_ROW,
    gmrss21::PRIVATE_ID_SHORT_ROW,
    gmrss21::PRIVATE_ID_ROW,
    gmrss21::PRIVATE_ID_PAPER_ROW,
    gmrss21::SHARES_ROW,
    gmrss21::SHARES_PAPER_ROW,
    gmrss21::VALUES_ROW,
    naive_hash::ROW,
];

/// Every protocol, the strongest and fastest first.
pub fn catalogue() -> &'static [Protocol] {
    CATALOGUE
}

/// The strongest security that any protocol offers for `operation`. Protocols in which only the
/// receiver can learn the result do not count.
pub fn strongest(operation: Operation) -> Security {
    let offering = catalogue().iter().filter(|row| row.operations.contains(&operation));
    let offering = offering.filter(|row| row.learners == Learners::Any);
    offering.map(|row| row.security).max().unwrap_or(Security::Insecure)
}

/// The strongest security that any protocol offers for `operation` within bounds on the number of
/// common items, to one receiver alone or to any.
pub fn strongest_within_bounds(operation: Operation, is_for_one: bool) -> Security {
    let offering = catalogue().iter().filter(|row| row.operations.contains(&operation));
    let offering = offering.filter(|row| row.bounds.are_kept());
    let offering = offering.filter(|row| is_for_one || row.learners == Learners::Any);
    offering.map(|row| row.security).max().unwrap_or(Security::Insecure)
}

/// The protocol named `id`.
///
/// # Errors
/// [`ParameterError::UnknownProtocol`].
pub fn find(id: &str) -> Result<&'static Protocol> {
    catalogue().iter().find(|row| row.id == id).ok_or(ParameterError::UnknownProtocol.into())
}
