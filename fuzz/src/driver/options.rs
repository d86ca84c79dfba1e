//! The command line.

use crate::Target;
use std::path::PathBuf;
use std::time::Duration;

pub(super) const USAGE: &str = "\
usage: vesica-fuzz [--seconds N] [--at-once N] [--seed N] [TARGET]...

Runs each target, or those named, on inputs made of the ones that are kept in fuzz/corpus and
fuzz/regressions. An input on which a target fails is printed in hexadecimal, and the exit code
is 1.

  --seconds N    how long each target runs; 0 runs the inputs that are kept alone (10)
  --at-once N    how many targets run side by side (2)
  --seed N       other inputs for another number (1)
  --input FILE   runs one target on the bytes of FILE, and nothing else
  --list         prints the names of the targets
  --seeds DIR    writes the inputs that are kept, and those that targets make, to DIR, in a folder
                 for each target
";

/// The request of the command line.
pub(super) enum Asked {
    Help,
    List,
    Seeds(PathBuf),
    Run(Campaign),
    Child(Task),
}

/// The targets to run.
pub(super) struct Campaign {
    pub(super) targets: Vec<&'static Target>,
    pub(super) seconds: u64,
    pub(super) at_once: usize,
    pub(super) seed: u64,
    pub(super) input: Option<PathBuf>,
}

/// The task of a child process.
pub(super) struct Task {
    pub(super) target: &'static Target,
    pub(super) time: Duration,
    pub(super) seed: u64,
    /// Run only this input.
    pub(super) input: Option<PathBuf>,
    /// The file that stores the current input.
    pub(super) current: PathBuf,
}

pub(super) fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Asked, String> {
    let (mut seconds, mut at_once, mut seed) = (10, 2, 1);
    let (mut names, mut input, mut current) = (Vec::new(), None, None);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        let number = |text: String| text.parse::<u64>().map_err(|_| format!("{text} is no number"));
        match argument.as_str() {
            "--help" | "-h" => return Ok(Asked::Help),
            "--list" => return Ok(Asked::List),
            "--seeds" => return Ok(Asked::Seeds(value()?.into())),
            "--seconds" => seconds = number(value()?)?,
            "--at-once" => at_once = number(value()?)?.clamp(1, 1024) as usize,
            "--seed" => seed = number(value()?)?,
            "--input" => input = Some(PathBuf::from(value()?)),
            // Set by this program when it starts itself.
            "--child" => current = Some(PathBuf::from(value()?)),
            name if name.starts_with('-') => return Err(format!("there is no option {name}")),
            _ => names.push(argument),
        }
    }
    let known = |name: &String| crate::find(name).ok_or(format!("there is no target {name}"));
    let mut targets = names.iter().map(known).collect::<Result<Vec<_>, _>>()?;
    if let (Some(current), [target]) = (current, &targets[..]) {
        let time = Duration::from_secs(seconds);
        return Ok(Asked::Child(Task { target, time, seed, input, current }));
    }
    if input.is_some() && targets.len() != 1 {
        return Err("--input needs the one target that reads it".to_owned());
    }
    if targets.is_empty() {
        targets.extend(crate::TARGETS);
    }
    Ok(Asked::Run(Campaign { targets, seconds, at_once, seed, input }))
}
