//! The type of messages, and the messages that belong to no family of errors.

use crate::Speech;

/// The message for a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// What is wrong.
    pub error: String,
    /// What to do next.
    pub hint: String,
    /// Who must act.
    pub who: Who,
}

/// Who must act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// You: the arguments contradict each other.
    Caller,
    /// You: your data, your settings or your files.
    You,
    /// You and the other side: the settings differ, or a side does not follow the protocol.
    Peers,
    /// The network, or the peer that disconnected.
    Network,
    /// The peer, later: the run is not finished, and resumes once the peer has acted.
    Later,
    /// Us: a defect of Vesica.
    Vesica,
    /// No one: you interrupted it.
    Nobody,
}

impl Message {
    /// A fault on this side: data, settings or files.
    pub fn here(error: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { error: error.into(), hint: hint.into(), who: Who::You }
    }

    /// The same message, for `who`.
    pub fn by(self, who: Who) -> Self {
        Self { who, ..self }
    }
}

/// A defect of Vesica.
pub fn defect(what: &str, say: Speech) -> Message {
    Message::here(
        format!("internal error: {what}"),
        format!(
            "this is a defect of Vesica, not of your data: please report it with the version ({}) \
             and the {}",
            say.version(),
            say.either("command line", "call"),
        ),
    )
    .by(Who::Vesica)
}

/// The system refuses to start a thread.
pub fn no_threads(say: Speech) -> Message {
    Message::here(
        "the system cannot give this process any more threads",
        format!(
            "raise the limit on processes and threads (ulimit -u, or the limit of the container) \
             or on memory (ulimit -v), or use fewer with {}",
            say.threads()
        ),
    )
}
