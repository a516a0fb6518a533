//! The memory that control groups leave.

use std::fs;
use std::path::Path;

/// The files of a version of cgroups.
struct Files {
    /// The files with limits; the smallest limit applies.
    limits: &'static [&'static str],
    /// The file with the memory in use, including the page cache, in bytes.
    held: &'static str,
    /// The lines of `memory.stat`, including descendants, with the bytes that the kernel frees on demand. Memory
    /// without a file on disk, such as files of tmpfs, is in none of them: it is on the lists
    /// of anonymous pages.
    reclaimable: &'static [&'static str],
}

const V1: Files = Files {
    limits: &["memory.limit_in_bytes"],
    held: "memory.usage_in_bytes",
    reclaimable: &["total_active_file", "total_inactive_file"],
};

// Above memory.high, processes are throttled until they hardly make progress.
const V2: Files = Files {
    limits: &["memory.max", "memory.high"],
    held: "memory.current",
    reclaimable: &["active_file", "inactive_file", "slab_reclaimable"],
};

/// Returns the smallest amount of unused memory among the cgroups named in `groups` (the text of
/// `/proc/self/cgroup`) and their ancestors, under the usual mount point `root`; `None` if there is no limit.
pub(super) fn left(groups: &str, root: &Path) -> Option<u64> {
    groups.lines().filter_map(|line| left_by_line(line, root)).min()
}

fn left_by_line(line: &str, root: &Path) -> Option<u64> {
    let mut fields = line.splitn(3, ':');
    let (_, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
    let (mount, files) = if controllers.is_empty() {
        (root.to_owned(), V2)
    } else if controllers.split(',').any(|name| name == "memory") {
        (root.join("memory"), V1)
    } else {
        return None;
    };
    // Inside a container the path may be the host's and not exist here; the limit is then at
    // the root of the mount, which the walk upwards reaches.
    let own = path.trim_start_matches('/');
    Path::new(own).ancestors().filter_map(|part| files.left(&mount.join(part))).min()
}

impl Files {
    /// Returns the memory that the limit of a group leaves, if it has one.
    fn left(&self, group: &Path) -> Option<u64> {
        let read = |file: &str| fs::read_to_string(group.join(file)).ok();
        // "max" (v2) is not a number; v1 expresses "no limit" by a huge one, which the minimum ignores.
        let number = |file: &&str| read(file)?.trim().parse::<u64>().ok();
        let limit = self.limits.iter().filter_map(number).min()?;
        let stat = read("memory.stat").unwrap_or_default();
        let cache = self.reclaimable.iter().filter_map(|name| field(&stat, name));
        let cache = cache.fold(0, u64::saturating_add);
        let held = number(&self.held).unwrap_or(0).saturating_sub(cache);
        Some(limit.saturating_sub(held))
    }
}

/// Returns the number of a line such as `inactive_file 4096`.
fn field(stat: &str, name: &str) -> Option<u64> {
    let value = |line: &str| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok();
    stat.lines().find_map(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory tree of made-up groups.
    struct Tree(std::path::PathBuf);

    impl Tree {
        fn new(name: &str, files: &[(&str, &str)]) -> Tree {
            let name = format!("merganser-cgroup-{name}-{}", std::process::id());
            let root = std::env::temp_dir().join(name);
            for (path, text) in files {
                let path = root.join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            Tree(root)
        }

        fn left(&self, groups: &str) -> Option<u64> {
            left(groups, &self.0)
        }
    }

    impl Drop for Tree {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn the_smallest_limit_up_the_tree_counts() {
        let tree = Tree::new(
            "limits",
            &[
                ("a/b/c/memory.max", "max\n"),
                ("a/b/c/memory.current", "123456\n"),
                ("a/memory.max", "5000\n"),
                ("memory/x/memory.limit_in_bytes", "9223372036854771712\n"),
                ("memory/memory.limit_in_bytes", "7000\n"),
            ],
        );
        assert_eq!(tree.left("0::/a/b/c\n"), Some(5000));
        assert_eq!(tree.left("0::/elsewhere/b\n"), None);
        assert_eq!(tree.left("5:cpu,memory:/x/gone\n3:pids:/a\n"), Some(7000));
        assert_eq!(tree.left("5:memory:/x\n0::/a\n"), Some(5000));
    }

    #[test]
    fn what_is_held_is_not_left_but_page_cache_is() {
        let stat = "anon 1000\nfile 900\nshmem 300\ninactive_anon 700\nactive_anon 600\n\
                    inactive_file 400\nactive_file 200\nslab_reclaimable 50\n\
                    slab_unreclaimable 70\nworkingset_refault_file 9\n";
        let tree = Tree::new(
            "v2",
            &[
                ("job/memory.max", "5000\n"),
                ("job/memory.high", "4000\n"),
                ("job/memory.current", "2000\n"),
                ("job/memory.stat", stat),
                ("job/step/memory.max", "3000\n"),
                ("job/step/memory.high", "max\n"),
                ("job/step/memory.current", "100\n"),
                ("full/memory.max", "1000\n"),
                ("full/memory.current", "2000\n"),
                ("cache/memory.max", "1000\n"),
                ("cache/memory.current", "100\n"),
                ("cache/memory.stat", stat),
            ],
        );
        // A limit of 4000, less 2000 in use, of which 650 can be freed.
        assert_eq!(tree.left("0::/job\n"), Some(2650));
        // The parent leaves less than the group itself, which has no memory.stat.
        assert_eq!(tree.left("0::/job/step\n"), Some(2650));
        assert_eq!(tree.left("0::/full\n"), Some(0));
        // Numbers that are read one after the other may be inconsistent.
        assert_eq!(tree.left("0::/cache\n"), Some(1000));
    }

    #[test]
    fn groups_below_count_in_the_first_version_too() {
        let stat = "cache 900\nactive_file 1\ninactive_file 2\ntotal_cache 9000\n\
                    total_shmem 300\ntotal_active_file 400\ntotal_inactive_file 500\n";
        let tree = Tree::new(
            "v1",
            &[
                ("memory/slurm/memory.limit_in_bytes", "8000\n"),
                ("memory/slurm/memory.usage_in_bytes", "3000\n"),
                ("memory/slurm/memory.stat", stat),
                ("memory/slurm/step/memory.limit_in_bytes", "9223372036854771712\n"),
                ("memory/slurm/step/memory.usage_in_bytes", "3000\n"),
            ],
        );
        assert_eq!(tree.left("4:memory:/slurm/step\n0::/\n"), Some(5900));
    }
}
