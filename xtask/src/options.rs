//! Measures the lines of code per option of the command line, in the files that define options or carry their values.

use std::path::Path;

/// The number of options, and of the lines of code for them.
#[derive(Default)]
pub(crate) struct Options {
    /// The number of options that have a long name or a letter.
    options: usize,
    /// The number of lines: all lines of files for options; in other files, only the definitions.
    lines: usize,
}

/// Parts of the paths of files that define options or carry their values.
const CARRIERS: [&str; 5] =
    ["/src/args", "/src/config", "/settings.rs", "/summary.rs", "/src/options"];

impl Options {
    /// Adds a file with this code.
    pub(crate) fn add(&mut self, path: &Path, code: &str, lines: usize) {
        let path = path.to_string_lossy();
        let [defined, attributes] = definitions(code);
        self.options += defined;
        self.lines += match CARRIERS.iter().any(|part| path.contains(part)) {
            true => lines,
            false => attributes + defined,
        };
    }

    /// Returns the number of options, the number of lines, and the lines per option, as text.
    pub(crate) fn row(&self) -> String {
        let each = self.lines as f64 / self.options.max(1) as f64;
        format!("{} options in {} lines: {each:.1} lines an option", self.options, self.lines)
    }
}

/// Returns the number of options that a file defines, and the number of attributes of arguments.
fn definitions(code: &str) -> [usize; 2] {
    let attribute = |line: &str| {
        let starts = ["#[arg(", "#[cfg_attr(feature = \"cli\", arg("];
        let inner = starts.iter().find_map(|start| line.trim().strip_prefix(start))?;
        let word = inner.split([',', ')', ' ', '=']).next().unwrap_or_default();
        Some(matches!(word, "long" | "short"))
    };
    let attributes: Vec<bool> = code.lines().filter_map(attribute).collect();
    [attributes.iter().filter(|names| **names).count(), attributes.len()]
}

#[cfg(test)]
mod tests {
    use super::definitions;

    #[test]
    fn definitions_are_counted_once() {
        let code = "#[arg(long, value_name = \"FILE\")]\n  #[arg(help_heading = \"long\")]\n\
                    #[cfg_attr(feature = \"cli\", arg(short))]\n#[arg(value_name = \"READS\")]\n";
        assert_eq!(definitions(code), [2, 4]);
    }
}
