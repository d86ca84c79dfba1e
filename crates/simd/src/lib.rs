//! Vector kernels behind run-time dispatch.
