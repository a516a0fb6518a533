//! Help, version, completions, manual pages and usage errors.

use merganser_test_support::Dir;

macro_rules! help {
    ($($name:ident $args:literal),*) => {$(
        #[test]
        fn $name() {
            let dir = Dir::new();
            insta::assert_snapshot!(stringify!($name), dir.run(concat!($args, " --help")).ok());
        }
    )*};
}

help!(
    merganser "", count "count", kmers "kmers", kmers_info "kmers info", kmers_dump "kmers dump",
    kmers_histogram "kmers histogram", kmers_query "kmers query", kmers_verify "kmers verify",
    kmers_union "kmers union", kmers_intersect "kmers intersect", kmers_subtract "kmers subtract",
    kmers_counters_subtract "kmers counters-subtract", kmers_eval "kmers eval",
    kmers_reduce "kmers reduce", kmers_set_counts "kmers set-counts", kmers_compare "kmers compare",
    kmers_filter_reads "kmers filter-reads", kmers_profile "kmers profile",
    filter "filter", build "build", classify "classify", db "db", db_info "db info",
    db_verify "db verify", db_prepare "db prepare", db_taxa "db taxa", db_add "db add", db_bracken "db bracken",
    db_split "db split", db_merge_results "db merge-results", kmers_matrix "kmers matrix",
    classify_join "classify join", map_join "map join", extract "extract", extract_reads "extract reads",
    report "report", report_bracken "report bracken", report_merge "report merge",
    report_filter "report filter", report_mpa "report mpa", report_krona "report krona",
    eval "eval", deplete "deplete", deplete_index "deplete index", deplete_filter "deplete filter",
    deplete_union "deplete union", deplete_diff "deplete diff", deplete_intersect "deplete intersect",
    deplete_info "deplete info", index "index", map "map", search "search", devices "devices", completions "completions", man "man"
);

/// Lines of help texts have at most 80 columns, for any width of the terminal, and every command has examples.
#[test]
fn help_fits_80_columns() {
    let dir = Dir::new();
    let mut nouns = ["", "kmers", "db", "report", "extract", "deplete"].map(str::to_owned).to_vec();
    nouns.extend(merganser_test_support::commands::commands());
    for command in nouns {
        for flag in ["-h", "--help"] {
            for columns in [Some("80"), Some("200"), None] {
                let mut run = merganser_test_support::program();
                run.args(command.split_whitespace()).arg(flag).env_remove("COLUMNS");
                let output =
                    run.envs(columns.map(|columns| ("COLUMNS", columns))).output().unwrap();
                let text = String::from_utf8(output.stdout).unwrap();
                for line in text.lines() {
                    let width = line.chars().count();
                    assert!(width <= 80, "{command} {flag} {columns:?}: {width}: {line}");
                }
                assert!(text.contains("\nExamples:\n  "), "{command} {flag}: no examples");
            }
        }
    }
    let eval = dir.run("kmers eval --help").ok();
    for word in ["union(A, B, ...)", "set-counts(A, N)", "union-max(A, B)", "a.mgk:2.."] {
        assert!(eval.contains(word), "{word}");
    }
}

/// The short help has at most 80 lines, two screens of 40, and mentions the long help.
#[test]
fn short_help_fits_two_screens() {
    let dir = Dir::new();
    for command in merganser_test_support::commands::commands() {
        let short = dir.run(&format!("{command} -h")).ok();
        let lines = short.lines().count();
        assert!(lines <= 80, "{command} -h: {lines} lines");
        let long = dir.run(&format!("{command} --help")).ok();
        if long.lines().count() > 80 {
            assert!(short.contains("see more with '--help'"), "{command}");
        }
    }
}

#[test]
fn version() {
    let dir = Dir::new();
    let number = env!("CARGO_PKG_VERSION");
    for short in ["-V", "--version"] {
        assert_eq!(dir.run(short).ok(), format!("merganser {number}\n"));
    }
    let long = dir.run("--version --verbose").ok();
    assert!(dir.run("-V -v").ok() == long && dir.run("-v -V").ok() == long);
    let lines: Vec<&str> = long.lines().collect();
    let sign = |built| if built { '+' } else { '-' };
    let (cuda, parquet) = (sign(cfg!(feature = "cuda")), sign(cfg!(feature = "parquet")));
    assert_eq!(lines[0], format!("merganser {number}"));
    assert_eq!(lines[1], format!("features: {cuda}cuda +cram {parquet}parquet"));
    assert!(lines[2].starts_with("simd(compile): portable"), "{long}");
    assert!(lines[3].starts_with("simd(runtime): "), "{long}");
    assert!(lines[4].starts_with("cuda(compile): "), "{long}");
    assert!(lines[5].starts_with("cuda(runtime): "), "{long}");
    let commit = option_env!("MERGANSER_COMMIT").filter(|commit| !commit.is_empty());
    let commit = commit.unwrap_or("not recorded");
    assert_eq!(lines[6], format!("commit: {commit}"));
}

/// On any machine, the diagnostics say why no GPU can be used.
#[test]
fn diagnostics_report() {
    let output = merganser_test_support::program()
        .arg("devices")
        .env("MERGANSER_DISABLE_CUDA", "1")
        .output()
        .unwrap();
    assert!(output.status.success());
    let report = String::from_utf8(output.stdout).unwrap();
    assert!(report.starts_with("build    "), "{report}");
    assert!(report.contains("cannot use CUDA: "), "{report}");
}

#[test]
fn completions_of_every_shell() {
    let dir = Dir::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = dir.run(&format!("completions {shell}")).ok();
        assert!(script.contains("min-count"), "{shell}");
    }
}

#[test]
fn manual_pages_of_every_command() {
    let dir = Dir::new();
    assert!(dir.run("man").ok().contains(".TH merganser 1"));
    dir.run("man .").ok();
    let pages = dir.names();
    for page in ["merganser.1", "merganser-count.1", "merganser-kmers-query.1"] {
        assert!(pages.contains(&page.to_owned()), "{pages:?}");
    }
    for name in &pages {
        let page = String::from_utf8(dir.read(name)).unwrap();
        let (_, examples) = page.split_once("\n.SH EXAMPLES\n.nf\n").expect(name);
        assert!(
            examples.contains("  merganser ") && examples.ends_with("\n.fi\n"),
            "{name}: {page}"
        );
        assert!(!page.contains(".SH EXTRA"), "{name}");
    }
}

/// Usage errors name the wrong argument, and the exit code is 2.
#[test]
fn wrong_usage() {
    let dir = Dir::new();
    dir.write("r.fa", ">1\nACGT\n");
    let cases = [
        "",
        "cuont",
        "count r.fa",
        "count -k 31",
        "count -k 0 -o x r.fa",
        "count -k 129 -o x r.fa",
        "count -k 31 r.fa",
        "count -k 31 -o - r.fa",
        "count -k 31 -o x --format none r.fa",
        "count -k 31 -o x --format bam r.fa",
        "count -k 31 -o - --format tsv --histogram - r.fa",
        "count -k 31 --format none --histogram - --json - r.fa",
        "count -k 31 -o x --min-count 0 r.fa",
        "count -k 31 -o x --min-count 5 --max-count 4 r.fa",
        "count -k 31 -o x --hist-max 4 r.fa",
        "count -k 31 -o x --memory lots r.fa",
        "count -k 31 -o x --bins 0 r.fa",
        "count -k 31 -o x --bins some r.fa",
        "count -k 31 -o x --threads 0 r.fa",
        "count -k 31 -o x --minimizer-len 40 r.fa",
        "count -k 31 -o x --signature all r.fa",
        "count -k 31 -o x --stats-only r.fa",
        "count -k 31 -o x --min-cuont 3 r.fa",
        "filter pairs.tsv",
        "filter -e five r.fa",
        "filter -e 101% r.fa",
        "filter -e 40 --method gatekeeper-original r.fa",
        "filter -e 5 --format gatekeeper r.fa",
        "filter -e 5 --format none -o x r.fa",
        "filter -e 5 --json - r.fa",
        "filter -e 5 r.fa r.fa r.fa",
        "index ref.fa",
        "index ref.fa -o -",
        "index --verify ref.mgi -o x",
        "map ref.fa r.fa --best-strata",
        "map ref.fa r.fa --preset fast",
        "map ref.fa r.fa -U --interleaved",
        "map ref.fa r.fa --rescue 20%",
        "map ref.fa -e 3",
        "map ref.fa r.fa -e 100%",
        "map ref.fa r.fa -e 3 --all --best",
        "map ref.fa r.fa -e 3 --json -",
        "map ref.fa r.fa -e 3 -2 r.fa -2 r.fa",
        "map ref.fa r.fa -e 3 -2 r.fa --strand forward",
        "map ref.fa r.fa -e 3 -2 r.fa --min-insert 600",
        "map ref.fa r.fa -e 3 --max-insert 600",
        "map ref.fa r.fa -e 3 -R ID:x",
        "map ref.fa r.fa -e 3 --level 13",
        "kmers dump",
        "kmers dump x.mgk --min-count 3 --max-count 2",
        "kmers query x.mgk",
        "kmers union -o x.mgk",
        "kmers union a b",
        "kmers union -o - a b",
        "kmers union -o x --format none a b",
        "kmers union -o x a:5..2",
        "kmers union -o x --counts mean a b",
        "kmers union -o - --format tsv --histogram - a b",
        "kmers eval -o x minus(a,b)",
        "kmers compare a",
        "kmers set-counts 0 -o x a",
    ];
    let mut text = String::new();
    for args in cases {
        let ran = dir.run(args);
        assert_eq!(ran.code, Some(2), "{args}: {}", ran.stderr);
        let message: Vec<&str> =
            ran.stderr.lines().take_while(|line| !line.starts_with("Usage")).collect();
        text += &format!("$ merganser {args}\n{}\n\n", message.join("\n").trim_end());
    }
    assert_eq!(dir.names(), ["r.fa"]);
    insta::assert_snapshot!(text);
}
