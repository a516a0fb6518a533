//! Finds circles of files of a crate that import each other by `crate::` or `super::` paths.

use std::collections::{BTreeMap, BTreeSet};

type Path = Vec<String>;

/// The modules of a crate, by path.
pub(crate) struct Modules(BTreeMap<Path, Module>);

struct Module {
    /// The imported paths, from the crate's root.
    imports: Vec<Path>,
    /// The targets of names that `use` declares, from the crate's root.
    names: BTreeMap<String, Path>,
}

impl Modules {
    /// Parses modules from the paths of their files below `src` and their code without literals.
    pub(crate) fn new<'f>(files: impl Iterator<Item = (&'f str, &'f str)>) -> Modules {
        Modules(
            files.map(|(file, code)| (module(file), Module::new(&module(file), code))).collect(),
        )
    }

    /// Returns the largest set of modules that all import each other, directly or through others.
    pub(crate) fn largest_circle(&self) -> Vec<String> {
        let reached: BTreeMap<&Path, BTreeSet<&Path>> =
            self.0.keys().map(|module| (module, self.reached(module))).collect();
        let circle = |module: &&Path| -> Vec<&Path> {
            let both = reached[*module].iter().filter(|other| reached[**other].contains(module));
            both.copied().collect()
        };
        let largest = self.0.keys().map(|module| circle(&module)).max_by_key(Vec::len);
        let name = |path: &Path| if path.is_empty() { "lib".into() } else { path.join("::") };
        largest.unwrap_or_default().into_iter().map(name).collect()
    }

    fn reached<'m>(&'m self, from: &'m Path) -> BTreeSet<&'m Path> {
        let (mut reached, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(module) = open.pop() {
            let imported = self.0[module].imports.iter().filter_map(|path| self.resolve(path, 0));
            let new = imported.filter(|&other| other != module && reached.insert(other));
            open.extend(new.collect::<Vec<_>>());
        }
        reached
    }

    /// Returns the module that defines an item, also if other modules re-export it.
    fn resolve(&self, path: &Path, depth: usize) -> Option<&Path> {
        let known = (0..=path.len()).rev().find(|&length| self.0.contains_key(&path[..length]))?;
        let (module, content) = self.0.get_key_value(&path[..known])?;
        let renamed = path.get(known).and_then(|name| content.names.get(name));
        match renamed {
            Some(target) if depth < 8 => {
                self.resolve(&[&target[..], &path[known + 1..]].concat(), depth + 1)
            }
            _ => Some(module),
        }
    }
}

impl Module {
    fn new(own: &Path, code: &str) -> Module {
        let words = words(code);
        let mut module = Module { imports: Vec::new(), names: BTreeMap::new() };
        let mut at = 0;
        while at < words.len() {
            let mut used = Vec::new();
            match words[at] {
                // `use<'a>` in a type is no import.
                "use" if words.get(at + 1) != Some(&"<") => {
                    at = tree(&words, at + 1, &Vec::new(), &mut used);
                }
                "crate" | "super" if words.get(at + 1) == Some(&"::") => {
                    let mut path = vec![words[at].to_owned()];
                    while words.get(at + 1) == Some(&"::") && words.get(at + 2).is_some() {
                        path.push(words[at + 2].to_owned());
                        at += 2;
                    }
                    module.imports.extend(from_root(own, &path));
                }
                _ => {}
            }
            for (path, name) in used {
                let Some(target) = from_root(own, &path) else { continue };
                if matches!(path[0].as_str(), "crate" | "super") {
                    module.imports.push(target.clone());
                }
                if target[..] != own[..] {
                    module.names.insert(name, target);
                }
            }
            at += 1;
        }
        module
    }
}

/// Returns the path of the module in a file.
fn module(file: &str) -> Path {
    let path = file.trim_end_matches(".rs").trim_end_matches("/mod");
    if path == "lib" { Vec::new() } else { path.split('/').map(str::to_owned).collect() }
}

/// Returns a path from the crate's root. A path without `crate`, `super` or `self` is taken as that of a child
/// module.
fn from_root(own: &Path, path: &Path) -> Option<Path> {
    let mut base = own.clone();
    let mut rest = &path[..];
    match rest.first()?.as_str() {
        "crate" => {
            base.clear();
            rest = &rest[1..];
        }
        "self" => rest = &rest[1..],
        _ => {}
    }
    while rest.first().is_some_and(|word| word == "super") {
        base.pop()?;
        rest = &rest[1..];
    }
    base.extend(rest.iter().cloned());
    Some(base)
}

/// Parses a tree of `use` from word `at` on, and collects its paths and the names that they get. Returns the end of
/// the tree.
fn tree(words: &[&str], mut at: usize, before: &Path, used: &mut Vec<(Path, String)>) -> usize {
    let mut path = before.clone();
    while let Some(&word) = words.get(at) {
        match word {
            "{" => {
                at += 1;
                while words.get(at).is_some_and(|&word| word != "}") {
                    at = tree(words, at, &path, used);
                    at += usize::from(words.get(at) == Some(&","));
                }
                return at + 1;
            }
            "," | "}" | ";" => break,
            "as" => {
                at += 1;
                let name = words.get(at).copied().unwrap_or_default().to_owned();
                used.push((path, name));
                return at + 1;
            }
            "::" => {}
            "self" if !path.is_empty() => {}
            _ => path.push(word.to_owned()),
        }
        at += 1;
    }
    if let Some(name) = path.last().cloned() {
        used.push((path, name));
    }
    at
}

/// Splits code into identifiers, `::`, and other single characters.
fn words(code: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_in_word = |letter: char| letter.is_alphanumeric() || letter == '_';
        let bytes = match first {
            _ if is_in_word(first) => rest.find(|letter| !is_in_word(letter)).unwrap_or(rest.len()),
            ':' if rest.starts_with("::") => 2,
            _ => first.len_utf8(),
        };
        words.push(&rest[..bytes]);
        rest = rest[bytes..].trim_start();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circles_go_by_where_items_are_defined() {
        let files = [
            ("lib.rs", "mod a; mod b; mod c; pub use a::A; use c::C as D;"),
            ("a.rs", "use crate::{b::{self, B}, D};"),
            ("b.rs", "fn f() -> super::b::x::X {}"),
            ("b/x.rs", "use crate::A;"),
            ("c.rs", "use crate::A; use std::sync::Arc; fn f() -> impl I + use<> { g(); }"),
        ];
        let circle = Modules::new(files.into_iter()).largest_circle();
        assert_eq!(circle, ["a", "b", "b::x", "c"]);
        let without = [files[0], files[1], files[4]];
        assert_eq!(Modules::new(without.into_iter()).largest_circle(), ["a", "c"]);
    }
}
