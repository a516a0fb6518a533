//! What the line of a read looks like.

/// What is written for each read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineFormat {
    /// Kraken 2's five columns.
    Kraken {
        /// Name and taxid instead of the taxid alone.
        names: bool,
    },
    /// MetaCache's table.
    MetaCache(Columns),
}

/// How MetaCache's table shows taxids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Taxids {
    /// Not at all.
    #[default]
    None,
    /// In brackets after the name.
    InParentheses,
    /// Instead of the name.
    Only,
}

/// The columns of MetaCache's table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns {
    /// The number of the read, from 1, comes first.
    pub query_ids: bool,
    /// All hits, as `sequence/window:hits,`.
    pub all_hits: bool,
    /// The candidates, as `taxid:hits`, or `sequence:hits` if the lowest rank is that.
    pub top_hits: bool,
    /// The bases of the target that each candidate's hits reach over, as `[begin,end] `.
    pub locations: bool,
    /// All ranks from the taxon's up to the highest.
    pub lineage: bool,
    /// Taxids.
    pub taxids: Taxids,
    /// No ranks before names.
    pub omit_ranks: bool,
    /// Rank, name and taxid in columns of their own.
    pub separate: bool,
    /// Between columns.
    pub separator: String,
    /// Before lines that are no reads.
    pub comment: String,
}

impl Default for Columns {
    fn default() -> Columns {
        Columns {
            query_ids: false,
            all_hits: false,
            top_hits: false,
            locations: false,
            lineage: false,
            taxids: Taxids::None,
            omit_ranks: false,
            separate: false,
            separator: "\t|\t".into(),
            comment: "# ".into(),
        }
    }
}
