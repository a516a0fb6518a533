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
    if !Path::new("/usr/lib/x86_64-linux-gnu/libcudart_static.a").exists() {
        let message = toolkit.library_folder().unwrap_err().to_string();
        assert!(message.contains("no libcudart_static.a"), "{message}");
    }
    fs::create_dir_all(folder.path().join("lib")).unwrap();
    fs::write(folder.path().join("lib/libcudart_static.a"), "").unwrap();
    assert_eq!(toolkit.library_folder().unwrap(), folder.path().join("lib"));
}

#[test]
fn versions_are_read_from_what_nvcc_says() {
    let text = "nvcc: NVIDIA (R) Cuda compiler driver\n\
                Cuda compilation tools, release 13.0, V13.0.88\nBuild cuda_13.0.r13.0\n";
    assert_eq!(parse_version(text).as_deref(), Some("13.0.88"));
    assert_eq!(parse_version("gcc 12 Very new"), None);
}
