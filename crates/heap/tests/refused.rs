//! The end of a program without memory.

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use std::io::Write;
use std::process::Command;
use vesica_heap::{Heap, OutOfMemoryMessage, may_fail, set_message};

#[global_allocator]
static HEAP: Heap = Heap::with_message(FIRST);

/// More than any machine has.
const TOO_MUCH: usize = isize::MAX as usize;

/// The variable that makes `a_program_without_memory` end this process: the allocation that fails.
const END: &str = "VESICA_HEAP_END";

const FIRST: OutOfMemoryMessage = OutOfMemoryMessage { text: "error: none at all\n", exit_code: 4 };
const SECOND: OutOfMemoryMessage =
    OutOfMemoryMessage { text: "error: no memory\nhint: none\n", exit_code: 3 };

#[test]
fn a_failure_within_may_fail_is_returned() {
    set_message(SECOND);
    let mut bytes = vec![1_u8];
    assert!(may_fail(|| bytes.try_reserve_exact(TOO_MUCH - 1)).is_err());
    assert!(may_fail(|| Vec::<u8>::new().try_reserve_exact(TOO_MUCH)).is_err());
    assert!(may_fail(|| bytes.try_reserve_exact(10)).is_ok());
    assert_eq!(bytes, [1]);
}

/// Does nothing unless `every_way_to_ask_for_memory_ends_with_the_message` starts it.
#[test]
fn a_program_without_memory() {
    let Ok(what) = std::env::var(END) else { return };
    if what != "first" {
        set_message(SECOND);
    }
    // A handled failure has no effect on later ones.
    let _ = may_fail(|| Vec::<u8>::new().try_reserve_exact(TOO_MUCH));
    match &*what {
        "new" | "first" => drop(std::hint::black_box(Vec::<u8>::with_capacity(TOO_MUCH))),
        "zeroed" => drop(std::hint::black_box(vec![0_u8; TOO_MUCH])),
        "grown" => std::hint::black_box(vec![1_u8]).reserve_exact(TOO_MUCH - 1),
        "threads" => std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| drop(std::hint::black_box(Vec::<u8>::with_capacity(TOO_MUCH))));
            }
        }),
        other => panic!("{other}"),
    }
}

/// No process reads its output, and the pipe is full.
#[cfg(target_os = "linux")]
#[test]
fn a_program_whose_output_is_not_read_still_ends() {
    let (reader, writer) = std::io::pipe().unwrap();
    let flags = |flags| fcntl(&writer, FcntlArg::F_SETFL(flags)).unwrap();
    flags(OFlag::O_NONBLOCK);
    while (&writer).write(&[b'.'; 4096]).is_ok() {}
    while (&writer).write(b".").is_ok() {}
    flags(OFlag::empty());
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "a_program_without_memory", "--nocapture"]).env(END, "threads");
    assert_eq!(child.stderr(writer).status().unwrap().code(), Some(3));
    drop(reader);
}

fn end_by(what: &str) -> (Option<i32>, String) {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "a_program_without_memory", "--nocapture"]).env(END, what);
    let ended = child.output().unwrap();
    (ended.status.code(), String::from_utf8(ended.stderr).unwrap())
}

#[test]
fn every_way_to_ask_for_memory_ends_with_the_message() {
    for what in ["new", "zeroed", "grown", "threads"] {
        assert_eq!(end_by(what), (Some(3), SECOND.text.to_owned()), "{what}");
    }
    assert_eq!(end_by("first"), (Some(4), FIRST.text.to_owned()));
}
