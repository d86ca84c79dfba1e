//! Agreements that lack identities.

use super::error::AgreementError;
use super::limits::MAX_FILE_BYTES;
use super::{Agreement, AgreementHash};
use std::path::Path;
use vesica_link::PublicIdentity;

/// An agreement in which identities may be missing: what a party may read and explain, but nothing
/// may run.
///
/// In its text each missing identity is [`Draft::PLACEHOLDER`].
#[derive(Clone, Debug)]
pub struct Draft {
    /// The agreement, with a stand-in for each missing identity.
    agreement: Agreement,
    stand_ins: Vec<PublicIdentity>,
}

impl Draft {
    /// The text in place of an identity that is missing.
    pub const PLACEHOLDER: &str = "vesica1...";

    /// Reads the draft in the file `path`.
    ///
    /// # Errors
    /// As [`Agreement::load`].
    pub fn load(path: impl AsRef<Path>) -> Result<Self, AgreementError> {
        vesica_strict_toml::load(path.as_ref(), MAX_FILE_BYTES, Self::parse)
    }

    /// Reads the draft in `text`.
    ///
    /// # Errors
    /// As [`Agreement::parse`], except for placeholders.
    pub fn parse(text: &str) -> Result<Self, AgreementError> {
        let mut complete = text.to_owned();
        let mut stand_ins = Vec::new();
        let placeholder = format!("\"{}\"", Self::PLACEHOLDER);
        for byte in 0..=u8::MAX {
            if !complete.contains(&placeholder) {
                break;
            }
            let stand_in = PublicIdentity::from_bytes([byte; PublicIdentity::LEN]);
            complete = complete.replacen(&placeholder, &format!("\"{stand_in}\""), 1);
            stand_ins.push(stand_in);
        }
        Ok(Self { agreement: Agreement::parse(&complete)?, stand_ins })
    }

    /// The agreement, with a stand-in for each missing identity.
    pub fn agreement(&self) -> &Agreement {
        &self.agreement
    }

    /// The names of the parties, and of the helper, whose identities are missing.
    pub fn missing(&self) -> impl Iterator<Item = &str> {
        let parties = self.agreement.parties.iter().map(|party| (&party.identity, &*party.name));
        let helper = self.agreement.helper.iter().map(|helper| (&helper.identity, &*helper.name));
        parties
            .chain(helper)
            .filter(|(identity, _)| self.stand_ins.contains(identity))
            .map(|(_, name)| name)
    }

    /// The hash, unless an identity is missing.
    pub fn hash(&self) -> Option<AgreementHash> {
        self.missing().next().is_none().then(|| self.agreement.hash())
    }

    /// The canonical form, with the placeholder for each missing identity.
    pub fn canonical(&self) -> String {
        let canonical = self.agreement.canonical();
        self.stand_ins.iter().fold(canonical, |text, stand_in| {
            text.replacen(&stand_in.to_string(), Self::PLACEHOLDER, 1)
        })
    }
}
