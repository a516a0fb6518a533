//! Sections of a MultiQC report, as custom content (documentation of MultiQC 1.35): one file each, whose name begins
//! with a prefix of the sample. Samples whose files have the same `id` are shown together.

use serde_json::{Map, Value, json};

use crate::data::{Data, Mapping, Rows};
use crate::html::harmless;

/// The maximum number of points of a line; more cannot be distinguished on a page.
const POINTS: usize = 1_000;
/// The maximum number of taxa in the bar of a sample, in addition to the others.
const TAXA: usize = 20;

/// The kind of results that sections are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// [`Data::spectrum`].
    Spectrum,
    /// [`Data::taxa`].
    Taxa,
    /// [`Data::assembly`].
    Assembly,
    /// [`Data::mapping`].
    Mapping,
    /// [`Data::decisions`].
    Decisions,
    /// [`Data::search`].
    Search,
    /// [`Data::selection`].
    Selection,
}

impl Kind {
    /// Returns the suffixes of the file names after the prefix, in the order of [`files`].
    pub fn suffixes(self) -> Vec<String> {
        let section = |name: &&str| format!(".merganser_{name}_mqc.json");
        let mut all: Vec<String> = self.sections().iter().map(section).collect();
        all.push(".merganser_mqc_versions.yml".to_owned());
        all
    }

    /// Returns the ids of the columns in the general table, which each kind needs for itself, and of its sections.
    fn sections(self) -> &'static [&'static str] {
        match self {
            Kind::Spectrum => &["spectrum_stats", "spectrum"],
            Kind::Taxa => &["taxa_stats", "taxa"],
            Kind::Assembly => &["qv_stats", "qv"],
            Kind::Mapping => &["map_stats", "edits", "inserts"],
            Kind::Decisions => &["filter_stats", "pairs"],
            Kind::Search => &["search_stats", "pattern_hits"],
            Kind::Selection => &["selection_stats", "selection"],
        }
    }
}

/// Returns the contents of the files of a run, one for each of [`Kind::suffixes`].
pub fn files(kind: Kind, data: &Data) -> Vec<String> {
    // MultiQC embeds the data in its page.
    let text = |section: &Value| harmless(&format!("{section:#}\n"));
    let mut files: Vec<String> = sections(kind, data).iter().map(text).collect();
    files.push(format!("merganser: {}\n", Value::from(data.version.as_str())));
    files
}

fn sections(kind: Kind, data: &Data) -> Vec<Value> {
    let mut sections = vec![stats(kind, data)];
    match kind {
        Kind::Spectrum => sections.push(spectrum(data)),
        Kind::Taxa => sections.push(taxa(data)),
        Kind::Assembly => sections.push(quality(data)),
        Kind::Mapping => {
            let rows = |of: fn(&Mapping) -> &Rows| data.mapping.as_ref().map(of);
            let edits = ["edits", "Edits of mapped reads", "Edits", "Reads"];
            let inserts = ["inserts", "Insert sizes of concordant pairs", "Bases", "Pairs"];
            sections.push(line(data, edits, rows(|it| &it.edits)));
            sections.push(line(data, inserts, rows(|it| &it.inserts)));
        }
        Kind::Decisions => {
            let rows = data.decisions.as_ref().map(|it| &it.edits);
            sections.push(line(data, ["pairs", "Edits of accepted pairs", "Edits", "Pairs"], rows));
        }
        Kind::Search => {
            let rows = data.search.as_ref().map(|it| &it.edits);
            let words = ["pattern_hits", "Hits of patterns by edits", "Edits", "Hits"];
            sections.push(line(data, words, rows));
        }
        Kind::Selection => sections.push(selection(data)),
    }
    sections
}

/// Makes the head of a section, which is the same in all files of its kind.
fn section(id: &str, name: &str, plot: &str, pconfig: Value) -> Map<String, Value> {
    let head = json!({
        "id": format!("merganser_{id}"),
        "parent_id": "merganser",
        "parent_name": "Merganser",
        "parent_description": "counts k-mers, classifies and maps reads.",
        "section_name": name,
        "plot_type": plot,
        "pconfig": pconfig,
    });
    let Value::Object(head) = head else { return Map::new() };
    head
}

/// Makes the columns of the general statistics table.
fn stats(kind: Kind, data: &Data) -> Value {
    let mut columns: Vec<(Value, Value)> = Vec::new();
    let mut add = |key: &str, title: &str, about: &str, options: Value, value: Value| {
        let mut header = json!({ "title": title, "description": about, "namespace": "Merganser" });
        if let (Value::Object(header), Value::Object(options)) = (&mut header, options) {
            header.extend(options);
        }
        columns.push((json!({ key: header }), json!({ key: value })));
    };
    let percent = || json!({ "suffix": "%", "min": 0, "max": 100, "format": "{:,.2f}" });
    let whole = || json!({ "format": "{:,.0f}", "scale": "Blues" });
    if let Some(model) = data.spectrum.as_ref().and_then(|spectrum| spectrum.model.as_ref()) {
        let share = 100.0 * model.heterozygosity;
        add(
            "genome_size",
            "Genome",
            "Estimated genome size in bases",
            whole(),
            model.genome_size.round().into(),
        );
        add(
            "coverage",
            "k-mer cov.",
            "k-mer coverage of a haplotype",
            json!({}),
            model.coverage.into(),
        );
        add("heterozygosity", "Het.", "Estimated heterozygosity", percent(), share.into());
    }
    if let Some(taxa) = &data.taxa {
        let share = percent_of(taxa.reads - taxa.unclassified.min(taxa.reads), taxa.reads);
        add("classified", "Classified", "Reads that have a taxon", percent(), share.into());
    }
    if let Some(judged) = data.assembly.as_ref().and_then(|assembly| assembly.judged.first()) {
        let complete = judged.completeness.map(|part| 100.0 * part);
        add(
            "qv",
            "QV",
            "k-mer quality value of the (first) assembly",
            json!({}),
            judged.quality.into(),
        );
        add(
            "completeness",
            "Complete",
            "Solid k-mers of the reads in the assembly",
            percent(),
            complete.into(),
        );
    }
    if let Some(mapping) = &data.mapping {
        let share = percent_of(mapping.mapped, mapping.reads);
        add("mapped", "Mapped", "Reads with a hit", percent(), share.into());
    }
    if let Some(decisions) = &data.decisions {
        let share = percent_of(decisions.accepted, decisions.pairs);
        add("accepted", "Accepted", "Pairs within the threshold", percent(), share.into());
    }
    if let Some(search) = &data.search {
        let hits: u64 = search.edits.iter().map(|(_, hits)| hits).sum();
        add("pattern_hits", "Hits", "Hits of all patterns", whole(), hits.into());
    }
    if let Some(selection) = &data.selection {
        let written = selection.parts.first().map_or(0, |part| part.reads);
        let share = percent_of(written, selection.reads);
        add("written", "Written", "Reads that were kept or extracted", percent(), share.into());
    }
    let headers: Vec<Value> = columns.iter().map(|(header, _)| header.clone()).collect();
    let mut values = Map::new();
    for (_, value) in columns {
        if let Value::Object(value) = value {
            values.extend(value.into_iter().filter(|(_, value)| !value.is_null()));
        }
    }
    json!({
        "id": format!("merganser_{}", kind.sections()[0]),
        "plot_type": "generalstats",
        "headers": headers,
        "data": { data.sample.clone(): values },
    })
}

fn percent_of(part: u64, all: u64) -> f64 {
    100.0 * part as f64 / all.max(1) as f64
}

/// Makes a section with a line plot of numbers by values.
fn line(data: &Data, [id, title, x, y]: [&str; 4], rows: Option<&Rows>) -> Value {
    let pconfig = json!({
        "id": format!("merganser_{id}_plot"),
        "title": format!("Merganser: {title}"),
        "xlab": x,
        "ylab": y,
    });
    let mut section = section(id, title, "linegraph", pconfig);
    section.insert("data".to_owned(), points(data, rows.map_or(&[], Vec::as_slice)));
    Value::Object(section)
}

fn points(data: &Data, rows: &[(u64, u64)]) -> Value {
    json!({ data.sample.clone(): rows.iter().take(POINTS).collect::<Vec<_>>() })
}

/// Makes the section of distinct k-mers by count.
fn spectrum(data: &Data) -> Value {
    let pconfig = json!({
        "id": "merganser_spectrum_plot",
        "title": "Merganser: k-mer spectrum",
        "xlab": "Count",
        "ylab": "Distinct k-mers",
        "logswitch": true,
        "logswitch_active": true,
    });
    let mut section = section("spectrum", "k-mer spectrum", "linegraph", pconfig);
    let about = "The number of distinct k-mers that occur once, twice, and so on. Those of sequencing errors occur \
                 once or a few times; the peaks are k-mers of the genome.";
    section.insert("description".to_owned(), about.into());
    let rows = data.spectrum.as_ref().map_or(&[][..], |spectrum| &spectrum.rows);
    // Points beyond this count are few, and from repeats.
    let most = rows.iter().take_while(|(count, _)| *count <= POINTS as u64).count();
    section.insert("data".to_owned(), points(data, &rows[..most]));
    Value::Object(section)
}

/// Makes the section of reads by species, with the names of the largest ones.
fn taxa(data: &Data) -> Value {
    let pconfig = json!({
        "id": "merganser_taxa_plot",
        "title": "Merganser: reads by species",
        "ylab": "Reads",
        "cpswitch_c_active": false,
    });
    let mut section = section("taxa", "Species", "bargraph", pconfig);
    let about = "Reads of species and of the taxa below them. Reads that were assigned to higher taxa are shown \
                 separately.";
    section.insert("description".to_owned(), about.into());
    let mut bar = Map::new();
    if let Some(taxa) = &data.taxa {
        let mut species: Vec<_> = taxa.rows.iter().filter(|taxon| taxon.rank == "S").collect();
        species.sort_by(|one, other| other.clade.cmp(&one.clade).then(one.taxid.cmp(&other.taxid)));
        let (largest, others) = species.split_at(species.len().min(TAXA));
        for taxon in largest {
            bar.insert(taxon.name.clone(), taxon.clade.into());
        }
        let of_species: u64 = species.iter().map(|taxon| taxon.clade).sum();
        let classified = taxa.reads.saturating_sub(taxa.unclassified);
        let rest: u64 = others.iter().map(|taxon| taxon.clade).sum();
        let rows = [
            ("Other species", rest),
            ("Higher taxa", classified.saturating_sub(of_species)),
            ("Unclassified", taxa.unclassified),
        ];
        bar.extend(rows.map(|(name, reads)| (name.to_owned(), reads.into())));
    }
    section.insert("data".to_owned(), json!({ data.sample.clone(): bar }));
    Value::Object(section)
}

/// Makes the section of kept, removed or extracted reads.
fn selection(data: &Data) -> Value {
    let pconfig = json!({
        "id": "merganser_selection_plot",
        "title": "Merganser: kept or extracted reads",
        "ylab": "Reads",
    });
    let mut section = section("selection", "Kept or extracted reads", "bargraph", pconfig);
    let parts = data.selection.iter().flat_map(|selection| &selection.parts);
    let bar: Map<String, Value> =
        parts.map(|part| (part.name.clone(), part.reads.into())).collect();
    section.insert("data".to_owned(), json!({ data.sample.clone(): bar }));
    Value::Object(section)
}

/// Makes the section of the quality and completeness of assemblies, one row each.
fn quality(data: &Data) -> Value {
    let pconfig = json!({ "id": "merganser_qv_table", "title": "Merganser: assemblies by k-mers" });
    let mut section = section("qv", "Assemblies", "table", pconfig);
    let columns = json!({
        "qv": { "title": "QV", "description": "Phred-scaled quality", "format": "{:,.2f}" },
        "completeness": { "title": "Complete", "suffix": "%", "min": 0, "max": 100, "format": "{:,.2f}" },
        "kmers": { "title": "k-mers", "format": "{:,.0f}" },
        "only": { "title": "Not in reads", "format": "{:,.0f}" },
    });
    section.insert("headers".to_owned(), columns);
    let mut rows = Map::new();
    for judged in data.assembly.iter().flat_map(|assembly| &assembly.judged) {
        let mut row = json!({ "kmers": judged.kmers, "only": judged.only });
        if let Some(quality) = judged.quality {
            row["qv"] = quality.into();
        }
        if let Some(part) = judged.completeness {
            row["completeness"] = (100.0 * part).into();
        }
        rows.insert(format!("{} {}", data.sample, judged.name), row);
    }
    section.insert("data".to_owned(), Value::Object(rows));
    Value::Object(section)
}
