//! The pictures of the book that show the data flow of each job, as columns of boxes from left to right.

use std::fmt::Write;

use crate::picture::head;

/// A picture: its file name, its title and its columns of boxes. A box has lines of text; a leading `=` marks a file.
/// Each box of a column leads to each box of the next column, or to the box in the same row if both columns are
/// equally high.
struct Flow {
    name: &'static str,
    title: &'static str,
    columns: &'static [&'static [&'static str]],
}

const FLOWS: [Flow; 8] = [
    Flow {
        name: "overview",
        title: "Inputs, commands and outputs",
        columns: &[
            &["=reads\nFASTQ, FASTA,\nSAM, BAM, CRAM", "=references\ngenomes, taxonomy"],
            &[
                "count, kmers\nk-mer tables",
                "build, classify\na taxon per read",
                "deplete\nhost reads out",
                "filter, map\npairs and places",
            ],
            &[
                "=tables, histograms\nQV, genome size",
                "=lines, reports\nBracken, Krona",
                "=reads without\nthe host's",
                "=decisions\nSAM, BAM, CRAM",
            ],
        ],
    },
    Flow {
        name: "count",
        title: "The data flow of count",
        columns: &[
            &["=reads"],
            &["inflate,\nfind records"],
            &["cut into\nsuper-k-mers\nby signature"],
            &["bins\nin memory\nor on disk"],
            &["hash map\nof one bin:\ncount k-mers"],
            &["sort by\nprefix"],
            &["=table", "=histogram"],
        ],
    },
    Flow {
        name: "build",
        title: "The data flow of build",
        columns: &[
            &["=genomes", "=taxonomy"],
            &["targets\nwith taxa"],
            &["windows:\nsketch of\nfeatures"],
            &["entries\nfeature,\nlocation"],
            &["sort, limit\nlocations\nof a feature"],
            &["=database\nparts"],
        ],
    },
    Flow {
        name: "classify",
        title: "The data flow of classify",
        columns: &[
            &["=reads", "=database"],
            &["sketch the\nread's windows"],
            &["look up\nfeatures:\nlocations"],
            &["count hits\nin windows:\ncandidates"],
            &["thresholds,\nLCA"],
            &["=line per read", "=reports"],
        ],
    },
    Flow {
        name: "filter",
        title: "The data flow of filter",
        columns: &[
            &["=pairs"],
            &["encode as\nbit planes"],
            &["group pairs\ninto lanes"],
            &["decide:\nat most\ne edits?"],
            &["=decisions\nin input order"],
        ],
    },
    Flow {
        name: "map",
        title: "The data flow of map",
        columns: &[
            &["=reads", "=index"],
            &["seeds of\na read:\nfewest places"],
            &["candidate\nwindows"],
            &["filter:\nreject most"],
            &["verify:\nedits, ends"],
            &["align,\npair, rank"],
            &["=SAM, BAM,\nCRAM"],
        ],
    },
    Flow {
        name: "deplete",
        title: "The data flow of deplete",
        columns: &[
            &["=reads", "=minimizer set\nof the host"],
            &["minimizers\nof a read or\na pair"],
            &["look up:\ndistinct\nmatches"],
            &["at least\n-a and -r?"],
            &["=reads kept", "=host reads"],
        ],
    },
    Flow {
        name: "assembly",
        title: "The data flow of kmers qv",
        columns: &[
            &["=reads or\ntheir table", "=assemblies"],
            &["count k-mers"],
            &["look up each\nassembly's\nk-mers"],
            &["copies,\nmissing,\nphase"],
            &["=QV,\ncompleteness", "=spectra,\nphase blocks"],
        ],
    },
];

/// The width and height of a box in pixels.
const BOX: [usize; 2] = [124, 58];
/// The distance from one box to the next in pixels, across and down.
const STEP: [usize; 2] = [152, 72];
/// The height of a line of text in pixels.
const LINE: usize = 15;

/// Returns the file names and contents of all pictures.
pub(crate) fn all() -> Vec<(String, String)> {
    FLOWS.iter().map(|flow| (format!("docs/images/{}.svg", flow.name), flow.draw())).collect()
}

impl Flow {
    fn draw(&self) -> String {
        let rows = self.columns.iter().map(|column| column.len()).max().unwrap_or(0);
        let size = [self.columns.len() * STEP[0] - STEP[0] + BOX[0] + 16, rows * STEP[1] + 2];
        let mut svg = head(size, self.title);
        let place = |column: usize, row: usize| {
            let spare = (rows - self.columns[column].len()) * STEP[1] / 2;
            [8 + column * STEP[0], 8 + spare + row * STEP[1]]
        };
        for column in 1..self.columns.len() {
            for (from, to) in pairs(self.columns[column - 1].len(), self.columns[column].len()) {
                arrow(&mut svg, place(column - 1, from), place(column, to));
            }
        }
        for (column, boxes) in self.columns.iter().enumerate() {
            for (row, text) in boxes.iter().enumerate() {
                draw_box(&mut svg, place(column, row), text);
            }
        }
        svg + "</svg>\n"
    }
}

/// Returns the pairs of boxes that arrows connect: those in the same row if both columns are equally high, otherwise
/// all.
fn pairs(from: usize, to: usize) -> Vec<(usize, usize)> {
    let all = (0..from).flat_map(|one| (0..to).map(move |other| (one, other)));
    all.filter(|(one, other)| from != to || one == other).collect()
}

fn arrow(svg: &mut String, from: [usize; 2], to: [usize; 2]) {
    let (x, y) = (from[0] + BOX[0], from[1] + BOX[1] / 2);
    let (x2, y2) = (to[0], to[1] + BOX[1] / 2);
    let bend = (x + x2) / 2;
    let _ = writeln!(
        svg,
        "<path d=\"M{x} {y}C{bend} {y} {bend} {y2} {} {y2}\" fill=\"none\" stroke=\"#5b7083\"/>\
         <path d=\"M{x2} {y2}l-8 -4v8z\" fill=\"#5b7083\"/>",
        x2 - 6
    );
}

fn draw_box(svg: &mut String, [x, y]: [usize; 2], text: &str) {
    let file = text.strip_prefix('=');
    let (fill, corner) = if file.is_some() { ("#fdf3dc", 16) } else { ("#e8f0f8", 5) };
    let _ = write!(
        svg,
        "<rect x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\" rx=\"{corner}\" fill=\"{fill}\" stroke=\"#35608a\"/>",
        BOX[0], BOX[1]
    );
    let lines: Vec<&str> = file.unwrap_or(text).split('\n').collect();
    let top = y + (BOX[1] - lines.len() * LINE) / 2 + 12;
    for (number, line) in lines.iter().enumerate() {
        let _ = write!(
            svg,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" fill=\"#12283c\">{line}</text>",
            x + BOX[0] / 2,
            top + number * LINE
        );
    }
    svg.push('\n');
}
