//! Runs each target in its own process for a while, so that an input that crashes ends only that
//! process and is known.
//!
//! Inputs are random changes of the stored ones, with a fixed seed: a slow machine runs fewer of
//! them, and no others.

mod child;
mod mutate;
mod options;
mod parent;

use options::{Asked, USAGE};
use std::process::ExitCode;

/// The program; `arguments` follow its usage message.
#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a program's answer")]
pub fn main(arguments: impl Iterator<Item = String>) -> ExitCode {
    match options::parse(arguments) {
        Ok(Asked::Help) => {
            print!("{USAGE}");
            ExitCode::SUCCESS
        }
        Ok(Asked::List) => {
            crate::TARGETS.iter().for_each(|target| println!("{}", target.name));
            ExitCode::SUCCESS
        }
        Ok(Asked::Seeds(dir)) => match write_seeds(&dir) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("the inputs cannot be written: {error}");
                ExitCode::FAILURE
            }
        },
        Ok(Asked::Child(task)) => child::run(&task),
        Ok(Asked::Run(run)) => parent::run(&run),
        Err(fault) => {
            eprintln!("{fault}\n\n{USAGE}");
            ExitCode::from(2)
        }
    }
}

/// The inputs that a run with this seed makes for `target`, after the stored ones.
pub fn inputs(target: &crate::Target, seed: u64) -> impl Iterator<Item = Vec<u8>> {
    let kept = crate::inputs::all(target).unwrap_or_default();
    let mut mutator = mutate::Mutator::new(seed, kept, target);
    std::iter::repeat_with(move || mutator.next().to_vec())
}

/// Writes the stored inputs and the targets' seeds, a folder for each target, as libFuzzer's
/// initial corpus.
fn write_seeds(dir: &std::path::Path) -> std::io::Result<()> {
    for target in crate::TARGETS {
        let folder = dir.join(target.name);
        std::fs::create_dir_all(&folder)?;
        for (number, bytes) in crate::inputs::all(target)?.iter().enumerate() {
            std::fs::write(folder.join(format!("kept-{number:03}")), bytes)?;
        }
    }
    Ok(())
}
