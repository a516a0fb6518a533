//! The cooperative hash insert under random interleavings: the sound one passes all of them, and
//! each race planted into it is found.

use merganser_gpu_host_kernels::{Failure, Variant, insert_under_schedule};

const SCHEDULES: u64 = 300;

#[test]
fn the_sound_insert_passes_every_schedule() {
    for seed in 0..SCHEDULES {
        assert_eq!(insert_under_schedule(Variant::Sound, seed), Ok(()), "seed {seed}");
        assert_eq!(insert_under_schedule(Variant::Overfull, seed), Ok(()), "seed {seed}");
    }
}

/// The first seed that shows the fault, and as what.
fn found(variant: Variant) -> Option<(u64, Failure)> {
    (0..SCHEDULES).find_map(|seed| Some((seed, insert_under_schedule(variant, seed).err()?)))
}

#[test]
fn every_planted_race_is_found_soon() {
    for variant in [Variant::TornCas, Variant::BlindCas, Variant::LoneBallot] {
        let (seed, failure) = found(variant).expect("no schedule showed the race");
        assert!(seed < 20, "{variant:?} only at seed {seed} ({failure:?})");
    }
}

#[test]
fn a_collective_that_a_lane_does_not_come_to_is_a_deadlock() {
    assert_eq!(found(Variant::Deserted), Some((0, Failure::Stuck)));
}

#[test]
fn a_schedule_is_repeatable() {
    for seed in 0..20 {
        let once = insert_under_schedule(Variant::TornCas, seed);
        assert_eq!(insert_under_schedule(Variant::TornCas, seed), once);
    }
}
