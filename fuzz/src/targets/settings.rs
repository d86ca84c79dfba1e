//! The helper's settings, addresses of backends, key files.

use super::{Target, no_seeds};
use std::sync::OnceLock;
use vesica_helper::Settings;
use vesica_label_joins::{Place, redacted};
use vesica_link::{Identity, PublicIdentity};

pub(super) const SETTINGS: Target = Target {
    name: "helper_settings",
    run: settings,
    seeds: no_seeds,
    tokens: &[
        b"[helper]\n",
        b"[party.acme]\n",
        b"identity = ",
        b"max_rows = ",
        b"max_runs = ",
        b"max_connections = ",
        b"max_stored_mb = ",
        b"keep_free_mb = ",
        b"backend = ",
        b"state = ",
        b"listen = ",
        b"metrics = ",
        b"metrics_for_others = true\n",
        b"keep_hours = ",
        b"memory_mb = ",
        b"threads = ",
        b"runs_at_once = ",
        b"\"\"\"",
        b"9223372036854775807",
        b"-1",
        b"0x10",
        b"1979-05-27",
    ],
    max_len: 4096,
};

fn settings(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Settings::parse(text) {
        Ok(settings) => {
            assert_eq!(
                Settings::parse(text).as_ref(),
                Ok(&settings),
                "the same text gives the same settings"
            );
            assert!(!settings.parties.is_empty(), "a helper serves at least one party");
        }
        Err(error) => drop(error.to_string()),
    }
}

pub(super) const BACKEND_URL: Target = Target {
    name: "backend_url",
    run: backend_url,
    seeds: no_seeds,
    tokens: &[
        b"memory:",
        b"disk:",
        b"cluster:",
        b"redis://",
        b"redis+unix://",
        b"rediss://",
        b"postgres://",
        b"postgresql://",
        b"?host=%2Frun",
        b"&port=",
        b"?db=",
        b"sslmode=disable",
        b"[::1]",
        b"%00",
        b"%2f",
        b":@",
    ],
    max_len: 512,
};

fn backend_url(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let place = Place::of(&text);
    let shown = redacted(&text);
    if place.is_ok() {
        assert_eq!(redacted(&shown), shown, "what is shown has nothing left to hide");
    }
}

pub(super) const KEY_FILE: Target = Target {
    name: "key_file",
    run: key_file,
    seeds: key_files,
    tokens: &[b"vesica1", b"vesica-secret1", b"VESICA-SECRET1", b"# Vesica secret key", b"\r\n"],
    max_len: 1024,
};

/// Another key and identity in each process: the text around them is under test.
fn key_files() -> Vec<Vec<u8>> {
    static TEXTS: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    let texts = TEXTS.get_or_init(|| {
        let Ok(identity) = Identity::generate() else { return Vec::new() };
        let text = vesica_link::fuzzing::key_file_of(&identity);
        vec![text.as_bytes().to_vec(), identity.public().to_string().into_bytes()]
    });
    texts.clone()
}

fn key_file(bytes: &[u8]) {
    if let Some(identity) = vesica_link::fuzzing::key_file(bytes) {
        let written = vesica_link::fuzzing::key_file_of(&identity);
        let again = vesica_link::fuzzing::key_file(written.as_bytes());
        let again = again.expect("what is written can be read");
        assert_eq!(again.public(), identity.public(), "a key survives its file");
    }
    let text = String::from_utf8_lossy(bytes);
    if let Ok(identity) = text.trim().parse::<PublicIdentity>() {
        assert_eq!(identity.to_string(), text.trim().to_lowercase(), "one text for one identity");
        assert_eq!(PublicIdentity::from_bytes(*identity.as_bytes()), identity);
    }
}
