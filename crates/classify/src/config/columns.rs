//! The columns of MetaCache's table.

use serde::Serialize;

/// The columns of MetaCache's table.
// These comments are the help of the command line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::Args), group(skip))]
pub struct Columns {
    /// Candidates with their hits
    // As `taxid:hits`, or `sequence:hits` if the lowest rank is that.
    #[cfg_attr(feature = "cli", arg(long, help_heading = HEADING))]
    pub tophits: bool,
    /// All hits: SEQUENCE/WINDOW:HITS
    #[cfg_attr(feature = "cli", arg(long, help_heading = HEADING))]
    pub allhits: bool,
    /// The bases that the hits of each candidate reach over: `[BEGIN,END]`
    #[cfg_attr(feature = "cli", arg(long, help_heading = HEADING))]
    pub locations: bool,
    /// All ranks from the taxon's up to --highest, -- where a lineage has none
    #[cfg_attr(feature = "cli", arg(long, help_heading = HEADING))]
    pub lineage: bool,
    /// Numbers of reads, from 1
    #[cfg_attr(feature = "cli", arg(long, help_heading = HEADING))]
    pub queryids: bool,
    /// Taxids in brackets
    #[cfg_attr(feature = "cli", arg(long, help_heading = HEADING))]
    pub taxids: bool,
    /// Taxids and no names
    #[cfg_attr(feature = "cli", arg(long, help_heading = HEADING))]
    pub taxids_only: bool,
    /// No ranks before names
    #[cfg_attr(feature = "cli", arg(long, help_heading = HEADING))]
    pub omit_ranks: bool,
    /// Rank, name and taxid in columns of their own
    #[cfg_attr(feature = "cli", arg(long, conflicts_with = "lineage", help_heading = HEADING))]
    pub separate_cols: bool,
    /// Between columns; \t is a tab [default: \t|\t]
    #[cfg_attr(feature = "cli", arg(long, value_name = "TEXT", help_heading = HEADING))]
    #[cfg_attr(feature = "cli", arg(default_value = SEPARATOR, hide_default_value = true))]
    #[cfg_attr(feature = "cli", arg(value_parser = with_tabs))]
    pub separator: String,
    /// Before lines that are no reads [default: "# "]
    #[cfg_attr(feature = "cli", arg(long, value_name = "TEXT", help_heading = HEADING))]
    #[cfg_attr(feature = "cli", arg(default_value = COMMENT, hide_default_value = true))]
    pub comment: String,
}

#[cfg(feature = "cli")]
const HEADING: &str = "MetaCache's table (--format metacache)";
const SEPARATOR: &str = "\t|\t";
const COMMENT: &str = "# ";

impl Default for Columns {
    fn default() -> Columns {
        Columns {
            tophits: false,
            allhits: false,
            locations: false,
            lineage: false,
            queryids: false,
            taxids: false,
            taxids_only: false,
            omit_ranks: false,
            separate_cols: false,
            separator: SEPARATOR.to_owned(),
            comment: COMMENT.to_owned(),
        }
    }
}

/// How the table shows taxids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taxids {
    /// Not at all.
    None,
    /// In brackets after the name.
    InParentheses,
    /// Instead of the name.
    Only,
}

impl Columns {
    /// Returns how taxids are shown.
    pub(crate) fn shown_taxids(&self) -> Taxids {
        match (self.taxids_only, self.taxids) {
            (true, _) => Taxids::Only,
            (_, true) => Taxids::InParentheses,
            _ => Taxids::None,
        }
    }
}

/// Replaces `\t` by a tab.
#[cfg(feature = "cli")]
fn with_tabs(text: &str) -> Result<String, std::convert::Infallible> {
    Ok(text.replace("\\t", "\t"))
}
