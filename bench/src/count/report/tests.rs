//! Tests of tables with known figures.

use super::*;

fn row(peer: Peer, walls: &[f64], distinct: u64) -> Row {
    let cost = |&wall: &f64| Cost { wall, cpu: 2.0 * wall, peak: (wall * 1e9) as u64 };
    Row { peer, costs: walls.iter().map(cost).collect(), distinct: Some(distinct), missing: None }
}

fn case(bytes: u64, rows: Vec<Row>) -> Case {
    Case { name: "reads".into(), bytes, coverage: None, k: 28, min_count: 2, rows }
}

#[test]
fn medians_and_ratios() {
    let rows = vec![
        row(Peer::Merganser, &[2.0, 1.0, 4.0], 7),
        row(Peer::Kmc, &[6.0, 5.0], 7),
        row(Peer::Jellyfish, &[20.0], 8),
        Row { missing: Some(Missing::NotInstalled), ..row(Peer::Fastk, &[], 0) },
    ];
    let case = case(1_500_000_000, rows);
    assert_eq!(
        section(&case),
        "\n## k = 28, min count 2: reads, 1.50 GB\n\n\
         | tool | wall s | CPU s | peak GB | wall ÷ merganser | memory ÷ merganser | k-mers |\n\
         |---|---|---|---|---|---|---|\n\
         | merganser | 2.00 (1.00 to 4.00) | 4.00 (2.00 to 8.00) | 2.00 (1.00 to 4.00) | 1.00 | 1.00 | 7 |\n\
         | kmc | 5.50 (5.00 to 6.00) | 11.00 (10.00 to 12.00) | 5.50 (5.00 to 6.00) | 2.75 | 2.75 | 7 |\n\
         | jellyfish | 20.00 (20.00 to 20.00) | 40.00 (40.00 to 40.00) | 20.00 (20.00 to 20.00) | 10.00 | 10.00 | 8 **differs** |\n\
         | fastk | not installed | | | | | |\n"
    );
    assert_eq!(
        case.problems(),
        ["k = 28, min count 2, reads: jellyfish: another number of k-mers"]
    );
}

#[test]
fn no_ratios_without_merganser() {
    let failed = Missing::Failed("exit code 1".into());
    let failed = Row { missing: Some(failed), distinct: None, ..row(Peer::Merganser, &[], 0) };
    let case = case(1, vec![failed, row(Peer::Kmc, &[1.0], 7)]);
    let text = section(&case);
    assert!(!text.contains('÷') && text.contains("| merganser | **failed** | | | |\n"));
    assert_eq!(case.problems().len(), 1);
}

#[test]
fn growth_needs_two_data_sets() {
    let one = || case(1_000_000_000, vec![row(Peer::Kmc, &[2.0], 7)]);
    let ten =
        || Case { coverage: Some(10.0), ..case(10_000_000_000, vec![row(Peer::Kmc, &[30.0], 7)]) };
    assert_eq!(growth(&[one()]), "");
    let text = growth(&[one(), ten()]);
    assert!(text.contains("| tool | reads (1.00 GB) | 10× (10.00 GB) |"), "{text}");
    assert!(text.contains("| kmc | 2.00 (2.00) | 30.00 (3.00) |"), "{text}");
}

#[test]
fn json_holds_every_run() {
    let installed = Installed { peers: Vec::new() };
    let value = json(&installed, &[case(5, vec![row(Peer::Kmc, &[2.0, 3.0], 7)])]);
    let tool = &value["cases"][0]["tools"][0];
    assert_eq!(tool["tool"], "kmc");
    assert_eq!(tool["runs"][1]["wall_seconds"], 3.0);
    assert_eq!(tool["kmers"], 7);
}
