//! The parts that every run shares: its context (resources of the machine, cancellation, progress), ordered results, the
//! common interface of errors, and the `--json` summary. Nothing here depends on sequences.

mod aborts;
mod allocator;
mod budget;
mod cancel;
mod context;
mod device;
mod each;
mod end;
pub mod engine;
mod error;
mod fault;
pub mod files;
mod job_plan;
pub mod locks;
pub mod memory;
mod named;
mod neighbours;
pub mod options;
mod progress;
mod shard;
mod shortage;
mod signals;
mod sizes;
mod stages;
mod streams;
mod summary;
mod sync;
pub mod threads;
mod warnings;
mod workers;

pub use aborts::end_well_on_abort;
pub use allocator::{Allocator, give_back_freed_memory, may_fail, prefer_huge_pages, share_heaps};
pub use budget::Budget;
pub use cancel::{Cancel, Cancelled};
pub use context::Context;
pub use device::{DeviceChoice, DeviceError, Work};
pub use each::{Numbers, RoundRobin, Share, each, each_in_order, side_by_side};
pub use end::{all_is_done, end_at_once, is_to_be_told};
pub use engine::{InOrder, InOrderSink, OnFailure};
pub use error::{Error, SizeError};
pub use fault::{ConfigError, Fault, FaultKind, with_names};
pub use files::raise_open_file_limit;
pub use job_plan::JobPlan;
pub use memory::{available_memory, default_budget, least_memory, peak_rss};
pub use neighbours::neighbours;
pub use progress::{Progress, Silent, Unit};
pub use shard::Shard;
pub use shortage::{GpuShortage, Shortage};
pub use signals::{end_by, ending_signals, is_ignored};
pub use sizes::{
    counted, format_given, format_needed, format_size, parse_size, size_to_give, thousands,
};
pub use stages::Stages;
pub use streams::was_closed_at_start;
pub use summary::Summary;
pub use threads::{StartError, join, resolve_threads, start, start_scoped, with_ample_stack};
pub use warnings::{NO_READS, Warnings};
pub use workers::{run_workers, run_workers_collect};
