//! How references and reads are sketched: fixed when a database is built, and stored in it.

use merganser_run::ConfigError;

use crate::Error;
use crate::hash::HashRule;
use merganser_seq::masking::Masking;

/// Largest k.
pub const MAX_K: u32 = 32;
/// Largest sketch.
pub const MAX_SKETCH: u32 = 128;
/// Longest window, in bases.
pub const MAX_WINDOW: u32 = 1024;
/// Most locations that a feature may keep.
pub const MAX_LOCATIONS: u32 = 65_535;
/// The density that keeps every k-mer.
pub const FULL_DENSITY: u32 = 256;

merganser_run::named! {
    /// A named set of parameters and of thresholds.
    #[derive(Default)]
    pub enum Preset {
        /// Ours: longer k-mers, chosen by their hash alone, so that all that a read and its genome
        /// share are found; species are told apart by a single hit.
        #[default]
        Sensitive = "sensitive",
        /// MetaCache's parameters and rule.
        MetaCache = "metacache",
    }
}

impl Preset {
    /// The preset's sketching parameters.
    pub fn params(self) -> Params {
        match self {
            Preset::MetaCache => Params {
                preset: self,
                k: 16,
                sketch: 16,
                window: 127,
                stride: 112,
                density: FULL_DENSITY,
                max_locations: 254,
                masking: Masking::None,
            },
            Preset::Sensitive => Params {
                preset: self,
                k: 19,
                sketch: 128,
                window: 274,
                stride: 256,
                density: 100,
                max_locations: 254,
                masking: Masking::None,
            },
        }
    }
}

/// The sketching parameters of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// Where the thresholds of a query come from unless the user names them.
    pub preset: Preset,
    /// Bases of a k-mer, 1 to [`MAX_K`].
    pub k: u32,
    /// Features of a window at most, 1 to [`MAX_SKETCH`].
    pub sketch: u32,
    /// Bases of a window, `k` to [`MAX_WINDOW`].
    pub window: u32,
    /// Bases from the beginning of one window to that of the next, 1 to `window`.
    pub stride: u32,
    /// Only k-mers whose hash is among the lowest `density`/256 are features, 1 to 256 (all).
    pub density: u32,
    /// Locations that a feature keeps, the first ones of the reference; 1 to [`MAX_LOCATIONS`].
    pub max_locations: u32,
    /// What is masked of references before they are sketched.
    pub masking: Masking,
}

impl Params {
    /// Checks the ranges.
    ///
    /// # Errors
    /// The parameter that is out of its range, and the range.
    pub fn validate(&self) -> Result<(), Error> {
        let ranges = [
            ("k", self.k, 1, MAX_K),
            ("the sketch size", self.sketch, 1, MAX_SKETCH),
            ("the window length", self.window, self.k, MAX_WINDOW),
            ("the window stride", self.stride, 1, self.window),
            ("the density", self.density, 1, FULL_DENSITY),
            ("the number of locations a feature keeps", self.max_locations, 1, MAX_LOCATIONS),
        ];
        for (name, value, least, most) in ranges {
            if !(least..=most).contains(&value) {
                return Err(Error::Config(ConfigError::new(format!(
                    "{name} is {value}: give {least} to {most}"
                ))));
            }
        }
        Ok(())
    }

    /// The hash rule that goes with k.
    pub fn hash_rule(&self) -> HashRule {
        HashRule::of(self.k)
    }

    /// The number of windows of a sequence of `bases`: full ones at 0, stride, 2 · stride and so
    /// on, and one more of what is left after the last of them if that is long enough for a k-mer.
    pub fn windows(&self, bases: u64) -> u64 {
        let (k, window, stride) =
            (u64::from(self.k), u64::from(self.window), u64::from(self.stride));
        let full = if bases < window { 0 } else { (bases - window) / stride + 1 };
        full + u64::from(bases >= full * stride + k)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_counted_as_they_are_cut() {
        for (k, window, stride) in [(16, 127, 112), (4, 10, 7), (4, 10, 10), (4, 10, 1), (5, 5, 2)]
        {
            let params = Params { k, window, stride, ..Preset::MetaCache.params() };
            for bases in 0..400u32 {
                // By the words of the rule.
                let (mut count, mut start) = (0, 0);
                while start + window <= bases {
                    (count, start) = (count + 1, start + stride);
                }
                count += u64::from(start + k <= bases);
                assert_eq!(params.windows(bases.into()), count, "{params:?} {bases}");
            }
        }
    }

    #[test]
    fn presets_are_valid_and_ranges_are_checked() {
        for preset in [Preset::Sensitive, Preset::MetaCache] {
            preset.params().validate().unwrap();
        }
        let params = Params { stride: 128, ..Preset::MetaCache.params() };
        assert_eq!(
            params.validate().unwrap_err().to_string(),
            "the window stride is 128: give 1 to 127"
        );
    }
}
