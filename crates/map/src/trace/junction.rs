//! Alignments over the junction of a circular contig, which are cut in two.

use super::Alignment;
use crate::reference::Text;
use crate::{Contig, Operation};

type Run = (Operation, u32);

/// A part of an alignment.
struct Part {
    runs: Vec<Run>,
    /// The positions of its first base and after its last base.
    span: [u32; 2],
    /// The numbers of bases of the read before and after it.
    clips: [u32; 2],
}

impl Alignment {
    /// Moves an alignment to the contig's own bases, which come before the repeated ones. If it reaches over the junction,
    /// it is cut there: the part with more bases of the read stays (on a tie, the first one), and the other part replaces
    /// `other`. Each part has the rest of the read as clipped ends. Returns whether there is another part.
    pub(crate) fn cut(&mut self, contig: &Contig, text: &Text<'_>, other: &mut Alignment) -> bool {
        let junction = contig.start + contig.len;
        if self.start >= junction {
            self.start -= contig.len;
            self.end -= contig.len;
        }
        if self.end <= junction {
            return false;
        }
        let [first, mut second] = self.parts(junction).map(trimmed);
        second.span = second.span.map(|at| at - contig.len);
        let bases = [&first, &second].map(|part| part.runs.iter().map(aligned).sum::<u32>());
        let (more, less) = if bases[0] >= bases[1] { (first, second) } else { (second, first) };
        self.become_part(more, text);
        other.become_part(less, text);
        bases.iter().all(|&bases| bases > 0)
    }

    /// Returns the parts before and after a position of the reference.
    fn parts(&self, junction: u32) -> [Part; 2] {
        let part = |span| Part { runs: Vec::new(), span, clips: [0; 2] };
        let mut parts = [part([self.start, junction]), part([junction, self.end])];
        let mut at = self.start;
        for &(operation, len) in &self.operations {
            let before = match operation.in_reference(len) {
                0 if at < junction => len,
                0 => 0,
                _ => len.min(junction.saturating_sub(at)),
            };
            let lens = [before, len - before];
            for (part, len) in parts.iter_mut().zip(lens).filter(|(_, len)| *len > 0) {
                part.runs.push((operation, len));
            }
            parts[0].clips[1] += operation.in_read(lens[1]);
            parts[1].clips[0] += operation.in_read(lens[0]);
            at += operation.in_reference(len);
        }
        parts
    }

    fn become_part(&mut self, part: Part, text: &Text<'_>) {
        [self.start, self.end] = part.span;
        self.operations.clear();
        self.push(Operation::Clip, part.clips[0]);
        part.runs.into_iter().for_each(|(operation, len)| self.push(operation, len));
        self.push(Operation::Clip, part.clips[1]);
        self.describe(text);
    }
}

/// Returns the number of aligned bases of a run.
fn aligned(&(operation, len): &Run) -> u32 {
    operation.in_read(len).min(operation.in_reference(len))
}

/// Clips everything at both ends of a part that is not aligned.
fn trimmed(mut part: Part) -> Part {
    let is_aligned = |run: &Run| aligned(run) > 0;
    let from = part.runs.iter().position(is_aligned).unwrap_or(part.runs.len());
    let to = part.runs.iter().rposition(is_aligned).map_or(from, |at| at + 1);
    for (end, runs) in [&part.runs[..from], &part.runs[to..]].into_iter().enumerate() {
        let bases = runs.iter().map(|run| run.0.in_reference(run.1)).sum::<u32>();
        part.span[end] = if end == 0 { part.span[0] + bases } else { part.span[1] - bases };
        part.clips[end] += runs.iter().map(|run| run.0.in_read(run.1)).sum::<u32>();
    }
    part.runs.truncate(to);
    part.runs.drain(..from);
    part
}

#[cfg(test)]
mod tests {
    use merganser_test_random::Random;

    use super::*;
    use crate::Topology;
    use crate::reference::Reference;

    /// Returns the CIGARs, the places in the contig and the MDs of an alignment of a contig of 100 bases that begins at
    /// `start`.
    fn parts_of(start: u32, runs: &[Run]) -> Vec<(String, [u32; 2])> {
        let contig = Random(5).bases(100);
        let reference = Reference::with(&[b"ACGT".to_vec(), contig], &Topology::Circular);
        let of = &reference.contigs[1];
        let len: u32 = runs.iter().map(|run| run.0.in_reference(run.1)).sum();
        let start = of.start + start;
        let mut alignment = Alignment {
            start,
            end: start + len,
            operations: runs.to_vec(),
            ..Alignment::default()
        };
        let mut other = Alignment::default();
        let is_cut = alignment.cut(of, &reference.text(), &mut other);
        let shown = |alignment: &Alignment| {
            let runs = alignment.operations.iter();
            let cigar =
                runs.map(|(operation, len)| format!("{len}{}", operation.letter())).collect();
            (cigar, [alignment.start, alignment.end].map(|at| at - of.start))
        };
        let others = is_cut.then(|| shown(&other));
        [shown(&alignment)].into_iter().chain(others).collect()
    }

    #[test]
    fn alignments_are_cut_at_the_junction() {
        use Operation::{Clip, Deletion, Insertion, Match, Mismatch};
        for (start, runs, expected) in [
            (60, vec![(Match, 40)], vec![("40=", [60, 100])]),
            (110, vec![(Match, 40)], vec![("40=", [10, 50])]),
            (80, vec![(Match, 50)], vec![("20S30=", [0, 30]), ("20=30S", [80, 100])]),
            (70, vec![(Match, 60)], vec![("30=30S", [70, 100]), ("30S30=", [0, 30])]),
            (
                80,
                vec![(Clip, 5), (Match, 18), (Mismatch, 1), (Match, 40), (Clip, 2)],
                vec![("25S39=2S", [0, 39]), ("5S18=1X1=41S", [80, 100])],
            ),
            // Gaps at the junction are not kept.
            (
                80,
                vec![(Match, 18), (Deletion, 4), (Match, 30)],
                vec![("18S30=", [2, 32]), ("18=30S", [80, 98])],
            ),
            (
                80,
                vec![(Match, 20), (Insertion, 3), (Match, 9)],
                vec![("20=12S", [80, 100]), ("23S9=", [0, 9])],
            ),
            (98, vec![(Match, 2), (Deletion, 1), (Insertion, 9)], vec![("2=9S", [98, 100])]),
        ] {
            let found = parts_of(start, &runs);
            let found: Vec<_> = found.iter().map(|(cigar, span)| (&cigar[..], *span)).collect();
            assert_eq!(found, expected, "{start} {runs:?}");
        }
    }
}
