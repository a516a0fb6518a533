//! Amounts of memory from calls that all Unix systems have, for those without `/proc`, such as macOS.
#![allow(unsafe_code, reason = "calls of libc that have no safe wrapper")]

/// Returns the size of the machine's memory in bytes.
pub(super) fn physical() -> Option<u64> {
    // SAFETY: `sysconf` reads no memory of ours; an unknown name gives -1.
    let number = |name| u64::try_from(unsafe { libc::sysconf(name) }).ok();
    number(libc::_SC_PHYS_PAGES)?.checked_mul(number(libc::_SC_PAGESIZE)?)
}

/// Returns the largest resident size that this process ever had, in bytes.
pub(super) fn peak() -> Option<u64> {
    /// The unit of `ru_maxrss`.
    const UNIT: u64 = if cfg!(target_vendor = "apple") { 1 } else { 1024 };
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: `usage` has room for what the call writes.
    let status = unsafe { libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) };
    // SAFETY: a call that returns 0 has written the whole structure.
    let usage = (status == 0).then(|| unsafe { usage.assume_init() })?;
    u64::try_from(usage.ru_maxrss).ok()?.checked_mul(UNIT)
}
