//! Sketching parameters of references and reads: fixed when a database is built, and stored in it.

use merganser_run::ConfigError;

use crate::Error;
use crate::hash::HashRule;
use merganser_seq::masking::Masking;

/// The largest k.
pub const MAX_K: u32 = 32;
/// The largest number of features of a sketch.
pub const MAX_SKETCH: u32 = 128;
/// The longest window, in bases.
pub const MAX_WINDOW: u32 = 1024;
/// The largest number of locations that a feature may keep.
pub const MAX_LOCATIONS: u32 = 65_535;
/// The density at which every k-mer is kept.
pub const FULL_DENSITY: u32 = 256;

merganser_run::named! {
    /// A named set of parameters and of thresholds.
    #[derive(Default)]
    pub enum Preset {
        /// Merganser's own parameters: longer k-mers, selected by their hash alone, so that a read and its genome
        /// share all selected k-mers; species are distinguished by a single hit.
        #[default]
        Sensitive = "sensitive",
        /// MetaCache's parameters and rule.
        MetaCache = "metacache",
    }
}

impl Preset {
    /// Returns the preset's sketching parameters.
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
    /// The preset, from which queries take their default thresholds.
    pub preset: Preset,
    /// The length of a k-mer in bases, 1 to [`MAX_K`].
    pub k: u32,
    /// The maximum number of features of a window, 1 to [`MAX_SKETCH`].
    pub sketch: u32,
    /// The length of a window in bases, `k` to [`MAX_WINDOW`].
    pub window: u32,
    /// The number of bases between the starts of consecutive windows, 1 to `window`.
    pub stride: u32,
    /// The fraction of k-mers that may be features, in 1/256: those with the lowest hashes, `density`/256 of all; 1 to
    /// 256 (all).
    pub density: u32,
    /// The maximum number of locations of a feature, of which the first in the reference are kept; 1 to
    /// [`MAX_LOCATIONS`].
    pub max_locations: u32,
    /// The masking of references before they are sketched.
    pub masking: Masking,
}

impl Params {
    /// Checks the ranges.
    ///
    /// # Errors
    /// If a parameter is out of range; the error names it and the range.
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

    /// Returns how other parameters differ, in words; `None` if they are the same.
    pub(crate) fn difference(&self, other: &Params) -> Option<String> {
        let described = |params: &Params| {
            let Params { preset, k, sketch, window, stride, density, max_locations, masking } =
                params;
            [
                ("the preset", preset.name().to_owned()),
                ("k", k.to_string()),
                ("the sketch size", sketch.to_string()),
                ("the window length", window.to_string()),
                ("the window stride", stride.to_string()),
                ("the density", density.to_string()),
                ("the number of locations a feature keeps", max_locations.to_string()),
                ("the masking", masking.name().to_owned()),
            ]
        };
        let both = described(self).into_iter().zip(described(other));
        let different = both.filter(|(one, other)| one != other);
        let texts: Vec<String> =
            different.map(|((what, one), (_, two))| format!("{what} is {one} and {two}")).collect();
        (!texts.is_empty()).then(|| texts.join(", "))
    }

    /// Returns the hash rule for k.
    pub fn hash_rule(&self) -> HashRule {
        HashRule::of(self.k)
    }

    /// Returns the number of windows of a sequence of `bases`: complete windows at 0, stride, 2 · stride and so on,
    /// and one more for the remainder if it is at least k long.
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
                // A literal implementation of the rule.
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
