use super::*;
use crate::FolderStore;
use crate::store::Lengths;
use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

const AGREEMENT: [u8; 32] = [0xab; 32];

/// The name of run `number` of the agreement.
fn run_of(number: u32) -> String {
    format!("{}-{number:04}", "ab".repeat(8))
}

/// A folder with files of given ages.
struct Folder {
    root: tempfile::TempDir,
    now: SystemTime,
}

impl Folder {
    fn new() -> Self {
        Self { root: tempfile::tempdir().unwrap(), now: SystemTime::now() }
    }

    /// Writes a file of `len` bytes, `age` seconds ago.
    fn put(&self, name: &str, len: usize, age: u64) {
        let path = self.root.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, vec![1; len]).unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        file.set_modified(self.now - Duration::from_secs(age)).unwrap();
    }

    /// Writes empty objects of run `number`, all `age` seconds ago.
    fn put_run(&self, number: u32, objects: &[&str], age: u64) {
        objects.iter().for_each(|name| self.put(&format!("{}/{name}", run_of(number)), 0, age));
    }

    fn store(&self) -> FolderStore {
        FolderStore::open(self.root.path()).unwrap()
    }

    fn only(&self) -> StoredRun {
        let [run] = <[_; 1]>::try_from(runs(&self.store(), None).unwrap()).unwrap();
        run
    }

    /// Removes what is older than 100 seconds.
    fn clean(&self, which: CleanScope, dry_run: bool) -> Cleaned {
        let cleaning = Cleaning { before: self.now - Duration::from_secs(100), which, dry_run };
        clean(&self.store(), Some(&AGREEMENT), cleaning).unwrap()
    }

    /// All files, by their names.
    fn files(&self) -> Vec<String> {
        fn walk(at: &Path, root: &Path, found: &mut Vec<String>) {
            for entry in fs::read_dir(at).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    walk(&path, root, found);
                } else {
                    found.push(path.strip_prefix(root).unwrap().to_str().unwrap().to_owned());
                }
            }
        }
        let mut found = Vec::new();
        walk(self.root.path(), self.root.path(), &mut found);
        found.sort();
        found
    }
}

#[test]
fn a_run_has_one_name() {
    for good in [run_of(1), run_of(12), run_of(123_456)] {
        assert_eq!(RunName::parse(&good).unwrap().to_string(), good);
        assert!(RunName::parse(&good).unwrap().is_of(&AGREEMENT));
        assert!(!RunName::parse(&good).unwrap().is_of(&[0xac; 32]));
    }
    let hash = "ab".repeat(8);
    for bad in ["1", "001", "00001", "+001", "-001", "000x", "", "1000000000", "0001-"] {
        assert_eq!(RunName::parse(&format!("{hash}-{bad}")), None, "{bad}");
    }
    for bad in ["", "ab-0001", &format!("{hash}a-0001"), &format!("{}-0001", "AB".repeat(8))] {
        assert_eq!(RunName::parse(bad), None, "{bad}");
    }
}

#[test]
fn objects_of_other_names_are_not_ours() {
    for good in ["0-hello", "1-shares", "0-000000", "1-1234567", "0-end", "1-given-up"] {
        assert!(parse_object(good).is_some(), "{good}");
    }
    for bad in ["2-hello", "0-", "hello", "0-Hello", "0-00000", "0-0000000", "0-+00001", "00-end"] {
        assert_eq!(parse_object(bad), None, "{bad}");
    }
}

#[test]
fn a_run_tells_what_each_party_has_and_when_it_wrote() {
    let folder = Folder::new();
    folder.put_run(1, &["0-hello", "1-hello", "0-shares"], 50);
    folder.put(&format!("{}/0-000000", run_of(1)), 700, 40);
    folder.put(&format!("{}/0-000001", run_of(1)), 77, 30);
    folder.put(&format!("{}/0-notes", run_of(1)), 9, 1);
    let run = folder.only();
    let at = |age| Some(folder.now - Duration::from_secs(age));
    let zero = Side {
        has_hello: true,
        has_shares: true,
        objects: 2,
        object_bytes: 777,
        written: at(30),
        ..Side::default()
    };
    let one = Side { has_hello: true, written: at(50), ..Side::default() };
    assert_eq!(run.sides, [zero, one]);
    assert_eq!((run.written(), run.state(), run.turn()), (at(30), RunState::UnderWay, Some(1)));
}

#[test]
fn the_state_of_a_run_follows_from_its_marks() {
    let both = ["0-hello", "1-hello"];
    let with = |marks: &[&'static str]| [&both[..], marks].concat();
    for (objects, state, turn) in [
        (vec!["0-hello"], RunState::Started { by: 0 }, Some(1)),
        (vec!["1-hello", "1-shares"], RunState::Started { by: 1 }, Some(0)),
        // Equal times tell nothing.
        (with(&[]), RunState::UnderWay, None),
        (with(&["0-shares"]), RunState::UnderWay, Some(1)),
        (with(&["0-shares", "1-shares", "1-000000"]), RunState::UnderWay, Some(0)),
        (with(&["0-end"]), RunState::Ended { by: 0 }, Some(1)),
        (with(&["1-end"]), RunState::Ended { by: 1 }, Some(0)),
        (with(&["0-end", "1-end"]), RunState::Finished, None),
        (with(&["0-end", "1-end", "1-given-up"]), RunState::Finished, None),
        (with(&["1-given-up"]), RunState::GivenUp { by: [false, true] }, None),
        (with(&["0-end", "1-given-up"]), RunState::GivenUp { by: [false, true] }, None),
        (vec!["0-given-up", "1-given-up"], RunState::GivenUp { by: [true, true] }, None),
        (vec!["0-end", "1-end"], RunState::Finished, None),
    ] {
        let folder = Folder::new();
        folder.put_run(1, &objects, 5);
        let run = folder.only();
        assert_eq!((run.state(), run.turn()), (state, turn), "{objects:?}");
    }
}

#[test]
fn runs_come_in_the_order_of_their_last_writes_and_others_do_not() {
    let folder = Folder::new();
    folder.put_run(3, &["0-hello"], 300);
    folder.put_run(1, &["0-hello", "1-hello"], 100);
    folder.put_run(2, &["0-hello"], 200);
    folder.put(&format!("{}-0009/1-hello", "cd".repeat(8)), 0, 250);
    folder.put("notes/0-hello", 0, 1);
    folder.put("0-hello", 0, 1);
    folder.put(&format!("{}/readme", run_of(4)), 0, 1);
    fs::create_dir(folder.root.path().join(run_of(5))).unwrap();
    let numbers = |agreement| {
        let runs = runs(&folder.store(), agreement).unwrap();
        runs.iter().map(|run| run.name.number()).collect::<Vec<_>>()
    };
    assert_eq!(numbers(None), [3, 9, 2, 1]);
    assert_eq!(numbers(Some(&AGREEMENT)), [3, 2, 1]);
}

const ALL: [&str; 6] = ["0-hello", "1-hello", "0-000000", "1-000000", "0-end", "1-end"];

#[test]
fn cleaning_removes_old_runs_and_keeps_their_marks_and_what_is_not_ours() {
    for dry_run in [true, false] {
        let folder = Folder::new();
        folder.put_run(1, &ALL, 101);
        folder.put_run(2, &["0-hello", "1-hello"], 500);
        // One side wrote to it a moment ago.
        folder.put_run(3, &["0-hello"], 500);
        folder.put_run(3, &["1-hello"], 99);
        let rest = |number, digit: char| {
            format!("{}/.unfinished-{}", run_of(number), digit.to_string().repeat(16))
        };
        folder.put(&rest(2, 'a'), 10, 500);
        folder.put(&rest(3, 'b'), 100, 101);
        folder.put(&rest(3, 'c'), 1000, 99);
        let foreign = [
            format!("{}/readme", run_of(2)),
            format!("{}/.unfinished-x", run_of(2)),
            format!("{}-0001/0-hello", "cd".repeat(8)),
            format!("ab/{}", "0-hello"),
            "0-hello".to_owned(),
        ];
        foreign.iter().for_each(|name| folder.put(name, 0, 500));
        let before = folder.files();
        let cleaned = folder.clean(CleanScope::OfBoth, dry_run);
        assert_eq!(cleaned.fault, None);
        let removed: Vec<_> =
            cleaned.runs.iter().map(|run| (run.run.name.number(), run.removed.objects)).collect();
        assert_eq!(removed, [(1, 4), (2, 2)]);
        assert!(cleaned.runs.iter().all(|run| run.denied == FileTotals::default()));
        let kept: Vec<_> = cleaned.kept.iter().map(|run| run.name.number()).collect();
        assert_eq!(kept, [3]);
        assert_eq!(cleaned.unfinished, FileTotals { objects: 2, bytes: 110 });
        let mut left = foreign.to_vec();
        left.extend(["0-end", "1-end"].map(|name| format!("{}/{name}", run_of(1))));
        left.extend(["0-hello", "1-hello"].map(|name| format!("{}/{name}", run_of(3))));
        left.push(rest(3, 'c'));
        left.sort();
        assert_eq!(folder.files(), if dry_run { before } else { left });
        // Removed objects are not removed again.
        let again = folder.clean(CleanScope::OfBoth, false);
        assert_eq!(again.runs.iter().any(|run| run.removed.objects > 0), dry_run);
    }
}

#[test]
fn one_party_leaves_what_the_other_has_sent() {
    let folder = Folder::new();
    folder.put_run(1, &ALL, 500);
    let rest = format!("{}/.unfinished-{}", run_of(1), "0".repeat(16));
    folder.put(&rest, 0, 500);
    let cleaned = folder.clean(CleanScope::OfParty(1), false);
    assert_eq!(cleaned.runs[0].removed.objects, 2);
    let left =
        ["0-000000", "0-end", "0-hello", "1-end"].map(|name| format!("{}/{name}", run_of(1)));
    assert_eq!(folder.files(), [&[rest], &left[..]].concat());
}

#[test]
fn with_its_marks_a_run_is_gone() {
    let folder = Folder::new();
    folder.put_run(1, &ALL, 500);
    folder.put_run(2, &["0-given-up"], 500);
    folder.put_run(3, &["0-end", "1-end"], 50);
    let cleaned = folder.clean(CleanScope::WithMarks, false);
    let removed: Vec<u64> = cleaned.runs.iter().map(|run| run.removed.objects).collect();
    assert_eq!(removed, [6, 1]);
    let left = fs::read_dir(folder.root.path()).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(left.collect::<Vec<_>>(), [&*run_of(3)]);
}

/// A folder in which this process may not do everything.
struct Restricted {
    folder: FolderStore,
    may_list: bool,
    /// The error of removing an object of party 1.
    removing: Option<io::ErrorKind>,
    removals: AtomicU32,
}

impl Store for Restricted {
    fn put_if_absent(&self, name: &str, bytes: &[u8]) -> io::Result<bool> {
        self.folder.put_if_absent(name, bytes)
    }

    fn get(&self, name: &str, lengths: Lengths) -> io::Result<Option<Vec<u8>>> {
        self.folder.get(name, lengths)
    }

    fn list(&self, folder: &str) -> io::Result<Vec<Listed>> {
        let mut listed = self.folder.list(folder)?;
        listed.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(listed)
    }

    fn folders(&self) -> io::Result<Vec<String>> {
        if self.may_list { self.folder.folders() } else { Err(io::ErrorKind::Unsupported.into()) }
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.removals.fetch_add(1, Ordering::Relaxed);
        match self.removing.filter(|_| name.contains("/1-")) {
            Some(kind) => Err(kind.into()),
            None => self.folder.remove(name),
        }
    }

    fn place(&self) -> String {
        self.folder.place()
    }
}

fn restricted(folder: &Folder, may_list: bool, removing: Option<io::ErrorKind>) -> Arc<Restricted> {
    let folder = folder.store();
    Arc::new(Restricted { folder, may_list, removing, removals: AtomicU32::default() })
}

#[test]
fn a_store_that_cannot_list_is_an_error() {
    let folder = Folder::new();
    folder.put_run(1, &ALL, 500);
    let store = restricted(&folder, false, None);
    assert_eq!(runs(&*store, None), Err(RunsError::CannotList));
    let cleaning = Cleaning { before: folder.now, which: CleanScope::OfBoth, dry_run: false };
    assert_eq!(clean(&*store, None, cleaning), Err(RunsError::CannotList));
    assert_eq!(store.removals.load(Ordering::Relaxed), 0);
}

#[test]
fn what_may_not_be_removed_is_counted_and_its_marks_stay() {
    let folder = Folder::new();
    // Run 1 has only marks, and one of them can be removed.
    folder.put_run(1, &["0-end", "1-end"], 500);
    folder.put(&format!("{}/0-given-up", run_of(2)), 1, 500);
    folder.put_run(2, &["0-hello", "1-hello"], 500);
    let store = restricted(&folder, true, Some(io::ErrorKind::PermissionDenied));
    let cleaning = Cleaning { before: folder.now, which: CleanScope::WithMarks, dry_run: false };
    let cleaned = clean(&*store, None, cleaning).unwrap();
    let piles: Vec<_> =
        cleaned.runs.iter().map(|run| (run.removed.objects, run.denied.objects)).collect();
    assert_eq!((piles, cleaned.fault), (vec![(0, 2), (1, 2)], None));
    let left = [(1, "0-end"), (1, "1-end"), (2, "0-given-up"), (2, "1-hello")];
    assert_eq!(folder.files(), left.map(|(number, name)| format!("{}/{name}", run_of(number))));
    let word = fs::read(folder.root.path().join(run_of(2)).join("0-given-up")).unwrap();
    assert_eq!(word, [1], "with its content");
}

#[test]
fn an_error_ends_the_cleaning_and_what_was_removed_is_known() {
    for (kind, fault) in [
        (io::ErrorKind::Unsupported, RunsError::CannotRemove),
        (io::ErrorKind::ReadOnlyFilesystem, RunsError::Store(io::ErrorKind::ReadOnlyFilesystem)),
    ] {
        let folder = Folder::new();
        folder.put_run(1, &["0-hello", "1-hello"], 500);
        folder.put_run(2, &["0-hello"], 500);
        let store = restricted(&folder, true, Some(kind));
        let cleaning = Cleaning { before: folder.now, which: CleanScope::OfBoth, dry_run: false };
        let cleaned = clean(&*store, None, cleaning).unwrap();
        assert_eq!((cleaned.runs.len(), cleaned.fault), (1, Some(fault)));
        assert_eq!(cleaned.runs[0].removed.objects, 1);
    }
}
