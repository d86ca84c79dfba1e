//! The samples of `docs/kubernetes.md` call the command with options that exist.

use crate::docs::page;
use crate::support::{Running, vesica};

/// The blocks of YAML on the page.
fn samples() -> Vec<String> {
    let page = page("docs/kubernetes.md");
    let blocks = page.split("```yaml\n").skip(1);
    blocks.map(|block| block.split("```").next().unwrap().to_owned()).collect()
}

/// The words of a list `args:` whose first word is a command of `vesica`.
fn arguments(sample: &str) -> Vec<String> {
    let lines = sample.lines().skip_while(|line| line.trim() != "args:").skip(1);
    let words = lines.map_while(|line| line.trim().strip_prefix("- "));
    words.map(str::to_owned).collect()
}

/// The words of a line of a script that calls `vesica`.
fn called(sample: &str) -> Vec<String> {
    let line = sample.lines().find_map(|line| line.trim().strip_prefix("vesica "));
    line.unwrap().split(' ').map(str::to_owned).collect()
}

#[test]
fn every_sample_calls_the_command_with_options_that_it_has() {
    let samples = samples();
    let [job, cron, helper] = &samples[..] else { panic!("{} samples", samples.len()) };
    let [job, cron, helper] = [arguments(job), called(cron), arguments(helper)];
    assert_eq!([&job[0], &cron[0], &helper[0]], ["run", "run", "helper"]);
    for words in [job, cron, helper] {
        assert!(words.len() > 5, "{words:?}");
        let mut command = vesica();
        command.args(&words).arg("--help");
        Running::start(command).wait().assert_code(0);
        // The values of the options are valid too: the command fails only for missing files.
        let mut command = vesica();
        command.current_dir("/").args(&words);
        Running::start(command).wait().assert_code(3);
    }
}

#[test]
fn the_samples_have_what_the_page_explains() {
    for sample in samples() {
        assert!(sample.lines().all(|line| !line.contains('\t')), "YAML has no tabs");
        let is_even = |line: &str| (line.len() - line.trim_start().len()).is_multiple_of(2);
        assert!(sample.lines().all(is_even), "{sample}");
        for part in [
            "runAsUser: 1000\n",
            "fsGroup: 1000\n",
            "defaultMode: 0440\n",
            "readOnlyRootFilesystem: true\n",
            "memory: 2Gi\n",
        ] {
            assert!(sample.contains(part), "{part:?} is missing: {sample}");
        }
        let mounts: Vec<&str> =
            sample.lines().filter(|line| line.contains("mountPath: /")).collect();
        assert!(mounts.len() >= 3, "{sample}");
    }
}
