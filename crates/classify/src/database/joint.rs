//! Several databases used together, as one: their parts, targets and taxa, one database after the other.
//!
//! The tables stay as they are in the files. Their locations are windows numbered within the database, so queries of a
//! part add the numbers of its [`Origin`].

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::Path;

use merganser_taxonomy::{JointTaxonomy, Taxonomy};

use super::{Content, Counts, Data, Database, Target};
use crate::Error;
use crate::params::Params;

/// The number of locations of a part of a split database that are read to find its place among the others.
const SAMPLE: usize = 256;

/// The members of a joint database.
#[derive(Debug)]
pub(super) struct Joint {
    /// The databases, in the order of their parts. Targets and taxa are those of the joint database only.
    members: Vec<Member>,
    /// Messages about databases that differ in their taxonomies, or have the same sequences.
    differences: Vec<String>,
}

#[derive(Debug)]
struct Member {
    database: Database,
    /// The number of its first part.
    first_part: usize,
    origin: Origin,
}

/// The place of the targets that a part's tables refer to, among all targets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    /// The number of this database among those with their own targets.
    pub(crate) number: usize,
    /// The targets.
    pub(crate) targets: Range<u32>,
    /// The number of the first window of these targets, which is added to the locations of the tables.
    pub(crate) first_window: u32,
}

impl Database {
    /// Opens databases that are used together, as one: a read is decided once, by the candidates of all of them. The
    /// results are those of one database of all genomes, in the order of the databases, except for features with more
    /// locations than a database keeps: each database has kept its own. The parts that [`split`](Self::split) wrote give
    /// the results of the whole, in any order.
    ///
    /// Taxonomies are joined by taxid. Taxa that differ in parent, rank or name are as in the first database that has
    /// them; a run warns of them, and of sequences that several databases have.
    ///
    /// # Errors
    /// Fails as [`open`](Self::open) and [`joined`](Self::joined) do.
    pub fn open_all(paths: impl IntoIterator<Item = impl AsRef<Path>>) -> Result<Database, Error> {
        let open = |path: &dyn AsRef<Path>| Database::open(path);
        Database::joined(
            paths.into_iter().map(|path| open(&path)).collect::<Result<Vec<_>, Error>>()?,
        )
    }

    /// Joins databases as [`open_all`](Self::open_all) does.
    ///
    /// # Errors
    /// If there is no database; if the sketching parameters differ, or the taxonomies are different ones: most taxids
    /// that they share have other names; if there are 2³² windows or more in all.
    pub fn joined(databases: impl IntoIterator<Item = Database>) -> Result<Database, Error> {
        let mut databases: Vec<Database> = databases.into_iter().collect();
        if databases.len() == 1
            && let Some(only) = databases.pop()
        {
            return Ok(only);
        }
        match databases.iter().find(|database| database.is_joint()) {
            Some(joint) => Err(Error::Input(format!(
                "{}: these are several databases already: join all at once",
                joint.name()
            ))),
            None => join(databases),
        }
    }

    /// Returns the place of the targets that the tables of a part refer to.
    pub(crate) fn origin(&self, part: usize) -> Origin {
        match &self.data {
            Data::Joint(joint) => joint.member(part).origin.clone(),
            _ => Origin { number: 0, targets: 0..self.targets.len() as u32, first_window: 0 },
        }
    }

    /// Returns the starts of targets as the tables count them: the first window of each target, and the end of the last
    /// window, for each database by itself.
    pub(crate) fn own_starts(&self) -> Vec<u32> {
        let Data::Joint(joint) = &self.data else { return self.starts.clone() };
        let mut own = Vec::with_capacity(self.starts.len());
        let origins = joint.members.iter().map(|member| &member.origin);
        let mut next = 0;
        for origin in origins {
            // The parts of a split database have the same targets.
            if origin.number == next {
                let starts = origin.targets.start as usize..=origin.targets.end as usize;
                own.extend(self.starts[starts].iter().map(|start| start - origin.first_window));
                next += 1;
            }
        }
        own
    }

    /// Returns the names of the databases that are used together: those of their files, without folder and suffix, or `None`
    /// for databases without a file. The parts of a split database are one, with the name of the first part.
    pub(crate) fn member_names(&self) -> Vec<Option<String>> {
        let Data::Joint(joint) = &self.data else { return vec![self.stem()] };
        let mut names = Vec::new();
        for Member { database, origin, .. } in &joint.members {
            if origin.number == names.len() {
                names.push(database.stem());
            }
        }
        names
    }

    /// Whether this is several databases that are used together.
    pub fn is_joint(&self) -> bool {
        matches!(self.data, Data::Joint(_))
    }
}

impl Joint {
    /// Returns all databases.
    pub(super) fn all(&self) -> impl Iterator<Item = &Database> {
        self.members.iter().map(|member| &member.database)
    }

    fn member(&self, part: usize) -> &Member {
        let after = self.members.partition_point(|member| member.first_part <= part);
        &self.members[after.saturating_sub(1)]
    }

    /// Returns the database that a part is of, and its number there.
    pub(super) fn part(&self, part: usize) -> (&Database, usize) {
        let member = self.member(part);
        (&member.database, part - member.first_part)
    }

    /// Returns each database with its own parts among `parts`, if there are any.
    pub(super) fn parts(
        &self,
        parts: Range<usize>,
    ) -> impl Iterator<Item = (&Database, Range<usize>)> {
        self.members.iter().filter_map(move |Member { database, first_part, .. }| {
            let within = |part: usize| part.saturating_sub(*first_part).min(database.parts);
            let own = within(parts.start)..within(parts.end);
            (!own.is_empty()).then_some((database, own))
        })
    }

    /// Returns the messages about differences between the databases.
    pub(super) fn differences(&self) -> &[String] {
        &self.differences
    }
}

/// Databases that have the same targets: one, or the parts of one that was split, in the order of their windows.
struct Group {
    databases: Vec<Database>,
    /// The lowest and the highest window of some locations of each.
    sampled: Vec<(u32, u32)>,
}

impl Group {
    fn of(database: Database) -> Group {
        let sampled = vec![sampled_windows(&database)];
        Group { databases: vec![database], sampled }
    }

    /// Adds a database if it is a further part of the same split database; otherwise returns it.
    fn add(&mut self, database: Database) -> Option<Database> {
        let first = &self.databases[0];
        let may_be_split = |one: &Database| {
            one.pruned && one.parts == 1 && one.counts.overfull == 0 && one.counts.dropped == 0
        };
        if !may_be_split(first) || !may_be_split(&database) || !have_same_targets(first, &database)
        {
            return Some(database);
        }
        let (low, high) = sampled_windows(&database);
        let place = self.sampled.iter().take_while(|own| own.0 < low).count();
        let overlaps = |own: &(u32, u32)| own.0 <= high && low <= own.1;
        if self.sampled.iter().any(overlaps) {
            return Some(database);
        }
        self.sampled.insert(place, (low, high));
        self.databases.insert(place, database);
        None
    }
}

/// Returns the lowest and the highest window of some locations. The tables need not have been checked: a file that turns
/// out to be damaged is not used.
fn sampled_windows(database: &Database) -> (u32, u32) {
    let sections = match &database.data {
        Data::Memory(tables) => database.sections_of(tables, 0),
        Data::File { mapping, header } => header.sections(mapping.bytes(), 0),
        Data::Remote { .. } | Data::Joint(_) => Vec::new(),
    };
    let locations = sections.iter().flat_map(|section| section.features().flat_map(|at| at.1));
    let (mut low, mut high) = (u32::MAX, 0);
    for &location in locations.take(SAMPLE) {
        (low, high) = (low.min(location), high.max(location));
    }
    (low, high)
}

fn have_same_targets(one: &Database, other: &Database) -> bool {
    let stored = |tree: &Taxonomy| {
        let mut bytes = Vec::new();
        tree.store(&mut bytes);
        bytes
    };
    one.targets == other.targets && stored(&one.taxonomy) == stored(&other.taxonomy)
}

fn join(all: Vec<Database>) -> Result<Database, Error> {
    refuse_other_sketches(&all)?;
    let Some(params) = all.first().map(|first| first.params) else {
        return Err(Error::Input("there is no database".to_owned()));
    };
    let groups = groups_of(all);
    let names: Vec<String> = groups.iter().map(|group| group.databases[0].name()).collect();
    let trees = names.iter().zip(&groups);
    let trees = trees.map(|(name, group)| (Path::new(name), &group.databases[0].taxonomy));
    let JointTaxonomy { taxonomy, mut differences } = JointTaxonomy::of(trees)?;
    differences.extend(repeated(&names, &groups));
    let mut joined = Joined::new(params, taxonomy);
    groups.into_iter().try_for_each(|group| joined.add(group))?;
    let Joined { content, members, .. } = joined;
    Ok(Database::new(content, Data::Joint(Joint { members, differences })))
}

/// Checks that all databases have the sketching parameters of the first.
fn refuse_other_sketches(all: &[Database]) -> Result<(), Error> {
    let Some((first, others)) = all.split_first() else { return Ok(()) };
    for other in others {
        if let Some(difference) = first.params.difference(&other.params) {
            let [one, other] = [first, other].map(Database::name);
            return Err(Error::Input(format!(
                "{one} and {other} cannot be used together: {difference}"
            )));
        }
    }
    Ok(())
}

/// Finds the parts of split databases.
fn groups_of(all: Vec<Database>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for database in all {
        let mut left = Some(database);
        for group in &mut groups {
            left = left.and_then(|database| group.add(database));
        }
        groups.extend(left.map(Group::of));
    }
    groups
}

/// The databases that were joined so far.
struct Joined {
    content: Content,
    members: Vec<Member>,
    windows: u64,
    groups: usize,
}

impl Joined {
    fn new(params: Params, taxonomy: Taxonomy) -> Joined {
        let content = Content {
            params,
            targets: Vec::new(),
            taxonomy,
            parts: 0,
            counts: Counts::default(),
            pruned: false,
            left_out: 0,
        };
        Joined { content, members: Vec::new(), windows: 0, groups: 0 }
    }

    /// Adds databases that have the same targets.
    fn add(&mut self, group: Group) -> Result<(), Error> {
        let Joined { content, members, windows, groups } = self;
        let first = &group.databases[0];
        let (first_target, first_window) = (content.targets.len() as u32, *windows as u32);
        *windows += u64::from(first.windows());
        if *windows > u32::MAX.into() {
            return Err(Error::Input(format!(
                "{}: up to this database there are {windows} windows, and at most 2^32 - 1 can be used together: \
                 classify with fewer databases, and join the results with db merge-results",
                first.name()
            )));
        }
        content.targets.extend(targets_in(first, &content.taxonomy));
        content.left_out += first.left_out;
        let targets = first_target..content.targets.len() as u32;
        let origin = Origin { number: *groups, targets, first_window };
        *groups += 1;
        for mut database in group.databases {
            // Only the joint ones are used.
            database.targets = Vec::new();
            database.taxonomy = database.taxonomy.pruned(std::iter::empty());
            content.counts.add(database.counts);
            content.pruned |= database.pruned;
            let first_part = content.parts;
            content.parts += database.parts;
            members.push(Member { database, first_part, origin: origin.clone() });
        }
        Ok(())
    }
}

/// Returns the targets of a database with their nodes in the joint taxonomy.
fn targets_in(database: &Database, joint: &Taxonomy) -> impl Iterator<Item = Target> {
    let own = &database.taxonomy;
    let nodes: HashMap<u32, u32> = database
        .targets
        .iter()
        .map(|target| (target.node, joint.node(own.taxid(target.node)).unwrap_or(joint.root())))
        .collect();
    database
        .targets
        .iter()
        .map(move |target| Target { node: nodes[&target.node], ..target.clone() })
}

/// Returns a message about sequences that several databases have, by name and length.
fn repeated(names: &[String], groups: &[Group]) -> Option<String> {
    let mut known: HashMap<(&str, u64), usize> = HashMap::new();
    let (mut count, mut first) = (0, None);
    for (number, group) in groups.iter().enumerate() {
        let mut own = HashSet::new();
        for target in &group.databases[0].targets {
            let key = (&*target.name, target.bases);
            match known.get(&key) {
                Some(&other) if other != number => {
                    count += u64::from(own.insert(key));
                    first.get_or_insert((&target.name, other, number));
                }
                _ => {
                    known.insert(key, number);
                }
            }
        }
    }
    let (target, one, other) = first?;
    Some(format!(
        "{count} sequences have the name and the length of a sequence of another database and count as further \
         sequences, first {target} in {} and {}",
        names[one], names[other]
    ))
}
