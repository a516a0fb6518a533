//! Arbitrary texts as a report and as a Bracken distribution: rejected, or reads are distributed to taxa of the
//! report. The distribution is written and read back unchanged.
#![no_main]

use libfuzzer_sys::fuzz_target;
use merganser_fuzz::files::{folder, write};
use merganser_taxreport::bracken::{Distribution, Estimate, Level};
use merganser_taxreport::report::KrakenReport;

fuzz_target!(|input: &[u8]| {
    let Some(at) = input.iter().position(|&byte| byte == 0) else { return };
    let (report, rest) = input.split_at(at);
    let Ok(report) = KrakenReport::of_text(report) else { return };
    let folder = folder();
    let [first, second] = ["1", "2"].map(|name| folder.path().join(name));
    write(&first, &rest[1..]);
    let Ok(distribution) = Distribution::read(&first) else { return };
    write(&second, distribution.text());
    assert_eq!(Distribution::read(&second).expect("the written file").rows, distribution.rows);
    for threshold in [0, 10] {
        let level = Level::species();
        let Ok(estimate) = Estimate::new(&report, &distribution, &level, threshold) else { return };
        let (mut text, notes) = (Vec::new(), estimate.notes());
        estimate.write_table(&mut text).expect("writing to memory");
        estimate.write_report(&mut text).expect("writing to memory");
        assert!(notes.taxa + notes.left_out <= report.rows().len() as u64, "{notes:?}");
    }
});
