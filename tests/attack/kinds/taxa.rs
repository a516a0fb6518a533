//! Invalid taxonomies.

use super::{Attack, Result};
use crate::judge::{fault, orderly, refused, shown};
use crate::world::Scale;

const NODES: &str = "tax/nodes.dmp";

/// Adds a taxon 0, or makes a taxon its own parent: the message must name the line.
pub(super) fn act(attack: &mut Attack<'_>) -> Result {
    let mut chosen = attack.choose(Scale::Small, |job| job.words().any(|word| word == "tax"));
    let text = String::from_utf8(chosen.scene.read(NODES)).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    // The first taxon is the root.
    let at = 1 + attack.random.below(lines.len() - 1);
    match attack.random.below(2) {
        0 => lines.insert(at, "0\t|\t1\t|\tgenus\t|".into()),
        _ => {
            let taxid = lines[at].split('\t').next().unwrap();
            lines[at] = format!("{taxid}\t|\t{taxid}\t|\tgenus\t|");
        }
    }
    chosen.scene.replace(NODES, (lines.join("\n") + "\n").as_bytes());
    let options = attack.resources(chosen.job());
    let ended = attack.run(chosen.scene.launch(&options));
    attack.note(&format!("line {}: {:?}", at + 1, lines[at]));
    chosen.judge(&ended, |scene, _, ended| {
        orderly(ended)?;
        refused(scene, ended)?;
        match ended.stderr.contains(&format!("nodes.dmp: line {}: ", at + 1)) {
            true => Ok(()),
            false => fault(format!("the message does not name the line: {}", shown(&ended.stderr))),
        }
    })
}
