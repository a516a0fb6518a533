//! The task's description of the index and the configuration.

use super::super::index::DeviceIndex;
use super::super::kernels::Task;
use super::{Sizes, bits};
use crate::search::{BIAS, CHEAP, MAX_SORTED};
use crate::{Config, NMode, Prefilter, prefilter};

/// Returns a task without a batch.
pub(super) fn task(index: &DeviceIndex, config: &Config, sizes: Sizes) -> Task {
    let edit = !config.hamming;
    let rule = match config.filter {
        Prefilter::GateKeeper if edit => 1,
        Prefilter::Snake if edit => 2,
        _ => 0,
    };
    let planes = if index.has_others { 3 } else { 2 };
    Task {
        planes: index.planes.view().as_ptr(),
        positions: index.positions.view().as_ptr(),
        table: index.table.view().as_ptr(),
        contigs: index.contigs.view().as_ptr(),
        gaps: index.gaps.view().as_ptr(),
        window_room: sizes.keys as u64,
        end_room: sizes.ends as u64,
        stride: (2 * (index.planes.len() / planes)) as u32,
        has_others: index.has_others.into(),
        position_count: index.positions.len() as u32,
        contig_count: index.contigs.len() as u32,
        text_end: index.text_end,
        k: index.k,
        gap_count: index.gaps.len() as u32,
        cheap: CHEAP as u32,
        most: MAX_SORTED as u32,
        bias: BIAS as u32,
        diagonal_bits: bits(u64::from(index.text_end) + 2 * BIAS as u64),
        hamming: u32::from(!edit),
        others_match: u32::from(config.n_mode == NMode::Match),
        in_lanes: u32::from(edit && config.filter == Prefilter::Exact),
        rule,
        margin: prefilter::MARGIN as u32,
        ..Task::empty()
    }
}
