"""Builds the program `merganser` into the package's folder of scripts, then the package with maturin.

The environment variable MERGANSER_CUDA=1 includes the CUDA code, which requires a CUDA toolkit (CUDA_HOME). MERGANSER_PROGRAM
is the path of an already built program to use instead.
"""

import os
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path

import maturin
from maturin import get_requires_for_build_sdist, get_requires_for_build_wheel  # noqa: F401

HERE = Path(__file__).resolve().parent
DATA = HERE / "merganser.data"


@contextmanager
def _scripts():
    """Yields the folder whose files become programs. It must exist for every action of maturin."""
    scripts = DATA / "scripts"
    scripts.mkdir(parents=True, exist_ok=True)
    try:
        yield scripts
    finally:
        shutil.rmtree(DATA)


def _workspace() -> Path:
    """Returns the folder of the workspace: two levels up in the repository, this folder in a source distribution."""
    return next(folder for folder in [HERE, *HERE.parents] if (folder / "Cargo.lock").exists())


def _profile() -> dict[str, str]:
    """Returns the environment of cargo, without link-time optimisation between crates: it would generate the code of all
    crates twice, once for each of the two packages. Counting, mapping and classifying take as long without it.
    """
    return {"CARGO_PROFILE_RELEASE_LTO": "false", **os.environ}


def _program() -> Path:
    given = os.environ.get("MERGANSER_PROGRAM")
    if given:
        return Path(given)
    # Build both packages at once: building `merganser` alone would compile all crates twice, with different features.
    command = ["cargo", "build", "--release", "--locked", "--package", "merganser", "--package", "merganser-python"]
    if os.environ.get("MERGANSER_CUDA") == "1":
        command += ["--features", "merganser/cuda"]
    subprocess.run(command, cwd=_workspace(), check=True, env=_profile())
    target = os.environ.get("CARGO_TARGET_DIR", str(_workspace() / "target"))
    return Path(target) / "release" / "merganser"


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    with _scripts():
        return maturin.prepare_metadata_for_build_wheel(metadata_directory, config_settings)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    with _scripts() as scripts:
        shutil.copy2(_program(), scripts / "merganser")
        if shutil.which("strip"):
            subprocess.run(["strip", str(scripts / "merganser")], check=True)
        settings = dict(config_settings or {})
        if os.environ.get("MERGANSER_CUDA") == "1":
            settings["build-args"] = "--features cuda"
        os.environ.update(_profile())
        return maturin.build_wheel(wheel_directory, settings, metadata_directory)


def build_sdist(sdist_directory, config_settings=None):
    with _scripts():
        return maturin.build_sdist(sdist_directory, config_settings)
