use crate::Phase;
use std::path::Path;
use vesica_agreement::choice::Choice;
use vesica_helper_client::RemoteEvent;
use vesica_link::LinkEvent;
use vesica_records::KeyCounts;
use vesica_tables::Progress;

/// Something a run does. Holds counts and names, never a key, an item or a row.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A phase begins. Reading and connecting run side by side.
    Phase(Phase),
    /// With a helper or a store: the folder for intermediate data and for what an interrupted run
    /// needs to continue.
    State {
        /// The folder.
        folder: &'a Path,
        /// Whether it holds an interrupted run.
        has_started: bool,
        /// Whether this run is to be deleted.
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
    /// The link waits, rejects unknown identities, or is established.
    Link(&'a LinkEvent),
    /// An event on the connection to a helper, or at the helper.
    Helper(&'a RemoteEvent),
    /// An event of a run through a store.
    Exchange(&'a vesica_store_session::Event),
    /// Both sides have the same agreement; with a helper, all parties do and share a secret.
    Agreed,
    /// Both sides' set sizes are known. Padding and self-check items are not counted.
    Sizes {
        /// This side's set, as announced.
        here: u64,
        /// The peer's set, as announced.
        there: u64,
    },
    /// The protocol is chosen.
    Chosen(&'a Choice),
    /// Progress of a long step of the protocol.
    Step {
        /// Which, as `matching/points`.
        label: &'a str,
        /// Items done.
        done: u64,
        /// Items in all.
        total: u64,
    },
    /// The peer, or the helper, has this party's last message: no other party sees what this party
    /// does from now on. Everything that depends on the result comes later.
    LastMessage,
    /// The closing messages agree, and any self-check passed.
    Checked,
    /// The connection broke during the goodbyes. Both sides had finished before, so the result
    /// stands.
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

/// The progress of reading a file.
pub(crate) fn reading(progress: Progress) -> Event<'static> {
    let Progress { bytes_done, bytes_total, rows } = progress;
    Event::Reading { bytes_done, bytes_total, rows }
}

/// The progress of writing a result.
pub(crate) fn writing(progress: Progress) -> Event<'static> {
    let Progress { bytes_done, bytes_total, rows } = progress;
    Event::Writing { bytes_done, bytes_total, rows }
}

/// Receives the events of a run. Called from several threads, at most some tens of times a second.
pub trait Observer: Send + Sync {
    /// Something happened.
    fn event(&self, event: &Event<'_>);
}

/// An observer that does nothing.
pub struct Silent;

impl Observer for Silent {
    fn event(&self, _: &Event<'_>) {}
}
