//! `--memory` is kept.

use crate::support::Dir;
use crate::support::reads::many;

fn peak(dir: &Dir, options: &str) -> u64 {
    let args = format!("count --threads 2 --min-count 1 -o out.mgk --json - {options} r.fa");
    let json: serde_json::Value = serde_json::from_str(&dir.run(&args).ok()).unwrap();
    json["peak_memory_bytes"].as_u64().unwrap()
}

/// B1 row 12: the largest resident size, as the system counted it, within a tenth of the promise.
#[test]
fn the_peak_stays_within_the_promise() {
    let dir = Dir::new();
    dir.write("r.fa", many(150));
    for (options, megabytes) in [
        ("-k 31 --memory 512M", 512),
        ("-k 55 --memory 300M", 300),
        ("-k 28 --memory 300M --storage disk", 300),
    ] {
        let (peak, promise) = (peak(&dir, options), (megabytes * 11 / 10) << 20);
        assert!(peak <= promise, "{options}: {peak} bytes, more than {promise}");
    }
}
