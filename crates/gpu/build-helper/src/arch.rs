//! The GPU architectures for which code is generated.

use crate::Error;
use std::fmt;

/// A GPU architecture, as its compute capability without the point: 90 is 9.0, Hopper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arch(pub u32);

/// The architectures of one fat binary, oldest first, without duplicates, at least one. Each gets
/// machine code; the newest gets PTX too, which drivers compile for newer GPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Archs(Vec<Arch>);

impl Archs {
    /// Returns the GPUs of clusters and workstations: Turing, A100, RTX 30, RTX 40 and L4, H100.
    pub fn usual() -> Archs {
        Archs([75, 80, 86, 89, 90].map(Arch).to_vec())
    }

    /// Parses `MERGANSER_CUDA_ARCH`: comma-separated numbers. If it is unset or empty, returns the usual ones.
    pub fn from_env() -> Result<Archs, Error> {
        let text = std::env::var("MERGANSER_CUDA_ARCH").unwrap_or_default();
        if text.trim().is_empty() { Ok(Archs::usual()) } else { Archs::parse(text.trim()) }
    }

    /// Parses a list such as `80,90`.
    pub fn parse(text: &str) -> Result<Archs, Error> {
        let one = |part: &str| match part.trim().parse() {
            Ok(number @ 50..=999) => Ok(Arch(number)),
            _ => Err(Error::Arch { text: part.trim().to_string() }),
        };
        let mut archs = text.split(',').map(one).collect::<Result<Vec<_>, _>>()?;
        archs.sort_unstable();
        archs.dedup();
        Ok(Archs(archs))
    }

    /// Returns all architectures, oldest first.
    pub fn all(&self) -> &[Arch] {
        &self.0
    }

    /// Returns the options for nvcc.
    pub fn flags(&self) -> Vec<String> {
        let code = |Arch(n): &Arch| format!("-gencode=arch=compute_{n},code=sm_{n}");
        let newest =
            self.0.last().map(|Arch(n)| format!("-gencode=arch=compute_{n},code=compute_{n}"));
        self.0.iter().map(code).chain(newest).collect()
    }
}

impl fmt::Display for Archs {
    /// Writes the list in the format of `MERGANSER_CUDA_ARCH`: `75,80`.
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
    }

    #[test]
    fn the_usual_ones_are_listed() {
        assert_eq!(Archs::usual().to_string(), "75,80,86,89,90");
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
        for (text, part) in
            [("", ""), ("sm_90", "sm_90"), ("90,,80", ""), ("9", "9"), ("80,9.0", "9.0")]
        {
            let message = Archs::parse(text).unwrap_err().to_string();
            assert!(message.contains(&format!("'{part}'")), "{message}");
        }
    }
}
