//! Pools of reusable buffers.

use crate::Result;
use merganser_run::locks::{lock, wait};
use std::collections::VecDeque;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

/// A bounded pool of buffers, created on demand and then reused in the order in which they are returned. A thread
/// that finds no buffer waits, so a pool bounds both the memory and the number of batches in flight.
///
/// A pool that is [filled](BufferPool::filled) from outside hands out the buffers that were
/// [put](BufferPool::put) in, until it is closed.
///
/// A [`PinnedBuffer`](crate::PinnedBuffer) may be returned while copies of it run: its next user
/// waits for them before touching it. Device memory may be returned while a stream works on it: its
/// next user should enqueue on the same stream or wait for an event.
pub struct BufferPool<B>(Arc<Shared<B>>);

struct Shared<B> {
    state: Mutex<IdleBuffers<B>>,
    returned: Condvar,
    make: Box<dyn Fn() -> Result<B> + Send + Sync>,
}

struct IdleBuffers<B> {
    idle: VecDeque<B>,
    left_to_make: usize,
    /// Whether the pool was closed, so that no thread waits for a buffer any longer.
    closed: bool,
}

/// A borrowed buffer, which returns to its pool when dropped.
pub struct Pooled<B> {
    /// The buffer; `None` only while being dropped.
    buffer: Option<B>,
    pool: Arc<Shared<B>>,
}

impl<B> Clone for BufferPool<B> {
    fn clone(&self) -> Self {
        BufferPool(Arc::clone(&self.0))
    }
}

impl<B> BufferPool<B> {
    /// Creates a pool of up to `most` buffers, which `make` creates.
    pub fn new(most: usize, make: impl Fn() -> Result<B> + Send + Sync + 'static) -> BufferPool<B> {
        let state = IdleBuffers { idle: VecDeque::new(), left_to_make: most, closed: false };
        let (state, returned) = (Mutex::new(state), Condvar::new());
        BufferPool(Arc::new(Shared { state, returned, make: Box::new(make) }))
    }

    /// Creates a pool that creates no buffers; callers [put](Self::put) them in.
    pub fn filled() -> BufferPool<B> {
        BufferPool::new(0, || unreachable!("a filled pool creates no buffers"))
    }

    /// Adds a buffer to the pool.
    pub fn put(&self, buffer: B) {
        self.0.give_back(buffer);
    }

    /// Declares that no more buffers will be added: [`take_if_open`](Self::take_if_open) stops waiting.
    pub fn close(&self) {
        self.0.lock().closed = true;
        self.0.returned.notify_all();
    }

    /// Returns whether the pool was closed.
    pub fn is_closed(&self) -> bool {
        self.0.lock().closed
    }

    /// Removes and returns the buffers that are in the pool now; buffers in use are not included.
    pub fn drain(&self) -> Vec<B> {
        self.0.lock().idle.drain(..).collect()
    }

    /// Returns an idle buffer, or a new one, or waits for the next one that is returned. The buffer has the
    /// content that its last user left.
    ///
    /// # Errors
    /// If a new one cannot be created. The next call tries again.
    pub fn take(&self) -> Result<Pooled<B>> {
        loop {
            if let Some(lent) = self.next(false)? {
                return Ok(lent);
            }
        }
    }

    /// Returns a buffer like [`take`](Self::take), or `None` instead of waiting if the pool was closed.
    ///
    /// # Errors
    /// If a new one cannot be created.
    pub fn take_if_open(&self) -> Result<Option<Pooled<B>>> {
        self.next(true)
    }

    fn next(&self, if_open: bool) -> Result<Option<Pooled<B>>> {
        loop {
            if let Some(lent) = self.try_take()? {
                return Ok(Some(lent));
            }
            let state = self.0.lock();
            if !state.idle.is_empty() || state.left_to_make > 0 {
                continue;
            }
            if if_open && state.closed {
                return Ok(None);
            }
            drop(wait(&self.0.returned, state));
        }
    }

    /// Returns a buffer, or `None` instead of waiting for one.
    pub fn try_take(&self) -> Result<Option<Pooled<B>>> {
        let lend = |buffer| Pooled { buffer: Some(buffer), pool: Arc::clone(&self.0) };
        let mut state = self.0.lock();
        if let Some(buffer) = state.idle.pop_front() {
            return Ok(Some(lend(buffer)));
        }
        if state.left_to_make == 0 {
            return Ok(None);
        }
        state.left_to_make -= 1;
        // Creating a buffer takes long: release the lock meanwhile.
        drop(state);
        match (self.0.make)() {
            Ok(buffer) => Ok(Some(lend(buffer))),
            Err(error) => {
                self.0.lock().left_to_make += 1;
                self.0.returned.notify_one();
                Err(error)
            }
        }
    }
}

impl<B> Shared<B> {
    fn lock(&self) -> MutexGuard<'_, IdleBuffers<B>> {
        lock(&self.state)
    }

    fn give_back(&self, buffer: B) {
        self.lock().idle.push_back(buffer);
        self.returned.notify_one();
    }
}

impl<B> Deref for Pooled<B> {
    type Target = B;
    fn deref(&self) -> &B {
        self.buffer.as_ref().expect("present until dropped")
    }
}

impl<B> DerefMut for Pooled<B> {
    fn deref_mut(&mut self) -> &mut B {
        self.buffer.as_mut().expect("present until dropped")
    }
}

impl<B> Drop for Pooled<B> {
    fn drop(&mut self) {
        if let Some(buffer) = self.buffer.take() {
            self.pool.give_back(buffer);
        }
    }
}

impl<B> fmt::Debug for BufferPool<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.0.lock();
        let (idle, left_to_make) = (state.idle.len(), state.left_to_make);
        f.debug_struct("Pool").field("idle", &idle).field("left_to_make", &left_to_make).finish()
    }
}

impl<B: fmt::Debug> fmt::Debug for Pooled<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.buffer.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    #[test]
    fn buffers_are_made_when_needed_and_then_reused() {
        let made = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&made);
        let pool = BufferPool::new(2, move || Ok(count.fetch_add(1, Ordering::Relaxed)));
        assert_eq!(made.load(Ordering::Relaxed), 0);
        for _ in 0..5 {
            assert_eq!(*pool.take().unwrap(), 0);
        }
        let (first, second) = (pool.take().unwrap(), pool.take().unwrap());
        assert_eq!((*first, *second), (0, 1));
        assert!(pool.try_take().unwrap().is_none());
        let waiting = thread::spawn({
            let pool = pool.clone();
            move || *pool.take().unwrap()
        });
        drop(second);
        assert_eq!(waiting.join().unwrap(), 1);
        assert_eq!(made.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn what_is_put_in_is_lent_in_turn_until_the_pool_is_closed() {
        let pool = BufferPool::filled();
        assert!(pool.try_take().unwrap().is_none());
        let waiting = thread::spawn({
            let pool: BufferPool<u32> = pool.clone();
            move || [(); 3].map(|()| pool.take_if_open().unwrap().map(|lent| *lent))
        });
        pool.put(1);
        pool.put(2);
        // Each returned buffer goes to the end of the queue, so the thread gets both, then the first again.
        assert_eq!(waiting.join().unwrap().map(|lent| lent.is_some()), [true; 3]);
        let both = [pool.take_if_open().unwrap().unwrap(), pool.take_if_open().unwrap().unwrap()];
        let waiting = thread::spawn({
            let pool = pool.clone();
            move || pool.take_if_open().unwrap().is_none()
        });
        pool.close();
        assert!(waiting.join().unwrap() && pool.is_closed());
        drop(both);
        assert!(pool.take_if_open().unwrap().is_some());
        let mut left = pool.drain();
        left.sort_unstable();
        assert_eq!(left, [1, 2]);
    }

    #[test]
    fn what_cannot_be_made_is_an_error_and_can_be_tried_again() {
        let tries = AtomicUsize::new(0);
        let pool = BufferPool::new(1, move || match tries.fetch_add(1, Ordering::Relaxed) {
            0 => Err(Error::OutOfPinnedMemory { asked: 9 }),
            n => Ok(n),
        });
        assert!(pool.take().unwrap_err().is_out_of_memory());
        assert_eq!(*pool.take().unwrap(), 1);
    }
}
