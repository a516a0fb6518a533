//! The `--json` summary of a run.

use crate::{Error, memory};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::path::Path;
use std::time::Duration;

/// The parameters and results of a run, as an ordered JSON object: `program`, `version` and `command`, then the
/// sections in the order in which they were first set, then `warnings`, `stages_seconds` and
/// `peak_memory_bytes`.
#[derive(Clone, Debug)]
pub struct Summary {
    program: Map<String, Value>,
    sections: Map<String, Value>,
    stages: Map<String, Value>,
    warnings: Vec<String>,
}

impl Summary {
    /// Creates an empty summary of a run of `command`, e.g. `count`.
    pub fn new(command: &str) -> Self {
        let mut program = Map::new();
        program.insert("program".into(), json!("merganser"));
        program.insert("version".into(), Value::Null);
        program.insert("command".into(), json!(command));
        Self { program, sections: Map::new(), stages: Map::new(), warnings: Vec::new() }
    }

    /// Sets the program's version, which only the program itself knows.
    pub fn version(&mut self, version: &str) {
        self.program.insert("version".into(), json!(version));
    }

    /// Sets `key` of `section` to `value`, replacing any earlier value. A value that JSON cannot represent
    /// (a map whose keys are not strings) becomes null: a summary must not fail a finished run.
    pub fn set(&mut self, section: &str, key: &str, value: impl Serialize) {
        let value = serde_json::to_value(value).unwrap_or(Value::Null);
        let entry = self.sections.entry(section).or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(fields) = entry {
            fields.insert(key.to_owned(), value);
        }
    }

    /// Sets all fields of `values` in `section`, in order; see [`set`](Self::set).
    pub fn set_all(&mut self, section: &str, values: impl Serialize) {
        if let Ok(Value::Object(fields)) = serde_json::to_value(values) {
            for (key, value) in fields {
                self.set(section, &key, value);
            }
        }
    }

    /// Adds `time` to the stage `name`.
    pub fn stage(&mut self, name: &str, time: Duration) {
        let before = self.stages.get(name).and_then(Value::as_f64).unwrap_or(0.0);
        self.stages.insert(name.to_owned(), json!(before + time.as_secs_f64()));
    }

    /// Sets the list of the run's warnings.
    pub fn warnings(&mut self, warnings: Vec<String>) {
        self.warnings = warnings;
    }

    /// Returns the summary as it would be written now, including the peak memory.
    pub fn to_value(&self) -> Value {
        let mut object = self.program.clone();
        object.extend(self.sections.clone());
        object.insert("warnings".into(), json!(self.warnings));
        object.insert("stages_seconds".into(), Value::Object(self.stages.clone()));
        object.insert("peak_memory_bytes".into(), json!(memory::peak_rss()));
        Value::Object(object)
    }

    /// Writes the summary to `path` as indented JSON with a final line feed. The file is written
    /// in place, so that the path may be `/dev/stderr` or a FIFO.
    ///
    /// # Errors
    ///
    /// If the file cannot be created or written.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let text = format!("{:#}\n", self.to_value());
        std::fs::write(path, text).map_err(|cause| Error::Summary { path: path.to_owned(), cause })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_kept_and_stages_add_up() {
        let mut summary = Summary::new("count");
        summary.version("1.2.3");
        summary.set("parameters", "k", 28);
        summary.set("input", "files", ["a.fq", "b.fq"]);
        summary.set("parameters", "a", "last");
        summary.set("parameters", "k", 31);
        summary.stage("read", Duration::from_millis(1500));
        summary.stage("read", Duration::from_millis(500));
        summary.warnings(vec!["b.fq: doubtful".into()]);
        let mut value = summary.to_value();
        assert!(value["peak_memory_bytes"].as_u64().unwrap() > 0);
        value["peak_memory_bytes"] = json!(1);
        assert_eq!(
            value.to_string(),
            r#"{"program":"merganser","version":"1.2.3","command":"count","parameters":{"k":31,"a":"last"},"input":{"files":["a.fq","b.fq"]},"warnings":["b.fq: doubtful"],"stages_seconds":{"read":2.0},"peak_memory_bytes":1}"#
        );
    }

    #[test]
    fn a_missing_directory_is_named() {
        let error = Summary::new("count").write(Path::new("/nowhere/x.json")).unwrap_err();
        assert!(
            error.to_string().starts_with("/nowhere/x.json: cannot write the JSON summary: "),
            "{error}"
        );
    }
}
