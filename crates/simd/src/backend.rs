//! The choice of the kernels' instruction set.

use std::sync::atomic::{AtomicU8, Ordering};

/// An implementation of the kernels for one instruction set, slowest first.
///
/// If a module has no kernel for a backend, it uses the next slower one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Backend {
    /// Plain 64-bit code, for all processors. (The group operations are those of
    /// `curve25519-dalek`, which selects its own vector code.)
    Portable,
    /// 256-bit vectors: AVX2 with AES-NI, PCLMULQDQ and BMI2.
    Avx2,
    /// 512-bit vectors: AVX-512 F, BW, VL, DQ, VBMI, VBMI2 and IFMA with VAES, VPCLMULQDQ and GFNI,
    /// in addition to all of [`Avx2`](Backend::Avx2).
    Avx512,
}

/// The process-wide choice: 0 means none yet, otherwise the discriminant plus one.
static ACTIVE: AtomicU8 = AtomicU8::new(0);

/// [`force`] was called with a backend that this processor cannot run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this processor cannot run the backend {}", .0.name())]
pub struct BackendUnavailable(pub Backend);

impl Backend {
    const ALL: [Backend; 3] = [Backend::Portable, Backend::Avx2, Backend::Avx512];

    /// The fastest backend of this processor, regardless of [`force`].
    pub fn detect() -> Backend {
        let fast = [Backend::Avx512, Backend::Avx2];
        fast.into_iter().find(|backend| backend.is_available()).unwrap_or(Backend::Portable)
    }

    /// The backend of all functions without an explicit backend: the one given to [`force`], or the
    /// detected one.
    #[inline]
    pub fn active() -> Backend {
        match ACTIVE.load(Ordering::Relaxed) {
            1 => Backend::Portable,
            2 => Backend::Avx2,
            3 => Backend::Avx512,
            _ => Backend::detect_once(),
        }
    }

    #[cold]
    fn detect_once() -> Backend {
        let backend = Backend::detect();
        // A choice forced by another thread in the meantime stays.
        let _ = ACTIVE.compare_exchange(0, backend as u8 + 1, Ordering::Relaxed, Ordering::Relaxed);
        backend
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
            Backend::Avx2 => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("aes")
                    && is_x86_feature_detected!("pclmulqdq")
                    && is_x86_feature_detected!("bmi2")
            }
            #[cfg(target_arch = "x86_64")]
            Backend::Avx512 => {
                Backend::Avx2.is_available()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vbmi")
                    && is_x86_feature_detected!("avx512vbmi2")
                    && is_x86_feature_detected!("avx512ifma")
                    && is_x86_feature_detected!("vaes")
                    && is_x86_feature_detected!("vpclmulqdq")
                    && is_x86_feature_detected!("gfni")
            }
            #[cfg(not(target_arch = "x86_64"))]
            Backend::Avx2 | Backend::Avx512 => false,
        }
    }

    /// The backend's name in settings and reports: `portable`, `avx2` or `avx512`.
    pub fn name(self) -> &'static str {
        match self {
            Backend::Portable => "portable",
            Backend::Avx2 => "avx2",
            Backend::Avx512 => "avx512",
        }
    }

    /// The backend with this [`name`](Backend::name), whether available here or not; `None` for
    /// other names.
    pub fn from_name(name: &str) -> Option<Backend> {
        Backend::ALL.into_iter().find(|backend| backend.name() == name)
    }
}

/// Makes the whole process use `backend` from now on, in calls without an explicit backend.
///
/// The backend affects only speed, not results.
///
/// # Errors
/// [`BackendUnavailable`] if this processor cannot run it; the choice then stays unchanged.
pub fn force(backend: Backend) -> Result<(), BackendUnavailable> {
    if !backend.is_available() {
        return Err(BackendUnavailable(backend));
    }
    ACTIVE.store(backend as u8 + 1, Ordering::Relaxed);
    Ok(())
}

/// Calls the function with this name in the caller's submodule for the active backend.
macro_rules! dispatch {
    ($name:ident $(::<$mode:ident>)? ($($argument:expr),*)) => {
        match $crate::Backend::active() {
            // SAFETY: only a backend that the processor can run is ever active.
            #[cfg(target_arch = "x86_64")]
            $crate::Backend::Avx512 => unsafe { avx512::$name$(::<$mode>)?($($argument),*) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            $crate::Backend::Avx2 => unsafe { avx2::$name$(::<$mode>)?($($argument),*) },
            _ => portable::$name$(::<$mode>)?($($argument),*),
        }
    };
}
pub(crate) use dispatch;
