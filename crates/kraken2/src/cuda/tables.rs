//! The tables of a database on each device.

use merganser_gpu::{Device, DeviceBuffer, Result as GpuResult, Upload, Uploaded};
use merganser_run::Cancel;

use super::kernels::{AllCells, CellRule, Cells};
use crate::Error;
use crate::table::TableCells;
use crate::tables::Tables;
use crate::taxonomy::Kraken2Taxonomy;

/// The tables of a database in the memory of a device.
pub(super) struct DeviceTables {
    tables: Vec<DeviceTable>,
    /// The parent of each joint node, if there are several tables.
    parents: Option<DeviceBuffer<u32>>,
}

struct DeviceTable {
    rule: CellRule,
    cells: DeviceBuffer<u64>,
    /// The joint node of each value, if there are several tables.
    nodes: Option<DeviceBuffer<u32>>,
}

impl DeviceTables {
    /// Returns the memory that the tables of a database need on a device, in bytes.
    pub(super) fn bytes(tables: &Tables, tree: &Kraken2Taxonomy) -> u64 {
        let cells = tables.all().map(|table| 8 * words(&table.all_cells()) as u64);
        let parents = if tables.single().is_none() { 4 * tree.len() as u64 } else { 0 };
        let nodes = tables.joint_nodes().flatten().map(|nodes| 4 * nodes.len() as u64);
        cells.chain(nodes).sum::<u64>() + parents
    }

    /// Copies all tables to devices. Each file is read once, by up to `threads` threads.
    ///
    /// # Errors
    /// If a file cannot be read or became shorter; if a device fails; if cancelled.
    pub(super) fn of(
        tables: &Tables,
        tree: &Kraken2Taxonomy,
        devices: &[Device],
        threads: usize,
        cancel: &Cancel,
    ) -> Result<(Vec<DeviceTables>, Uploaded), Error> {
        let parents: Vec<u32> = (0..tree.len() as u32).map(|node| tree.parent(node)).collect();
        let alloc = |device: &Device| {
            let table = |(table, nodes): (TableCells<'_>, Option<&[u32]>)| {
                let nodes = nodes.map(|nodes| device.alloc(nodes.len())).transpose()?;
                let cells = device.alloc(words(&table))?;
                Ok(DeviceTable { rule: rule(&table), cells, nodes })
            };
            let all = tables.all().map(|table| table.all_cells()).zip(tables.joint_nodes());
            let several = tables.single().is_none();
            let parents = several.then(|| device.alloc(parents.len())).transpose()?;
            Ok(DeviceTables { tables: all.map(table).collect::<GpuResult<_>>()?, parents })
        };
        let mut there = devices.iter().map(alloc).collect::<GpuResult<Vec<_>>>()?;
        let mut uploaded = Uploaded::default();
        for (number, (table, nodes)) in tables.all().zip(tables.joint_nodes()).enumerate() {
            let (cells, mut upload) = (table.all_cells(), Upload::new(devices)?);
            let padding = &[0; 8][..8 * words(&cells) - cells.bytes.len()];
            let mut joint = Vec::new();
            let mut targets = Vec::new();
            for (device, one) in there.iter_mut().enumerate() {
                let DeviceTable { cells, nodes, .. } = &mut one.tables[number];
                targets.push((device, cells.view_mut()));
                joint.extend(nodes.as_mut().map(|nodes| (device, nodes.view_mut())));
            }
            upload.add([cells.bytes, padding], targets);
            upload.add(nodes.map(bytemuck::cast_slice), joint);
            uploaded.add(upload.run(threads, cancel, |part, to| table.read(part, to))?);
        }
        let mut upload = Upload::new(devices)?;
        let targets = there.iter_mut().enumerate();
        let targets = targets.filter_map(|(at, one)| Some((at, one.parents.as_mut()?.view_mut())));
        upload.add([bytemuck::cast_slice(&parents)], targets);
        uploaded.add(upload.run(threads, cancel, merganser_gpu::read_memory::<Error>)?);
        Ok((there, uploaded))
    }

    /// Returns the tables for kernels.
    pub(super) fn view(&self) -> AllCells<'_> {
        AllCells {
            tables: self.tables.iter().map(DeviceTable::view).collect(),
            parents: self.parents.as_ref().map(DeviceBuffer::view),
        }
    }
}

impl DeviceTable {
    fn view(&self) -> Cells<'_> {
        Cells {
            rule: self.rule,
            bytes: self.cells.view(),
            nodes: self.nodes.as_ref().map(DeviceBuffer::view),
        }
    }
}

/// Returns the number of words of a table.
fn words(table: &TableCells<'_>) -> usize {
    table.bytes.len().div_ceil(8)
}

pub(super) fn rule(table: &TableCells<'_>) -> CellRule {
    CellRule {
        capacity: table.capacity,
        reciprocal: table.reciprocal,
        key_bits: table.key_bits,
        value_bits: table.value_bits,
        cell_bytes: table.cell_bytes,
        nodes: table.nodes,
    }
}
