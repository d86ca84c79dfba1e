//! One party of a measurement, in its own process.

use crate::party_figures::PartyFigures;
use crate::subject::{Row, Subject};
use crate::two_parties::{self, TwoParties};
use crate::with_helper::{self, WithHelper};
use std::cell::RefCell;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;
use vesica_core::Role;
use vesica_engine::{ConfigFault, Error};
use vesica_link::{CancelToken, Endpoint, Identity, LinkEvent, LinkOptions, PublicIdentity};
use vesica_protocols::kmrs14::{PartySpec, Spec};

/// What the process of one party needs to know.
#[derive(Clone, Debug)]
pub struct Seat {
    /// Its number; 0 is the sender.
    pub party: usize,
    /// Its key file.
    pub key: PathBuf,
    /// The identities of all parties, in the order of their numbers.
    pub identities: Vec<PublicIdentity>,
    /// The helper's identity, if the row has one.
    pub helper: Option<PublicIdentity>,
    /// The address where it listens, or of the other party or the helper.
    pub endpoint: Endpoint,
    /// A folder for intermediate data.
    pub folder: PathBuf,
}

/// Runs the party. Prints the address that it listens on, if it listens, and then its figures as
/// JSON, one line each.
///
/// # Errors
/// Any [`Error`].
pub fn run_party(subject: &Subject, seat: Seat, out: &mut impl Write) -> Result<(), Error> {
    let part =
        part(subject, &seat).ok_or(Error::Bug("a benchmark party was not told of all others"))?;
    let threads = subject.asked.threads;
    let identity =
        Identity::load(&seat.key).map_err(|error| Error::Config(ConfigFault::Identity(error)))?;
    let link = LinkOptions {
        endpoint: seat.endpoint,
        wait: Duration::from_secs(120),
        idle: Duration::from_secs(60),
        total: None,
        proxy: None,
    };
    let out = RefCell::new(out);
    let on_event = |event: LinkEvent| {
        if let LinkEvent::Listening { address } = event {
            let mut out = out.borrow_mut();
            // If the parent has ended, the run ends by itself.
            let _ = writeln!(out, "{address}").and_then(|()| out.flush());
        }
    };
    let cancel = CancelToken::new();
    let figures: PartyFigures = match part {
        Part::TwoParties(part) => {
            two_parties::run(part, threads, &identity, &link, &on_event, &cancel)
        }
        Part::WithHelper(part) => with_helper::run(part, threads, identity, link, &cancel),
    }?;
    let json = serde_json::to_string(&figures).map_err(|_| Error::Bug("figures have no JSON"))?;
    let no_output = |_| Error::Bug("the benchmark's figures could not be printed");
    writeln!(out.borrow_mut(), "{json}").map_err(no_output)
}

/// A party's part in the protocol.
enum Part {
    TwoParties(TwoParties),
    WithHelper(WithHelper),
}

/// The part of the party in `seat`. `None` if there are not as many identities as parties, or the
/// helper's is missing.
fn part(subject: &Subject, seat: &Seat) -> Option<Part> {
    let Subject { asked, rows } = subject;
    let (question, identities, folder) = (&asked.question, &seat.identities, seat.folder.clone());
    let (row, options) = match &asked.row {
        Row::WithHelper(row, options) => (row, options),
        Row::TwoParties(protocol) => {
            return Some(Part::TwoParties(TwoParties {
                protocol,
                role: if seat.party == 0 { Role::Sender } else { Role::Receiver },
                sender_len: rows[0],
                receiver_len: rows[1],
                common_len: question.common,
                learns: question.learns,
                query: question.query,
                bounds: question.bounds().ok()?,
                early_reveal: question.early_reveal,
                item_bits: asked.item_bits,
                peer: *identities.get(1 - seat.party.min(1))?,
                memory_bytes: asked.memory_bytes,
                folder,
            }));
        }
    };
    let terms = |(identity, rows): (&PublicIdentity, &u64)| PartySpec {
        identity: *identity.as_bytes(),
        max_rows: (*rows).max(1),
        min_rows: 0,
        receives: true,
    };
    let check = options.check(row.variant, asked.sizes.larger());
    Some(Part::WithHelper(WithHelper {
        spec: Spec {
            variant: row.variant,
            agreement: [0; 32],
            parties: identities.iter().zip(rows).map(terms).collect(),
            copies: check.copies,
            dummies: check.dummies,
        },
        in_clear: options.in_clear,
        party: seat.party as u8,
        rows: *rows.get(seat.party)?,
        common: question.common,
        helper: seat.helper?,
        memory_bytes: asked.memory_bytes,
        folder,
    }))
}
