//! Which instruction set the kernels use.

use std::sync::atomic::{AtomicU8, Ordering};

/// An implementation of the kernels for one instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Backend {
    /// `curve25519-dalek`, which picks AVX-512, AVX2 or plain 64-bit code itself. Runs everywhere.
    Portable,
    /// Eight points at a time with the AVX-512 52-bit multiply-add instructions (IFMA).
    Avx512Ifma,
}

/// The process-wide choice: 0 is none made, otherwise the discriminant plus one.
static FORCED: AtomicU8 = AtomicU8::new(0);

/// [`force`] was asked for a backend this processor cannot run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this processor cannot run the backend {}", .0.name())]
pub struct BackendUnavailable(pub Backend);

impl Backend {
    const ALL: [Backend; 2] = [Backend::Portable, Backend::Avx512Ifma];

    /// The fastest backend of this processor, whatever [`force`] was told.
    pub fn detect() -> Backend {
        if Backend::Avx512Ifma.is_available() { Backend::Avx512Ifma } else { Backend::Portable }
    }

    /// The backend that the functions without an explicit backend use: the one given to
    /// [`force`], else the detected one.
    pub fn active() -> Backend {
        match FORCED.load(Ordering::Relaxed) {
            0 => Backend::detect(),
            n => Backend::ALL[usize::from(n) - 1],
        }
    }

    /// All backends this processor can run, slowest first. Never empty.
    pub fn available() -> Vec<Backend> {
        Backend::ALL.into_iter().filter(|backend| backend.is_available()).collect()
    }

    /// Whether this processor can run the backend.
    pub fn is_available(self) -> bool {
        match self {
            Backend::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Backend::Avx512Ifma => {
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512ifma")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512dq")
            }
            #[cfg(not(target_arch = "x86_64"))]
            Backend::Avx512Ifma => false,
        }
    }

    /// The backend's name in settings and reports: `portable` or `avx512-ifma`.
    pub fn name(self) -> &'static str {
        match self {
            Backend::Portable => "portable",
            Backend::Avx512Ifma => "avx512-ifma",
        }
    }

    /// The backend with that [`name`](Backend::name), available here or not; `None` for others.
    pub fn from_name(name: &str) -> Option<Backend> {
        Backend::ALL.into_iter().find(|backend| backend.name() == name)
    }
}

/// Whether [`force`] chose the portable backend, so that no kernel may use vector instructions.
pub(crate) fn portable_is_forced() -> bool {
    FORCED.load(Ordering::Relaxed) == Backend::Portable as u8 + 1
}

/// Makes the whole process use `backend` from now on, for the calls that name none.
///
/// Results do not depend on the backend, only speed does.
///
/// # Errors
/// [`BackendUnavailable`] if this processor cannot run it; the choice is then unchanged.
pub fn force(backend: Backend) -> Result<(), BackendUnavailable> {
    if !backend.is_available() {
        return Err(BackendUnavailable(backend));
    }
    FORCED.store(backend as u8 + 1, Ordering::Relaxed);
    Ok(())
}
