//! Read groups.

use std::collections::BTreeSet;

use merganser_run::ConfigError;

/// A read group: a line `@RG` of SAM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadGroup {
    line: String,
    id: String,
}

impl ReadGroup {
    /// Parses a line `@RG\tID:…`. Each tab may be written as the two characters `\t`.
    ///
    /// # Errors
    /// If the text is not such a line.
    pub fn parse(text: &str) -> Result<ReadGroup, ConfigError> {
        ReadGroup::of_line(text.replace("\\t", "\t"), text)
    }

    /// Takes a line `@RG` of a header as it is, without its line end.
    ///
    /// # Errors
    /// If the line has no ID, or characters that no header may have.
    pub fn of_header(line: &[u8]) -> Result<ReadGroup, &'static str> {
        let line = std::str::from_utf8(line).map_err(|_| "it is not UTF-8")?;
        if line.contains(|letter: char| letter.is_control() && letter != '\t') {
            return Err("it has control characters");
        }
        let id = line.split('\t').skip(1).find_map(|field| field.strip_prefix("ID:"));
        let id = id.filter(|id| !id.is_empty()).ok_or("an ID is missing")?;
        Ok(ReadGroup { line: line.to_owned(), id: id.to_owned() })
    }

    /// Whether both lines have the same fields, in any order.
    pub fn is_same(&self, other: &ReadGroup) -> bool {
        let fields =
            |line: &'_ str| -> BTreeSet<String> { line.split('\t').map(str::to_owned).collect() };
        self.line == other.line || fields(&self.line) == fields(&other.line)
    }

    /// Parses a line with tabs. Messages show `text`.
    fn of_line(line: String, text: &str) -> Result<ReadGroup, ConfigError> {
        let wrong = |what: &str| {
            ConfigError::new(format!("`read_group` '{text}': {what}, e.g. '@RG\\tID:a\\tSM:b'"))
        };
        let mut fields = line.split('\t');
        if fields.next() != Some("@RG") {
            return Err(wrong("give a line that begins with @RG"));
        }
        let mut found: Vec<(&str, &str)> = Vec::new();
        for field in fields {
            match field.split_once(':') {
                Some((tag, value)) if tag.len() == 2 && !value.is_empty() => {
                    if found.iter().any(|(earlier, _)| *earlier == tag) {
                        return Err(wrong(&format!("{tag} is there twice: give each tag once")));
                    }
                    found.push((tag, value));
                }
                _ => return Err(wrong("give TAG:VALUE fields")),
            }
        }
        let id = found.iter().find(|(tag, _)| *tag == "ID").map(|(_, value)| (*value).to_owned());
        if line.contains(|letter: char| letter.is_control() && letter != '\t') {
            return Err(wrong("give one line, without control characters"));
        }
        match id {
            Some(id) => Ok(ReadGroup { line, id }),
            None => Err(wrong("an ID is missing")),
        }
    }

    /// Returns the read group with each value replaced by the result of `fill` for the tag and its value. Control
    /// characters in the results become `_`, as values must not contain any (SAM specification, section 1.3).
    ///
    /// # Errors
    /// If a value becomes empty.
    pub fn filled(&self, fill: impl Fn(&str, &str) -> String) -> Result<ReadGroup, ConfigError> {
        let field = |field: &str| match field.split_once(':') {
            Some((tag, value)) => {
                format!("{tag}:{}", fill(tag, value).replace(char::is_control, "_"))
            }
            None => field.to_owned(),
        };
        let line = self.line.split('\t').map(field).collect::<Vec<_>>().join("\t");
        ReadGroup::of_line(line.clone(), &line)
    }

    /// Returns the line, without its line end.
    pub fn line(&self) -> &str {
        &self.line
    }

    /// Returns the ID.
    pub fn id(&self) -> &str {
        &self.id
    }
}

#[cfg(test)]
mod tests {
    use super::ReadGroup;

    #[test]
    fn read_groups() {
        let group = ReadGroup::parse("@RG\\tID:x\\tSM:y z").unwrap();
        assert_eq!((group.id(), &group.line[..]), ("x", "@RG\tID:x\tSM:y z"));
        let filled = group.filled(|_, value| value.replace('x', "a\t\\tb\n")).unwrap();
        assert_eq!((filled.id(), &filled.line[..]), ("a_\\tb_", "@RG\tID:a_\\tb_\tSM:y z"));
        for wrong in ["ID:x", "@RG\\tSM:y", "@RG\\tID:", "@RG\\tIDx", "@RG\\tID:a\\tSM:b\\tID:c"] {
            let message = ReadGroup::parse(wrong).unwrap_err().to_string();
            assert!(message.starts_with(&format!("`read_group` '{wrong}': ")), "{message}");
        }
    }
}
