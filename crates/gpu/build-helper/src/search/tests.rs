use super::*;
use std::fs;

fn fake(root: &Path) -> PathBuf {
    fs::create_dir_all(root.join("bin")).unwrap();
    fs::write(root.join("bin/nvcc"), "").unwrap();
    root.to_path_buf()
}

fn place(folder: &tempfile::TempDir, name: &str) -> PathBuf {
    fs::canonicalize(folder.path()).unwrap().join(name)
}

/// Writes a runtime to a folder of a toolkit, and returns the folder.
fn with_runtime(root: &Path, name: &str) -> PathBuf {
    let folder = root.join(name);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("libcudart_static.a"), "").unwrap();
    folder
}

#[test]
fn variables_come_before_path_before_usual_places_before_environments() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name| fake(&place(&folder, name));
    let wheel = at(".cuda/lib/python3.11/site-packages/nvidia/cu13");
    let mut search = Search { environments: vec![place(&folder, ".cuda")], ..Search::default() };
    assert_eq!(search.find().unwrap().root, wheel);
    search.usual = vec![place(&folder, "nothing"), at("usual")];
    assert_eq!(search.find().unwrap().root, place(&folder, "usual"));
    search.path = Some(env::join_paths([place(&folder, "x"), at("on-path").join("bin")]).unwrap());
    assert_eq!(search.find().unwrap().root, place(&folder, "on-path"));
    search.cuda_path = Some(at("cuda-path"));
    assert_eq!(search.find().unwrap().root, place(&folder, "cuda-path"));
    search.cuda_home = Some(at("cuda-home"));
    assert_eq!(search.find().unwrap().nvcc, place(&folder, "cuda-home/bin/nvcc"));
}

#[test]
fn a_variable_that_leads_nowhere_is_an_error_not_a_fallback() {
    let folder = tempfile::tempdir().unwrap();
    let search = Search {
        cuda_home: Some(PathBuf::from("/no/such/toolkit")),
        usual: vec![fake(&place(&folder, "usual"))],
        ..Search::default()
    };
    assert_eq!(
        search.find().unwrap_err().to_string(),
        "CUDA_HOME is set, but there is no /no/such/toolkit/bin/nvcc; correct it or unset it"
    );
}

#[test]
fn a_failed_search_lists_every_place() {
    let search = Search {
        usual: vec![PathBuf::from("/no/cuda")],
        environments: vec![PathBuf::from("/no/.cuda")],
        ..Search::default()
    };
    let message = search.find().unwrap_err().to_string();
    for part in [
        "CUDA_HOME (not set), CUDA_PATH (not set), nvcc on PATH",
        "/no/cuda/bin/nvcc",
        "/no/.cuda/lib/python3*/site-packages/nvidia/cu*/bin/nvcc",
        "pip install",
    ] {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn a_link_on_the_path_leads_to_its_toolkit() {
    let folder = tempfile::tempdir().unwrap();
    let root = fake(&place(&folder, "cuda-12.4"));
    let bin = place(&folder, "usr-bin");
    fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink(root.join("bin/nvcc"), bin.join("nvcc")).unwrap();
    let search = Search { path: Some(bin.into()), ..Search::default() };
    assert_eq!(search.find().unwrap(), Toolkit { nvcc: root.join("bin/nvcc"), root });
}

#[test]
fn newer_toolkits_come_first() {
    let paths = ["cuda-12.9", "cuda-13.0", "cuda-12.10"].map(PathBuf::from).to_vec();
    let sorted = newest_first(paths);
    assert_eq!(sorted, ["cuda-13.0", "cuda-12.10", "cuda-12.9"].map(PathBuf::from));
}

#[test]
fn the_runtime_is_found_in_any_layout_or_named_as_missing() {
    let folder = tempfile::tempdir().unwrap();
    let toolkit = Toolkit { nvcc: folder.path().join("bin/nvcc"), root: folder.path().into() };
    let machine = Machine::new("powerpc64-unknown-linux-gnu", "powerpc64-unknown-linux-gnu");
    let message = toolkit.library_folder(&machine).unwrap_err().to_string();
    assert!(message.contains("no libcudart_static.a for powerpc64"), "{message}");
    let lib = with_runtime(folder.path(), "lib");
    assert_eq!(toolkit.library_folder(&machine).unwrap(), lib);
}

#[test]
fn a_build_for_another_processor_takes_its_libraries() {
    let folder = tempfile::tempdir().unwrap();
    let toolkit = Toolkit { nvcc: folder.path().join("bin/nvcc"), root: folder.path().into() };
    let lib = with_runtime(folder.path(), "lib");
    let [arm, intel] = ["aarch64", "x86_64"].map(|name| format!("{name}-unknown-linux-gnu"));
    let cross = Machine::new(&arm, &intel);
    assert_ne!(toolkit.library_folder(&cross).ok(), Some(lib.clone()));
    let server = with_runtime(folder.path(), "targets/sbsa-linux/lib");
    assert_eq!(toolkit.library_folder(&cross).unwrap(), server);
    assert_eq!(toolkit.library_folder(&Machine::new(&arm, &arm)).unwrap(), server);
    assert_eq!(toolkit.library_folder(&Machine::new(&intel, &intel)).unwrap(), lib);
}

#[test]
fn versions_are_read_from_what_nvcc_says() {
    let text = "nvcc: NVIDIA (R) Cuda compiler driver\n\
                Cuda compilation tools, release 13.0, V13.0.88\nBuild cuda_13.0.r13.0\n";
    assert_eq!(parse_version(text).as_deref(), Some("13.0.88"));
    assert_eq!(parse_version("gcc 12 Very new"), None);
}
