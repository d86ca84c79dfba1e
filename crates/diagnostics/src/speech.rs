//! What messages call options and commands: as they are written in a shell, or in Python.

/// How the reader of a message calls Vesica.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speech {
    /// With the command `vesica`.
    Command,
    /// With the Python package `vesica`.
    Python,
}

impl Speech {
    /// The one of two texts that this reader understands.
    pub(crate) fn either<'a>(self, command: &'a str, python: &'a str) -> &'a str {
        match self {
            Speech::Command => command,
            Speech::Python => python,
        }
    }
}

/// A method for each row: the name of an option in a shell, and in Python.
macro_rules! terms {
    ($($term:ident: $command:literal, $python:literal;)*) => {
        impl Speech {
            $(
                #[doc = concat!("`", $command, "`, or ", $python, " in Python.")]
                pub(crate) fn $term(self) -> &'static str {
                    self.either($command, $python)
                }
            )*
        }
    };
}

terms! {
    // Options.
    wait:        "--wait",              "`wait=`";
    wait_longer: "--wait 10m",          "`wait=600`";
    idle:        "--idle",              "`idle=`";
    total:       "--total",             "`total=`";
    listen:      "--listen",            "`listen=`";
    connect:     "--connect",           "`connect=`";
    proxy:       "--proxy",             "`proxy=`";
    no_proxy:    "--proxy none",        "`proxy=\"none\"`";
    agreement:   "--agreement",         "`agreement=`";
    exchange:    "--exchange",          "`exchange=`";
    key:         "--key",               "`key=`";
    key_file:    "--key FILE",          "`key=FILE`";
    party:       "--as",                "`party=`";
    output:      "--output",            "`output=`";
    output_file: "--output FILE",       "`output=FILE`";
    order:       "--order",             "`order`";
    mark:        "--mark",              "`mark=`";
    force:       "--force",             "`force=True`";
    column:      "--column",            "`columns=`";
    key_column:  "--column KEY=COLUMN", "`columns={\"KEY\": \"COLUMN\"}`";
    no_header:   "--no-header",         "`header=False`";
    skip_rows:   "--skip-rows",         "`skip_rows=`";
    delimiter:   "--delimiter",         "`delimiter=`";
    format:      "--format",            "`format=`";
    parquet:     "--format parquet",    "`format=\"parquet\"`";
    insecure:    "--insecure",          "`insecure=True`";
    state:       "--state",             "`state=`";
    memory:      "--memory",            "`memory=`";
    scratch:     "--scratch",           "`scratch=`";
    restart:     "--restart",           "`restart=True`";
    threads:     "--threads",           "`threads=`";
    metrics:     "--metrics",           "`metrics=`";
    metrics_off: "--metrics off",       "`metrics=\"off\"`";

    // What is called.
    run:         "`vesica run`",        "`vesica.run`";
    check:       "`vesica check`",      "`vesica.check`";
    version:     "`vesica --version`",  "`vesica.__version__`";
    again:       "run the same command again", "make the same call again";
    program:     "the command",         "the program";
    input:       "the file",            "the input";
}
