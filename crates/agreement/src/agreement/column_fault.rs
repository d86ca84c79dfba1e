//! What is wrong with the columns that come along.

/// What is wrong with the columns that come along.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ColumnFault {
    /// Columns of more than one party.
    #[error("columns of both parties are not possible yet: \"columns\" stands once")]
    OfSeveral,
    /// A field that columns do not allow.
    #[error("{field:?} is not possible with columns")]
    NotWith {
        /// The field.
        field: &'static str,
    },
    /// The party that has the columns is the only one that receives the result.
    #[error("no party but {of:?} receives the result, so its columns go to no one")]
    ForNoOne {
        /// The party.
        of: String,
    },
    /// No column, or too many of them.
    #[error("there must be 1 to {max} columns, not {found}")]
    Count {
        /// How many there are.
        found: usize,
        /// Most.
        max: usize,
    },
    /// Another number of types than of columns.
    #[error("there are {names} columns and {types} types")]
    TypeCount {
        /// How many columns.
        names: usize,
        /// How many types.
        types: usize,
    },
    /// The columns of a row are too long.
    #[error("the columns of a row have {found} bytes, more than {most}")]
    TooLong {
        /// How many bytes.
        found: usize,
        /// Most.
        most: usize,
    },
    /// The named protocol sends no columns.
    #[error("the protocol {protocol:?} sends no columns")]
    NotOffered {
        /// The protocol.
        protocol: &'static str,
        /// The protocols that do.
        offering: Vec<&'static str>,
    },
}
