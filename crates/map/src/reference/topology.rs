//! Which contigs of a reference are circular.

use crate::Contig;

/// Which contigs of a reference are circular. A read over the junction of the last and the first base of such a contig
/// has a record on each side, of which the shorter one is supplementary.
///
/// ```
/// use merganser_map::Topology;
///
/// assert_eq!("chr,plasmid".parse(), Ok(Topology::Named(vec!["chr".into(), "plasmid".into()])));
/// assert_eq!("none".parse(), Ok(Topology::Linear));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Topology {
    /// Contigs whose header in FASTA has one of the words `topology=circular` and `circular=true`, in any case, also in
    /// brackets, as NCBI and assemblers write them.
    #[default]
    Stated,
    /// None.
    Linear,
    /// All.
    Circular,
    /// Contigs with these names.
    Named(Vec<String>),
}

impl std::str::FromStr for Topology {
    type Err = String;

    /// Parses `none`, `all` or a list of names, separated by commas.
    fn from_str(text: &str) -> Result<Topology, String> {
        match text {
            "none" => return Ok(Topology::Linear),
            "all" => return Ok(Topology::Circular),
            _ => {}
        }
        let names: Vec<String> = text.split(',').map(str::to_owned).collect();
        match names.iter().any(String::is_empty) {
            true => Err("a name is empty: give names of contigs, separated by commas".into()),
            false => Ok(Topology::Named(names)),
        }
    }
}

impl Topology {
    /// Whether exactly the contigs that this names are circular. What headers state is not known any more, so
    /// [`Topology::Stated`] is that of all contigs.
    pub fn is_that_of(&self, contigs: &[Contig]) -> bool {
        *self == Topology::Stated
            || contigs
                .iter()
                .all(|contig| contig.is_circular() == self.is_circular(&contig.name, b""))
    }

    /// Whether a contig with this name and header is circular.
    pub(super) fn is_circular(&self, name: &str, header: &[u8]) -> bool {
        match self {
            Topology::Stated => is_stated(header),
            Topology::Linear => false,
            Topology::Circular => true,
            Topology::Named(names) => names.iter().any(|circular| circular == name),
        }
    }
}

/// Whether a header says that its sequence is circular.
fn is_stated(header: &[u8]) -> bool {
    let words = header.split(|byte| byte.is_ascii_whitespace() || b"[];,|".contains(byte));
    let mut words = words.skip(1);
    words.any(|word| {
        word.eq_ignore_ascii_case(b"topology=circular")
            || word.eq_ignore_ascii_case(b"circular=true")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_state_the_topology() {
        for (header, expected) in [
            ("NC_1 Escherichia coli [topology=circular] [completeness=complete]", true),
            ("1 length=5000 depth=1.00x circular=true", true),
            ("1 Circular=TRUE", true),
            ("topology=circular", false),
            ("1 topology=linear", false),
            ("1 not circular=true-ish", false),
            ("1", false),
        ] {
            assert_eq!(Topology::Stated.is_circular("1", header.as_bytes()), expected, "{header}");
        }
    }

    #[test]
    fn names_are_those_of_circular_contigs() {
        let named: Topology = "a,b".parse().unwrap();
        assert!(named.is_circular("b", b"b") && !named.is_circular("c", b"c circular=true"));
        assert!(Topology::Circular.is_circular("c", b"c"));
        assert!(!Topology::Linear.is_circular("c", b"c circular=true"));
        assert!("a,,b".parse::<Topology>().is_err() && "".parse::<Topology>().is_err());
    }
}
