//! Recognition of other file formats that are given in place of a Kraken-style report.

/// Returns an error message if a line belongs to another known format.
pub(super) fn named(line: &[u8]) -> Option<String> {
    let form = of_beginning(line).or_else(|| of_columns(line))?;
    Some(format!("not a report in Kraken's style, but {form}"))
}

/// The beginning of the first line of other formats, and their names.
const BEGINNINGS: [(&str, &str); 43] = [
    ("name\ttaxonomy_id\ttaxonomy_lvl", "Bracken's table (its rewritten report can be read)"),
    ("mapped_taxid\t", "a distribution of Bracken"),
    ("#Number of Samples", "the table of report merge or combine_kreports"),
    ("#perc\ttot_all", "the table of report merge or combine_kreports"),
    ("perc\ttot_all", "the table of report merge or combine_kreports"),
    ("#Classification", "an mpa table of several samples"),
    ("#mpa_v", "MetaPhlAn's profile"),
    ("#clade_name", "MetaPhlAn's profile"),
    ("clade_name\t", "a table of MetaPhlAn's profiles"),
    ("#SampleID\tMetaphlan", "MetaPhlAn's profile"),
    ("#SampleID", "a table of samples or a profile of MetaPhlAn or sylph"),
    ("#clade_proportion", "Metabuli's report"),
    ("clade_proportion", "Metabuli's report"),
    ("#is_classified", "Metabuli's lines of reads"),
    ("name\ttaxID\ttaxRank", "Centrifuge's or Centrifuger's table"),
    ("readID\tseqID\ttaxID", "Centrifuge's or Centrifuger's lines of reads"),
    ("# TABLE_LAYOUT", "MetaCache's table of reads"),
    ("# rank:name", "MetaCache's table of abundances"),
    ("@SampleID", "a CAMI profile"),
    ("@Version", "a CAMI profile"),
    ("@@TAXID", "a CAMI profile"),
    ("@@SEQUENCEID", "a CAMI binning of reads"),
    ("# Constructed from biom", "a table of biom"),
    ("#OTU ID", "a table of biom or QIIME"),
    ("{", "JSON (biom, or another program's results)"),
    ("[", "JSON"),
    ("target_id\tlength\teff_length", "kallisto's table"),
    ("Name\tLength\tEffectiveLength", "Salmon's table"),
    ("file\tpercent\treads\ttaxon_id", "Kaiju's table"),
    ("ref\tpercentage\t", "KMCP's profile"),
    ("Sample_file\t", "sylph's profile"),
    ("intersect_bp,", "sourmash's table"),
    ("query_name,", "sourmash's table"),
    ("tax_id\tabundance", "Emu's table"),
    ("taxonomy_id\t", "a table of taxpasta"),
    ("taxonomy_id,", "a table of taxpasta"),
    ("# reads\ttaxa from", "Krona's text"),
    ("# git tag", "mOTUs' profile"),
    ("<", "HTML or XML"),
    (">", "FASTA"),
    ("@HD\t", "SAM"),
    ("@SQ\t", "SAM"),
    ("# sample\t", "a table of samples"),
];

fn of_beginning(line: &[u8]) -> Option<&'static str> {
    if line.starts_with(b"\x89HDF") {
        return Some("HDF5 (biom)");
    }
    let found = BEGINNINGS.iter().find(|(begin, _)| line.starts_with(begin.as_bytes()));
    found.map(|(_, form)| *form)
}

/// Names of Pavian's columns.
const PAVIAN: [&str; 4] = ["cladeReads", "taxonReads", "taxLineage", "taxRank"];

fn of_columns(line: &[u8]) -> Option<&'static str> {
    let text = String::from_utf8_lossy(line);
    let cells: Vec<&str> = text.split('\t').collect();
    let is_number = |cell: &&str| cell.trim().parse::<f64>().is_ok();
    if PAVIAN.iter().any(|word| text.contains(word)) {
        return Some("a table of pavian");
    }
    if text.trim_end().contains('\r') {
        return Some("a text whose lines end with only a carriage return");
    }
    if text.contains("\t|\t") {
        return Some("MetaCache's table, or a dump of NCBI's taxonomy");
    }
    if line.contains(&b'"') && (cells.iter().any(|cell| is_quoted(cell)) || text.contains("\",\""))
    {
        return Some("a table with quotes, as spreadsheets and R write it");
    }
    if cells.len() > 4 && is_numbered(&cells) {
        return Some("a table with numbers for a heading, as pandas writes it");
    }
    match &cells[..] {
        ["C" | "U", _, _, ..] => Some("lines of reads (Kraken's --output, Kaiju's or ours)"),
        ["0" | "1", name, taxid, length, _, _, ..]
            if !is_number(name) && is_number(taxid) && is_number(length) =>
        {
            Some("Metabuli's lines of reads")
        }
        [lineage, ..] if is_lineage(lineage) => {
            Some("an mpa table (MetaPhlAn's, or kraken2 --use-mpa-style)")
        }
        [_, _, _, rank, _, _] if is_rank(rank) => {
            Some("Metabuli's report, which names ranks in words")
        }
        [name, _, rank, _, _, _, share]
            if !name.is_empty() && rank.len() <= 2 && is_number(share) =>
        {
            Some("rows of Bracken's table")
        }
        [_] => of_one_column(&text),
        [first, ..] if is_number(first) && !cells[1..].iter().any(is_number) => {
            Some("Krona's text")
        }
        [_, ..] if cells.len() > 4 && !cells[..3].iter().any(is_number) => {
            Some("a table with a heading, which reports do not have")
        }
        _ => None,
    }
}

/// Recognizes the format of a line without tabs.
fn of_one_column(text: &str) -> Option<&'static str> {
    let is_row = |cells: &[&str]| {
        cells.len() >= 6 && cells[1..3].iter().all(|cell| cell.trim().parse::<u64>().is_ok())
    };
    let split = |by: char| text.split(by).collect::<Vec<_>>();
    if is_row(&split(',')) || is_row(&split(';')) {
        return Some("a table with commas or semicolons between its columns");
    }
    if is_row(&text.split_whitespace().collect::<Vec<_>>()) {
        return Some("a report whose tabs were replaced by blanks");
    }
    None
}

fn is_quoted(cell: &str) -> bool {
    cell.len() >= 2 && cell.starts_with('"') && cell.trim_end().ends_with('"')
}

/// Whether the cells are 0, 1, 2 …, possibly after an empty one.
fn is_numbered(cells: &[&str]) -> bool {
    let cells = if cells[0].is_empty() { &cells[1..] } else { cells };
    cells.iter().enumerate().all(|(number, cell)| *cell == number.to_string())
}

/// Whether a cell has the form `d__Bacteria|p__…`.
fn is_lineage(cell: &str) -> bool {
    let bytes = cell.as_bytes();
    bytes.len() > 3 && bytes[0].is_ascii_lowercase() && &bytes[1..3] == b"__"
}

/// Whether a cell is the name of a rank.
fn is_rank(cell: &str) -> bool {
    const RANKS: [&str; 12] = [
        "no rank",
        "superkingdom",
        "domain",
        "kingdom",
        "phylum",
        "class",
        "order",
        "family",
        "genus",
        "species",
        "subspecies",
        "clade",
    ];
    RANKS.contains(&cell.trim()) || cell.trim().ends_with(" root")
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn forms_are_named() {
        for (line, form) in [
            ("name\ttaxonomy_id\ttaxonomy_lvl\tkraken_assigned_reads", "Bracken's table"),
            ("Escherichia coli\t562\tS\t5\t1\t6\t0.50000", "rows of Bracken's table"),
            ("d__Bacteria|p__Bacillota\t77", "an mpa table"),
            ("k__Bacteria\t2\t99.5\t", "an mpa table"),
            ("C\tr1\t562\t150\t562:116", "lines of reads"),
            ("U\tr1\t0", "lines of reads"),
            ("1\tr1\t562\t150\t0.9\tspecies\t562:3", "Metabuli's lines of reads"),
            ("100.0000\t201563\t0\tno rank\t1\troot", "Metabuli's report"),
            ("5.1\t20\t0\tcellular root\t131567\t  cellular organisms", "Metabuli's report"),
            ("percentage\tcladeReads\ttaxonReads\ttaxRank\ttaxID\tname", "a table of pavian"),
            ("\"name\",\"taxID\",\"s1.cladeReads\"", "a table of pavian"),
            ("name\ttaxID\ttaxRank\tgenomeSize\tnumReads", "Centrifuge's"),
            ("readID\tseqID\ttaxID\tscore", "Centrifuge's"),
            ("@SampleID:x", "a CAMI profile"),
            ("{\"id\":null,\"format\":\"Biological Observation Matrix\"", "JSON (biom"),
            ("target_id\tlength\teff_length\test_counts\ttpm", "kallisto's table"),
            ("80.00,800,0,R,1,root", "a table with commas"),
            ("80,00;800;0;R;1;root", "a table with commas or semicolons"),
            (" 80.00  800  0  R  1  root", "a report whose tabs were replaced by blanks"),
            ("80.00\t800\t0\t\"R\"\t1\t\"root\"", "a table with quotes"),
            ("percent\tclade\town\trank\ttaxid\tname", "a table with a heading"),
            ("10\tBacteria\tBacillota", "Krona's text"),
            ("r1\t|\tspecies:x", "MetaCache's table"),
            ("0\t1\t2\t3\t4\t5", "a table with numbers for a heading"),
            ("\t0\t1\t2\t3\t4\t5", "a table with numbers for a heading"),
            ("1\t2\r3", "a text whose lines end with only a carriage return"),
        ] {
            let found = named(line.as_bytes()).unwrap_or_default();
            assert!(
                found.starts_with(&format!("not a report in Kraken's style, but {form}")),
                "{line}: {found}"
            );
        }
        assert!(named(b"\x89HDF\r\n").unwrap().contains("but HDF5"));
        for line in ["no report", "@r1", " 80.00\t800\t0\tR\t1\troot", "9\t9\t9\t9\t9\t9"] {
            assert_eq!(named(line.as_bytes()), None, "{line}");
        }
    }
}
