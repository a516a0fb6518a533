"""Builds the program `merganser` for the package's folder of scripts, and then the package, by maturin.

The environment variable MERGANSER_CUDA=1 builds the CUDA code in, which needs a CUDA toolkit (CUDA_HOME); MERGANSER_PROGRAM
names a program that was built before, to be taken instead.
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
    """The folder whose files become programs; maturin wants it to be there whatever it does."""
    scripts = DATA / "scripts"
    scripts.mkdir(parents=True, exist_ok=True)
    try:
        yield scripts
    finally:
        shutil.rmtree(DATA)


def _workspace() -> Path:
    """The folder of the workspace: two above in the repository, this one in a source distribution."""
    return next(folder for folder in [HERE, *HERE.parents] if (folder / "Cargo.lock").exists())


def _program() -> Path:
    given = os.environ.get("MERGANSER_PROGRAM")
    if given:
        return Path(given)
    # Together with what maturin asks for then: by itself it would have all crates once more, with other features.
    command = ["cargo", "build", "--release", "--locked", "--package", "merganser", "--package", "merganser-python"]
    if os.environ.get("MERGANSER_CUDA") == "1":
        command += ["--features", "merganser/cuda"]
    subprocess.run(command, cwd=_workspace(), check=True)
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
        return maturin.build_wheel(wheel_directory, settings, metadata_directory)


def build_sdist(sdist_directory, config_settings=None):
    with _scripts():
        return maturin.build_sdist(sdist_directory, config_settings)
