//! Counts the implementations of mechanisms that should exist only once, by typical code.

use crate::source::SourceText;

/// The name of a mechanism, and a function of the crate's name and a file's code that counts its occurrences.
type Mechanism = (&'static str, fn(&str, &str) -> usize);

/// The counted mechanisms. Their proper implementations are in `run`, and for some in `store` and `io`.
pub(crate) const MECHANISMS: [Mechanism; 8] = [
    ("worker loops (`wait_for_room` outside run)", |name, code| {
        if name == "run" { 0 } else { code.matches(".wait_for_room(").count() }
    }),
    ("share-out loops (`next.fetch_add(1` outside run)", |name, code| {
        let lines =
            code.lines().filter(|line| line.contains("next.fetch_add(1") && !line.contains('%'));
        if name == "run" { 0 } else { lines.count() }
    }),
    ("device loops (files with `.place(` and `.start(` outside run)", |name, code| {
        usize::from(name != "run" && code.contains(".place(") && code.contains(".start("))
    }),
    ("memory plans (constants that weigh a process)", |_, code| {
        let names =
            ["const FIXED: u64", "const BASE_BYTES: u64", "const OWN_BYTES: u64", "const PROCESS"];
        names.iter().map(|name| code.matches(name).count()).sum()
    }),
    ("formats of our own (constants `\\x89MG.`)", |_, code| {
        code.lines().filter(|line| line.contains("const ") && line.contains(r#"b"\x89MG"#)).count()
    }),
    ("sealed by hand (files with CRC-32 outside store and io)", |name, code| {
        usize::from(
            !matches!(name, "store" | "inflate" | "io" | "run") && code.contains("crc32fast::"),
        )
    }),
    ("checks that shards are complete (`check_all_shards` outside run and store)", |name, code| {
        if matches!(name, "run" | "store") { 0 } else { code.matches("check_all_shards(").count() }
    }),
    ("shards (types that have a `Shard`)", |_, code| {
        let lines = code.lines().map(str::trim);
        lines.filter(|line| line.contains(": Shard,") && !line.contains('(')).count()
    }),
];

/// Counts the mechanisms in the files of a crate.
pub(crate) fn count<'s>(
    name: &str,
    sources: impl Iterator<Item = &'s SourceText>,
) -> [usize; MECHANISMS.len()] {
    let mut counts = [0; MECHANISMS.len()];
    for source in sources {
        for (count, (_, times)) in counts.iter_mut().zip(MECHANISMS) {
            *count += times(name, &source.code);
        }
    }
    counts
}
