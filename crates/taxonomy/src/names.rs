//! Accessions and taxids in the names of files and sequences.

/// Returns an accession without its version; `None` if it has no version.
pub fn stem(accession: &[u8]) -> Option<&[u8]> {
    let point = accession.iter().rposition(|&byte| byte == b'.')?;
    let version = &accession[point + 1..];
    (!version.is_empty() && version.iter().all(u8::is_ascii_digit)).then(|| &accession[..point])
}

/// Finds the accession of an assembly in a file name: GCF_ or GCA_, nine digits and a version.
pub fn assembly(name: &[u8]) -> Option<&[u8]> {
    let digits = |bytes: &[u8]| bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (0..name.len()).find_map(|at| {
        let rest = &name[at..];
        let number = rest.strip_prefix(b"GCF_").or_else(|| rest.strip_prefix(b"GCA_"))?;
        let version = number.get(9..)?.strip_prefix(b".")?;
        let long = digits(version);
        (digits(number) == 9 && long > 0).then(|| &rest[..4 + 9 + 1 + long])
    })
}

/// Returns the taxid that Kraken 2 reads from a header: `kraken:taxid|N` at the start of the first word or
/// directly after a `|` in it.
pub fn kraken_taxid(header: &str) -> Option<u32> {
    kraken_taxids(header).next()
}

/// Returns the taxid of [`kraken_taxid`] and any further ones in the same word, which Kraken 2 ignores.
pub fn kraken_taxids(header: &str) -> impl Iterator<Item = u32> {
    const WORD: &str = "kraken:taxid|";
    let name = header.split_ascii_whitespace().next().unwrap_or_default();
    name.match_indices(WORD).filter_map(|(at, _)| {
        let rest = &name[at + WORD.len()..];
        let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
        let begins = at == 0 || name[..at].ends_with('|');
        if begins && end > 0 { rest[..end].parse().ok() } else { None }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assemblies_are_found_in_names() {
        for (name, expected) in [
            ("GCF_000005845.2_ASM584v2_genomic.fna.gz", Some("GCF_000005845.2")),
            ("x_GCA_123456789.13.fa", Some("GCA_123456789.13")),
            ("GCF_00000584.2.fna", None),
            ("GCF_0000058456.2.fna", None),
            ("GCF_000005845.fna", None),
            ("GCF_GCF_000005845.2", Some("GCF_000005845.2")),
            ("", None),
        ] {
            assert_eq!(assembly(name.as_bytes()), expected.map(str::as_bytes), "{name}");
        }
    }
}
