//! The message for exhausted memory. For the command it is a constant: without memory no text can
//! be built.

use crate::{Message, Speech};

macro_rules! no_memory {
    () => {
        "the system cannot give this process any more memory"
    };
}

macro_rules! no_memory_hint {
    () => {
        "raise the limit (ulimit -v, or the limit of the container), or use less memory: fewer \
         --threads, or a smaller --memory in a run with a helper"
    };
}

/// What the command prints for [`no_memory()`], prepared in advance: without memory no text can be
/// built.
pub const NO_MEMORY: &str = concat!("error: ", no_memory!(), "\nhint: ", no_memory_hint!(), "\n");

/// The system refuses an allocation.
pub fn no_memory(say: Speech) -> Message {
    Message::here(
        no_memory!(),
        say.either(
            no_memory_hint!(),
            "raise the limit (ulimit -v, or the limit of the container), or use less memory: a \
             smaller `threads=`, or a smaller `memory=` in a run with a helper",
        ),
    )
}
