//! Expressions as text: `union-max(a.mgk, subtract(b.mgk:2.., c)):..100`.
//!
//! ```text
//! expression = operation "(" expression { "," expression } ")" [ cut ]
//!            | "set-counts" "(" expression "," number ")" [ cut ]
//!            | table [ cut ]
//! operation  = ( "union" | "intersect" | "subtract" | "counters-subtract" ) [ "-" mode ]
//! mode       = "min" | "max" | "sum" | "diff" | "left" | "right"
//! cut        = ":" [ number ] ".." [ number ]
//! table      = a name without blanks, commas and parentheses, or any name in quotes
//! ```

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::expression::{Cut, Expression, Mode, Names, Operation};

const OPERATIONS: [(&str, Operation); 4] = [
    ("union", Operation::Union),
    ("intersect", Operation::Intersect),
    ("subtract", Operation::Subtract),
    ("counters-subtract", Operation::CountersSubtract),
];

const MODES: [(&str, Mode); 6] = [
    ("min", Mode::Min),
    ("max", Mode::Max),
    ("sum", Mode::Sum),
    ("diff", Mode::Diff),
    ("left", Mode::Left),
    ("right", Mode::Right),
];

/// The largest depth of nested operations.
const DEEPEST: usize = 64;

/// Parses an expression; returns it with the tables that it names, each once.
///
/// # Errors
/// A text that tells what is wrong, and at which letter.
pub fn parse(text: &OsStr) -> Result<(Expression, Vec<PathBuf>), String> {
    let text = text.as_bytes();
    let mut parser = Parser { text, at: 0, names: Names::default() };
    let expression = parser.expression(0)?;
    parser.blanks();
    if parser.at < text.len() {
        return Err(parser.wrong("the expression ends here, but more text follows"));
    }
    Ok((expression, parser.names.0))
}

/// Parses an operand of the command line: the name of a table, optionally with a cut, `TABLE:MIN..MAX`.
///
/// # Errors
/// If the cut is invalid.
pub fn parse_operand(text: &OsStr) -> Result<(PathBuf, Cut), String> {
    operand(text.as_bytes())
}

/// Whether an operand of the command line has a cut with a lower bound, `TABLE:MIN..`, which may be that of all k-mers.
pub fn has_lower_bound(text: &OsStr) -> bool {
    let mut parts = text.as_bytes().rsplitn(2, |&letter| letter == b':');
    let (cut, table) = (parts.next(), parts.next());
    let cut = cut.and_then(|cut| std::str::from_utf8(cut).ok()).filter(|cut| is_cut(cut));
    table.is_some_and(|table| !table.is_empty()) && cut.is_some_and(|cut| !cut.starts_with(".."))
}

fn operand(text: &[u8]) -> Result<(PathBuf, Cut), String> {
    let mut parts = text.rsplitn(2, |&letter| letter == b':');
    // A cut is plain text, even if the name before it is not.
    let cut = parts.next().and_then(|cut| std::str::from_utf8(cut).ok()).filter(|cut| is_cut(cut));
    match (parts.next(), cut) {
        (Some(table), Some(cut)) if !table.is_empty() => Ok((path_of(table), read_cut(cut)?)),
        _ => Ok((path_of(text), Cut::NONE)),
    }
}

fn path_of(name: &[u8]) -> PathBuf {
    OsStr::from_bytes(name).into()
}

/// Converts bytes to text for messages and numbers.
fn shown(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

fn is_cut(text: &str) -> bool {
    text.split_once("..").is_some_and(|(least, most)| {
        (least.to_owned() + most).bytes().all(|letter| letter.is_ascii_digit())
    })
}

fn read_cut(text: &str) -> Result<Cut, String> {
    let (least, most) = text.split_once("..").unwrap_or((text, ""));
    let number = |text: &str, default: u32| match text {
        "" => Ok(default),
        _ => text.parse().map_err(|_| format!("'{text}' is not a count: 0 to {}", u32::MAX)),
    };
    let cut = Cut { least: number(least, 1)?.max(1), most: number(most, u32::MAX)? };
    if cut.least > cut.most {
        return Err(format!("'{text}' leaves no count: MIN is larger than MAX"));
    }
    Ok(cut)
}

struct Parser<'t> {
    /// The expression. Names of files may have any bytes; the rest is ASCII.
    text: &'t [u8],
    at: usize,
    names: Names,
}

impl Parser<'_> {
    fn rest(&self) -> &[u8] {
        &self.text[self.at..]
    }

    fn wrong(&self, what: &str) -> String {
        let place = shown(&self.text[..self.at]).chars().count() + 1;
        format!("'{}': letter {place}: {what}", shown(self.text))
    }

    fn blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_ascii_start().len();
    }

    /// Skips blanks and then `letter`, if it comes next; returns whether it did.
    fn take(&mut self, letter: u8) -> bool {
        self.blanks();
        let is_next = self.rest().starts_with(&[letter]);
        self.at += usize::from(is_next);
        is_next
    }

    /// Returns the text before the next letter for which `ends` is true, or before the end.
    fn until(&self, ends: impl Fn(u8) -> bool) -> &[u8] {
        let end = self.rest().iter().position(|&letter| ends(letter));
        &self.rest()[..end.unwrap_or(self.rest().len())]
    }

    fn expression(&mut self, depth: usize) -> Result<Expression, String> {
        if depth > DEEPEST {
            return Err(self.wrong("nested too deeply"));
        }
        self.blanks();
        if let Some(&quote) = self.rest().first().filter(|letter| b"'\"".contains(letter)) {
            return self.quoted(quote);
        }
        let word = self.until(|letter| b" \t\n,()".contains(&letter)).to_owned();
        if word.is_empty() {
            return Err(self.wrong("a table or an operation is expected here"));
        }
        let start = self.at;
        self.at += word.len();
        if self.take(b'(') {
            let inner = self.operation(&word, start, depth)?;
            return self.cut(inner);
        }
        let (path, cut) = operand(&word).map_err(|what| self.wrong(&what))?;
        Ok(within(Expression::Table(self.names.place(path)), cut))
    }

    fn quoted(&mut self, quote: u8) -> Result<Expression, String> {
        self.at += 1;
        let Some(end) = self.rest().iter().position(|&letter| letter == quote) else {
            return Err(self.wrong("the quotes are not closed"));
        };
        let path = path_of(&self.rest()[..end]);
        self.at += end + 1;
        let table = Expression::Table(self.names.place(path));
        self.cut(table)
    }

    /// Parses the operands of the operation `word`, which begins at `start`, up to the closing parenthesis.
    fn operation(&mut self, word: &[u8], start: usize, depth: usize) -> Result<Expression, String> {
        if word == b"set-counts" {
            let operand = Box::new(self.expression(depth + 1)?);
            if !self.take(b',') {
                return Err(self.wrong("a comma and the count are expected: set-counts(TABLE, 7)"));
            }
            let count = self.number()?.filter(|&count| count > 0);
            let count = count.ok_or_else(|| self.wrong("a count of 1 or more is expected"))?;
            self.close()?;
            return Ok(Expression::SetCounts(operand, count));
        }
        let Some((operation, mode)) = operation_of(word) else {
            self.at = start;
            return Err(self.wrong(&format!(
                "'{}' is not an operation: union, intersect, subtract, counters-subtract (all except \
                 subtract may end in -min, -max, -sum, -diff, -left or -right), set-counts",
                shown(word)
            )));
        };
        let mut operands = vec![self.expression(depth + 1)?];
        while self.take(b',') {
            operands.push(self.expression(depth + 1)?);
        }
        self.close()?;
        Ok(Expression::Of { operation, mode, operands })
    }

    fn close(&mut self) -> Result<(), String> {
        if self.take(b')') { Ok(()) } else { Err(self.wrong("a comma or ')' is expected here")) }
    }

    fn number(&mut self) -> Result<Option<u32>, String> {
        self.blanks();
        let digits = shown(self.until(|letter| !letter.is_ascii_digit()));
        self.at += digits.len();
        match digits.as_str() {
            "" => Ok(None),
            _ => match digits.parse() {
                Ok(number) => Ok(Some(number)),
                Err(_) => Err(self.wrong(&format!("'{digits}' is not a count: 0 to {}", u32::MAX))),
            },
        }
    }

    /// Parses the cut that may follow a parenthesis or quotes.
    fn cut(&mut self, inner: Expression) -> Result<Expression, String> {
        if !self.rest().starts_with(b":") {
            return Ok(inner);
        }
        self.at += 1;
        let text = shown(self.until(|letter| !letter.is_ascii_digit() && letter != b'.'));
        if !is_cut(&text) {
            return Err(self.wrong("a cut is expected here: MIN..MAX, MIN.. or ..MAX"));
        }
        let cut = read_cut(&text).map_err(|what| self.wrong(&what))?;
        self.at += text.len();
        Ok(within(inner, cut))
    }
}

fn within(inner: Expression, cut: Cut) -> Expression {
    if cut == Cut::NONE { inner } else { Expression::Within(Box::new(inner), cut) }
}

fn operation_of(word: &[u8]) -> Option<(Operation, Mode)> {
    let word = std::str::from_utf8(word).ok()?;
    OPERATIONS.iter().find_map(|&(name, operation)| {
        let rest = word.strip_prefix(name)?;
        if rest.is_empty() {
            return Some((operation, operation.default_mode()));
        }
        let mode = rest.strip_prefix('-')?;
        let mode = MODES.iter().find(|(name, _)| *name == mode)?.1;
        (operation != Operation::Subtract).then_some((operation, mode))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<(Expression, Vec<PathBuf>), String> {
        super::parse(text.as_ref())
    }

    fn parse_operand(text: &str) -> Result<(PathBuf, Cut), String> {
        super::parse_operand(text.as_ref())
    }

    #[test]
    fn names_of_tables_may_have_any_bytes() {
        let text = OsStr::from_bytes(b"union(\xe9.mgk:2.., 'b \xff')");
        let (_, tables) = super::parse(text).unwrap();
        assert_eq!(tables, [&b"\xe9.mgk"[..], b"b \xff"].map(path_of));
        let (path, cut) = super::parse_operand(OsStr::from_bytes(b"\xe9:3..4")).unwrap();
        assert_eq!((path, cut), (path_of(b"\xe9"), Cut { least: 3, most: 4 }));
        assert!(super::parse(OsStr::from_bytes(b"\xe9(a)")).is_err());
    }

    #[test]
    fn expressions_are_read() {
        let text = " union-max( a.mgk:2..,subtract(b,'c (1)':..5) , a.mgk:2..):3..9 ";
        let (expression, tables) = parse(text).unwrap();
        assert_eq!(tables, ["a.mgk", "b", "c (1)"].map(PathBuf::from));
        let of = |operation, mode, operands| Expression::Of { operation, mode, operands };
        let a = || within(Expression::Table(0), Cut { least: 2, most: u32::MAX });
        let c = within(Expression::Table(2), Cut { least: 1, most: 5 });
        let inner = of(Operation::Subtract, Mode::Left, vec![Expression::Table(1), c]);
        let whole = of(Operation::Union, Mode::Max, vec![a(), inner, a()]);
        assert_eq!(expression, within(whole, Cut { least: 3, most: 9 }));
        let (set, _) = parse("set-counts(counters-subtract-sum(x,y), 7)").unwrap();
        assert!(matches!(set, Expression::SetCounts(_, 7)));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, what) in [
            ("", "'': letter 1: a table or an operation is expected here"),
            ("union(a,", "'union(a,': letter 9: a table or an operation is expected here"),
            ("union(a", "'union(a': letter 8: a comma or ')' is expected here"),
            ("a b", "'a b': letter 3: the expression ends here, but more text follows"),
            ("'a", "'''a': letter 2: the quotes are not closed"),
            (
                "set-counts(a)",
                "'set-counts(a)': letter 13: a comma and the count are expected: set-counts(TABLE, 7)",
            ),
            (
                "union(a):x",
                "'union(a):x': letter 10: a cut is expected here: MIN..MAX, MIN.. or ..MAX",
            ),
            ("a:9..2", "'a:9..2': letter 7: '9..2' leaves no count: MIN is larger than MAX"),
        ] {
            let said = parse(text).unwrap_err();
            assert_eq!(said, what.replace("'''a'", "''a'"), "{text}");
        }
        assert!(parse("minus(a, b)").unwrap_err().contains("'minus' is not an operation"));
        assert!(parse("subtract-max(a, b)").is_err());
        assert!(parse(&"union(".repeat(100)).unwrap_err().contains("too deeply"));
    }

    #[test]
    fn operands_are_tables_with_cuts() {
        assert_eq!(parse_operand("a:b.mgk"), Ok(("a:b.mgk".into(), Cut::NONE)));
        assert_eq!(parse_operand("a:2.."), Ok(("a".into(), Cut { least: 2, most: u32::MAX })));
        assert_eq!(parse_operand("a:..5"), Ok(("a".into(), Cut { least: 1, most: 5 })));
        let bounded = |text: &str| has_lower_bound(text.as_ref());
        assert!(bounded("a:1..") && bounded("a:0..3") && bounded("a:b:2.."));
        assert!(!bounded("a") && !bounded("a:..5") && !bounded("a:..") && !bounded(":1.."));
        assert!(parse_operand("a:5..4").is_err());
        assert!(parse_operand("a:5..99999999999").is_err());
    }
}
