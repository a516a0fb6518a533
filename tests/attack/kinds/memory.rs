//! Compares the peak resident size with `--memory`.

use super::{Attack, Result};
use crate::judge::{fault, shown, whole_or_refused, within};
use crate::world::Scale;

pub(super) const BUDGETS: [&str; 4] = ["60M", "100M", "300M", "1G"];

pub(super) fn bytes(budget: &str) -> u64 {
    merganser_run::parse_size(budget).unwrap()
}

pub(super) fn act(attack: &mut Attack<'_>) -> Result {
    let chosen = attack.choose(Scale::Large, crate::table::Job::takes_memory);
    let budget = attack.one_of(&BUDGETS);
    let mut options = attack.resources(chosen.job());
    options.extend(["--memory", budget]);
    let ended = attack.run(chosen.scene.launch(&options));
    chosen.judge(&ended, |scene, expected, ended| {
        within(ended, bytes(budget))?;
        whole_or_refused(scene, expected, ended)?;
        match ended.code == Some(0) || ended.stderr.contains("memory") {
            true => Ok(()),
            false => fault(format!("memory is not mentioned: {}", shown(&ended.stderr))),
        }
    })
}
