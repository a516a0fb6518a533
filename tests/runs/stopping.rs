//! Signals to commands that cannot stop in an orderly way, or not soon.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use merganser_test_support::commands::{ROWS, Row};
use merganser_test_support::signals::{signal, wait};
use merganser_test_support::world::{self, Size};
use merganser_test_support::{Dir, names, program};

/// Starts a command whose stdout is never read, so that it blocks when the pipe is full.
fn stuck(dir: &Dir, args: &str) -> Child {
    let child = dir.start(args, Stdio::null());
    std::thread::sleep(Duration::from_millis(500));
    child
}

/// Returns command lines whose stdout fills the pipe and that have other outputs.
fn stuck_rows() -> impl Iterator<Item = &'static Row> {
    ROWS.iter().filter(|row| row.streams())
}

/// Returns a directory with enough reads that the results exceed the capacity of a pipe.
fn prepared() -> Dir {
    world::prepared(Size { bases: 20_000, reads: 24_000 }, stuck_rows())
}

/// Returns all names in the directory and in `out`.
fn all_names(dir: &Dir) -> Vec<String> {
    [dir.names(), names(&dir.path("out"))].concat()
}

/// The second signal ends the run immediately, without leaving files.
#[test]
fn the_second_signal_cleans_up_too() {
    let dir = prepared();
    let before = all_names(&dir);
    for Row { line: args, .. } in stuck_rows() {
        // A busy machine may need several attempts.
        let soon = |_: &i32| stop_twice(&dir, args, &before) < Duration::from_secs(1);
        assert!((0..5).find(soon).is_some(), "{args}: not faster than with one signal");
    }
}

/// Returns how long a run takes to end after the second signal.
fn stop_twice(dir: &Dir, args: &str, before: &[String]) -> Duration {
    let mut child = stuck(dir, args);
    assert!(all_names(dir).len() > before.len(), "{args}: no temporary files");
    signal(&child, "INT");
    std::thread::sleep(Duration::from_millis(100));
    assert!(child.try_wait().unwrap().is_none(), "{args}: has ended already");
    let begun = Instant::now();
    signal(&child, "INT");
    assert_eq!(child.wait().unwrap().code(), Some(130), "{args}");
    let took = begun.elapsed();
    assert_eq!(wait(dir, child).stderr, "error: interrupted\n", "{args}");
    assert_eq!(all_names(dir), before, "{args}");
    took
}

/// The first signal, too, ends a run after a short time, whatever it waits for.
#[test]
fn a_run_that_cannot_end_is_ended() {
    let dir = prepared();
    let before = all_names(&dir);
    for Row { line: args, .. } in stuck_rows() {
        let mut child = stuck(&dir, args);
        signal(&child, "TERM");
        let begun = Instant::now();
        assert!(child.wait().unwrap().code() == Some(130), "{args}");
        assert!(begun.elapsed() < Duration::from_secs(6), "{args}");
        assert_eq!(wait(&dir, child).stderr, "error: interrupted\n", "{args}");
        assert_eq!(all_names(&dir), before, "{args}");
    }
}

/// Reports of a taxonomy with 60,000 levels have gigabytes; writing them can be interrupted.
#[test]
fn reports_of_a_deep_taxonomy_can_be_stopped() {
    let dir = merganser_test_support::two_species::prepared();
    let mut nodes = String::from("1\t|\t1\t|\tno rank\t|\n2\t|\t1\t|\tdomain\t|\n");
    for taxid in 3..60_000 {
        let rank = if taxid % 2 == 0 { "no rank" } else { "species" };
        nodes += &format!("{taxid}\t|\t{}\t|\t{rank}\t|\n", taxid - 1);
    }
    std::fs::create_dir(dir.path("deep")).unwrap();
    dir.write("deep/nodes.dmp", nodes);
    dir.write("deep/names.dmp", "1\t|\troot\t|\t\t|\tscientific name\t|\n");
    let genome = String::from_utf8(dir.read("g0.fa")).unwrap();
    dir.write("deep.fa", genome.replacen("taxid|11", "taxid|59999", 1));
    dir.run("build -q --taxonomy deep -o deep.mgdb deep.fa").ok();
    let before = dir.names();
    for report in ["--report", "--mpa"] {
        let args = format!("classify -q deep.mgdb 1.fq --no-map {report} r");
        let mut child = program()
            .args(args.split_whitespace())
            .current_dir(dir.root())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Once the file grows, the report is being written.
        let begun = Instant::now();
        let size = |name: String| std::fs::metadata(dir.path(&name)).map_or(0, |at| at.len());
        let written = || dir.names().into_iter().map(size).max().unwrap_or(0);
        while written() < 30 << 20 && begun.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(5));
        }
        signal(&child, "INT");
        let begun = Instant::now();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{report}");
        // The run stops by itself, before it would be ended by force after two seconds.
        let took = begun.elapsed();
        assert!(took < Duration::from_millis(1800), "{report}: {took:?}");
        assert_eq!(wait(&dir, child).stderr, "error: interrupted\n", "{report}");
        assert_eq!(dir.names(), before, "{report}");
    }
    // Reports of a few ranks are short and quickly written.
    dir.run("classify -q deep.mgdb 1.fq --no-map --abundance a --cami c").ok();
}

/// Whenever a signal arrives, the run is either interrupted without output, or it succeeds and says so.
#[test]
fn a_run_that_has_its_outputs_is_not_interrupted() {
    let dir = merganser_test_support::two_species::prepared();
    dir.run("classify -q refs.mgdb 1.fq --no-map --report r.kreport").ok();
    let before = dir.names();
    let args = "report plot -q --chart taxa r.kreport -o o.svg";
    let begun = Instant::now();
    dir.run(args).ok();
    let took = begun.elapsed();
    std::fs::remove_file(dir.path("o.svg")).unwrap();
    for step in 0..60 {
        let child = dir.start(args, Stdio::null());
        std::thread::sleep(took * (40 + step) / 80);
        // An early signal arrives before the handlers are installed.
        let sent = Command::new("sh").args(["-c", &format!("kill -TERM {}", child.id())]).status();
        assert!(sent.unwrap().success());
        let ran = wait(&dir, child);
        match ran.code {
            Some(0) => std::fs::remove_file(dir.path("o.svg")).unwrap(),
            Some(130) => assert_eq!(ran.stderr, "error: interrupted\n"),
            None => assert_eq!(ran.stderr, ""),
            code => panic!("{code:?}: {}", ran.stderr),
        }
        assert_eq!(dir.names(), before, "{step}: {:?}", ran.code);
    }
}
