//! Tests of command lines.

use super::*;
use crate::count::inputs::Inputs;

/// Returns the command of `peer` without the program, with the folder written as `DIR`.
fn command(peer: Peer, gz: bool, min_count: u32) -> String {
    let folder = tempfile::tempdir().unwrap();
    let inputs = Inputs {
        name: "reads".into(),
        coverage: None,
        files: vec!["/d/a.fq".into(), "/d/b.fq".into()],
        format: Format::Fastq,
        gz,
        bytes: 0,
    };
    let settings = Settings {
        inputs: &inputs,
        k: 31,
        min_count,
        threads: 2,
        runs: 1,
        memory: None,
        disk_memory: "2G",
        jellyfish_size: "100M",
        dir: folder.path(),
    };
    let command = peer.command(Path::new("program"), &settings, folder.path()).unwrap();
    let words: Vec<String> = command[1..].iter().map(|word| word.display().to_string()).collect();
    words.join(" ").replace(&folder.path().display().to_string(), "DIR")
}

#[test]
fn merganser_commands() {
    assert_eq!(
        command(Peer::Merganser, false, 2),
        "count --quiet -k 31 --min-count 2 --threads 2 --tmp-dir DIR -o DIR/out.mgk /d/a.fq /d/b.fq"
    );
    assert!(command(Peer::MerganserDisk, true, 2).contains("--storage disk --memory 2G"));
}

#[test]
fn peers_commands() {
    assert_eq!(command(Peer::Kmc, true, 1), "-hp -k31 -t2 -ci1 -fq -r @DIR/list DIR/out DIR/tmp");
    assert_eq!(command(Peer::KmcDisk, false, 2), "-hp -k31 -t2 -ci2 -fq @DIR/list DIR/out DIR/tmp");
    assert_eq!(
        command(Peer::Jellyfish, false, 2),
        "count -C -m 31 -t 2 -s 100M -L 2 -o DIR/out.jf /d/a.fq /d/b.fq"
    );
    assert_eq!(
        command(Peer::Jellyfish, true, 1),
        "count -C -m 31 -t 2 -s 100M -o DIR/out.jf -g DIR/generators -G 2"
    );
    assert_eq!(command(Peer::Fastk, false, 2), "-k31 -t2 -T2 -PDIR/tmp -NDIR/out /d/a.fq /d/b.fq");
}

#[test]
fn what_is_not_there_is_not_found() {
    assert!(find_program("sh").is_some());
    assert!(find_program("no-such-program").is_none());
    assert!(Installed::find(&Peer::ALL, Some(Path::new("/no/merganser"))).is_err());
    let found = Installed::find(&[Peer::Fastk], None).unwrap();
    assert_eq!(found.versions().len(), 1);
}

#[test]
fn names_are_those_of_the_options() {
    use clap::ValueEnum;
    for peer in Peer::ALL {
        assert_eq!(peer.to_possible_value().unwrap().get_name(), peer.name());
    }
}
