//! Formats a read's line in Kraken's or MetaCache's format.

use std::io::Write;

use merganser_io::RecordBatch;

use crate::config::{Columns, LineFormat, RunConfig, Taxids};
use crate::features::FeatureLookup;
use crate::reads::id;
use crate::{Candidate, Database, Sketcher, Thresholds, Verdict};
use merganser_taxonomy::Rank;
use merganser_taxreport::output::{LineHead, Lines, NUMBER, TaxidText};

/// The node of a classified read, and its target if the verdict is a single target.
pub(crate) type TargetOrTaxon = Option<(u32, Option<u32>)>;

/// Returns the node and target of a verdict.
pub(crate) fn found(verdict: Verdict, target_nodes: &[u32]) -> TargetOrTaxon {
    match verdict {
        Verdict::Unclassified => None,
        Verdict::Target(target) => Some((target_nodes[target as usize], Some(target))),
        Verdict::Taxon(node) => Some((node, None)),
    }
}

/// A read with its result.
pub(crate) struct Read<'a> {
    pub(crate) batch: &'a RecordBatch,
    /// The number of the read in the batch.
    pub(crate) read: usize,
    /// The numbers of bases of the mates.
    pub(crate) lengths: (usize, Option<usize>),
    /// The letters of the mates, as they were classified.
    pub(crate) mates: &'a [&'a [u8]; 2],
    pub(crate) found: TargetOrTaxon,
    pub(crate) candidates: &'a [Candidate],
}

/// Formats the lines of a run.
pub(crate) struct LineWriter<'a> {
    pub(crate) database: &'a Database,
    pub(crate) nodes: &'a [u32],
    /// The taxids of all nodes, for Kraken's format.
    taxids: Vec<TaxidText>,
    pub(crate) config: &'a RunConfig,
    pub(crate) lowest: Rank,
    /// The highest rank of lineages.
    pub(crate) highest: Rank,
    /// Looks up all hits, for [`Columns::allhits`].
    pub(crate) lookup: Option<FeatureLookup<'a>>,
}

impl<'a> LineWriter<'a> {
    pub(crate) fn new(
        database: &'a Database,
        nodes: &'a [u32],
        config: &'a RunConfig,
        thresholds: &Thresholds,
    ) -> LineWriter<'a> {
        let &Thresholds { lowest, highest, .. } = thresholds;
        let lookup = config.shows_all_hits().then(|| FeatureLookup::new(database));
        let tree = database.taxonomy();
        let shown = if config.format == LineFormat::Kraken { tree.len() as u32 } else { 0 };
        let taxids = (0..shown).map(|node| TaxidText::new(tree.taxid(node))).collect();
        LineWriter { database, nodes, taxids, config, lowest, highest, lookup }
    }

    /// Returns the text before the first read's line.
    pub(crate) fn head(&self, thresholds: &Thresholds) -> Vec<u8> {
        match self.config.format {
            LineFormat::Kraken => Vec::new(),
            LineFormat::MetaCache => table_head(&self.config.columns, thresholds),
        }
    }

    /// Adds the line of a read.
    #[inline]
    pub(crate) fn write(&self, read: &Read<'_>, sketcher: &mut Sketcher, lines: &mut Lines) {
        match self.config.format {
            LineFormat::Kraken => self.kraken(read, self.config.kraken2.use_names, lines),
            LineFormat::MetaCache => lines.add(|text| self.metacache(read, sketcher, text)),
        }
    }

    /// Appends a line of MetaCache's table.
    fn metacache(&self, read: &Read<'_>, sketcher: &mut Sketcher, text: &mut Vec<u8>) {
        let columns = &self.config.columns;
        let separator = columns.separator.as_bytes();
        if columns.queryids {
            put(text, format_args!("{}", read.batch.first() + read.read as u64 + 1));
            text.extend_from_slice(separator);
        }
        text.extend_from_slice(id(read.batch, read.read));
        text.extend_from_slice(separator);
        if let Some(lookup) = &self.lookup {
            for ((target, window), hits) in lookup.hits(read.mates, sketcher) {
                let name = &self.database.targets()[target as usize].name;
                put(text, format_args!("{name}/{window}:{hits},"));
            }
            text.extend_from_slice(separator);
        }
        self.candidates(columns, read.candidates, text);
        self.taxon(columns, read.found, text);
        text.push(b'\n');
    }

    /// Adds a line in Kraken's format: C or U, the read's name, its taxid or 0, its length (`100|98` for a
    /// pair), and its candidates as `taxid:hits`, best first.
    fn kraken(&self, read: &Read<'_>, names: bool, lines: &mut Lines) {
        let &Read { found, candidates, lengths, .. } = read;
        let name = |(node, _): (u32, _)| self.database.taxonomy().name(node).as_bytes();
        let head = LineHead {
            name: id(read.batch, read.read),
            taxid: found.map_or(TaxidText::new(0), |(node, _)| self.taxids[node as usize]),
            is_classified: found.is_some(),
            taxon: names.then(|| found.map_or(&b"unclassified"[..], name)),
            lengths,
        };
        head.add(NUMBER * (1 + 2 * candidates.len()), lines, |line| {
            for candidate in candidates {
                let taxid = &self.taxids[self.node(candidate) as usize];
                line.taxid_number(taxid, candidate.hits.into());
            }
            if candidates.is_empty() {
                line.words(b"0:0 ");
            }
            line.replace_last(b'\n');
        });
    }

    #[inline]
    fn node(&self, candidate: &Candidate) -> u32 {
        // At rank sequence, the taxa of candidates are not nodes.
        match candidate.taxon {
            taxon if (taxon as usize) < self.database.taxonomy().len() => taxon,
            _ => self.nodes[candidate.target as usize],
        }
    }

    /// Appends the columns of candidates, each with its separator.
    fn candidates(&self, columns: &Columns, candidates: &[Candidate], text: &mut Vec<u8>) {
        let separator = columns.separator.as_bytes();
        if columns.tophits {
            for (number, candidate) in candidates.iter().enumerate() {
                let comma = if number == 0 { "" } else { "," };
                let hits = candidate.hits;
                if self.lowest == Rank::Sequence {
                    let name = &self.database.targets()[candidate.target as usize].name;
                    put(text, format_args!("{comma}{name}:{hits}"));
                } else {
                    let taxid = self.database.taxonomy().taxid(self.node(candidate));
                    put(text, format_args!("{comma}{taxid}:{hits}"));
                }
            }
            text.extend_from_slice(separator);
        }
        if columns.locations {
            let params = self.database.params();
            let (window, stride) = (u64::from(params.window), u64::from(params.stride));
            for candidate in candidates {
                let bases = self.database.targets()[candidate.target as usize].bases;
                let begin = u64::from(candidate.window) * stride;
                let end = (u64::from(candidate.last) * stride + window).min(bases);
                put(text, format_args!("[{begin},{end}] "));
            }
            text.extend_from_slice(separator);
        }
    }

    fn taxon(&self, columns: &Columns, found: TargetOrTaxon, text: &mut Vec<u8>) {
        let Some((node, target)) = found else {
            let none = if columns.shown_taxids() == Taxids::Only { "0" } else { NO_TAXON };
            let cells = if columns.separate_cols { column_names(columns).len() } else { 1 };
            let cells: Vec<&str> = std::iter::repeat_n(none, cells).collect();
            text.extend_from_slice(cells.join(&columns.separator).as_bytes());
            return;
        };
        let tree = self.database.taxonomy();
        let own = match target {
            Some(target) => {
                let name = &self.database.targets()[target as usize].name;
                cell(columns, Rank::Sequence, name, tree.taxid(node), text);
                Rank::Sequence
            }
            None => {
                cell(columns, tree.rank(node), tree.name(node), tree.taxid(node), text);
                tree.rank(node)
            }
        };
        if columns.lineage {
            self.above(columns, node, own, text);
        }
    }

    /// Appends a cell for each rank above `own` up to the highest, `--` where the lineage of `node` has no taxon.
    /// If several taxa share one of MetaCache's ranks, the uppermost is shown, as in MetaCache.
    fn above(&self, columns: &Columns, node: u32, own: Rank, text: &mut Vec<u8>) {
        let tree = self.database.taxonomy();
        let mut lineage: [Option<u32>; Rank::None as usize + 1] = Default::default();
        tree.lineage(node).for_each(|above| lineage[tree.rank(above) as usize] = Some(above));
        for rank in Rank::all().filter(|&rank| rank > own && rank <= self.highest) {
            text.push(b',');
            match lineage[rank as usize] {
                Some(above) => cell(columns, rank, tree.name(above), tree.taxid(above), text),
                None => cell(columns, rank, NO_TAXON, 0, text),
            }
        }
    }
}

/// Shown instead of a taxon's name if there is no taxon.
const NO_TAXON: &str = "--";

/// Returns the names of the columns that a taxon has.
fn column_names(columns: &Columns) -> Vec<&'static str> {
    let mut names = Vec::new();
    if !columns.omit_ranks {
        names.push("rank");
    }
    if columns.shown_taxids() != Taxids::Only {
        names.push("taxname");
    }
    if columns.shown_taxids() != Taxids::None {
        names.push("taxid");
    }
    names
}

fn cell(columns: &Columns, rank: Rank, name: &str, taxid: u32, text: &mut Vec<u8>) {
    if columns.separate_cols {
        let taxid = taxid.to_string();
        let cells = column_names(columns).into_iter().map(|column| match column {
            "rank" => rank.name(),
            "taxname" => name,
            _ => &taxid,
        });
        let cells: Vec<&str> = cells.collect();
        text.extend_from_slice(cells.join(&columns.separator).as_bytes());
        return;
    }
    if !columns.omit_ranks {
        put(text, format_args!("{}:", rank.name()));
    }
    match columns.shown_taxids() {
        Taxids::None => put(text, format_args!("{name}")),
        Taxids::InParentheses => put(text, format_args!("{name}({taxid})")),
        Taxids::Only => put(text, format_args!("{taxid}")),
    }
}

/// Returns the comment lines at the top of the table; the last one is its layout.
fn table_head(columns: &Columns, thresholds: &Thresholds) -> Vec<u8> {
    let mut text = Vec::new();
    let comment = &columns.comment;
    let Thresholds { lowest, highest, max_cand, hitmin, hitdiff, .. } = thresholds;
    let diff = f64::from(*hitdiff) / 10.0;
    for line in [
        "Reads and their taxa; other lines begin like this one.".to_owned(),
        format!(
            "Classification will be constrained to ranks from '{}' to '{}'.",
            lowest.name(),
            highest.name()
        ),
        format!("Classification hit threshold is {hitmin} per query"),
        format!("Classification hit difference threshold is {diff}%"),
        format!("At maximum {max_cand} classification candidates will be considered per query."),
    ] {
        put(&mut text, format_args!("{comment}{line}\n"));
    }
    let mut layout = Vec::new();
    let mut add = |shown: bool, name: &str| layout.extend(shown.then(|| name.to_owned()));
    add(columns.queryids, "query_id");
    add(true, "query_header");
    add(columns.allhits, "all_hits");
    add(columns.tophits, "top_hits");
    add(columns.locations, "candidate_locations");
    add(true, &taxon_layout(columns, *lowest, *highest));
    put(&mut text, format_args!("{comment}TABLE_LAYOUT: {}\n", layout.join(&columns.separator)));
    text
}

/// Returns the layout of a taxon's cells: with lineages, a cell for each rank.
fn taxon_layout(columns: &Columns, lowest: Rank, highest: Rank) -> String {
    let names = column_names(columns);
    let of_one = match (columns.separate_cols, columns.shown_taxids()) {
        (true, _) => names.join(&columns.separator),
        (false, Taxids::InParentheses) => {
            names.join(":").replace("taxname:taxid", "taxname(taxid)")
        }
        (false, _) => names.join(":"),
    };
    if !columns.lineage {
        return of_one;
    }
    let ranks = Rank::all().filter(|rank| (lowest..=highest).contains(rank));
    // If ranks are shown, a cell starts with its rank's name.
    let cells = ranks.map(|rank| match of_one.strip_prefix("rank:") {
        Some(rest) => format!("{}:{rest}", rank.name()),
        None => of_one.clone(),
    });
    cells.collect::<Vec<String>>().join(",")
}

fn put(text: &mut Vec<u8>, words: std::fmt::Arguments<'_>) {
    // Writing to a Vec cannot fail.
    let _ = text.write_fmt(words);
}
