//! Stores the tree as bytes of a database.

use crate::{NodeInfo, Taxonomy};
use merganser_store::{ByteReader, ByteWriter};

impl Taxonomy {
    /// Appends the tree to `bytes`.
    pub fn store(&self, bytes: &mut Vec<u8>) {
        bytes.put_u32(self.len() as u32);
        for node in 0..self.len() as u32 {
            let info = self.info(node);
            bytes.put_u32(info.taxid);
            bytes.put_u32(info.parent);
            bytes.put_text(&info.rank);
            bytes.put_text(&info.name);
        }
        bytes.put_u32(self.merged.len() as u32);
        for &(old, new) in &self.merged {
            bytes.put_u32(old);
            bytes.put_u32(new);
        }
    }

    /// Reads what [`store`](Self::store) wrote. Returns `None` if the bytes are not a valid tree.
    pub fn load(bytes: &mut ByteReader<'_>) -> Option<Taxonomy> {
        let mut nodes = Vec::new();
        for _ in 0..bytes.u32()? {
            nodes.push(NodeInfo {
                taxid: bytes.u32()?,
                parent: bytes.u32()?,
                rank: bytes.text()?,
                name: bytes.text()?,
            });
        }
        let mut merged = Vec::new();
        for _ in 0..bytes.u32()? {
            merged.push((bytes.u32()?, bytes.u32()?));
        }
        if nodes.iter().any(|node| node.taxid == 0) {
            return None;
        }
        let count = nodes.len();
        let tree = Taxonomy::new(nodes, merged);
        // The walk reaches all nodes, each after its parent, only if there is exactly one root.
        let roots = (0..tree.len()).filter(|&node| tree.parents[node] == node as u32).count();
        (count > 0 && tree.len() == count && roots == 1).then_some(tree)
    }
}
