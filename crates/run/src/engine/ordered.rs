//! Writing of parts in the order of their numbers, whichever is finished first.

use crate::locks::{into_inner, lock, wait};
use crate::sync::{AtomicBool, Condvar, Mutex, MutexGuard};
use std::collections::{BTreeMap, VecDeque};
use std::marker::PhantomData;
use std::sync::atomic::Ordering;

/// A sink for parts that are written in the order of their numbers.
pub trait InOrderSink<P> {
    /// The error of a part that could not be written.
    type Error;

    /// Writes a part, and may return it to reuse its memory ([`InOrder::spare`]).
    ///
    /// # Errors
    /// If it cannot be written; no part is written after that.
    fn write(&mut self, part: P) -> Result<Option<P>, Self::Error>;
}

/// A sink for work without ordered outputs.
#[derive(Debug)]
pub(super) struct Discard<E>(PhantomData<fn() -> E>);

impl<E> Default for Discard<E> {
    fn default() -> Discard<E> {
        Discard(PhantomData)
    }
}

impl<E> InOrderSink<()> for Discard<E> {
    type Error = E;

    fn write(&mut self, (): ()) -> Result<Option<()>, E> {
        Ok(None)
    }
}

/// Outputs by number, written in the order of the numbers. An output that arrives before its turn is kept; the thread
/// that hands in the next one writes it and those that follow, and no other thread waits for the writing.
///
/// Each number from 0 on has one output, or several of which the last one is marked. The memory is bounded by how far
/// numbers may be ahead, and by the weights of [`hand_in_some`](Self::hand_in_some).
#[derive(Debug)]
pub struct InOrder<P, S: InOrderSink<P>> {
    state: Mutex<PendingResults<P, S::Error>>,
    changed: Condvar,
    /// Whether a part failed or the outputs were stopped; read without the lock.
    over: AtomicBool,
    ahead: u64,
    most: u64,
    /// The sink, locked by the thread that writes.
    sink: Mutex<S>,
}

#[derive(Debug)]
struct PendingResults<P, E> {
    /// The number whose parts are being written.
    next: u64,
    waiting: BTreeMap<u64, Waiting<P>>,
    /// The total weight of the waiting parts.
    weight: u64,
    /// The number of threads that wait for a change.
    sleepers: usize,
    /// Whether a thread is writing a part; it will go on with the next one.
    writing: bool,
    /// Written parts, kept to reuse their memory.
    spare: Vec<P>,
    /// The failure with the smallest number.
    failed: Option<(u64, E)>,
    /// Whether no part is wanted any more.
    stopped: bool,
}

#[derive(Debug)]
struct Waiting<P> {
    parts: VecDeque<(P, u64)>,
    whole: bool,
}

impl<P, S: InOrderSink<P>> InOrder<P, S> {
    /// Creates outputs in which numbers less than `ahead` after the one being written may be begun, and parts with
    /// a total weight of up to `most` may wait.
    pub fn new(sink: S, ahead: u64, most: u64) -> InOrder<P, S> {
        let state = PendingResults {
            next: 0,
            waiting: BTreeMap::new(),
            weight: 0,
            sleepers: 0,
            writing: false,
            spare: Vec::new(),
            failed: None,
            stopped: false,
        };
        let (state, sink) = (Mutex::new(state), Mutex::new(sink));
        let (changed, over) = (Condvar::new(), AtomicBool::new(false));
        InOrder { state, changed, over, ahead, most, sink }
    }

    /// Allows waiting parts a total weight of `most`.
    pub(super) fn with_most(self, most: u64) -> Self {
        InOrder { most, ..self }
    }

    /// Returns a written part, to reuse its memory.
    pub fn spare(&self) -> Option<P> {
        self.lock().spare.pop()
    }

    /// Returns whether no more parts should be begun.
    pub(crate) fn has_failed(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    /// Returns whether the part of this number may be begun at once, or will not be wanted.
    pub(crate) fn has_room(&self, number: u64) -> bool {
        let state = self.lock();
        !state.wants(number) || number < state.next.saturating_add(self.ahead)
    }

    /// Waits until the part of this number may be begun; `false` if a part before it failed.
    /// All parts before it must have been begun, so that its turn comes.
    pub(crate) fn wait_for_room(&self, number: u64) -> bool {
        let mut state = self.lock();
        while state.wants(number) && number >= state.next.saturating_add(self.ahead) {
            state = self.wait(state);
        }
        state.wants(number)
    }

    /// Hands in the only or last part of a number, and writes it and those that follow it if it is
    /// their turn.
    pub fn hand_in(&self, number: u64, part: P) {
        self.take(self.lock(), number, part, 0, true);
    }

    /// Hands in a part of a number, `last` if it is the last one, once there is room for its
    /// weight or it is its turn; a weight of `u64::MAX` always waits for the turn. Returns false if the part is not
    /// wanted any more.
    pub fn hand_in_some(&self, number: u64, part: P, weight: u64, last: bool) -> bool {
        let mut state = self.lock();
        // The thread whose turn it is waits only for the writing, so this ends.
        while state.wants(number)
            && (number != state.next || state.writing)
            && state.weight.saturating_add(weight) > self.most
        {
            state = self.wait(state);
        }
        let wanted = state.wants(number);
        if wanted {
            self.take(state, number, part, weight, last);
        }
        wanted
    }

    /// Queues a part; writes it and those that follow it if it is their turn and no other thread writes.
    fn take<'s>(
        &'s self,
        mut state: MutexGuard<'s, PendingResults<P, S::Error>>,
        number: u64,
        part: P,
        weight: u64,
        last: bool,
    ) {
        let waiting = state.waiting.entry(number);
        let waiting = waiting.or_insert_with(|| Waiting { parts: VecDeque::new(), whole: false });
        waiting.parts.push_back((part, weight));
        waiting.whole = last;
        state.weight = state.weight.saturating_add(weight);
        if state.writing {
            return;
        }
        while let Some(part) = state.take_next() {
            state.writing = true;
            drop(state);
            let written = lock(&self.sink).write(part);
            state = self.lock();
            match written {
                Ok(spare) => state.spare.extend(spare),
                Err(error) => {
                    state.fail(0, error);
                    self.over.store(true, Ordering::Release);
                }
            }
            self.wake(&state);
        }
        state.writing = false;
        self.wake(&state);
    }

    /// Wakes the waiting threads, if there are any.
    fn wake(&self, state: &PendingResults<P, S::Error>) {
        if state.sleepers > 0 {
            self.changed.notify_all();
        }
    }

    /// Ends the run with an error: parts with larger numbers are not begun. Parts with smaller ones were begun, and
    /// may fail too.
    pub fn fail(&self, number: u64, error: S::Error) {
        self.lock().fail(number, error);
        self.over.store(true, Ordering::Release);
        self.changed.notify_all();
    }

    /// Makes all waiting threads go on, because a part will be missing or none is wanted.
    pub fn stop(&self) {
        self.lock().stopped = true;
        self.over.store(true, Ordering::Release);
        self.changed.notify_all();
    }

    /// Returns the sink, to which all parts that were handed in are written.
    ///
    /// # Errors
    /// The failure with the smallest number.
    pub fn into_sink(self) -> Result<S, S::Error> {
        let state = into_inner(self.state);
        match state.failed {
            Some((_, error)) => Err(error),
            None => Ok(into_inner(self.sink)),
        }
    }

    fn lock(&self) -> MutexGuard<'_, PendingResults<P, S::Error>> {
        lock(&self.state)
    }

    fn wait<'s>(
        &self,
        mut state: MutexGuard<'s, PendingResults<P, S::Error>>,
    ) -> MutexGuard<'s, PendingResults<P, S::Error>> {
        state.sleepers += 1;
        let mut state = wait(&self.changed, state);
        state.sleepers -= 1;
        state
    }
}

impl<P, E> PendingResults<P, E> {
    /// Returns the next part to write, if it was handed in and no earlier part failed.
    fn take_next(&mut self) -> Option<P> {
        loop {
            if !self.wants(self.next) {
                return None;
            }
            let waiting = self.waiting.get_mut(&self.next)?;
            let part = waiting.parts.pop_front();
            let done = waiting.parts.is_empty() && waiting.whole;
            if done {
                self.waiting.remove(&self.next);
                self.next += 1;
            }
            match part {
                Some((part, weight)) => {
                    self.weight = self.weight.saturating_sub(weight);
                    return Some(part);
                }
                None if done => {}
                None => return None,
            }
        }
    }

    /// Returns whether a part is wanted: no part up to it failed, and nothing was stopped.
    fn wants(&self, number: u64) -> bool {
        !self.stopped && self.failed.as_ref().is_none_or(|(failed, _)| number < *failed)
    }

    fn fail(&mut self, number: u64, error: E) {
        if self.failed.as_ref().is_none_or(|(earliest, _)| number < *earliest) {
            self.failed = Some((number, error));
        }
    }
}

/// A guard that calls an action when dropped, unless it was [disarmed](Self::disarm), so that no
/// thread waits forever after an error or a panic.
#[derive(Debug)]
pub struct OnFailure<F: Fn()>(Option<F>);

impl<F: Fn()> OnFailure<F> {
    /// Creates a guard that calls `action`.
    pub fn new(action: F) -> OnFailure<F> {
        OnFailure(Some(action))
    }

    /// Drops the guard without calling the action.
    pub fn disarm(mut self) {
        self.0 = None;
    }
}

impl<F: Fn()> Drop for OnFailure<F> {
    fn drop(&mut self) {
        if let Some(action) = &self.0 {
            action();
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
    use std::thread;
    use std::time::Duration;

    /// A sink that fails at one text.
    #[derive(Debug, Default)]
    struct Text(String, Option<&'static str>);

    impl InOrderSink<String> for Text {
        type Error = String;
        fn write(&mut self, mut part: String) -> Result<Option<String>, String> {
            if self.1 == Some(&part) {
                return Err(format!("no {part}"));
            }
            self.0 += &part;
            part.clear();
            Ok(Some(part))
        }
    }

    #[test]
    fn the_order_is_that_of_the_numbers() {
        let parts = InOrder::new(Text::default(), 3, 0);
        assert!(parts.has_room(2) && !parts.has_room(3));
        for number in [2, 0, 1, 4, 3] {
            parts.hand_in(number, number.to_string());
        }
        assert!(parts.wait_for_room(7));
        assert_eq!(parts.spare().as_deref(), Some(""));
        assert_eq!(parts.into_sink().unwrap().0, "01234");
    }

    #[test]
    fn the_earliest_failure_counts() {
        let parts = InOrder::new(Text::default(), 3, 0);
        for (number, text) in [(5, "later"), (2, "first"), (3, "last in time")] {
            parts.fail(number, text.to_owned());
        }
        // A part before the failure may fail, too.
        assert!(parts.wait_for_room(1) && !parts.wait_for_room(2) && parts.has_failed());
        assert!(!parts.hand_in_some(2, String::new(), 1, true));
        assert_eq!(parts.into_sink().err().as_deref(), Some("first"));
        let parts = InOrder::new(Text(String::new(), Some("1")), 3, 0);
        for number in [2, 1, 0, 3] {
            parts.hand_in(number, number.to_string());
        }
        assert!(!parts.wait_for_room(0));
        assert_eq!(parts.into_sink().err().as_deref(), Some("no 1"));
    }

    #[test]
    fn several_parts_of_a_number_stay_together() {
        let parts = InOrder::new(Text::default(), 3, 10);
        assert!(parts.hand_in_some(1, "c".into(), 5, false));
        assert!(parts.hand_in_some(0, "a".into(), u64::MAX, false));
        assert!(parts.hand_in_some(1, "d".into(), 5, true));
        thread::scope(|scope| {
            // There is no room for it before its turn.
            let late = scope.spawn(|| parts.hand_in_some(2, "e".into(), u64::MAX, true));
            thread::sleep(Duration::from_millis(20));
            assert!(parts.hand_in_some(0, "b".into(), 11, true));
            assert!(late.join().unwrap());
        });
        assert_eq!(parts.into_sink().unwrap().0, "abcde");
    }

    #[test]
    fn few_wait() {
        struct Count<'a>(&'a AtomicUsize, Vec<u64>);
        impl InOrderSink<u64> for Count<'_> {
            type Error = ();
            fn write(&mut self, part: u64) -> Result<Option<u64>, ()> {
                self.0.fetch_sub(1, Ordering::SeqCst);
                self.1.push(part);
                Ok(None)
            }
        }
        let (begun, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let (next, parts) = (Mutex::new(0), InOrder::new(Count(&begun, Vec::new()), 4, 0));
        let count = AtomicU64::new(0);
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    loop {
                        let mut next = next.lock().unwrap();
                        let number = *next;
                        if number >= 200 || !parts.wait_for_room(number) {
                            break;
                        }
                        *next += 1;
                        let now = begun.fetch_add(1, Ordering::SeqCst) + 1;
                        drop(next);
                        most.fetch_max(now, Ordering::SeqCst);
                        if number.is_multiple_of(50) {
                            thread::sleep(Duration::from_millis(20));
                        }
                        parts.hand_in(number, number);
                        count.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }
        });
        let Ok(Count(_, taken)) = parts.into_sink() else { panic!("no failure") };
        assert_eq!(taken, Vec::from_iter(0..200));
        assert!(most.into_inner() <= 5, "one is being written while the next four are begun");
    }

    #[test]
    fn nobody_waits_after_a_stop() {
        let parts = InOrder::new(Text::default(), 1, 0);
        thread::scope(|scope| {
            let room = scope.spawn(|| parts.wait_for_room(7));
            let turn = scope.spawn(|| parts.hand_in_some(7, String::new(), 1, true));
            thread::sleep(Duration::from_millis(20));
            drop(OnFailure::new(|| parts.stop()));
            assert!(!room.join().unwrap() && !turn.join().unwrap());
        });
        assert!(parts.into_sink().is_ok());
    }
}
