//! What the operating system says about files, in words.

use crate::message::Message;
use crate::speech::Speech;
use std::io::ErrorKind;

/// The cause of an error, for the end of a sentence.
pub fn cause(kind: ErrorKind) -> String {
    match kind {
        ErrorKind::NotFound => "no such file or directory".to_owned(),
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        ErrorKind::StorageFull => "the disk is full".to_owned(),
        ErrorKind::QuotaExceeded => "your disk quota is used up".to_owned(),
        ErrorKind::ReadOnlyFilesystem => "the file system is read-only".to_owned(),
        ErrorKind::IsADirectory => "it is a directory".to_owned(),
        ErrorKind::NotADirectory => "part of its path is not a directory".to_owned(),
        ErrorKind::InvalidFilename => "the name is too long or not allowed".to_owned(),
        ErrorKind::AlreadyExists => "something else already has that name".to_owned(),
        ErrorKind::FileTooLarge => "the file would be larger than the system allows".to_owned(),
        kind => kind.to_string(),
    }
}

/// A column that the result cannot get, because of its name; a mark's is chosen by the caller.
pub(crate) fn column_taken(column: &str, is_mark: bool, say: Speech) -> Message {
    if is_mark {
        return Message::here(
            format!("the result already has a column {column:?}"),
            format!("give {} a name that no column has", say.mark()),
        );
    }
    Message::here(
        format!("the input already has a column {column:?}, which the result adds"),
        "rename that column of the input",
    )
}

/// What to do when no more files can be opened.
pub(crate) const MORE_FILES: &str = "raise the limit on open files, for example with `ulimit -n \
                                     1024` in the same shell";

/// What to do when a file cannot be written.
pub fn write_hint(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::NotFound => "create the directory first, or choose another place",
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            "choose a place that you may write to"
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "free some space, or choose a place on another disk"
        }
        ErrorKind::IsADirectory => "give the name of a file in that directory",
        _ => "choose another place",
    }
}

/// What to do when no file can be written in a folder. The name of an option that gives another one
/// follows.
pub(crate) fn folder_hint(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            "choose a folder that you may write to"
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "free some space, or choose a folder on another disk"
        }
        _ => "choose another folder",
    }
}

/// What to do when a file cannot be read.
pub fn read_hint(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::NotFound => "check the name and the directory you are in",
        ErrorKind::PermissionDenied => "check its permissions with `ls -l`",
        _ => "check the file and the disk it is on",
    }
}
