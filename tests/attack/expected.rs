//! Expected results: the outputs of undisturbed jobs.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hasher};
use std::io::Read;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use crate::launch::Launch;
use crate::scene::Scene;
use crate::table::{Job, device_of, jobs};
use crate::world::{Scale, World};
use merganser_test_support::signals::default_signals;

/// The length and digest of a file. Contents are not kept: this process must stay smaller than the ones it measures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Digest {
    pub(crate) length: u64,
    hash: u64,
    shape: Shape,
}

/// Counts of the letters that names must not add to texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Shape {
    zeros: u64,
    lines: u64,
    tabs: u64,
    controls: u64,
}

impl Shape {
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            match byte {
                0 => self.zeros += 1,
                b'\n' => self.lines += 1,
                b'\t' => self.tabs += 1,
                1..b' ' | 0x7f => self.controls += 1,
                _ => {}
            }
        }
    }
}

impl Digest {
    pub(crate) fn of(path: &Path) -> Digest {
        let (mut file, mut hasher) = (File::open(path).unwrap(), DefaultHasher::new());
        let (mut buffer, mut length, mut shape) = (vec![0; 1 << 16], 0, Shape::default());
        loop {
            let read = file.read(&mut buffer).unwrap();
            if read == 0 {
                return Digest { length, hash: hasher.finish(), shape };
            }
            shape.add(&buffer[..read]);
            hasher.write(&buffer[..read]);
            length += read as u64;
        }
    }
}

impl Digest {
    /// Whether both are texts with the same numbers of lines, tabs and control characters, or one of them is binary.
    pub(crate) fn has_the_shape_of(&self, other: &Digest) -> bool {
        self.shape == other.shape || self.shape.zeros > 0 || other.shape.zeros > 0
    }
}

#[derive(Debug)]
pub(crate) struct Expected {
    pub(crate) stdout: Digest,
    /// Digests of the output files by name; all names begin with `out/`.
    pub(crate) files: BTreeMap<String, Digest>,
    pub(crate) took: Duration,
}

type Known = Arc<OnceLock<Expected>>;

/// The worlds and the expected results of jobs in them, each made when it is first needed.
pub(crate) struct Ground {
    folder: tempfile::TempDir,
    small: OnceLock<World>,
    large: OnceLock<World>,
    known: Mutex<HashMap<(&'static str, Scale), Known>>,
}

impl Ground {
    pub(crate) fn new() -> Ground {
        default_signals();
        let folder = tempfile::Builder::new().prefix("merganser-world-").tempdir().unwrap();
        let (small, large) = (OnceLock::new(), OnceLock::new());
        Ground { folder, small, large, known: Mutex::default() }
    }

    pub(crate) fn world(&self, scale: Scale) -> &World {
        let (world, name) = match scale {
            Scale::Small => (&self.small, "small"),
            Scale::Large => (&self.large, "large"),
        };
        world.get_or_init(|| World::make(self.folder.path().join(name), scale))
    }

    /// Copies the outputs of all undisturbed jobs to a folder, to compare two builds.
    pub(crate) fn keep_outputs(&self, folder: &Path) {
        for scale in [Scale::Small, Scale::Large] {
            for (at, job) in jobs().into_iter().enumerate() {
                let scene = Scene::new(self.world(scale), job);
                let ended = scene.launch(&[]).run();
                assert_eq!(ended.code, Some(0), "{}: {}", job.line, ended.stderr);
                let kept = folder.join(format!("{scale:?}/{at}"));
                fs::create_dir_all(kept.join("out")).unwrap();
                fs::write(kept.join("line"), job.line).unwrap();
                fs::copy(&ended.stdout, kept.join("stdout")).unwrap();
                for name in scene.outputs() {
                    let to = kept.join(&name);
                    fs::create_dir_all(to.parent().unwrap()).unwrap();
                    fs::copy(scene.path(&name), to).unwrap();
                }
            }
        }
    }

    /// Calls `of` with the expected result of a job, which is run first if necessary.
    pub(crate) fn with_expected<T>(
        &self,
        job: &'static Job,
        scale: Scale,
        of: impl FnOnce(&Expected) -> T,
    ) -> T {
        let cell = Arc::clone(self.known.lock().unwrap().entry((job.line, scale)).or_default());
        of(cell.get_or_init(|| undisturbed(self.world(scale), job)))
    }
}

/// Returns the result of the CPU. With a device, its result must be the same, and its time is used.
fn undisturbed(world: &World, job: &'static Job) -> Expected {
    let of = |launch: fn(&Scene) -> Launch| {
        let scene = Scene::new(world, job);
        let ended = launch(&scene).run();
        assert_eq!(ended.code, Some(0), "{}: {}", job.line, ended.stderr);
        assert_eq!(scene.disturbed(), None, "{}", job.line);
        let names = scene.outputs().into_iter();
        let files: BTreeMap<String, Digest> =
            names.map(|name| (name.clone(), Digest::of(&scene.path(&name)))).collect();
        assert!(files.keys().all(|name| name.starts_with("out/")), "{}: {files:?}", job.line);
        Expected { stdout: Digest::of(&ended.stdout), files, took: ended.took }
    };
    let mut expected = of(|scene| scene.launch_on_processor(scene.job.args()));
    if device_of(job).is_some() {
        let on_device = of(|scene| scene.launch(&[]));
        assert_eq!(on_device.files, expected.files, "{}", job.line);
        assert_eq!(on_device.stdout, expected.stdout, "{}", job.line);
        expected.took = on_device.took;
    }
    expected
}
