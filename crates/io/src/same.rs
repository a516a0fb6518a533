//! Detection of inputs that are the same file.

use std::collections::HashMap;
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;

use merganser_run::Warnings;

use crate::Input;

/// Returns the identity of a regular file, whatever its name: its device, its inode number, and the offset at which
/// a stretch of the file begins. `None` for pipes and for inputs that are inaccessible.
fn identity(input: &Input) -> Option<[u64; 3]> {
    let at = match input.path() {
        Some(path) => std::fs::metadata(path).ok()?,
        None => File::from(std::io::stdin().as_fd().try_clone_to_owned().ok()?).metadata().ok()?,
    };
    at.is_file().then(|| [at.dev(), at.ino(), input.begins()])
}

/// Warns of files that are given more than once, even under different names.
pub fn warn_of_repeats<'a>(inputs: impl IntoIterator<Item = &'a Input>, warnings: &Warnings) {
    warn_of_repeated(inputs, "all that it holds counts twice", warnings);
}

/// Warns of files that are given more than once, like [`warn_of_repeats`], and states the `effect`.
pub fn warn_of_repeated<'a>(
    inputs: impl IntoIterator<Item = &'a Input>,
    effect: &str,
    warnings: &Warnings,
) {
    let mut seen: HashMap<[u64; 3], &Input> = HashMap::new();
    let mut repeats = Vec::new();
    for input in inputs {
        let Some(identity) = identity(input) else { continue };
        match seen.get(&identity) {
            Some(first) => repeats.push((*first, input)),
            None => drop(seen.insert(identity, input)),
        }
    }
    let Some((first, second)) = repeats.first() else { return };
    let names = match first == second {
        true => format!("{first}: is given more than once"),
        false => format!("{first} and {second}: are the same file"),
    };
    let more = match repeats.len() - 1 {
        0 => String::new(),
        more => format!(" (and {more} more of the inputs are files that were given before)"),
    };
    warnings.push(format!("{names}, and {effect}{more}: give it once"));
}

/// Whether two inputs are the same file, even under different names.
pub(crate) fn are_same(one: &Input, two: &Input) -> bool {
    identity(one).is_some_and(|identity| self::identity(two) == Some(identity))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ReadInput;
    use crate::records::refuse_own_mates;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn files_are_known_by_any_name() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        fs::write(path("a"), "x").unwrap();
        fs::write(path("b"), "x").unwrap();
        symlink(path("a"), path("link")).unwrap();
        fs::hard_link(path("a"), path("hard")).unwrap();
        let input = |name: &str| Input::File(path(name));
        let warned = |names: &[&str]| {
            let (warnings, inputs) = (Warnings::default(), names.iter().map(|name| input(name)));
            warn_of_repeats(&inputs.collect::<Vec<_>>(), &warnings);
            warnings.all().join("|").replace(&format!("{}/", dir.path().display()), "")
        };
        let counts = "and all that it holds counts twice";
        assert_eq!(warned(&["a", "b"]), "");
        assert_eq!(
            warned(&["a", "b", "a"]),
            format!("a: is given more than once, {counts}: give it once")
        );
        for other in ["link", "hard", "../x/./a"] {
            let other = other.replace("x", dir.path().file_name().unwrap().to_str().unwrap());
            let expected = format!("a and {other}: are the same file, {counts}: give it once");
            assert_eq!(warned(&["a", "b", &other]), expected);
        }
        assert!(warned(&["a", "b", "a", "b", "a"]).contains("(and 2 more of the inputs"));
        let pair = |one, two| refuse_own_mates(&[ReadInput::Pair(input(one), input(two))]);
        assert!(pair("a", "b").is_ok());
        let error = pair("a", "link").unwrap_err().to_string();
        assert!(error.contains("the same file as first and as second mates"), "{error}");
    }
}
