//! All targets under libFuzzer; the environment variable `FUZZ_TARGET` names the one to run. See
//! `make fuzz`.

use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;
use vesica_fuzz::{TARGETS, Target, find, quiet_expected_panics};

static CHOSEN: OnceLock<&Target> = OnceLock::new();

fn chosen() -> &'static Target {
    let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
    find(&name).unwrap_or_else(|| {
        let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        panic!("FUZZ_TARGET names one of {}", names.join(", "))
    })
}

fuzz_target!(
    init: {
        quiet_expected_panics();
        let _ = CHOSEN.set(chosen());
    },
    |bytes: &[u8]| (CHOSEN.get_or_init(chosen).run)(bytes)
);
