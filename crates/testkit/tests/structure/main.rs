//! What the project says of its own source: who depends on whom, which files refer to each other,
//! the shape of the text, and the licences and sources of dependencies.

mod circles;
mod dependencies;
mod layering;
mod literals;
mod register;
mod source_text;
