//! `vesica completions` and `vesica man`.

use super::output;
use crate::args::{Arguments, CompletionsArgs, ManArgs};
use crate::failure::Failure;
use clap::{Command, CommandFactory};
use std::io::Write;
use std::path::Path;

pub(crate) fn completions(args: &CompletionsArgs, out: &mut impl Write) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Arguments::command(), "vesica", &mut script);
    Ok(out.write_all(&script)?)
}

pub(crate) fn man(args: &ManArgs, out: &mut impl Write) -> Result<(), Failure> {
    let mut command = Arguments::command();
    command.build();
    match &args.out {
        None => Ok(out.write_all(page(&command)?.as_bytes())?),
        Some(directory) => {
            let written = write_pages(&command, directory)?;
            Ok(writeln!(out, "{written} pages in {}", directory.display())?)
        }
    }
}

fn page(command: &Command) -> Result<String, Failure> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

fn write_pages(command: &Command, directory: &Path) -> Result<usize, Failure> {
    // Once built, a command knows its full name, for example `vesica-agree-new`.
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    output::write("manual page", &directory.join(format!("{name}.1")), &page(command)?, true)?;
    let mut written = 1;
    for below in command.get_subcommands() {
        if !below.is_hide_set() && below.get_name() != "help" {
            written += write_pages(below, directory)?;
        }
    }
    Ok(written)
}
