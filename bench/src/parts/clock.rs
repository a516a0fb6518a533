//! CPU time of a thread.

use nix::time::ClockId;
use std::num::NonZeroUsize;
use std::sync::Barrier;

/// How often each measure runs; the least time counts.
pub(crate) const RUNS: usize = 3;

/// CPU seconds of this thread so far; 0 if the system does not say. The clock is exact, where
/// `getrusage` may count whole ticks of the scheduler.
fn cpu() -> f64 {
    ClockId::CLOCK_THREAD_CPUTIME_ID
        .now()
        .map_or(0.0, |time| time.tv_sec() as f64 + time.tv_nsec() as f64 / 1e9)
}

/// Runs the work that `make` prepares, in each of `threads` threads at once, [`RUNS`] times;
/// gives the mean of the threads' least CPU seconds, and what the work returned.
pub(crate) fn best<W, T>(threads: NonZeroUsize, make: impl Fn() -> W + Sync) -> (f64, T)
where
    W: FnMut() -> T,
    T: Send + Default,
{
    let barrier = Barrier::new(threads.get());
    let one = || {
        let mut work = make();
        let (mut least, mut result) = (f64::INFINITY, T::default());
        for _ in 0..RUNS {
            barrier.wait();
            let start = cpu();
            result = work();
            least = least.min(cpu() - start);
        }
        (least, result)
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads.get()).map(|_| scope.spawn(one)).collect();
        let (mut seconds, result) = one();
        for other in others {
            match other.join() {
                Ok((more, _)) => seconds += more,
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        (seconds / threads.get() as f64, result)
    })
}
