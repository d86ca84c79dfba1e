//! What `make dist` does to the command after the build.

use crate::support::Place;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn split(program: &Path) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/split-debug");
    let done = Command::new(script).arg(program).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

fn sections(program: &Path) -> String {
    let found = Command::new("readelf")
        .args(["--section-headers", "--wide"])
        .arg(program)
        .output()
        .unwrap();
    String::from_utf8(found.stdout).unwrap()
}

#[test]
fn debug_information_moves_to_a_file_of_its_own() {
    let place = Place::new();
    let [program, debug]: [PathBuf; 2] = ["vesica", "vesica.debug"].map(|name| place.path(name));
    fs::copy(env!("CARGO_BIN_EXE_vesica"), &program).unwrap();
    let (len, before) = (fs::metadata(&program).unwrap().len(), sections(&program));
    split(&program);
    let [left, moved] = [&program, &debug].map(|file| sections(file));
    for name in [".debug_info", ".debug_line", ".symtab"] {
        assert!(!left.contains(name), "{name}: {left}");
    }
    assert!(left.contains(".gnu_debuglink"), "{left}");
    // Cargo builds without debug information leave the symbols alone.
    for name in [".debug_info", ".symtab"] {
        assert_eq!(moved.contains(name), before.contains(name), "{name}: {moved}");
    }
    assert!(fs::metadata(&program).unwrap().len() < len);
    let says = Command::new(&program).arg("-V").output().unwrap();
    assert_eq!(says.stdout, format!("vesica {}\n", env!("CARGO_PKG_VERSION")).into_bytes());
    // A second call has nothing to move.
    let once = fs::read(&debug).unwrap();
    split(&program);
    assert_eq!(fs::read(&debug).unwrap(), once);
}
