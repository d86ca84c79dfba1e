//! The stored inputs.

use crate::Target;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The folder of the initial inputs, one folder for each target.
pub fn corpus() -> PathBuf {
    root().join("corpus")
}

/// The folder of the inputs that once found a bug, one folder for each target.
pub fn regressions() -> PathBuf {
    root().join("regressions")
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_path_buf()
}

/// The files of the folder `dir`, by name; none if the folder does not exist.
///
/// # Errors
/// Those of the file system.
pub fn files(dir: &Path) -> io::Result<Vec<(PathBuf, Vec<u8>)>> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    paths.into_iter().map(|path| Ok((path.clone(), fs::read(path)?))).collect()
}

/// The files of a folder of the repository whose names end with `extension`; none if it cannot be
/// read.
pub(crate) fn of_repository(folder: &str, extension: &str) -> Vec<Vec<u8>> {
    let files = files(&root().join("..").join(folder)).unwrap_or_default();
    let is_one = |path: &Path| path.extension().is_some_and(|end| end == extension);
    files.into_iter().filter(|(path, _)| is_one(path)).map(|(_, bytes)| bytes).collect()
}

/// All stored inputs of `target`, including its seeds.
///
/// # Errors
/// Those of the file system.
pub fn all(target: &Target) -> io::Result<Vec<Vec<u8>>> {
    let mut all = vec![Vec::new()];
    for dir in [corpus(), regressions()] {
        all.extend(files(&dir.join(target.name))?.into_iter().map(|(_, bytes)| bytes));
    }
    all.extend((target.seeds)());
    Ok(all)
}
