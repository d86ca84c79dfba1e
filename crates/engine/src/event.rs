use crate::{Choice, Phase};
use std::path::Path;
use vesica_helper::RemoteEvent;
use vesica_link::LinkEvent;
use vesica_records::{KeyCounts, Progress};

/// Something a run does. Holds counts and names, never a key, an item or a row.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A phase begins. Reading and connecting run side by side.
    Phase(Phase),
    /// With a helper: where this party keeps what an interrupted run needs, and intermediate data.
    State {
        /// The folder.
        folder: &'a Path,
        /// Whether a run that was interrupted is there.
        has_begun: bool,
        /// Whether it is to be forgotten.
        restart: bool,
    },
    /// The file is being read for its keys.
    Reading {
        /// Bytes of the file done.
        bytes_done: u64,
        /// Bytes of the file.
        bytes_total: u64,
        /// Rows done.
        rows: u64,
    },
    /// The keys are read.
    KeysRead(&'a KeyCounts),
    /// The link waits, turns strangers away, or stands.
    Link(&'a LinkEvent),
    /// What happens on the way to a helper, or there.
    Helper(&'a RemoteEvent),
    /// Both sides hold the same agreement; with a helper, all parties do and have a secret in common.
    Agreed,
    /// Both sides' set sizes are known. Padding and self-check items are not counted.
    Sizes {
        /// This side's set, as announced.
        here: u64,
        /// The peer's set, as announced.
        there: u64,
    },
    /// The protocol is settled.
    Chosen(&'a Choice),
    /// A long step of the protocol goes on.
    Step {
        /// Which, as `matching/points`.
        label: &'a str,
        /// Items done.
        done: u64,
        /// Items in all.
        total: u64,
    },
    /// The peer, or the helper, has this party's last message: nobody else sees what this party does from here on.
    /// Whatever depends on the result comes later.
    LastMessage,
    /// What the closing messages compare is equal, and the self-check passed, where there is one.
    Checked,
    /// The connection broke while the two sides said goodbye. Both had said before that they are done, so that the
    /// result stands.
    NoGoodbye(vesica_core::TransportError),
    /// The file is read again and the matching rows are written.
    Writing {
        /// Bytes of the input done.
        bytes_done: u64,
        /// Bytes of the input.
        bytes_total: u64,
        /// Rows of the input done.
        rows: u64,
    },
}

/// How far the reading of a file is.
pub(crate) fn reading(progress: Progress) -> Event<'static> {
    let Progress { bytes_done, bytes_total, rows } = progress;
    Event::Reading { bytes_done, bytes_total, rows }
}

/// How far the writing of a result is.
pub(crate) fn writing(progress: Progress) -> Event<'static> {
    let Progress { bytes_done, bytes_total, rows } = progress;
    Event::Writing { bytes_done, bytes_total, rows }
}

/// Hears what a run does. Called from several threads, some tens of times a second.
pub trait Observer: Send + Sync {
    /// Something happened.
    fn event(&self, event: &Event<'_>);
}

/// An observer that hears and does nothing.
pub struct Silent;

impl Observer for Silent {
    fn event(&self, _: &Event<'_>) {}
}
