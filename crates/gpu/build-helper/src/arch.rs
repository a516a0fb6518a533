//! Which GPU architectures code is generated for.

use crate::Error;
use std::fmt;

/// A GPU architecture by its compute capability: 90 is 9.0, Hopper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arch(pub u32);

/// The architectures of one fat binary, oldest first, without repetition, at least one. Each gets
/// machine code; the newest gets PTX too, which drivers compile for GPUs newer than all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Archs(Vec<Arch>);

impl Default for Archs {
    /// Turing, A100, RTX 30, RTX 40 and L4, H100: what clusters and workstations have.
    fn default() -> Self {
        Archs([75, 80, 86, 89, 90].map(Arch).to_vec())
    }
}

impl Archs {
    /// Reads `MERGANSER_CUDA_ARCH`: numbers, comma-separated; unset or empty is the default.
    pub fn from_env() -> Result<Archs, Error> {
        Archs::parse(std::env::var("MERGANSER_CUDA_ARCH").unwrap_or_default().trim())
    }

    /// Reads a list such as `80,90`; an empty text is the default.
    pub fn parse(text: &str) -> Result<Archs, Error> {
        if text.is_empty() {
            return Ok(Archs::default());
        }
        let one = |part: &str| match part.trim().parse() {
            Ok(number @ 50..=999) => Ok(Arch(number)),
            _ => Err(Error::Arch { text: part.trim().to_string() }),
        };
        let mut archs = text.split(',').map(one).collect::<Result<Vec<_>, _>>()?;
        archs.sort_unstable();
        archs.dedup();
        Ok(Archs(archs))
    }

    /// All of them, oldest first.
    pub fn all(&self) -> &[Arch] {
        &self.0
    }

    /// The options for nvcc.
    pub fn flags(&self) -> Vec<String> {
        let code = |Arch(n): &Arch| format!("-gencode=arch=compute_{n},code=sm_{n}");
        let newest =
            self.0.last().map(|Arch(n)| format!("-gencode=arch=compute_{n},code=compute_{n}"));
        self.0.iter().map(code).chain(newest).collect()
    }
}

impl fmt::Display for Archs {
    /// As `MERGANSER_CUDA_ARCH` would have it: `75,80`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, Arch(number)) in self.0.iter().enumerate() {
            write!(f, "{}{number}", if i > 0 { "," } else { "" })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted_and_without_repetition() {
        assert_eq!(Archs::parse("90, 80,90").unwrap().to_string(), "80,90");
        assert_eq!(Archs::parse("").unwrap().to_string(), "75,80,86,89,90");
    }

    #[test]
    fn each_gets_machine_code_and_the_newest_ptx() {
        assert_eq!(
            Archs::parse("80,90").unwrap().flags(),
            [
                "-gencode=arch=compute_80,code=sm_80",
                "-gencode=arch=compute_90,code=sm_90",
                "-gencode=arch=compute_90,code=compute_90",
            ]
        );
    }

    #[test]
    fn nonsense_is_named() {
        for (text, part) in [("sm_90", "sm_90"), ("90,,80", ""), ("9", "9"), ("80,9.0", "9.0")] {
            let message = Archs::parse(text).unwrap_err().to_string();
            assert!(message.contains(&format!("'{part}'")), "{message}");
        }
    }
}
