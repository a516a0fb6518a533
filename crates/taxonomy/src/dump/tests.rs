use super::*;
use crate::Rank;
use std::fs;

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let text = text.replace(" | ", "\t|\t").replace(" |\n", "\t|\n");
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

const NEW: &str = "1 | 1 | no rank |\n131567 | 1 | cellular root |\n2 | 131567 | domain |\n\
                   10239 | 1 | acellular root |\n562 | 2 | species |\n7 | 99 | species |\n";
const NAMES: &str = "1 | root |  | scientific name |\n2 | Bacteria | Bacteria <x> | \
                     scientific name |\n562 | Escherichia coli |  | scientific name |\n\
                     562 | E. coli |  | synonym |\n131567 | cellular organisms |  | \
                     scientific name |\n10239 | Viruses |  | scientific name |\n";

#[test]
fn the_spelling_of_2025_is_read_and_orphans_are_attached() {
    let folder = folder(&[
        ("nodes.dmp", NEW),
        ("names.dmp", NAMES),
        ("merged.dmp", "1637691 | 562 |\n"),
        ("delnodes.dmp", "4 |\n"),
    ]);
    let dump = Dump::read(folder.path()).unwrap();
    let tree = &dump.taxonomy;
    let node = |taxid| tree.node(taxid).unwrap();
    assert_eq!(tree.rank(node(2)), Rank::Domain);
    assert_eq!(tree.rank(node(10239)), Rank::Domain);
    assert_eq!(tree.rank(node(131_567)), Rank::None);
    assert_eq!(tree.name(node(562)), "Escherichia coli");
    assert_eq!(node(1_637_691), node(562));
    assert_eq!(tree.taxid(tree.lca(node(562), node(2))), 2);
    assert_eq!(tree.lca(node(562), node(10239)), tree.root());
    let notes = TaxonomyNotes { orphans: vec![7], nameless: vec![7], ..TaxonomyNotes::default() };
    assert_eq!(dump.notes, notes);
    dump.refuse_renamed().unwrap();
    assert_eq!((tree.parent(node(7)), tree.name(node(7))), (tree.root(), "7"));
    assert_eq!(dump.why_unknown(4), "deleted from the taxonomy");
    assert_eq!(dump.why_unknown(5), "not in the taxonomy");
}

#[test]
fn names_may_have_bars_and_lines_may_be_comments() {
    let with = |names: &str| {
        let folder = folder(&[("nodes.dmp", NEW)]);
        fs::write(folder.path().join("names.dmp"), names).unwrap();
        fs::write(folder.path().join("merged.dmp"), "#\n# none yet\t|\t\n \n").unwrap();
        let tree = Dump::read(folder.path()).unwrap().taxonomy;
        tree.name(tree.node(562).unwrap()).to_owned()
    };
    assert_eq!(with("562\t|\ta|b\t|\t\t|\tscientific name\t|\n"), "a|b");
    assert_eq!(with("562\t|\ta| b\t|\tunique <|>\t|\tscientific name\t|\n"), "a| b");
    assert_eq!(with("# made by hand\n562|a|b|c||scientific name|\n"), "a|b|c");
    assert_eq!(with("562 | a | b |  | scientific name |\n"), "a | b");
    assert_eq!(with("562|a||scientific name\n"), "a");
    // Files without the last bar, or with it but without the last line end.
    assert_eq!(with("562\t|\ta|b\t|\t\t|\tscientific name\n"), "a|b");
    assert_eq!(with("562\t|\ta|b\t|\t\t|\tscientific name\t|"), "a|b");
    assert_eq!(with("2|x||scientific name\n562|a||scientific name"), "a");
}

#[test]
fn names_that_are_missing_or_doubled_are_told() {
    let named = |names: &str| {
        let folder = folder(&[("nodes.dmp", NEW), ("names.dmp", names)]);
        let dump = Dump::read(folder.path()).unwrap();
        let warnings = Warnings::default();
        dump.warn_of_names(&warnings);
        let error = dump.refuse_renamed().map_err(|error| error.to_string());
        let shown = |text: String| text.replace(&format!("{}/", folder.path().display()), "");
        (warnings.all().into_iter().map(shown).collect::<Vec<_>>(), error.map_err(shown))
    };
    let seven = "7 | seven |  | scientific name |\n";
    assert_eq!(named(&format!("{NAMES}{seven}")), (Vec::new(), Ok(())));
    let (warnings, error) = named("");
    assert_eq!(
        warnings,
        ["names.dmp: 6 of 6 taxa have no scientific name in it, first taxid 1: is the file \
          truncated? Download it again"]
    );
    assert!(error.is_ok());
    let (warnings, error) = named(&format!("{NAMES}{seven}{seven}2 | x |  | scientific name |\n"));
    assert_eq!(
        warnings,
        [
            "names.dmp: 2 lines have a further scientific name of a taxon, first line 8 (taxid 7): the \
          last one is used, as Kraken 2 does; remove the wrong lines"
        ]
    );
    assert_eq!(
        error.unwrap_err(),
        "names.dmp: line 8: taxid 7 has a second scientific name: remove the wrong line"
    );
}

#[test]
fn what_is_missing_or_wrong_is_named() {
    let message = |files: &[(&str, &str)]| {
        let folder = folder(files);
        let error = Dump::read(folder.path()).unwrap_err().to_string();
        error.replace(&folder.path().display().to_string(), "DIR")
    };
    let names = ("names.dmp", NAMES);
    assert_eq!(
        message(&[names]),
        "DIR: no nodes.dmp in this folder: give the folder of NCBI's taxdump with `taxonomy`"
    );
    assert_eq!(
        message(&[("nodes.dmp", NEW)]),
        "DIR: no names.dmp in this folder: give the folder of NCBI's taxdump with `taxonomy`"
    );
    assert_eq!(
        message(&[("nodes.dmp", "1 | x | no rank |\n"), names]),
        "DIR/nodes.dmp: line 1: not `taxid | parent | rank | ...`"
    );
    assert_eq!(
        message(&[("nodes.dmp", "2 | 1 | domain |\n"), names]),
        "DIR/nodes.dmp: there is no root (taxid 1)"
    );
    assert_eq!(
        message(&[("nodes.dmp", "1 | 1 | no rank |\n4294967296 | 1 | species |\n"), names]),
        "DIR/nodes.dmp: line 2: taxid 4294967296 is too large: 4294967295 is the largest"
    );
    let cycle = "1 | 1 | no rank |\n5 | 6 | genus |\n6 | 5 | genus |\n";
    assert_eq!(
        message(&[("nodes.dmp", cycle), names]),
        "DIR/nodes.dmp: taxid 5 is its own ancestor"
    );
    for (cut, line) in
        [("1 | 1 | no rank |\n5 | 1 | genus", 2), ("1 | 1 | no rank |\n5 | 1 | ge", 2)]
    {
        assert_eq!(
            message(&[("nodes.dmp", cut), names]),
            format!(
                "DIR/nodes.dmp: line {line}: ends without `|`: the file is truncated; copy or download \
                 it again"
            )
        );
    }
    let sound = [("nodes.dmp", NEW), names];
    for (file, cut) in [
        ("nodes.dmp", "1\t|\t1\t|\tno rank"),
        ("names.dmp", "562\t|\ta\t|\t\t|\tscientific name"),
        ("merged.dmp", "99\t|\t10"),
        ("merged.dmp", "99\t|\t10\t"),
        ("merged.dmp", "# a comment\n99\t|\t10"),
        ("delnodes.dmp", "4"),
    ] {
        let others = sound.iter().filter(|(name, _)| *name != file);
        let files: Vec<_> = others.copied().chain([(file, cut)]).collect();
        let line = cut.lines().count();
        assert_eq!(
            message(&files),
            format!(
                "DIR/{file}: line {line}: ends without `|`: the file is truncated; copy or download it again"
            )
        );
    }
    let zero = "1 | 1 | no rank |\n0 | 1 | genus |\n";
    assert_eq!(
        message(&[("nodes.dmp", zero), names]),
        "DIR/nodes.dmp: line 2: taxid 0 is not a taxon: remove this line"
    );
    let own = "# by hand\n1 | 1 | no rank |\n5 | 5 | genus |\n";
    assert_eq!(
        message(&[("nodes.dmp", own), names]),
        "DIR/nodes.dmp: line 3: taxid 5 is its own parent: correct this line"
    );
    let twice = "1 | 1 | no rank |\n5 | 1 | genus |\n5 | 1 | genus |\n";
    assert_eq!(
        message(&[("nodes.dmp", twice), names]),
        "DIR/nodes.dmp: line 3: taxid 5 occurs a second time"
    );
}
