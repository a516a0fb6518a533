//! Extracts the production code of a source file, without comments and test code, and its comments and literals.

/// A source file with blanks in place of comments and tests, so that line numbers stay the same.
pub(crate) struct SourceText {
    /// The code.
    pub(crate) code: String,
    /// The code with blanks in place of the contents of literals: the `{` of `"{"` is not a brace.
    pub(crate) mask: String,
}

impl SourceText {
    /// Parses the text of a Rust or C++ file.
    pub(crate) fn new(text: &str) -> SourceText {
        let Lexer { mut code, mut mask, .. } = Lexer::read(text);
        while let Some((start, end)) = first_test(&mask) {
            for bytes in [&mut code, &mut mask] {
                bytes[start..end].iter_mut().filter(|byte| **byte != b'\n').for_each(blank);
            }
        }
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        SourceText { code: text(code), mask: text(mask) }
    }

    /// Returns the number of lines with code.
    pub(crate) fn lines(&self) -> usize {
        self.code.lines().filter(|line| !line.trim().is_empty()).count()
    }
}

/// Returns the comments of a Rust or C++ file, with blanks for everything else; line numbers stay the same.
pub(crate) fn comments(text: &str) -> String {
    let lexer = Lexer::read(text);
    difference(text.as_bytes(), &lexer.code)
}

/// Returns the contents of string literals of a Rust or C++ file, with blanks for everything else; line numbers stay
/// the same.
pub(crate) fn literals(text: &str) -> String {
    let lexer = Lexer::read(text);
    difference(&lexer.code, &lexer.mask)
}

/// Keeps the bytes of `text` that `other` has blanked out.
fn difference(text: &[u8], other: &[u8]) -> String {
    let bytes = text.iter().zip(other);
    let kept =
        |(&byte, &other): (&u8, &u8)| if byte == other && byte != b'\n' { b' ' } else { byte };
    String::from_utf8_lossy(&bytes.map(kept).collect::<Vec<_>>()).into_owned()
}

/// Returns the names of the modules in other files that only tests compile.
pub(crate) fn test_modules(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let pairs = lines.iter().enumerate().filter(|(_, line)| is_test(line));
    let modules = pairs.filter_map(|(at, _)| {
        let item = lines[at + 1..].iter().find(|line| !line.starts_with("#["))?;
        let (_, name) = item.strip_suffix(';')?.rsplit_once("mod ")?;
        Some(name.to_owned())
    });
    modules.collect()
}

fn blank(byte: &mut u8) {
    *byte = b' ';
}

/// Whether an attribute compiles an item for tests only.
fn is_test(attribute: &str) -> bool {
    let Some(condition) = attribute.strip_prefix("#[cfg(").and_then(|rest| rest.split(")]").next())
    else {
        return false;
    };
    let all = condition.strip_prefix("all(").map(|rest| rest.trim_end_matches(')'));
    all.unwrap_or(condition).split(',').any(|part| part.trim() == "test")
}

/// Returns the byte range of the first item that only tests compile.
fn first_test(mask: &[u8]) -> Option<(usize, usize)> {
    let text = std::str::from_utf8(mask).ok()?;
    let (start, _) = text.match_indices("#[cfg(").find(|&(at, _)| is_test(&text[at..]))?;
    let mut item = start;
    while mask.get(item) == Some(&b'#') {
        item += text[item..].find(']')? + 1;
        item += text[item..].len() - text[item..].trim_start().len();
    }
    // A closing brace does not end these items.
    let goes_on = ["use ", "pub use ", "pub(crate) use ", "const ", "static ", "let "]
        .iter()
        .any(|word| text[item..].starts_with(word));
    let (mut at, mut depth) = (item, 0usize);
    while at < mask.len() {
        match mask[at] {
            b'{' | b'(' | b'[' => depth += 1,
            b'}' if depth == 1 && !goes_on => return Some((start, at + 1)),
            b'}' | b')' | b']' if depth > 0 => depth -= 1,
            // The end of the enclosing item: this was its last field or variant.
            b'}' | b')' | b']' => return Some((start, at)),
            b';' if depth == 0 => return Some((start, at + 1)),
            _ => {}
        }
        at += 1;
    }
    Some((start, mask.len()))
}

struct Lexer<'t> {
    text: &'t [u8],
    code: Vec<u8>,
    mask: Vec<u8>,
}

impl<'t> Lexer<'t> {
    fn read(text: &'t str) -> Lexer<'t> {
        let mut lexer = Lexer { text: text.as_bytes(), code: Vec::new(), mask: Vec::new() };
        while lexer.code.len() < text.len() {
            lexer.token();
        }
        lexer
    }

    fn token(&mut self) {
        let rest = &self.text[self.code.len()..];
        let before = self.code.last().copied().unwrap_or(b' ');
        let in_word = before.is_ascii_alphanumeric() || before == b'_';
        match rest {
            [b'/', b'/', ..] => self.comment(find(rest, b"\n").unwrap_or(rest.len())),
            [b'/', b'*', ..] => self.comment(find(rest, b"*/").map_or(rest.len(), |end| end + 2)),
            [b'r', ..] if !in_word && raw(rest).is_some() => {
                self.literal(raw(rest).unwrap_or(rest.len()));
            }
            [b'"', ..] => self.literal(quoted(rest, b'"')),
            [b'\'', b'\\', ..] => self.literal(quoted(rest, b'\'')),
            [b'\'', _, b'\'', ..] => self.literal(3),
            _ => self.take(1, false, false),
        }
    }

    fn comment(&mut self, bytes: usize) {
        self.take(bytes, true, true);
    }

    /// Takes a literal, and keeps its quotes.
    fn literal(&mut self, bytes: usize) {
        self.take(1, false, false);
        self.take(bytes.saturating_sub(2), false, true);
        self.take(usize::from(bytes > 1), false, false);
    }

    fn take(&mut self, bytes: usize, no_code: bool, no_mask: bool) {
        let from = self.code.len();
        for &byte in &self.text[from..from + bytes] {
            let kept = |hidden: bool| if hidden && byte != b'\n' { b' ' } else { byte };
            self.code.push(kept(no_code));
            self.mask.push(kept(no_mask));
        }
    }
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|part| part == what)
}

/// Returns the length of a raw string in bytes.
fn raw(text: &[u8]) -> Option<usize> {
    let hashes = text[1..].iter().take_while(|&&byte| byte == b'#').count();
    if text.get(1 + hashes) != Some(&b'"') {
        return None;
    }
    let end = [&b"\""[..], &vec![b'#'; hashes]].concat();
    Some(find(&text[2 + hashes..], &end).map_or(text.len(), |at| 2 + hashes + at + end.len()))
}

/// Returns the length of a literal in bytes, up to its closing quote.
fn quoted(text: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < text.len() && text[at] != quote {
        at += if text[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_tests_are_no_code() {
        let text = "//! Docs.\nfn f() -> &'static str {\n    \"// { no comment\" // one\n}\n\n#[cfg(test)]\n\
                    use a::{b, c};\n#[cfg(all(test, not(loom)))]\nmod tests {\n    fn g() { '}'; }\n}\nfn h() {}\n";
        let source = SourceText::new(text);
        assert_eq!(source.lines(), 4);
        assert!(source.code.contains("// { no comment") && !source.mask.contains("{ no"));
        assert!(source.code.contains("fn h") && !source.code.contains("fn g"));
        let modules = test_modules("#[cfg(test)]\nmod naive;\n#[cfg(not(test))]\nmod other;\n");
        assert_eq!(modules, ["naive"]);
    }
}
