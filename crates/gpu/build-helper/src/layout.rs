//! Generation of C++ layout assertions from the structures that a Rust file lists.

use std::collections::HashMap;
use std::fmt::Write;

/// The size and alignment of a type in bytes.
type Shape = [usize; 2];

/// The shapes of the types that lists may use, including the structures of earlier lists.
#[derive(Clone, Debug)]
pub(crate) struct Types(HashMap<String, Shape>);

impl Default for Types {
    fn default() -> Types {
        let of = |name: &str, bytes: usize| (name.to_owned(), [bytes, bytes]);
        let scalars = [("bool", 1), ("u8", 1), ("i8", 1), ("u16", 2), ("i16", 2), ("u32", 4)];
        let more = [("i32", 4), ("f32", 4), ("u64", 8), ("i64", 8), ("f64", 8)];
        Types(scalars.into_iter().chain(more).map(|(name, bytes)| of(name, bytes)).collect())
    }
}

impl Types {
    /// Returns the shape of a type in Rust syntax; `None` if it is unknown.
    fn shape(&self, text: &str) -> Option<Shape> {
        if text.starts_with("*const ") || text.starts_with("*mut ") {
            return Some([8, 8]);
        }
        if let Some(array) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
            let (item, count) = array.rsplit_once(';')?;
            let [bytes, align] = self.shape(item.trim())?;
            return Some([bytes * count.trim().parse::<usize>().ok()?, align]);
        }
        self.0.get(text).copied()
    }

    /// Returns the assertions for each `struct NAME = "C++ NAME" { … }` of a Rust file, and records the
    /// structures for later lists.
    ///
    /// # Errors
    /// The line with a type that is not known.
    pub(crate) fn assertions(&mut self, rust: &str) -> Result<String, String> {
        let mut header = String::from("#pragma once\n#include <cstddef>\n");
        let mut open: Option<Structure> = None;
        for line in rust.lines().map(str::trim) {
            match &mut open {
                None => open = Structure::begin(line),
                Some(structure) if line == "}" => {
                    let shape = structure.end(&mut header);
                    self.0.insert(structure.name.clone(), shape);
                    open = None;
                }
                Some(structure) => {
                    let Some((name, text)) = field(line) else { continue };
                    let shape = self.shape(text).ok_or_else(|| format!("unknown type: {line}"))?;
                    structure.field(name, shape, &mut header);
                }
            }
        }
        Ok(header)
    }
}

/// A structure that is being parsed.
struct Structure {
    name: String,
    cpp: String,
    end: usize,
    align: usize,
}

impl Structure {
    /// Starts the structure whose declaration is in this line, if there is one.
    fn begin(line: &str) -> Option<Structure> {
        let (_, rest) = line.split_once("struct ")?;
        let (name, rest) = rest.split_once(" = \"")?;
        let (cpp, brace) = rest.split_once('"')?;
        (brace.trim() == "{").then(|| Structure {
            name: name.trim().to_owned(),
            cpp: cpp.to_owned(),
            end: 0,
            align: 1,
        })
    }

    fn field(&mut self, name: &str, [bytes, align]: Shape, header: &mut String) {
        let offset = self.end.next_multiple_of(align);
        let cpp = &self.cpp;
        let _ = writeln!(header, "static_assert(offsetof({cpp}, {name}) == {offset}, \"{name}\");");
        let size = format!("static_assert(sizeof({cpp}::{name}) == {bytes}, \"{name}\");");
        header.push_str(&size);
        header.push('\n');
        self.end = offset + bytes;
        self.align = self.align.max(align);
    }

    fn end(&self, header: &mut String) -> Shape {
        let bytes = self.end.next_multiple_of(self.align);
        let cpp = &self.cpp;
        let _ = writeln!(header, "static_assert(sizeof({cpp}) == {bytes}, \"size\");");
        [bytes, self.align]
    }
}

/// Returns the name and the type of the field in a line, if there is one.
fn field(line: &str) -> Option<(&str, &str)> {
    if line.starts_with("//") || line.starts_with('#') {
        return None;
    }
    let (name, text) = line.strip_suffix(',')?.split_once(": ")?;
    Some((name.rsplit(' ').next()?, text.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_becomes_assertions() {
        let rust = r#"
            shared! {
                /// One, with: a colon.
                pub(crate) struct Rule = "mgpu::rule" {
                    k: i32,
                    pub(super) limit: u64,
                }
                struct Task = "mgpu::task<uint32_t>" {
                    /// Where it is: here,
                    rule: Rule,
                    flag: bool,
                    both: [u32; 2],
                    words: *const [u64; 2],
                }
            }
            struct Other { a: Foreign }
        "#;
        let header = Types::default().assertions(rust).unwrap();
        let lines: Vec<&str> = header.lines().filter(|line| line.contains("offsetof")).collect();
        assert_eq!(
            lines,
            [
                "static_assert(offsetof(mgpu::rule, k) == 0, \"k\");",
                "static_assert(offsetof(mgpu::rule, limit) == 8, \"limit\");",
                "static_assert(offsetof(mgpu::task<uint32_t>, rule) == 0, \"rule\");",
                "static_assert(offsetof(mgpu::task<uint32_t>, flag) == 16, \"flag\");",
                "static_assert(offsetof(mgpu::task<uint32_t>, both) == 20, \"both\");",
                "static_assert(offsetof(mgpu::task<uint32_t>, words) == 32, \"words\");",
            ]
        );
        assert!(header.contains("static_assert(sizeof(mgpu::rule) == 16, "));
        assert!(header.contains("static_assert(sizeof(mgpu::task<uint32_t>) == 40, "));
        assert!(header.contains("static_assert(sizeof(mgpu::task<uint32_t>::both) == 8, "));
    }

    #[test]
    fn a_type_that_is_not_known_is_named() {
        let rust = "struct Task = \"task\" {\n  rule: Foreign,\n}\n";
        let error = Types::default().assertions(rust).unwrap_err();
        assert_eq!(error, "unknown type: rule: Foreign,");
    }
}
