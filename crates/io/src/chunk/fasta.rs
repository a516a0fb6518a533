//! FASTA: headers and any number of sequence lines.

use super::{Chunk, ChunkStats, Sink, line_at};

impl Chunk {
    pub(super) fn parse_fasta<S: Sink>(&self, sink: &mut S) -> ChunkStats {
        let text = self.text();
        let mut letters = 0;
        let mut records = 0;
        let mut open = self.resume;
        let mut at = 0;
        if self.resume {
            sink.resume();
            sink.repeated(self.repeated);
            if self.in_line {
                let (line, next) = line_at(text, 0);
                if !line.is_empty() {
                    sink.sequence(line, None);
                }
                letters += line.len();
                at = next;
            }
        }
        while at < text.len() {
            let (line, next) = line_at(text, at);
            if text[at] == b'>' {
                if open {
                    sink.end();
                }
                open = true;
                records += 1;
                sink.begin(&line[1..]);
            } else if !line.is_empty() {
                letters += line.len();
                sink.sequence(line, None);
            }
            at = next;
        }
        if open {
            sink.end();
        }
        ChunkStats { records, bases: (letters - self.repeated) as u64 }
    }
}
