//! The index in the memory of a device.

use merganser_gpu::{Device, DeviceBuffer, Upload, Uploaded};
use merganser_run::Cancel;

use crate::Error;
use crate::index::IndexView;

type Result<T> = std::result::Result<T, Error>;

/// An index on a device.
#[derive(Debug)]
pub(super) struct DeviceIndex {
    pub(super) device: Device,
    /// The planes of low bits, of high bits and, if there are any, of ambiguous letters.
    pub(super) planes: DeviceBuffer<u64>,
    pub(super) has_others: bool,
    pub(super) positions: DeviceBuffer<u32>,
    pub(super) table: DeviceBuffer<u32>,
    /// The first position of each contig, and the position after its last one.
    pub(super) contigs: DeviceBuffer<[u32; 2]>,
    /// Runs of ambiguous letters that match everything, in pieces.
    pub(super) gaps: DeviceBuffer<[u32; 2]>,
    pub(super) k: u32,
    pub(super) text_end: u32,
}

/// The maximum number of bases of such a piece.
const GAP_PIECE: u32 = 1024;

impl DeviceIndex {
    /// Returns the number of bytes of an index on a device.
    pub(super) fn bytes(view: &IndexView<'_>, gaps: &[[u32; 2]]) -> u64 {
        let text = &view.text;
        let words = text.low.len() + text.high.len() + text.others.len();
        let numbers = view.positions.len() + view.table().len();
        let pairs = text.contigs.len() + piece_count(gaps);
        (8 * (words + pairs) + 4 * numbers) as u64
    }

    /// Copies an index to devices on `threads` threads, with `read` as the function that reads its slices.
    pub(super) fn upload(
        devices: &[Device],
        view: &IndexView<'_>,
        gaps: &[[u32; 2]],
        threads: usize,
        cancel: &Cancel,
        read: impl Fn(&[u8], &mut [u8]) -> Result<()> + Sync,
    ) -> Result<(Vec<DeviceIndex>, Uploaded)> {
        let text = &view.text;
        let planes = [text.low, text.high, text.others];
        let contigs: Vec<[u32; 2]> = text.contigs.iter().map(|at| [at.start, at.end()]).collect();
        let gaps: Vec<[u32; 2]> = pieces(gaps).collect();
        let alloc = |device: &Device| {
            Ok::<_, Error>(DeviceIndex {
                device: device.clone(),
                planes: device.alloc(planes.iter().map(|plane| plane.len()).sum())?,
                has_others: !text.others.is_empty(),
                positions: device.alloc(view.positions.len())?,
                table: device.alloc(view.table().len())?,
                contigs: device.alloc(contigs.len())?,
                gaps: device.alloc(gaps.len())?,
                k: view.k() as u32,
                text_end: text.end(),
            })
        };
        let mut indexes = devices.iter().map(alloc).collect::<Result<Vec<_>>>()?;
        let (mut words, mut numbers, mut pairs) =
            (Vec::new(), [const { Vec::new() }; 2], [const { Vec::new() }; 2]);
        for (at, index) in indexes.iter_mut().enumerate() {
            words.push((at, index.planes.view_mut()));
            numbers[0].push((at, index.positions.view_mut()));
            numbers[1].push((at, index.table.view_mut()));
            pairs[0].push((at, index.contigs.view_mut()));
            pairs[1].push((at, index.gaps.view_mut()));
        }
        let mut upload = Upload::new(devices)?;
        upload.add(planes.map(bytemuck::cast_slice), words);
        for (from, to) in [view.positions, view.table()].into_iter().zip(numbers) {
            upload.add([bytemuck::cast_slice(from)], to);
        }
        for (from, to) in [&contigs, &gaps].into_iter().zip(pairs) {
            upload.add([bytemuck::cast_slice(from)], to);
        }
        let uploaded = upload.run(threads, cancel, read)?;
        Ok((indexes, uploaded))
    }
}

/// Returns the number of pieces of runs of ambiguous letters.
pub(super) fn piece_count(gaps: &[[u32; 2]]) -> usize {
    pieces(gaps).count()
}

/// Splits runs into pieces, so that no device thread gets a long one.
fn pieces(gaps: &[[u32; 2]]) -> impl Iterator<Item = [u32; 2]> {
    gaps.iter().flat_map(|&[from, to]| {
        (from..to)
            .step_by(GAP_PIECE as usize)
            .map(move |at| [at, to.min(at.saturating_add(GAP_PIECE))])
    })
}
