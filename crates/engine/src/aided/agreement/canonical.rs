//! The one text form of an agreement with a helper, and its hash.

use super::AidedAgreement;
use super::parse::ALL;
use crate::agreement::canonical::{Quoted, write_expires, write_keys, write_line, write_parties};
use crate::agreement::difference::differences;
use crate::agreement::{AgreementHash, Difference, DifferenceError, FORMAT_VERSION};
use vesica_protocols::Operation;

impl AidedAgreement {
    /// The agreement as a text with nothing left to say: fixed order, every default written out, the version of
    /// each profile. Reads back as the same agreement.
    pub fn canonical(&self) -> String {
        let mut out = String::new();
        write_line(&mut out, "version", &FORMAT_VERSION);
        write_line(&mut out, "title", &Quoted(&self.title));
        write_line(&mut out, "operation", &Quoted(Operation::Intersection.name()));
        write_line(&mut out, "receives", &self.receives_word());
        write_line(&mut out, "security", &Quoted(self.security.name()));
        write_line(&mut out, "protocol", &Quoted(self.protocol().id));
        write_expires(self.expires, &mut out);
        out.push_str("\n[helper]\n");
        write_line(&mut out, "name", &Quoted(&self.helper.name));
        write_line(&mut out, "identity", &Quoted(&self.helper.identity.to_string()));
        write_line(&mut out, "copies", &self.helper.check.copies);
        write_line(&mut out, "dummies", &self.helper.check.dummies);
        write_keys(&self.keys, &mut out);
        write_parties(&self.parties, &mut out);
        out
    }

    /// `"all"`, a name, or a list of names.
    fn receives_word(&self) -> String {
        if self.all_receive() {
            return Quoted(ALL).to_string();
        }
        let name = |position: &usize| Quoted(&self.parties[*position].name).to_string();
        let names: Vec<String> = self.receivers.iter().map(name).collect();
        match &names[..] {
            [name] => name.clone(),
            names => format!("[{}]", names.join(", ")),
        }
    }

    /// The hash of the canonical form.
    pub fn hash(&self) -> AgreementHash {
        AgreementHash::of(&self.canonical())
    }

    /// The fields in which a party's canonical form says something else, sorted by name; see
    /// [`crate::agreement::Agreement::differences_from`].
    ///
    /// # Errors
    /// [`DifferenceError`] when it is not TOML, too long, too deep, or has too many fields.
    pub fn differences_from(&self, canonical: &str) -> Result<Vec<Difference>, DifferenceError> {
        differences(&self.canonical(), canonical)
    }
}
