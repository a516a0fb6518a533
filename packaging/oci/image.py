"""Writes an image in the OCI image layout, in one tar file, without a container engine; or unpacks one.

Usage: image.py write MERGANSER ROOT VERSION REVISION FILE.tar
       image.py unpack FILE.tar FOLDER

ROOT is a Debian root in which the steps of the Dockerfile's second stage have run (build.sh). The image has two layers:
ROOT, and the program with its licences. Engines load it: `podman load -i FILE.tar`, `skopeo copy oci-archive:FILE.tar ...`,
`docker load -i FILE.tar` (Docker 25 or newer). The same input gives the same bytes. `unpack` checks sizes and checksums of
all parts, and extracts the layers in order. Requires Python 3.12, or 3.11 from 3.11.4, or 3.10 from 3.10.12, and root to read
and write files of all owners.

Specification: https://github.com/opencontainers/image-spec, version 1.1: image-layout.md, manifest.md, config.md, layer.md.
"""

import datetime
import functools
import gzip
import hashlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tarfile

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
MEDIA = "application/vnd.oci.image"
# Files of a Debian root that an image does not need, or that differ from build to build.
LEFT_OUT = (
    "proc", "sys", "dev", "tmp", "run", "debootstrap", "var/cache", "var/log", "var/lib/apt/lists", "etc/hostname",
    "etc/resolv.conf", "etc/machine-id", "var/lib/dpkg/lock", "var/lib/dpkg/lock-frontend",
)


@functools.cache
def epoch() -> int:
    """Returns the time of all files: that of the commit."""
    time = os.environ.get("SOURCE_DATE_EPOCH")
    if time is None:
        log = ["git", "-C", str(REPOSITORY), "log", "-1", "--format=%ct"]
        time = subprocess.run(log, check=True, capture_output=True, text=True).stdout
    return int(time)


class Blobs:
    """The parts of an image, named by their checksums."""

    def __init__(self) -> None:
        self.parts: dict[str, bytes] = {}

    def add(self, media: str, content: bytes) -> dict:
        """Adds a part; returns its descriptor."""
        digest = hashlib.sha256(content).hexdigest()
        self.parts[digest] = content
        return {"mediaType": media, "digest": f"sha256:{digest}", "size": len(content)}

    def add_json(self, media: str, content: dict) -> dict:
        """Adds a document."""
        return self.add(media, json.dumps(content, sort_keys=True, separators=(",", ":")).encode())


def layer(blobs: Blobs, entries: list, own: bool = False) -> tuple[dict, str]:
    """Adds a layer of (name in the image, path) pairs; returns its descriptor and the checksum of its tar file.

    The owner and the permissions of our own files do not depend on the checkout.
    """
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, path in entries:
            member = archive.gettarinfo(path, arcname=name)
            if member is None:
                continue  # a socket
            member.mtime, member.uname, member.gname, member.pax_headers = epoch(), "", "", {}
            if own:
                member.uid, member.gid, member.mode = 0, 0, 0o755 if member.mode & 0o100 else 0o644
            if member.isreg():
                with open(path, "rb") as content:
                    archive.addfile(member, content)
            else:
                archive.addfile(member)
    bytes_ = tar.getvalue()
    return (
        blobs.add(f"{MEDIA}.layer.v1.tar+gzip", gzip.compress(bytes_, 9, mtime=0)),
        f"sha256:{hashlib.sha256(bytes_).hexdigest()}",
    )


def files_of(root: pathlib.Path) -> list:
    """Returns all files and folders of a root, in order, without those that an image does not need."""
    found = []
    for folder, folders, files in os.walk(root):
        folders.sort()
        inside = os.path.relpath(folder, root)
        for name in sorted([*folders, *files]):
            path = os.path.join(folder, name)
            entry = os.path.normpath(os.path.join(inside, name))
            if any(entry.startswith(f"{left_out}/") or entry == left_out for left_out in LEFT_OUT):
                if entry in ("proc", "sys", "dev", "tmp", "run", "var/cache", "var/log"):
                    found.append((entry, path))  # the folder itself
                if name in folders:
                    folders.remove(name)
                continue
            found.append((entry, path))
    return sorted(found)


def dockerfile() -> dict:
    """Returns the labels, the user, the folder and the command of the Dockerfile."""
    text = (REPOSITORY / "packaging/docker/Dockerfile").read_text()
    stage = text[text.index("FROM debian"):].replace("\\\n", " ")
    lines = {line.split(" ", 1)[0]: line.split(" ", 1)[1] for line in stage.splitlines() if " " in line}
    if "ENTRYPOINT" in lines:
        raise SystemExit("image.py: Nextflow's bash -c does not work with an ENTRYPOINT")
    labels = dict(part.split("=", 1) for part in split(lines["LABEL"]))
    return {"labels": labels, "user": lines["USER"], "folder": lines["WORKDIR"], "command": json.loads(lines["CMD"])}


def split(labels: str) -> list:
    """Returns the words of a LABEL line, without quotes."""
    import shlex

    return shlex.split(labels)


def write(program: str, root: str, version: str, revision: str, output: str) -> None:
    """Writes an image."""
    given = dockerfile()
    labels = {
        name: text.replace("${VERSION}", version).replace("${REVISION}", revision)
        for name, text in given["labels"].items()
    }
    blobs = Blobs()
    base = layer(blobs, files_of(pathlib.Path(root)))
    licences = [(f"usr/share/doc/merganser/{name}", REPOSITORY / name) for name in ("LICENSE-APACHE", "LICENSE-MIT")]
    own = layer(blobs, [*licences, ("usr/local/bin/merganser", program)], own=True)
    created = datetime.datetime.fromtimestamp(epoch(), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    history = [{"created": created, "created_by": by} for by in ("debootstrap --variant=minbase", "merganser")]
    config = blobs.add_json(f"{MEDIA}.config.v1+json", {
        "created": created,
        "architecture": "amd64",
        "os": "linux",
        "config": {
            "User": given["user"],
            "Env": ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
            "Cmd": given["command"],
            "WorkingDir": given["folder"],
            "Labels": labels,
        },
        "rootfs": {"type": "layers", "diff_ids": [base[1], own[1]]},
        "history": history,
    })
    manifest = blobs.add_json(f"{MEDIA}.manifest.v1+json", {
        "schemaVersion": 2,
        "mediaType": f"{MEDIA}.manifest.v1+json",
        "config": config,
        "layers": [base[0], own[0]],
        "annotations": labels,
    })
    manifest["annotations"] = {"org.opencontainers.image.ref.name": version}
    index = {"schemaVersion": 2, "mediaType": f"{MEDIA}.index.v1+json", "manifests": [manifest]}
    documents = {"oci-layout": {"imageLayoutVersion": "1.0.0"}, "index.json": index}
    files = {name: json.dumps(content).encode() for name, content in documents.items()}
    files |= {f"blobs/sha256/{digest}": content for digest, content in sorted(blobs.parts.items())}
    with tarfile.open(f"{output}.part", mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for folder in ("blobs", "blobs/sha256"):
            member = tarfile.TarInfo(folder)
            member.type, member.mode, member.mtime = tarfile.DIRTYPE, 0o755, epoch()
            archive.addfile(member)
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size, member.mtime = len(content), epoch()
            archive.addfile(member, io.BytesIO(content))
    os.replace(f"{output}.part", output)


def unpack(image: str, folder: str) -> None:
    """Checks an image, and extracts its layers into a folder. Prints its configuration."""
    with tarfile.open(image) as archive:
        def read(name: str) -> bytes:
            return archive.extractfile(name).read()

        def part(descriptor: dict) -> bytes:
            method, digest = descriptor["digest"].split(":")
            content = read(f"blobs/{method}/{digest}")
            if len(content) != descriptor["size"] or hashlib.sha256(content).hexdigest() != digest:
                raise SystemExit(f"image.py: {descriptor['digest']}: another size or checksum")
            return content

        if json.loads(read("oci-layout")) != {"imageLayoutVersion": "1.0.0"}:
            raise SystemExit("image.py: oci-layout: another version")
        [entry] = json.loads(read("index.json"))["manifests"]
        manifest = json.loads(part(entry))
        config = json.loads(part(manifest["config"]))
        for descriptor, expected in zip(manifest["layers"], config["rootfs"]["diff_ids"], strict=True):
            content = gzip.decompress(part(descriptor))
            if f"sha256:{hashlib.sha256(content).hexdigest()}" != expected:
                raise SystemExit(f"image.py: {descriptor['digest']}: its tar file has another checksum")
            with tarfile.open(fileobj=io.BytesIO(content)) as files:
                # The owners and device files are those of the image.
                files.extractall(folder, filter="fully_trusted", numeric_owner=True)
    print(json.dumps(config["config"], indent=1))


if __name__ == "__main__":
    if len(sys.argv) == 7 and sys.argv[1] == "write":
        write(*sys.argv[2:])
    elif len(sys.argv) == 4 and sys.argv[1] == "unpack":
        unpack(*sys.argv[2:])
    else:
        raise SystemExit(__doc__)
