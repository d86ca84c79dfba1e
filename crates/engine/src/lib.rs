//! A job from table to result: agreement, run, report.

#![forbid(unsafe_code)]
