//! Parses the number of written k-mers from the output of each tool.

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// Parses the statistics that `kmc` prints.
pub(crate) fn kmc(stdout: &str) -> Result<u64> {
    labelled(stdout, "No. of unique counted k-mers").context("kmc printed no statistics")
}

/// Parses the output of `jellyfish stats`. (`jellyfish count -L` has already removed rarer k-mers.)
pub(crate) fn jellyfish(stdout: &str) -> Result<u64> {
    labelled(stdout, "Distinct").context("jellyfish stats printed no number of distinct k-mers")
}

/// Returns the number in a line `label : number`.
fn labelled(text: &str, label: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == label).then(|| value.trim().parse().ok())?
    })
}

/// Parses the output of `merganser kmers info --json`.
pub(crate) fn merganser(stdout: &str) -> Result<u64> {
    let info: Value = serde_json::from_str(stdout).context("merganser printed no JSON")?;
    // `distinct_kmers` is the last choice, because it includes k-mers below the minimum count.
    let keys = ["kmers", "distinct", "entries", "distinct_kmers"];
    keys.iter().find_map(|key| find(&info, key)).context("merganser printed no number of k-mers")
}

/// Returns the number with this key, at any depth.
fn find(value: &Value, key: &str) -> Option<u64> {
    match value {
        Value::Object(fields) => fields
            .get(key)
            .and_then(Value::as_u64)
            .or_else(|| fields.values().find_map(|value| find(value, key))),
        Value::Array(values) => values.iter().find_map(|value| find(value, key)),
        _ => None,
    }
}

/// Parses the stub of a FastK table, `.ktab`: four 32-bit integers, then for each prefix the number of k-mers up to
/// its end, 64 bits each (FastK's README, "K-mer Table Files"). The last one is the total number of k-mers.
pub(crate) fn fastk(stub: &[u8]) -> Result<u64> {
    ensure!(stub.len() >= 24 && stub.len().is_multiple_of(8), "not a FastK table");
    let (_, last) = stub.split_last_chunk::<8>().context("not a FastK table")?;
    Ok(u64::from_le_bytes(*last))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Output of KMC 3.2.1.
    const KMC: &str = "1st stage: 0.050034s
2nd stage: 0.098869s
Total    : 0.148903s
Tmp size : 1MB

Stats:
   No. of k-mers below min. threshold :       993419
   No. of k-mers above max. threshold :            0
   No. of unique k-mers               :      1106360
   No. of unique counted k-mers       :       112941
   Total no. of k-mers                :      1230000
   Total no. of reads                 :        10000
   Total no. of super-k-mers          :       118396
";

    #[test]
    fn kmc_statistics() {
        assert_eq!(kmc(KMC).unwrap(), 112_941);
        assert!(kmc("1st stage: 1s\n").is_err());
    }

    #[test]
    fn jellyfish_statistics() {
        let stats = "Unique:    0\nDistinct:  112941\nTotal:     236581\nMax_count: 7\n";
        assert_eq!(jellyfish(stats).unwrap(), 112_941);
        assert!(jellyfish("").is_err());
    }

    #[test]
    fn merganser_info() {
        let info = r#"{"k": 28, "parameters": {"min_count": 2}, "table": {"kmers": 112941}}"#;
        assert_eq!(merganser(info).unwrap(), 112_941);
        let info = r#"{"kmers": {"total": 7, "distinct": 5}}"#;
        assert_eq!(merganser(info).unwrap(), 5);
        assert!(merganser("{}").is_err());
        assert!(merganser("k: 28").is_err());
    }

    #[test]
    fn fastk_stub() {
        let mut stub = Vec::new();
        for header in [28i32, 2, 2, 0] {
            stub.extend(header.to_le_bytes());
        }
        for entries in [5u64, 112_941] {
            stub.extend(entries.to_le_bytes());
        }
        assert_eq!(fastk(&stub).unwrap(), 112_941);
        assert!(fastk(&stub[..16]).is_err());
        assert!(fastk(&stub[..27]).is_err());
    }
}
