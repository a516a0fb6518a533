//! Links in the book and in other pages lead to existing files and headings.

use std::collections::BTreeSet;
use std::path::Path;

use merganser_test_support::examples::find_pages;
use merganser_test_support::root;

/// Returns the text without code.
fn prose(text: &str) -> String {
    let blocks = text.split("```").step_by(2);
    blocks.flat_map(|block| block.split('`').step_by(2)).collect()
}

/// Returns the targets of a page's links.
fn targets(page: &str) -> impl Iterator<Item = &str> {
    let ends = page.split("](").skip(1).filter_map(|rest| rest.split([')', ' ', '\n']).next());
    ends.filter(|target| !target.contains("://") && !target.starts_with("mailto:"))
}

/// Returns the anchors of a page's headings, as mdBook and code hosts make them.
fn anchors(page: &str) -> BTreeSet<String> {
    let headings = page.lines().filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| {
        let text = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = text.chars().filter(|&it| it.is_alphanumeric() || " -_".contains(it));
        kept.map(|it| if it == ' ' { '-' } else { it }).collect()
    };
    headings.map(anchor).collect()
}

/// Describes the problem of a link, if it has one.
fn problem(page: &Path, target: &str) -> Option<String> {
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let path = if file.is_empty() { page.to_owned() } else { page.parent().unwrap().join(file) };
    if !path.exists() {
        return Some("no such file".to_owned());
    }
    if anchor.is_empty() || path.extension().is_none_or(|end| end != "md") {
        return None;
    }
    let text = std::fs::read_to_string(&path).unwrap();
    (!anchors(&text).contains(anchor)).then(|| "no such heading".to_owned())
}

#[test]
fn links_lead_somewhere() {
    let names = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "bench/README.md"];
    let mut pages: Vec<_> = names.map(|name| root().join(name)).to_vec();
    pages.push(root().join("workflow/README.md"));
    find_pages(&root().join("docs"), &mut pages);
    let (mut problems, mut links) = (Vec::new(), 0);
    for page in &pages {
        let text = std::fs::read_to_string(page).unwrap();
        for target in targets(&prose(&text)) {
            links += 1;
            let found = problem(page, target);
            problems.extend(found.map(|it| format!("{}: {target}: {it}", page.display())));
        }
    }
    assert!(links > 100, "{links}");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn every_page_of_the_book_is_in_its_summary() {
    let docs = root().join("docs");
    let summary = std::fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    let mut pages = Vec::new();
    find_pages(&docs, &mut pages);
    for page in pages.iter().filter(|page| !page.ends_with("SUMMARY.md")) {
        let name = page.strip_prefix(&docs).unwrap().to_str().unwrap();
        assert!(summary.contains(&format!("({name})")), "{name}");
    }
}
