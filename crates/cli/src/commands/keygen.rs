//! `vesica keygen`.

use crate::args::KeygenArgs;
use crate::failure::Failure;
use std::io::{self, Write};
use std::path::Path;
use vesica_link::Identity;

const DEFAULT_FILE: &str = "vesica.key";

pub(crate) fn run(args: &KeygenArgs, out: &mut impl Write) -> Result<(), Failure> {
    let path = args.file.as_deref().or(args.out.as_deref()).unwrap_or(Path::new(DEFAULT_FILE));
    let identity = Identity::generate()?;
    identity.save(path)?;
    // Only the identity goes to standard output, so that a script can read it.
    let _ = writeln!(
        io::stderr(),
        "the secret key is in {}: do not share it, and keep a copy in a safe place\n\
         your public identity, for the agreement and the other side:",
        path.display()
    );
    Ok(writeln!(out, "{}", identity.public())?)
}
