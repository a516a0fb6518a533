//! The columns of MetaCache's table.

use serde::Serialize;

/// The columns of MetaCache's table.
// These comments are the command-line help.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::Args), group(skip))]
pub struct Columns {
    /// Show the candidates with their hits
    // As `taxid:hits`, or as `sequence:hits` if the lowest rank is sequence.
    #[cfg_attr(feature = "cli", arg(long, help_heading = HEADING))]
    pub tophits: bool,
    /// Show all hits: SEQUENCE/WINDOW:HITS
    #[cfg_attr(feature = "cli", arg(long, help_heading = HEADING))]
    pub allhits: bool,
    /// Show the bases that the hits of each candidate span: `[BEGIN,END]`
    #[cfg_attr(feature = "cli", arg(long, help_heading = HEADING))]
    pub locations: bool,
    /// Show all ranks from the taxon's up to --highest, -- where the lineage has none
    #[cfg_attr(feature = "cli", arg(long, help_heading = HEADING))]
    pub lineage: bool,
    /// Number the reads, from 1
    #[cfg_attr(feature = "cli", arg(long, help_heading = HEADING))]
    pub queryids: bool,
    /// Show taxids in parentheses
    #[cfg_attr(feature = "cli", arg(long, help_heading = HEADING))]
    pub taxids: bool,
    /// Show taxids instead of names
    #[cfg_attr(feature = "cli", arg(long, help_heading = HEADING))]
    pub taxids_only: bool,
    /// Omit the ranks before names
    #[cfg_attr(feature = "cli", arg(long, help_heading = HEADING))]
    pub omit_ranks: bool,
    /// Show rank, name and taxid in separate columns
    #[cfg_attr(feature = "cli", arg(long, conflicts_with = "lineage", help_heading = HEADING))]
    pub separate_cols: bool,
    /// Text between columns; \t is a tab [default: \t|\t]
    #[cfg_attr(feature = "cli", arg(long, value_name = "TEXT", help_heading = HEADING))]
    #[cfg_attr(feature = "cli", arg(default_value = SEPARATOR, hide_default_value = true))]
    #[cfg_attr(feature = "cli", arg(value_parser = with_tabs))]
    pub separator: String,
    /// Start of comment lines [default: "# "]
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

/// The display of taxids in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taxids {
    /// Not shown.
    None,
    /// Shown in parentheses after the name.
    InParentheses,
    /// Shown instead of the name.
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
