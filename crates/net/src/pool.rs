use rayon::prelude::*;
use std::num::NonZeroUsize;
use std::sync::Arc;
use vesica_core::{ParameterError, Result};

/// The CPU threads one party may use; all forks of a context share them.
#[derive(Clone)]
pub struct Pool {
    threads: Arc<rayon::ThreadPool>,
}

impl Pool {
    /// A pool of `threads` threads.
    ///
    /// # Errors
    /// [`ParameterError::NoThreads`] when the operating system refuses to start them.
    pub fn new(threads: NonZeroUsize) -> Result<Self> {
        let threads = rayon::ThreadPoolBuilder::new()
            .num_threads(threads.get())
            .thread_name(|i| format!("vesica-cpu-{i}"))
            .build()
            .map_err(|_| ParameterError::NoThreads)?;
        Ok(Self { threads: Arc::new(threads) })
    }

    /// The number of threads.
    pub fn len(&self) -> usize {
        self.threads.current_num_threads()
    }

    /// Always false: a pool has at least one thread.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Runs `work` on the pool; rayon's parallel iterators then use its threads and no others.
    pub fn run<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        self.threads.install(work)
    }

    /// Applies `f` to each chunk of at most `chunk_len` items; results are in the order of the
    /// items.
    pub fn map_chunks<T: Sync, R: Send>(
        &self,
        items: &[T],
        chunk_len: NonZeroUsize,
        f: impl Fn(&[T]) -> R + Sync + Send,
    ) -> Vec<R> {
        // Compute on the caller's thread: on another one the results would be in another cache.
        if self.len() == 1 {
            return items.chunks(chunk_len.get()).map(f).collect();
        }
        self.run(|| items.par_chunks(chunk_len.get()).map(f).collect())
    }

    /// Calls `f` for each of `tasks`.
    pub fn for_each<T: Send>(&self, tasks: Vec<T>, f: impl Fn(T) + Sync + Send) {
        if self.len() == 1 {
            return tasks.into_iter().for_each(f);
        }
        self.run(|| tasks.into_par_iter().for_each(f));
    }

    /// Calls `f` with each chunk of at most `chunk_len` items and the corresponding chunk of `out`,
    /// up to the shorter length.
    pub fn zip_chunks<T: Sync, U: Send>(
        &self,
        items: &[T],
        out: &mut [U],
        chunk_len: NonZeroUsize,
        f: impl Fn(&[T], &mut [U]) + Sync + Send,
    ) {
        let chunk_len = chunk_len.get();
        if self.len() == 1 {
            let chunks = items.chunks(chunk_len).zip(out.chunks_mut(chunk_len));
            return chunks.for_each(|(items, out)| f(items, out));
        }
        let chunks = items.par_chunks(chunk_len).zip(out.par_chunks_mut(chunk_len));
        self.run(|| chunks.for_each(|(items, out)| f(items, out)));
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

    #[test]
    fn zip_chunks_pairs_every_item_with_its_output() {
        let pool = Pool::new(NonZeroUsize::new(3).unwrap()).unwrap();
        let items: Vec<u32> = (0..1001).collect();
        let mut out = vec![0; 1001];
        pool.zip_chunks(&items, &mut out, NonZeroUsize::new(10).unwrap(), |items, out| {
            items.iter().zip(out).for_each(|(item, out)| *out = item + 1);
        });
        assert!(out.into_iter().eq(1..1002));
    }
}
