//! How much memory this process may have.

use std::fs;
use std::path::{Path, PathBuf};

/// Version 1 of control groups writes its lack of a limit as the largest whole number of pages.
const NO_LIMIT_FROM: u64 = 1 << 60;

/// What bounds the memory of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The control group of the process, or one above it: a container, or a service.
    ControlGroup,
    /// The memory of the machine.
    Machine,
}

/// The memory that a process may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryLimit {
    /// In bytes, with what other processes of the same group, or machine, take.
    pub bytes: u64,
    /// What sets it.
    pub bound: Bound,
}

/// The least limit that the system sets to the memory of this process; `None` where it cannot be
/// found out.
pub(super) fn memory_limit() -> Option<MemoryLimit> {
    let read = |path: &Path| fs::read_to_string(path).ok();
    let of_group = match (read("/proc/self/cgroup".as_ref()), read("/proc/self/mountinfo".as_ref()))
    {
        (Some(groups), Some(mounts)) => group_limit(&groups, &mounts, read),
        _ => None,
    };
    let of_machine = read("/proc/meminfo".as_ref()).and_then(|info| machine_memory(&info));
    least(of_group, of_machine)
}

fn least(of_group: Option<u64>, of_machine: Option<u64>) -> Option<MemoryLimit> {
    let group = of_group.map(|bytes| MemoryLimit { bytes, bound: Bound::ControlGroup });
    let machine = of_machine.map(|bytes| MemoryLimit { bytes, bound: Bound::Machine });
    group.into_iter().chain(machine).min_by_key(|limit| limit.bytes)
}

/// `MemTotal` of `/proc/meminfo`, in bytes.
fn machine_memory(info: &str) -> Option<u64> {
    let total = info.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = total.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// The least limit of the control groups of a process and of those above them, in bytes. `groups`
/// is its `/proc/PID/cgroup`, `mounts` its `/proc/PID/mountinfo`; `read` gives what is in a file,
/// where it can be read.
///
/// Source: Linux, `cgroups(7)` and `Documentation/admin-guide/cgroup-v2.rst`.
fn group_limit(groups: &str, mounts: &str, read: impl Fn(&Path) -> Option<String>) -> Option<u64> {
    let mounts: Vec<Mount<'_>> = mounts.lines().filter_map(Mount::of_line).collect();
    let limit = |file: PathBuf| {
        // Without a limit version 2 says `max`.
        let bytes: u64 = read(&file)?.trim().parse().ok()?;
        (bytes < NO_LIMIT_FROM).then_some(bytes)
    };
    let of_line = |line: &str| {
        let mut fields = line.splitn(3, ':');
        let (id, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
        let is_second = id == "0" && controllers.is_empty();
        let files: &[&str] = if is_second {
            &["memory.max", "memory.high"]
        } else if controllers.split(',').any(|name| name == "memory") {
            &["memory.limit_in_bytes"]
        } else {
            return None;
        };
        let mount = mounts.iter().find(|mount| mount.is_second == is_second)?;
        mount
            .folders(path)
            .flat_map(|folder| files.iter().map(move |file| folder.join(file)))
            .filter_map(limit)
            .min()
    };
    groups.lines().filter_map(of_line).min()
}

/// Where control groups that limit memory are mounted.
#[derive(Debug, PartialEq, Eq)]
struct Mount<'a> {
    /// Whether they are of version 2.
    is_second: bool,
    /// The group that the mount shows at its place.
    root: &'a str,
    place: PathBuf,
}

impl<'a> Mount<'a> {
    /// A line of `/proc/PID/mountinfo`; `None` for a mount of something else.
    fn of_line(line: &'a str) -> Option<Self> {
        let (before, after) = line.split_once(" - ")?;
        let mut before = before.split(' ').skip(3);
        let (root, place) = (before.next()?, before.next()?);
        let mut after = after.split(' ');
        let is_second = match after.next()? {
            "cgroup2" => true,
            "cgroup" if after.nth(1)?.split(',').any(|option| option == "memory") => false,
            _ => return None,
        };
        Some(Self { is_second, root, place: unescaped(place).into() })
    }

    /// The folder of the group at `path` and those above it, as far as the mount shows them.
    fn folders(&self, path: &str) -> impl Iterator<Item = PathBuf> {
        // In a container the path may be one of the machine, and the mount show the container's
        // group alone.
        let below = Path::new(path).strip_prefix(self.root).unwrap_or(Path::new(""));
        let is_inside = !below.components().any(|part| part.as_os_str() == "..");
        let below = if is_inside { below } else { Path::new("") };
        let folders: Vec<PathBuf> = below.ancestors().map(|part| self.place.join(part)).collect();
        folders.into_iter()
    }
}

/// A path of `mountinfo`, in which blanks and backslashes are octal numbers.
fn unescaped(path: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .iter()
        .fold(path.to_owned(), |path, (code, char)| path.replace(code, char))
}

#[cfg(test)]
mod tests;
