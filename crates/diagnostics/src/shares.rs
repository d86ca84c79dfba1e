//! Files of shares that cannot be combined.

use crate::{Message, Speech, files};
use vesica_engine::shares::SharesError;

/// Files of shares that cannot be combined.
pub fn error(error: &SharesError, say: Speech) -> Message {
    match error {
        SharesError::Unreadable { path, kind } => Message::here(
            format!(
                "the file of shares {} cannot be read: {}",
                path.display(),
                files::cause(*kind)
            ),
            files::read_hint(*kind),
        ),
        SharesError::NotShares { path } => Message::here(
            format!("{} is not a file of shares", path.display()),
            format!(
                "give the .json files that both sides' {} wrote as {}",
                say.run(),
                say.output()
            ),
        ),
        SharesError::Version { path, found, known } => Message::here(
            format!(
                "{} has version {found} of the format, but this software reads version {known}",
                path.display()
            ),
            "use the version of Vesica that wrote it",
        ),
        SharesError::Damaged { path, what } => Message::here(
            format!("{}: {what:?} is damaged or cut off", path.display()),
            "copy the file again from the side that has it",
        ),
        SharesError::Checksum { path } => Message::here(
            format!(
                "{}: the shares were changed after they were written: the checksum differs",
                path.display()
            ),
            "copy the file again from the side that has it",
        ),
        SharesError::OutOfRange { column, bits } => Message::here(
            format!(
                "the shares combine to a value in column {column:?} that does not fit into its \
                 {bits} bits"
            ),
            "one of the files was changed: copy both again from the sides that have them",
        ),
        SharesError::SameShare { share } => Message::here(
            format!("both files are from the same side: share {share}"),
            "give one file from each side",
        ),
        SharesError::OtherComputation => Message::here(
            "the two files are from different runs",
            "give the files that both sides wrote in the same run: their field \"computation\" is \
             the same",
        ),
        SharesError::Differ { field } => Message::here(
            format!("the two files are from the same run, but differ in {field:?}"),
            "one of them was changed: copy both again from the sides that have them",
        ),
        error => {
            Message::here(error.to_string(), "give the .json files that both sides' runs wrote")
        }
    }
}
