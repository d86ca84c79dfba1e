use rayon::prelude::*;
use std::num::NonZeroUsize;
use std::sync::Arc;
use vesica_core::{Error, Result};

/// The CPU threads one party may use; all forks of a context share them.
#[derive(Clone)]
pub struct Pool {
    threads: Arc<rayon::ThreadPool>,
}

impl Pool {
    /// A pool of `threads` threads.
    ///
    /// # Errors
    /// [`Error::Bug`] when the operating system refuses to start them.
    pub fn new(threads: NonZeroUsize) -> Result<Self> {
        let threads = rayon::ThreadPoolBuilder::new()
            .num_threads(threads.get())
            .thread_name(|i| format!("vesica-cpu-{i}"))
            .build()
            .map_err(|_| Error::Bug("the CPU threads could not be started"))?;
        Ok(Self { threads: Arc::new(threads) })
    }

    /// How many threads it has.
    pub fn len(&self) -> usize {
        self.threads.current_num_threads()
    }

    /// Always false: a pool has at least one thread.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Runs `work` on the pool, where rayon's parallel iterators use its threads and no others.
    pub fn run<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        self.threads.install(work)
    }

    /// `f` of each chunk of at most `chunk_len` items, in the order of the items.
    pub fn map_chunks<T: Sync, R: Send>(
        &self,
        items: &[T],
        chunk_len: NonZeroUsize,
        f: impl Fn(&[T]) -> R + Sync + Send,
    ) -> Vec<R> {
        self.run(|| items.par_chunks(chunk_len.get()).map(f).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn map_chunks_keeps_the_order() {
        let pool = Pool::new(NonZeroUsize::new(3).unwrap()).unwrap();
        let items: Vec<u32> = (0..1001).collect();
        let chunks = pool.map_chunks(&items, NonZeroUsize::new(10).unwrap(), <[u32]>::to_vec);
        assert_eq!(chunks.len(), 101);
        assert_eq!(chunks.concat(), items);
    }
}
