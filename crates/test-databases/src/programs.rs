//! Finds the servers' programs.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// Lists the directories of the programs.
const VARIABLE: &str = "VESICA_DATABASES";

/// The path of a program.
///
/// # Panics
/// If it does not exist and could not be installed.
pub(crate) fn program(name: &str) -> PathBuf {
    static DIRECTORIES: OnceLock<Vec<PathBuf>> = OnceLock::new();
    let directories = DIRECTORIES.get_or_init(|| {
        let named = env::var_os(VARIABLE).filter(|named| !named.is_empty());
        env::split_paths(&named.unwrap_or_else(|| found().into())).collect()
    });
    let mut paths = directories.iter().map(|directory| directory.join(name));
    let path = paths.find(|path| path.is_file());
    path.unwrap_or_else(|| panic!("{name} is in none of {directories:?} (see scripts/databases)"))
}

/// What `scripts/databases` prints.
fn found() -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/databases");
    let output = Command::new(&script).stderr(Stdio::inherit()).output();
    let output = output.unwrap_or_else(|error| panic!("{}: {error}", script.display()));
    assert!(output.status.success(), "the database servers of the tests are missing, see above");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}
