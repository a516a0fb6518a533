//! Stores targets and taxonomy as bytes of a file.

use super::content::Target;
use merganser_store::{ByteReader, ByteWriter};
use merganser_taxonomy::{Taxonomy, plain};

pub(super) fn store(targets: &[Target], taxonomy: &Taxonomy) -> Vec<u8> {
    let mut bytes = Vec::new();
    taxonomy.store(&mut bytes);
    bytes.put_u32(targets.len() as u32);
    for target in targets {
        bytes.put_u32(target.node);
        bytes.put_u32(target.windows);
        bytes.put_u64(target.bases);
        bytes.put_text(&target.name);
    }
    bytes
}

/// Reads what [`store`] wrote. Returns `None` if the bytes are invalid.
pub(super) fn load(bytes: &[u8]) -> Option<(Vec<Target>, Taxonomy)> {
    let mut bytes = ByteReader(bytes);
    let taxonomy = Taxonomy::load(&mut bytes)?;
    let mut targets = Vec::new();
    let mut windows: u32 = 0;
    for _ in 0..bytes.u32()? {
        let (node, own, bases) = (bytes.u32()?, bytes.u32()?, bytes.u64()?);
        windows = windows.checked_add(own)?;
        targets.push(Target { name: plain(bytes.text()?), node, bases, windows: own });
    }
    let sound = targets.iter().all(|target| (target.node as usize) < taxonomy.len());
    (sound && bytes.0.is_empty()).then_some((targets, taxonomy))
}
