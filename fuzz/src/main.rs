//! Runs fuzz targets for a while: see `vesica-fuzz --help`.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    vesica_fuzz::driver::main(std::env::args().skip(1))
}
