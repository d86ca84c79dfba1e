use vesica_party::Protocol;

/// The rows that run another row's protocol with one part exchanged, each with that row. The parts
/// are how a circuit is evaluated, how an output is shuffled, the length of a key, and the
/// components of a paper in place of newer ones.
pub const VARIANTS: [(&str, &str); 28] = [
    ("bwa_gmw", "bwa"),
    ("pwc_gmw", "pwc"),
    ("scs_wn_gmw", "scs_wn"),
    ("scs_wn_gmw_iknp", "scs_wn_gmw"),
    ("scs_wn_one_sided", "scs_wn"),
    ("scs_by_count", "scs_wn"),
    ("scs_sort", "scs_wn"),
    ("scs_sort_gmw", "scs_sort"),
    ("scs_he", "scs_wn"),
    ("scs_he_3072", "scs_he"),
    ("scs_he_gmw", "scs_he"),
    ("circuit_phasing_paper", "circuit_phasing"),
    ("circuit_phasing_iknp", "circuit_phasing"),
    ("circuit_phasing_yao", "circuit_phasing"),
    ("gbf_iknp", "gbf"),
    ("gbf_paper", "gbf"),
    ("ot_phasing_paper", "ot_phasing"),
    ("dl_dt10_3072", "dl_dt10"),
    ("rsa_dt10_3072", "rsa_dt10"),
    ("gmrss21_cardinality_paper", "gmrss21_cardinality"),
    ("gmrss21_intersection_paper", "gmrss21_intersection"),
    ("gmrss21_cardinality_sum_paper", "gmrss21_cardinality_sum"),
    ("gmrss21_union_paper", "gmrss21_union"),
    ("gmrss21_secret_shared_intersection_paper", "gmrss21_secret_shared_intersection"),
    ("gmrss21_private_id_paper", "gmrss21_private_id"),
    ("cardinality_low_communication", "gmrss21_cardinality"),
    ("union_low_communication", "gmrss21_union"),
    ("private_id_low_communication", "gmrss21_private_id"),
];

/// Whether `row` is one of [`VARIANTS`]. The quick tests run a law about a mechanism with the other
/// rows alone; those about results, sizes and bytes hold for variants, too.
pub fn is_variant(row: &Protocol) -> bool {
    VARIANTS.iter().any(|(variant, _)| *variant == row.id)
}
