//! Buffers, copies, primitives and the headers' functions on a GPU, compared with Rust. Without a GPU each
//! test prints that it is skipped, and passes. `MERGANSER_TEST_DEVICE=n` selects cuda:n;
//! `MERGANSER_REQUIRE_GPU=1` makes a missing device a failure.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests are tests too")]
#![cfg(feature = "cuda")]

use merganser_gpu::{Availability, Device, availability};

#[path = "device/headers.rs"]
mod headers;
#[path = "device/ingest.rs"]
mod ingest;
#[path = "device/memory.rs"]
mod memory;
#[path = "device/primitives.rs"]
mod primitives;
#[path = "device/upload.rs"]
mod upload;

/// Returns the device to test, or `None` without a usable GPU.
fn device() -> Option<Device> {
    if !matches!(availability(), Availability::Ready(_)) {
        let reason = availability().reason();
        assert!(std::env::var_os("MERGANSER_REQUIRE_GPU").is_none(), "{reason}");
        println!("skipped: {reason}");
        return None;
    }
    let ordinal = std::env::var("MERGANSER_TEST_DEVICE").map_or(0, |n| n.parse().unwrap());
    Some(Device::open(ordinal).unwrap())
}

/// Item counts at boundaries: none, one, around the size of a block, many tiles.
const COUNTS: [usize; 7] = [0, 1, 2, 255, 257, 100_000, (1 << 20) + 3];

/// Returns a reproducible sequence of random numbers (splitmix64).
fn random(seed: u64) -> impl Iterator<Item = u64> {
    (1..).map(move |i: u64| {
        let x = (seed << 32).wrapping_add(i).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    })
}
