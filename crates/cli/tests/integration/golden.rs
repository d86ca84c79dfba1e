//! What users see: help texts, the output of every command, and every message that one side alone
//! can cause, each with its exit code. The golden files are in `tests/golden`; a run with
//! `SNAPSHOTS=overwrite` overwrites them, so that the change can be reviewed.

use std::fmt::Write;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Keys made for these tests and used nowhere else.
const ONE: &str = include_str!("../keys/one.key");
const TWO: &str = include_str!("../keys/two.key");

fn public(key: &str) -> &str {
    let at = key.find("vesica1").unwrap();
    key[at..].split_whitespace().next().unwrap()
}

/// A directory in which commands run, and the transcript of their output. Every command must end
/// with the session's exit code.
struct Session {
    directory: tempfile::TempDir,
    exit_code: i32,
    transcript: String,
    redactions: Vec<(String, &'static str)>,
}

impl Session {
    /// A session whose commands succeed.
    fn new() -> Self {
        Self::failing(0)
    }

    /// A session whose commands must end with `exit_code`.
    fn failing(exit_code: i32) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let (transcript, redactions) = (String::new(), Vec::new());
        let session = Self { directory, exit_code, transcript, redactions };
        for (name, key) in [("one.key", ONE), ("two.key", TWO)] {
            session.write(name, key);
            session.mode(name, 0o600);
        }
        session.write("agreement.toml", agreement());
        session.write("people.csv", "id,email\n1,ann@example.org\n2,Bob@Example.org \n3,\n4,x\n");
        session
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    fn mode(&self, name: &str, mode: u32) {
        fs::set_permissions(self.path(name), Permissions::from_mode(mode)).unwrap();
    }

    /// The agreement with `from` replaced, under the name `name`.
    fn changed(&self, name: &str, from: &str, to: &str) {
        let agreement = agreement();
        assert!(agreement.contains(from), "{from:?} is not in the agreement");
        self.write(name, agreement.replacen(from, to, 1));
    }

    /// Runs a command line; its words are separated by blanks.
    fn vesica(&mut self, line: &str) {
        self.vesica_with(line, &[]);
    }

    fn vesica_with(&mut self, line: &str, variables: &[(&str, &str)]) {
        let output = Command::new(env!("CARGO_BIN_EXE_vesica"))
            .args(line.split(' ').filter(|word| !word.is_empty()))
            .current_dir(self.directory.path())
            .env_remove("VESICA_SIMD")
            .env("COLUMNS", "100")
            .env("NO_COLOR", "1")
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let mut text = String::new();
        for (name, value) in variables {
            write!(text, "{name}={value} ").unwrap();
        }
        writeln!(text, "$ vesica {line}").unwrap();
        for stream in [&output.stdout, &output.stderr] {
            text += &String::from_utf8(stream.clone()).expect("messages are UTF-8");
        }
        let exit_code = output.status.code().unwrap();
        writeln!(text, "[exit {exit_code}]\n").unwrap();
        assert_eq!(exit_code, self.exit_code, "{text}");
        self.redactions.iter().for_each(|(from, to)| text = text.replace(from, to));
        // The free disk space differs between machines.
        let free = text.split_once("\"free_disk\": ").and_then(|(_, rest)| rest.split_once(','));
        if let Some((free, _)) = free {
            text = text.replace(&format!("\"free_disk\": {free}"), "\"free_disk\": \"...\"");
        }
        let quiet_words: Vec<&str> = text.lines().map(str::trim_end).collect();
        self.transcript += &(quiet_words.join("\n") + "\n");
    }

    /// Compares the transcript with the golden file.
    fn assert_golden(self, name: &str) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
        let golden = snapbox::Data::read_from(&path, None);
        // Raw, because brackets in a help text are not wildcards.
        snapbox::Assert::new()
            .action_env("SNAPSHOTS")
            .eq(snapbox::Data::text(self.transcript), golden.raw());
    }

    /// An error and a hint for each failure.
    fn assert_failures_are_explained(&self) {
        assert_ne!(self.exit_code, 0, "commands that succeed");
        for block in self.transcript.split("$ vesica ").skip(1) {
            let lines = |start: &str| block.lines().filter(|line| line.starts_with(start)).count();
            assert_eq!((lines("error: "), lines("hint: ")), (1, 1), "{block}");
            for line in block.lines().filter(|line| line.starts_with("hint: ")) {
                assert!(!line.ends_with('.'), "{line}");
            }
        }
    }
}

fn agreement() -> String {
    format!(
        r#"version = 2
title = "People in common"
operation = "intersection"
receives = "one"
security = "semi-honest"

[[key]]
name = "email"
profile = "email"

[party.one]
identity = "{}"
max_rows = 1000

[party.two]
identity = "{}"
max_rows = 2000
"#,
        public(ONE),
        public(TWO)
    )
}

/// The agreement with a helper; the second party does not receive the result.
fn aided() -> String {
    let helper = format!("[helper]\nname = \"cloud\"\nidentity = \"{}\"\n\n", public_of([3; 32]));
    agreement().replacen("[[key]]", &format!("{helper}[[key]]"), 1)
}

#[test]
fn help_texts() {
    let mut session = Session::new();
    session.redactions.push((format!("vesica {}", env!("CARGO_PKG_VERSION")), "vesica [VERSION]"));
    let kernels = vesica_simd::Backend::detect().name();
    session.redactions.push((format!("kernels {kernels}"), "kernels [NAME]"));
    session.vesica("--version");
    for command in [
        "",
        "keygen ",
        "agree ",
        "agree new ",
        "agree check ",
        "agree show ",
        "explain ",
        "check ",
        "run ",
        "exchange ",
        "exchange status ",
        "exchange clean ",
        "helper ",
        "combine ",
        "protocols ",
        "bench ",
        "demo ",
        "completions ",
        "man ",
    ] {
        session.vesica(&format!("{command}--help"));
    }
    assert!(!session.transcript.contains("bench-party"), "a command of our own is shown");
    let examples = session.transcript.matches("\nExample:\n").count();
    assert_eq!(examples, 19, "a command without an example");
    session.assert_golden("help.txt");
}

#[test]
fn wrong_command_lines() {
    let mut session = Session::failing(2);
    session.vesica("");
    session.vesica("rum");
    session.vesica("run");
    session.vesica("run agreement.toml --key one.key --input people.csv");
    session
        .vesica("run agreement.toml --key one.key --input people.csv --listen a:1 --connect b:1");
    session.vesica("run agreement.toml --key one.key --input people.csv --listen a:1 --wait 5");
    session.vesica("run agreement.toml --key one.key --input people.csv --listen a:1 --idle 0");
    session.vesica("run agreement.toml --key one.key --input people.csv --listen a:1 --threads 0");
    session
        .vesica("run agreement.toml --key one.key --input people.csv --listen a:1 --column email");
    session.vesica("run agreement.toml --key one.key --input people.csv --listen a:1 --log xml");
    for address in ["--connect nowhere", "--connect localhost:0", "--listen 7400"] {
        session.vesica(&format!("run agreement.toml --key one.key --input people.csv {address}"));
    }
    session.vesica("check agreement.toml --input people.csv --delimiter ab");
    session.vesica("check agreement.toml --input people.csv --column email=a --column email=b");
    session.vesica("check agreement.toml --input people.csv --reach");
    session.vesica("check agreement.toml --input people.csv --connect localhost:1");
    session.vesica("agree new new.toml --party one");
    session.vesica("agree new new.toml --helper cloud --party one");
    session.vesica("agree new new.toml --expires tomorrow");
    session.write("aided.toml", aided());
    session.vesica("run aided.toml --key one.key --input people.csv");
    session.vesica("run aided.toml --key one.key --input people.csv --listen a:1");
    session.vesica("run aided.toml --key one.key --input people.csv --connect a:1 --memory 5");
    session.vesica("run agreement.toml --key one.key --input people.csv --listen a:1 --restart");
    session.vesica("check aided.toml --input people.csv --reach");
    session.vesica("helper --key one.key");
    session.vesica("helper --key one.key --config helper.toml --keep 0");
    session.write("helper.toml", format!("[party.one]\nidentity = \"{}\"\n", public(ONE)));
    session.vesica("helper --key one.key --config helper.toml --quiet --backend disk:a --state b");
    session.vesica("completions ash");
    session.assert_failures_are_explained();
    session.assert_golden("usage.txt");
}

#[test]
fn output_of_the_commands() {
    let mut session = Session::new();
    session.vesica("agree new");
    session.vesica(&format!(
        "agree new new.toml --party one={} --party two={} --key email --key born=date:dmy \
         --receives all --max-rows 500 --expires 2090-06-30",
        public(ONE),
        public(TWO)
    ));
    session.vesica("agree check new.toml");
    session.vesica("agree show new.toml");
    session.vesica("agree show agreement.toml --json");
    session.vesica("explain agreement.toml");
    session.vesica("explain agreement.toml --full");
    session.vesica("explain agreement.toml --json");
    session.vesica("agree new draft.toml");
    session.vesica("explain draft.toml");
    session.vesica("agree show draft.toml");
    session.vesica("check agreement.toml --input people.csv");
    session.vesica("check agreement.toml --as two --input people.csv --quiet");
    session.vesica("check agreement.toml --key one.key --input people.csv --rows 2");
    session.vesica("check agreement.toml --key one.key --input people.csv --rows 1_000 --json");
    session.vesica("agree new --max-rows 50_000 --never email=NULL --never email=none@example.org");
    session.vesica("protocols");
    session.vesica("protocols dh");
    session.vesica("protocols naive_hash --json");
    session.assert_golden("commands.txt");
}

#[test]
fn output_of_the_commands_with_a_helper() {
    let mut session = Session::new();
    session.vesica(
        "agree new --helper cloud --party one --party two --party three --receives one,two",
    );
    session.vesica(&format!(
        "agree new new.toml --helper {} --party one={} --party two={} --key email --protocol pet",
        public_of([3; 32]),
        public(ONE),
        public(TWO)
    ));
    session.vesica("agree check new.toml");
    session.write("aided.toml", aided());
    session.vesica("agree check aided.toml");
    session.vesica("agree show aided.toml");
    session.vesica("agree show aided.toml --json");
    session.vesica("explain aided.toml");
    session.vesica("explain aided.toml --full");
    session.vesica("check aided.toml --input people.csv");
    session.vesica("check aided.toml --key two.key --input people.csv --quiet --rows 2");
    session.vesica("protocols server_aided");
    session.vesica("protocols server_aided_malicious");
    session.vesica("protocols pet --json");
    session.assert_golden("helper.txt");
}

#[test]
fn bad_settings_of_helpers_and_of_runs_with_them() {
    let mut session = Session::failing(3);
    session.write("aided.toml", aided());
    let party = format!("[party.one]\nidentity = \"{}\"\n", public(ONE));
    session.vesica("helper --key one.key --config none.toml --quiet");
    let cases = [
        ("empty", String::new()),
        ("syntax", "[helper\n".to_owned()),
        ("unknown", format!("[helper]\nbackened = \"memory:\"\n{party}")),
        ("type", format!("[helper]\nthreads = \"2\"\n{party}")),
        ("range", format!("[helper]\nmemory_mb = 1\n{party}")),
        ("backend", format!("[helper]\nbackend = \"mongodb://u:hunter2@localhost/a\"\n{party}")),
        ("name", party.replace("one", "One")),
        ("identity", party.replace("vesica1", "vesica2")),
        ("missing", "[party.one]\nmax_rows = 5\n".to_owned()),
        ("same", format!("{party}{}", party.replace("one", "two"))),
    ];
    for (name, text) in cases {
        session.write(&format!("{name}.toml"), text);
        session.vesica(&format!("helper --key two.key --config {name}.toml --quiet"));
    }
    session.write("helper.toml", &party);
    let helper = "helper --config helper.toml --quiet --listen 127.0.0.1:0";
    session.vesica(&format!("{helper} --key none.key"));
    session.vesica(&format!("{helper} --key two.key --metrics 0.0.0.0:0"));
    session.vesica(&format!("{helper} --key two.key --metrics off --state people.csv"));
    session.vesica(&format!("{helper} --key two.key --backend postgres://u:hunter2@/a"));
    session.vesica("helper --config helper.toml --quiet --key two.key --metrics off --listen 7500");

    let run = "run aided.toml --input people.csv --quiet --connect 127.0.0.1:1 --wait 1s --key";
    session.vesica(&format!("{run} two.key --as one --output o.csv"));
    session.vesica(&format!("{run} two.key --as three"));
    session.vesica(&format!("{run} two.key --output o.csv"));
    session.vesica(&format!("{run} one.key"));
    session.vesica(&format!("{run} one.key --output o.csv --column mail=email"));
    session.vesica(&format!("{run} one.key --output o.csv --state people.csv"));
    let entries = fs::read_dir(session.directory.path()).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(names.into_iter().all(|name| !name.starts_with("vesica-run-") && name != "o.csv"));
    let mut printed = session.transcript.lines().filter(|line| !line.starts_with("$ "));
    assert!(printed.all(|line| !line.contains("hunter2")), "a password is shown");
    session.assert_failures_are_explained();
    session.assert_golden("bad_helpers.txt");
}

#[test]
fn a_new_key_is_printed_and_kept_secret() {
    let session = Session::new();
    let output = Command::new(env!("CARGO_BIN_EXE_vesica"))
        .args(["keygen", "new.key"])
        .current_dir(session.directory.path())
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let kept = fs::read_to_string(session.path("new.key")).unwrap();
    assert_eq!(printed.trim(), public(&kept));
    assert_eq!(printed.lines().count(), 1);
    let secret = kept.lines().last().unwrap();
    assert!(secret.starts_with("vesica-secret1"));
    assert!(!printed.contains(secret) && !String::from_utf8_lossy(&output.stderr).contains(secret));
    let mode = fs::metadata(session.path("new.key")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn bad_agreements() {
    let mut session = Session::failing(3);
    session.vesica("agree check none.toml");
    session.vesica("explain .");
    session.write("latin.toml", b"title = \"\xe9\"\n");
    session.vesica("agree show latin.toml");
    session.write("long.toml", "#".repeat(70_000));
    session.vesica("agree check long.toml");
    session.write("empty.toml", "");
    session.vesica("agree check empty.toml");
    let cases = [
        ("syntax", "title = ", "title "),
        ("unknown", "receives", "recieves"),
        ("missing", "receives = \"one\"\n", ""),
        ("type", "1000", "\"1000\""),
        ("version", "version = 2", "version = 3\nnews = true"),
        ("word", "semi-honest", "semihonest"),
        ("control", "People", "\\u001b[31mPeople"),
        ("range", "1000", "0"),
        ("date", "version = 2", "version = 2\nexpires = \"2027-01-31\""),
        ("name", "party.one", "party.One"),
        ("secret", &format!("\"{}\"", public(ONE)), "\"vesica-secret1qqq\""),
        ("mistyped", &public(ONE)[20..24], "aaaa"),
        ("identity", public(ONE), "vesica1..."),
        ("profile", "profile = \"email\"", "profile = \"e-mail\""),
        ("region", "profile = \"email\"", "profile = \"phone\""),
        ("parameter", "profile = \"email\"", "profile = \"date:ymd\""),
        ("outcomes", "profile = \"email\"", "profile = \"email\"\nprofile_version = 7"),
        ("reversed", "max_rows = 1000", "max_rows = 1000\nmin_rows = 1001"),
        ("weaker", "security = \"semi-honest\"", "security = \"malicious\"\nprotocol = \"dh\""),
        ("weak", "version = 2", "version = 2\nprotocol = \"naive_hash\""),
        ("protocol", "version = 2", "version = 2\nprotocol = \"rr33\""),
    ];
    for (name, from, to) in cases {
        let name = format!("{name}.toml");
        session.changed(&name, from, to);
        session.vesica(&format!("agree check {name}"));
    }
    session.write("same.toml", agreement().replace(public(TWO), public(ONE)));
    session.vesica("agree check same.toml");
    let key = "[[key]]\nname = \"email\"\nprofile = \"email\"\n";
    session.changed("twice.toml", key, &key.repeat(2));
    session.vesica("agree check twice.toml");
    session.changed("nokey.toml", key, "");
    session.vesica("agree check nokey.toml");
    let (alone, _) =
        agreement().split_once("[party.two]").map(|(a, b)| (a.to_owned(), b.len())).unwrap();
    session.write("alone.toml", alone);
    session.vesica("agree check alone.toml");
    session.vesica("agree new agreement.toml");
    session.vesica("agree new none/new.toml");
    session.vesica("agree new bad.toml --receives three");
    assert!(!session.path("bad.toml").exists());
    session.assert_failures_are_explained();
    session.assert_golden("bad_agreements.txt");
}

const RUN: &str = "run agreement.toml --key one.key --input people.csv";

#[test]
fn bad_settings() {
    let mut session = Session::failing(3);
    session.vesica("keygen one.key");
    session.vesica("keygen none/new.key");
    session.vesica("protocols rr33");
    session.vesica("bench rr33");
    session.vesica("bench rr22 --item-bits 32");
    session.vesica("bench ot_phasing --item-bits 8 --size 1000");
    session.vesica("bench rr22 --ot iknp");
    session.vesica("bench rr22 --ot silent");
    session.vesica("bench dh --paper");
    for backend in [", avx2", ", avx512"] {
        session.redactions.push((backend.to_owned(), "")); // not on every machine
    }
    session.vesica_with("protocols", &[("VESICA_SIMD", "abacus")]);

    let other = |key: &str| {
        format!("run agreement.toml --key {key} --input people.csv --listen 127.0.0.1:0")
    };
    session.vesica(&other("none.key"));
    session.vesica(&other("people.csv"));
    session.write("open.key", ONE);
    session.mode("open.key", 0o644);
    session.vesica(&other("open.key"));
    session.write("cut.key", &ONE[..ONE.len() - 4]);
    session.mode("cut.key", 0o600);
    session.vesica(&other("cut.key"));
    session.write("public.key", public(ONE));
    session.mode("public.key", 0o600);
    session.vesica(&other("public.key"));
    session.changed("stranger.toml", public(ONE), &public_of([9; 32]));
    session.vesica("run stranger.toml --key one.key --input people.csv --listen 127.0.0.1:0");

    session.vesica(&format!("{RUN} --as two --listen 127.0.0.1:0"));
    session.vesica(&format!("{RUN} --as three --listen 127.0.0.1:0"));
    session.vesica(&format!("{RUN} --listen 127.0.0.1:0"));
    session.vesica(
        "run agreement.toml --key two.key --input people.csv --output o.csv --listen 127.0.0.1:0",
    );
    session.vesica(&format!("{RUN} --output o.csv --column mail=email --listen 127.0.0.1:0"));
    session.changed("old.toml", "version = 2", "version = 2\nexpires = 2020-01-31");
    session.vesica(
        "run old.toml --key one.key --input people.csv --output o.csv --listen 127.0.0.1:0",
    );
    session.vesica("check old.toml --key one.key --input people.csv --quiet");
    session.changed("insecure.toml", "\"semi-honest\"", "\"insecure\"\nprotocol = \"naive_hash\"");
    session.vesica(
        "run insecure.toml --key one.key --input people.csv --output o.csv --listen 127.0.0.1:0",
    );

    session.vesica(&format!("{RUN} --output o.csv --report none/r.json --listen 127.0.0.1:0"));
    session.vesica(&format!("{RUN} --output o.csv --report . --listen 127.0.0.1:0"));
    session.vesica(&format!("{RUN} --output o.csv --report o.csv --listen 127.0.0.1:0"));
    session.vesica(&format!("{RUN} --output o.csv --report ./o.csv --listen 127.0.0.1:0"));
    session.vesica(&format!("{RUN} --output o.csv --report one.key --listen 127.0.0.1:0"));
    session.vesica(&format!("{RUN} --output agreement.toml --force --listen 127.0.0.1:0"));
    session.vesica(&format!("{RUN} --output o.csv --log-file none/log --listen 127.0.0.1:0"));
    session.vesica(&format!("{RUN} --output o.csv --log-file people.csv --listen 127.0.0.1:0"));
    assert!(!session.path("o.csv").exists());
    session.assert_failures_are_explained();
    session.assert_golden("bad_settings.txt");
}

fn public_of(bytes: [u8; 32]) -> String {
    vesica_link::PublicIdentity::from_bytes(bytes).to_string()
}

/// The name `id` in UTF-16, compressed.
const UTF16_GZIP: &[u8] = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xfb\xff/\x93!\x85\x81\x8b\x01\
    \x00GNx\x16\x08\x00\x00\x00";

#[test]
fn bad_inputs_and_outputs() {
    let mut session = Session::failing(3);
    let checks: [(&str, &[u8]); 23] = [
        ("empty.csv", b""),
        ("header.csv", b"id,email\n"),
        ("other.csv", b"id,e_mail\n1,a@b.example\n"),
        ("twice.csv", b"email,email\na,b\n"),
        ("ragged.csv", b"id,email\n1,a@b.example\n2,b@b.example,x\n"),
        ("latin.csv", b"id,email\n1,a@b.example\n2,caf\xe9@b.example\n"),
        ("utf16.csv", b"\xff\xfei\0d\0,\0e\0m\0a\0i\0l\0\n\0"),
        ("nul.csv", b"id,email\n1,a\0b\n"),
        ("quote.csv", b"id,email\n1,\"a@b.example\n2,b\n"),
        ("after.csv", b"id,email\n1,\"a\"b\n"),
        ("blank.csv", b"id,email\n1,\n2, \n"),
        ("refused.csv", b"id,email\n1,nobody\n2,\n"),
        ("data.xyz", b"id,email\n"),
        ("archive.csv", b"PK\x03\x04archive"),
        ("book.xlsx", b"PK\x03\x04[Content_Types].xml"),
        ("book.csv", b"PK\x03\x04[Content_Types].xml"),
        ("title.csv", b"a report,\n\nid,email\n1,a@b.example\n"),
        ("names.csv", b"id,address\n1,a@b.example\n"),
        ("spark.csv", b"id,email\n\"a \\\"b\\\" c\",a@b.example\n"),
        ("utf16.csv.gz", UTF16_GZIP),
        ("plain.csv.gz", b"id,email\n"),
        ("text.parquet", b"id,email\n"),
        ("cut.parquet", b"PAR1 and nothing else"),
    ];
    session.vesica("check agreement.toml --quiet --input none.csv");
    session.vesica("check agreement.toml --quiet --input .");
    for (name, content) in checks {
        session.write(name, content);
        session.vesica(&format!("check agreement.toml --quiet --input {name}"));
    }
    session.vesica("check agreement.toml --quiet --input people.csv --delimiter \"");
    session.vesica("check agreement.toml --quiet --input -");
    session.vesica("check agreement.toml --quiet --input title.csv --skip-rows 9");
    session.vesica("check agreement.toml --quiet --input people.csv --comment \"");
    session.vesica("check agreement.toml --quiet --input people.csv --strict");
    session.vesica("check agreement.toml --quiet --input people.csv --column email=mail");
    session.changed("few.toml", "max_rows = 1000", "max_rows = 3");
    session.vesica("check few.toml --quiet --key one.key --input people.csv");
    session.changed("many.toml", "max_rows = 1000", "max_rows = 1000\nmin_rows = 3");
    session.vesica("check many.toml --quiet --key one.key --input people.csv");

    session.write("there.csv", "here first\n");
    symlink("people.csv", session.path("link.csv")).unwrap();
    for output in ["there.csv", "people.csv", "link.csv", ".", "none/o.csv", "o.xyz"] {
        session.vesica(&format!("{RUN} --output {output} --listen 127.0.0.1:0"));
    }
    session.vesica(&format!("{RUN} --output people.csv --force --listen 127.0.0.1:0"));
    assert_eq!(fs::read_to_string(session.path("there.csv")).unwrap(), "here first\n");
    session.assert_failures_are_explained();
    for line in session.transcript.lines().filter(|line| line.starts_with("error: ")) {
        assert!(!line.contains("nobody") && !line.contains("caf"), "a value is shown: {line}");
    }
    session.assert_golden("bad_data.txt");
}

#[test]
fn files_as_people_have_them_are_read() {
    let mut session = Session::new();
    session.write("title.csv", "a report;\n# of ours\nid;email\n1;ann@example.org;\n");
    session.write("excel.csv", "sep=;\r\nid;email\r\n1;ann@example.org\r\n");
    session.write("twice.csv", "id,email,id\n1,ann@example.org,2\n");
    for form in ["title.csv --skip-rows 1 --comment #", "excel.csv", "twice.csv"] {
        session.vesica(&format!("check agreement.toml --quiet --input {form}"));
    }
    for block in session.transcript.split("$ vesica ").skip(1) {
        assert!(
            block.contains("\n            1  different keys") && block.contains("[exit 0]"),
            "{block}"
        );
    }
}

#[test]
fn bad_addresses() {
    let mut session = Session::failing(3);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().map(|address| (address.to_string(), taken)).unwrap();
    session.redactions.push((taken.0.clone(), "127.0.0.1:[PORT]"));
    let run = format!("{RUN} --output o.csv --quiet --wait 1s");
    session.vesica(&format!("{run} --listen {}", taken.0));
    session.vesica(&format!("{run} --listen 192.0.2.1:7400"));
    session.assert_failures_are_explained();
    session.assert_golden("bad_addresses.txt");

    let mut session = Session::failing(5);
    session.vesica(&format!("{run} --connect 127.0.0.1:1"));
    session.redactions.push((taken.0.clone(), "127.0.0.1:[PORT]"));
    drop(taken.1);
    session.vesica(&format!("{run} --listen {}", taken.0));
    let check = "check agreement.toml --key one.key --input people.csv --quiet --wait 1s";
    session.vesica(&format!("{check} --connect 127.0.0.1:1"));
    assert!(!session.path("o.csv").exists());
    session.assert_failures_are_explained();
    session.assert_golden("no_peer.txt");
}

#[test]
fn completions_and_manual_pages_cover_every_command() {
    let session = Session::new();
    let printed = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_vesica"))
            .args(arguments)
            .current_dir(session.directory.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{arguments:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let commands = [
        "keygen",
        "agree",
        "explain",
        "check",
        "run",
        "exchange",
        "helper",
        "combine",
        "protocols",
        "bench",
        "demo",
    ];
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = printed(&["completions", shell]);
        assert!(commands.iter().all(|command| script.contains(command)), "{shell}");
    }
    assert!(printed(&["man"]).contains(".TH vesica 1"));
    assert_eq!(printed(&["man", "--out", "."]), "19 pages in .\n");
    for command in commands {
        let page = fs::read_to_string(session.path(&format!("vesica-{command}.1"))).unwrap();
        assert!(page.contains(&format!("vesica\\-{command}")), "{command}");
    }
}

#[test]
fn json_logs_stay_json_when_a_run_fails() {
    let session = Session::new();
    let output = Command::new(env!("CARGO_BIN_EXE_vesica"))
        .args(RUN.split(' '))
        .args(["--log", "json", "--output", "o.csv", "--wait", "1s", "--connect", "127.0.0.1:1"])
        .current_dir(session.directory.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(5));
    let lines: Vec<serde_json::Value> = String::from_utf8(output.stderr)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}")))
        .collect();
    let last = lines.last().unwrap();
    assert_eq!((&last["level"], &last["exit_code"]), (&"ERROR".into(), &5.into()));
    assert!(last["hint"].as_str().is_some_and(|hint| !hint.is_empty()));
    assert!(lines.iter().any(|line| line["message"] == "keys read" && line["rows"] == 4));
}
