//! Names of files in messages.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A path as messages show it: bytes that are not UTF-8, and control characters, as `\xe4`.
pub fn shown(path: &Path) -> String {
    let mut shown = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        for c in chunk.valid().chars() {
            if c.is_control() {
                shown.extend(c.to_string().bytes().map(escaped));
            } else {
                shown.push(c);
            }
        }
        shown.extend(chunk.invalid().iter().copied().map(escaped));
    }
    shown
}

fn escaped(byte: u8) -> String {
    format!("\\x{byte:02x}")
}
