//! `merganser db info`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use merganser_io::OutputSet;
use merganser_kraken2::{Kraken2Database, Kraken2Relation};
use merganser_report::data::Data;
use merganser_report::html;
use serde_json::{Map, Value, json};

use super::{describe, describe_kraken2, page};
use crate::args::db::DbInfoArgs;
use crate::common::{self, print, text_of};
use crate::console::Console;
use crate::database::{self, AnyDatabase};
use crate::files::RunFiles;
use crate::holds::Holds;
use crate::{failure, interrupt};

/// Prints the properties of a database; of several, also how they differ and whether `classify` can use them together.
/// If it cannot, that is an error.
pub(super) fn run(args: &DbInfoArgs, console: &Console) -> Result<ExitCode> {
    let open = |path: &PathBuf| Ok((path.clone(), AnyDatabase::open(path)?));
    let set = files(args)?.check()?;
    let all: Vec<Opened> = args.databases.iter().map(open).collect::<Result<_>>()?;
    if let [(_, only)] = &all[..] {
        let info = describe_any(only);
        write_page(args, &all, false, &set)?;
        show(&json!([&info]), &info, args.json)?;
        set.commit_last()?;
        return Ok(ExitCode::SUCCESS);
    }
    let (info, refusal) = describe_all(&all);
    write_page(args, &all, refusal.is_some(), &set)?;
    let blocks = ["databases", "pairs"].into_iter().filter_map(|list| info[list].as_array());
    let mut blocks: Vec<Value> = blocks.flatten().cloned().collect();
    blocks.push(info["all"].clone());
    show(&blocks.into(), &info, args.json)?;
    set.commit()?;
    let Some(refusal) = refusal else { return Ok(ExitCode::SUCCESS) };
    console.error(refusal);
    Ok(ExitCode::FAILURE)
}

/// A database and its path.
type Opened = (PathBuf, AnyDatabase);

/// Returns the files that are read and written.
fn files(args: &DbInfoArgs) -> Result<RunFiles> {
    let mut files = RunFiles::new();
    for path in args.databases.iter().filter(|_| args.report_html.is_some()) {
        files = files.read(database::files(path)?);
    }
    Ok(files.write(Holds::PAGE, &args.report_html))
}

/// Writes the page, if it is wanted, which then only needs to be committed. `is_refused` tells whether the databases cannot be
/// used together.
fn write_page(args: &DbInfoArgs, all: &[Opened], is_refused: bool, set: &OutputSet) -> Result<()> {
    let Some(path) = &args.report_html else { return Ok(()) };
    let mut output = set.output(path)?;
    interrupt::cancel_on_interrupt();
    let context = common::context(args.threads.number(), None, None, None);
    let of =
        |(path, database): &Opened| page::of(path, database, &describe_any(database), &context);
    let mut data = all.iter().map(of).collect::<Result<Vec<Data>>>()?;
    if let Some(first) = data.first_mut().filter(|_| is_refused) {
        let why = "These databases cannot be used together; `merganser db info` prints the reason.";
        first.warnings.push(why.to_owned());
    }
    output.write_all(html::page(&data)?.as_bytes())?;
    output.finish()?;
    Ok(())
}

/// Prints the blocks as text, or the whole as JSON.
fn show(blocks: &Value, whole: &Value, as_json: bool) -> Result<()> {
    if as_json {
        return print(format!("{whole:#}\n"));
    }
    let blocks = blocks.as_array().into_iter().flatten();
    let lines = |block: &Value| {
        let fields = block.as_object().into_iter().flatten();
        fields.map(|(key, value)| format!("{key:<15} {}\n", shown(value))).collect::<String>()
    };
    print(blocks.map(lines).collect::<Vec<_>>().join("\n"))
}

pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(all) if all.is_empty() => "-".to_owned(),
        Value::Array(all) => all.iter().map(shown).collect::<Vec<_>>().join("; "),
        other => other.to_string(),
    }
}

fn describe_any(database: &AnyDatabase) -> Value {
    match database {
        AnyDatabase::Own(database) => describe(database),
        AnyDatabase::Kraken2(database) => describe_kraken2(database),
    }
}

/// Describes several databases. Returns also why they cannot be used together, if they cannot.
fn describe_all(all: &[Opened]) -> (Value, Option<String>) {
    let databases: Vec<Value> = all.iter().map(describe_one).collect();
    let pairs = (0..all.len()).flat_map(|at| (at + 1..all.len()).map(move |other| [at, other]));
    let pairs: Vec<Value> = pairs.map(|pair| describe_pair(pair.map(|at| &all[at]))).collect();
    let (joint, refusal) = match Joint::of(&all.iter().collect::<Vec<_>>()) {
        Ok(joint) => (joint, None),
        Err(error) => (Joint::default(), Some(failure::message(&error))),
    };
    let joint = json!({
        "together": refusal.is_none(),
        "reason": refusal,
        "taxa": joint.taxa,
        "minimum_hash": joint.minimum_hash,
        "differences": joint.differences,
    });
    (json!({ "databases": databases, "pairs": pairs, "all": joint }), refusal)
}

fn describe_one((path, database): &Opened) -> Value {
    let mut fields = Map::new();
    fields.insert("database".to_owned(), text_of(path.as_os_str()).into());
    if let Value::Object(own) = describe_any(database) {
        fields.extend(own);
    }
    fields.into()
}

/// Describes how two databases differ.
fn describe_pair(pair: [&Opened; 2]) -> Value {
    let [first, second] = pair.map(|(path, _)| text_of(path.as_os_str()));
    let refusal = Joint::of(&pair).err().map(|error| failure::message(&error));
    let mut fields = json!({
        "first": first,
        "second": second,
        "together": refusal.is_none(),
        "reason": refusal,
    });
    if let ([(_, AnyDatabase::Kraken2(first)), (_, AnyDatabase::Kraken2(second))], Some(fields)) =
        (pair, fields.as_object_mut())
    {
        fields.extend(describe_relation(&first.relation(second)));
    }
    fields
}

fn describe_relation(relation: &Kraken2Relation) -> Map<String, Value> {
    let taxa = &relation.taxa;
    let extension = match (taxa.only_first, taxa.only_second) {
        (0, 0) => "none",
        (_, 0) => "first",
        (0, _) => "second",
        _ => "both",
    };
    let fields = json!({
        "parameters": relation.parameters,
        "shared_taxa": taxa.taxa,
        "only_first": taxa.only_first,
        "only_second": taxa.only_second,
        "extension": extension,
        "other_parent": taxa.other_parent,
        "other_rank": taxa.other_rank,
        "other_name": taxa.renamed,
        "other_taxid": taxa.renumbered,
        "example": taxa.first,
    });
    fields.as_object().cloned().unwrap_or_default()
}

/// The properties of databases that are used together; those that only databases of Kraken 2 have are null for others.
#[derive(Default)]
struct Joint {
    taxa: Option<usize>,
    minimum_hash: Option<u64>,
    differences: Vec<String>,
}

impl Joint {
    /// Joins databases as `classify` does.
    ///
    /// # Errors
    /// If `classify` cannot use them together.
    fn of<'o>(all: &[&'o Opened]) -> Result<Joint> {
        let kraken2 = |(path, database): &&'o Opened| match database {
            AnyDatabase::Kraken2(database) => Some((path.as_path(), database)),
            AnyDatabase::Own(_) => None,
        };
        let databases: Option<Vec<(&Path, &Kraken2Database)>> = all.iter().map(kraken2).collect();
        let Some(databases) = databases else {
            let paths: Vec<PathBuf> = all.iter().map(|(path, _)| path.clone()).collect();
            let joint = AnyDatabase::open_all(&paths)?;
            let differences = match &joint {
                AnyDatabase::Own(database) => database.differences().to_vec(),
                AnyDatabase::Kraken2(_) => Vec::new(),
            };
            let taxa = Some(joint.taxonomy().len());
            return Ok(Joint { taxa, differences, ..Joint::default() });
        };
        let together = Kraken2Database::check_together(databases.into_iter())?;
        Ok(Joint {
            taxa: Some(together.taxa),
            minimum_hash: Some(together.minimum_hash),
            differences: together.differences,
        })
    }
}
