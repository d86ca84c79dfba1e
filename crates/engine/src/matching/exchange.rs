//! A run through a store: its folder, and the inputs that must not change during it.

use super::Run;
use crate::Error;
use crate::error::ConfigFault;
use crate::peer::{
    GivenStore, MendedLink, MirroredStore, PeerLink, StoreLink, StoredRun, state_error,
};
use std::sync::Arc;
use vesica_core::hash::{Transcript, derive};
use vesica_records::{KeySet, KeyTexts};
use vesica_store_session::{RetryingStore, State};

const OWNER_LABEL: &str = "vesica engine 2026 party of a run through a store v1";
/// Label of the digest of the rows.
pub(super) const ROWS_LABEL: &str = "vesica engine 2026 rows of a run through a store v1";

/// The link of the run. Opens the folder of the run, if there is a store or the job names one.
///
/// # Errors
/// Errors of the folder; [`Error::AlreadyFinished`].
pub(super) fn open(run: &Run<'_>) -> Result<Box<dyn PeerLink>, Error> {
    let job = run.job;
    if job.store.is_none() && job.state.folder.is_none() {
        return Ok(Box::new(MendedLink { observer: Arc::clone(run.observer) }));
    }
    let party = &run.terms().name;
    let folder = job.state.folder_of(&job.agreement, party);
    let hash = job.agreement.hash();
    let place = [run.position as u8, u8::from(job.store.is_some())];
    let owner = derive(OWNER_LABEL, &[hash.as_bytes(), &place]);
    let open = || State::open(&folder, owner).map_err(|error| state_error(&folder, error));
    let mut state = open()?;
    if job.state.restart && state.has_started() {
        state.forget().map_err(|error| ConfigFault::scratch(&folder, error.kind()))?;
        drop(state);
        state = open()?;
    }
    if state.was_finished() && !job.state.restart {
        return Err(Error::AlreadyFinished);
    }
    let had_written = match &job.output {
        Some(output) => state
            .may_have_written(&output.path)
            .map_err(|error| ConfigFault::scratch(&folder, error.kind()))?,
        None => false,
    };
    let stored = StoredRun {
        had_written,
        state: Arc::new(state),
        restart: job.state.restart,
        memory_bytes: job.memory_bytes,
        observer: Arc::clone(run.observer),
    };
    Ok(match &job.store {
        Some(store) => {
            let store = Arc::new(RetryingStore::new(Arc::clone(store)));
            Box::new(StoreLink::new(stored, GivenStore(store)))
        }
        None => Box::new(StoreLink::new(stored, MirroredStore::default())),
    })
}

/// The digest of keys with their values, texts and payloads.
pub(super) fn digest_of(keys: &KeySet) -> [u8; 32] {
    let mut digest = Transcript::new(ROWS_LABEL, &[]);
    keys.items.iter().for_each(|item| digest.update(item.as_bytes()));
    keys.values.iter().flatten().for_each(|value| digest.update(&value.to_le_bytes()));
    for text in keys.texts.iter().flat_map(KeyTexts::iter) {
        digest.update(&(text.len() as u64).to_le_bytes());
        digest.update(text);
    }
    keys.payloads.iter().for_each(|payloads| digest.update(payloads));
    digest.finish()
}
