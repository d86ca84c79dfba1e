//! Checks before a run: the rows, and whether the other parties are connected.

use crate::checked::Checked;
use crate::failure::{Circumstances, Failed};
use crate::watch::{Done, Watch};
use std::ops::ControlFlow;
use std::sync::Arc;
use vesica_agreement::Agreement;
use vesica_engine::look;
use vesica_engine::{Error, Observer, Phase};
use vesica_link::{CancelToken, Identity, LinkOptions};
use vesica_preflight::{Check, Options, Refused};
use vesica_tables::{InputError, Source};

/// Reads the rows, and returns the results. Rows that a run would refuse are a failure only if they
/// cannot be read.
pub(crate) fn check(
    agreement: &Agreement,
    party: Option<&str>,
    source: &Source,
    options: &Options,
    watch: &Watch,
    cancel: &CancelToken,
) -> Result<Done, Failed> {
    let check = Check::new(agreement, party, options).map_err(|error| Failed::here(&error))?;
    let found = check
        .run(source, &mut |progress| {
            watch.reading(progress.rows);
            if cancel.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .map_err(|error| Failed::here(&Error::Input(error.into())))?;
    match &found.refused {
        Some(Refused::Data(InputError::Interrupted)) => {
            Err(Failed::here(&Error::Interrupted { phase: Phase::Reading }))
        }
        Some(Refused::Data(error)) if found.read.is_none() => Err(Failed::input(error)),
        _ => {
            let checked = Checked::new(found).ok_or_else(Failed::panic)?;
            Ok(Done::Checked(Box::new(checked)))
        }
    }
}

/// Connects to the other side and compares the agreements; or asks the helper whether it would
/// accept this party. Returns the other parties that were connected.
pub(crate) fn reach(
    agreement: Agreement,
    identity: Identity,
    link: LinkOptions,
    watch: &Arc<Watch>,
    cancel: &CancelToken,
) -> Result<Done, Failed> {
    let observer = Arc::clone(watch) as Arc<dyn Observer>;
    let run = Circumstances { agreement, link: link.clone(), folder: None };
    let failed = |error| Failed::run(error, None, &run);
    let present = match run.agreement.with_helper() {
        Some(aided) => look(aided, identity, link, observer, cancel).map_err(failed)?.present,
        None => {
            vesica_engine::reach(&run.agreement, &identity, &link, &*observer, cancel)
                .map_err(failed)?;
            let own = run.agreement.party_of(&identity.public());
            let peer = own.map(|own| run.agreement.peer_of(own).name.clone());
            peer.into_iter().collect()
        }
    };
    Ok(Done::Present(present))
}
