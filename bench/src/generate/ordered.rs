//! Generates numbered blocks on several threads and passes them on in order.

use anyhow::Result;
use std::sync::mpsc::sync_channel;

/// Maximum number of blocks per thread that wait to be taken, which limits the memory.
const AHEAD: usize = 2;

/// Calls `make` for each of `0..blocks` on `threads` threads, and passes the results to `take` on the calling
/// thread, in order. At most `threads` × (`AHEAD` + 1) + 1 blocks exist at a time.
///
/// # Errors
///
/// The first error of `take`, after which no further blocks are generated.
pub(crate) fn ordered<T: Send>(
    threads: usize,
    blocks: u64,
    make: impl Fn(u64) -> T + Sync,
    mut take: impl FnMut(T) -> Result<()>,
) -> Result<()> {
    std::thread::scope(|scope| {
        let make = &make;
        // Thread t makes the blocks t, t + threads, …: blocks have similar costs, and the channel of the next block
        // is known without sorting.
        let channels: Vec<_> = (0..threads as u64)
            .map(|thread| {
                let (sender, receiver) = sync_channel(AHEAD);
                scope.spawn(move || {
                    for block in (thread..blocks).step_by(threads) {
                        // The receiver has stopped after an error.
                        if sender.send(make(block)).is_err() {
                            break;
                        }
                    }
                });
                receiver
            })
            .collect();
        for block in 0..blocks {
            // A closed channel means that its thread panicked; the scope resumes the panic.
            let Ok(made) = channels[(block % threads as u64) as usize].recv() else { break };
            take(made)?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::bail;

    #[test]
    fn blocks_come_in_order() {
        for threads in [1, 3, 8] {
            for blocks in [0, 1, 2, 100] {
                let mut taken = Vec::new();
                ordered(
                    threads,
                    blocks,
                    |i| i * 7,
                    |b| {
                        taken.push(b);
                        Ok(())
                    },
                )
                .unwrap();
                assert_eq!(taken, (0..blocks).map(|i| i * 7).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn an_error_of_the_taker_ends_it() {
        let result = ordered(2, u64::MAX, |i| i, |b| if b == 10 { bail!("full") } else { Ok(()) });
        assert_eq!(result.unwrap_err().to_string(), "full");
    }
}
