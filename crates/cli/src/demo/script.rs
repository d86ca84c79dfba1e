//! The commands of the demo, as two engineers at two organisations would type them.

use super::places::{DemoError, Organisation, Places, file_error};
use std::fs::{self, File};
use std::io::Write;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use vesica_link::Identity;
use vesica_protocols::{Operation, strongest};

/// How long each side waits for the other, in seconds. They start together.
const WAIT: &str = "60s";

pub(super) fn headline(out: &mut impl Write, number: u32, text: &str) -> Result<(), DemoError> {
    writeln!(out, "\n── {number}. {text} ──\n")?;
    Ok(out.flush()?)
}

/// Each side makes a key and gives its public half to the other.
pub(super) fn make_keys(places: &Places, out: &mut impl Write) -> Result<(), DemoError> {
    headline(out, 2, "Each makes a key; the public identity goes into the agreement")?;
    for party in [&places.grocer, &places.airline] {
        run(Line::new("keygen").path(&party.key), out)?;
    }
    Ok(())
}

/// The agreement, with both identities.
pub(super) fn write_agreement(places: &Places, out: &mut impl Write) -> Result<(), DemoError> {
    headline(out, 3, "They agree on this file, the same on both sides")?;
    let identity = |party: &Organisation| {
        Identity::load(&party.key)
            .map(|identity| identity.public())
            .map_err(|_| DemoError::Command("keygen".to_owned()))
    };
    let text = format!(
        r#"version = 2
title = "Grocer and airline: customers in common"
operation = "intersection"
receives = "grocer"           # the airline learns only the size of the grocer's set
security = "{}"

[[key]]                       # a person is an address and a birthday
name = "email"
profile = "email"

[[key]]
name = "date_of_birth"
profile = "date:dmy"          # 03.04.1980 is the third of April

[party.grocer]
identity = "{}"
max_rows = 1_250_000

[party.airline]
identity = "{}"
max_rows = 1_250_000
"#,
        strongest(Operation::Intersection),
        identity(&places.grocer)?,
        identity(&places.airline)?
    );
    let path = &places.agreement;
    fs::write(path, &text).map_err(|error| file_error(path, &error))?;
    writeln!(out, "{}:", path.display())?;
    for line in text.lines() {
        writeln!(out, "    {line}")?;
    }
    writeln!(out)?;
    run(Line::new("agree check").path(path), out)
}

pub(super) fn explain(places: &Places, out: &mut impl Write) -> Result<(), DemoError> {
    headline(out, 4, "What the agreement means, in plain words")?;
    run(Line::new("explain").path(&places.agreement), out)
}

/// Both sides run; the grocer's progress is shown, the airline's goes to its log.
pub(super) fn match_both(places: &Places, out: &mut impl Write) -> Result<(), DemoError> {
    headline(out, 5, "Both run, each on its own file")?;
    let address = free_address()?;
    let Places { agreement, grocer, airline } = places;

    let line = Line::new("run").path(agreement);
    let line = line.flag("--key", &airline.key).flag("--input", &airline.input);
    let line = line.words(["--column", "email=E-Mail", "--column", "date_of_birth=Birth date"]);
    let airline_line =
        line.flag("--report", &airline.report).words(["--listen", &address, "--wait", WAIT]);

    let line = Line::new("run").path(agreement);
    let line = line.flag("--key", &grocer.key).flag("--input", &grocer.input);
    let line = line.flag("--output", &grocer.output).flag("--report", &grocer.report);
    let grocer_line = line.words(["--connect", &address, "--wait", WAIT]);

    writeln!(out, "At the airline (its messages go to {}):", airline.log.display())?;
    writeln!(out, "{}", airline_line.shown())?;
    writeln!(out, "At the grocer:\n{}", grocer_line.shown())?;
    out.flush()?;

    let log = File::create(&airline.log).map_err(|error| file_error(&airline.log, &error))?;
    let log_too = log.try_clone()?;
    let mut listening = Running(airline_line.command()?.stdout(log).stderr(log_too).spawn()?);
    let mut connecting = Running(grocer_line.command()?.spawn()?);
    let grocer_failed = !connecting.0.wait()?.success();
    let airline_failed = !listening.0.wait()?.success();
    if grocer_failed || airline_failed {
        // The grocer's messages are on the terminal already; the airline's are only in its log.
        let log = fs::read_to_string(&airline.log).unwrap_or_default();
        writeln!(out, "\nAt the airline:\n{log}")?;
        return Err(DemoError::Command("run".to_owned()));
    }
    Ok(())
}

/// An address on this machine that is not in use right now.
fn free_address() -> Result<String, DemoError> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    Ok(listener.local_addr()?.to_string())
}

/// Shows a command line, runs it, and waits for it.
fn run(line: Line, out: &mut impl Write) -> Result<(), DemoError> {
    writeln!(out, "{}", line.shown())?;
    out.flush()?;
    let status = line.command()?.status()?;
    if status.success() { Ok(()) } else { Err(DemoError::Command(line.name)) }
}

/// A command line of this program.
struct Line {
    name: String,
    words: Vec<String>,
}

impl Line {
    fn new(name: &str) -> Self {
        Self { name: name.to_owned(), words: name.split(' ').map(str::to_owned).collect() }
    }

    fn words<'a>(mut self, words: impl IntoIterator<Item = &'a str>) -> Self {
        self.words.extend(words.into_iter().map(str::to_owned));
        self
    }

    fn path(self, path: &Path) -> Self {
        let path = path.display().to_string();
        self.words([path.as_str()])
    }

    fn flag(self, flag: &str, path: &Path) -> Self {
        self.words([flag]).path(path)
    }

    /// The line as one would type it.
    fn shown(&self) -> String {
        let quoted =
            |word: &String| if word.contains(' ') { format!("'{word}'") } else { word.clone() };
        let words: Vec<String> = self.words.iter().map(quoted).collect();
        format!("$ vesica {}", words.join(" "))
    }

    fn command(&self) -> Result<Command, DemoError> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(&self.words).stdin(Stdio::null());
        Ok(command)
    }
}

/// A process that is killed when the demo ends.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
