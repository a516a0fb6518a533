//! Runs with a small stack (`ulimit -s`).

use crate::limits::{assert_only, limited, prepared, remove_outputs, rows};
use merganser_test_support::commands::Row;

/// The limit applies to the main thread and to the environment that the system stores there.
#[test]
fn a_small_stack_is_enough() {
    let dir = prepared();
    let before = dir.names();
    // Smaller stacks may not hold the environment.
    for kibibytes in [64, 128, 256, 1024] {
        let limit = format!("ulimit -s {kibibytes}");
        for args in
            ["--version", "--help", "db info --help", "completions bash", "kmers info t.mgk"]
        {
            assert_eq!(limited(&dir, &limit, args).ok(), dir.run(args).ok(), "{limit}: {args}");
        }
        assert_eq!(limited(&dir, &limit, "count -k").code, Some(2));
        limited(&dir, &limit, "kmers info gone").fails(1);
    }
    for Row { line: args, .. } in rows() {
        let ran = limited(&dir, "ulimit -s 64", &format!("{args} -q --threads 3"));
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{args}");
        remove_outputs(&dir);
        assert_only(&dir, &before, args);
    }
}
