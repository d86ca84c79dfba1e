"""Builds the package: the hooks that pip calls (PEP 517), and what `scripts/wheel` and `scripts/python-tests` call.

A wheel has the native module, the package in `python/vesica`, and the command `vesica`. One call of cargo builds module
and command, which then share nearly all crates; maturin would build the module alone, with other features of the same
crates. So the wheel is packed here. maturin writes its metadata, source distributions and editable installs (which are
without the command).

`VESICA_PROFILE` names the profile of cargo: `release` by default, `dist` for what is published, `dev` for tests.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import maturin
from maturin import (
    build_editable,
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python" / "vesica"
# If Rust is missing, maturin fails, instead of downloading a version of its choice.
os.environ["MATURIN_NO_INSTALL_RUST"] = "1"
#: The tag of the module with the stable interface of Python, and the end of its file's name.
STABLE = ("cp311-abi3", "abi3.so")
#: The packages of cargo, and their targets that a wheel has.
CRATES = ("vesica-python", "vesica-cli")
MODULE, COMMAND = "_vesica", "vesica"


class Python(NamedTuple):
    """The interpreter that the module is built for."""

    #: The first two parts of the wheel's tag.
    tag: str
    #: The end of the name of the module's file.
    suffix: str
    #: The configuration of PyO3, if the stable interface is not used.
    config: str | None = None


def stable() -> Python:
    """Python 3.11 and later."""
    return Python(*STABLE)


def free_threaded(minor: int, machine: str) -> Python:
    """Python 3.`minor` without the GIL, which has no stable interface before 3.15."""
    tag = f"cp3{minor}-cp3{minor}t"
    suffix = f"cpython-3{minor}t-{machine}-linux-gnu.so"
    lines = ("implementation=CPython", f"version=3.{minor}", "build_flags=Py_GIL_DISABLED")
    return Python(tag, suffix, "".join(f"{line}\n" for line in lines))


def this_python() -> Python:
    """The target for the running interpreter."""
    if not sysconfig.get_config_var("Py_GIL_DISABLED"):
        return stable()
    return free_threaded(sys.version_info.minor, os.uname().machine)


def profile() -> str:
    """The profile of cargo to build with."""
    return os.environ.get("VESICA_PROFILE") or "release"


def build(
    python: Python,
    target: str | None = None,
    glibc: str | None = None,
    like_tests: bool = False,
) -> dict[str, pathlib.Path]:
    """The files of the module and of the command, built by cargo.

    `target` is a triple of Rust, and is built with zig for the given version of glibc. `like_tests`
    takes the features of the workspace's tests, so that nothing is built twice.
    """
    command = [os.environ.get("CARGO", "cargo"), "build" if target is None else "zigbuild"]
    command += ["--locked", "--profile", profile(), "--message-format", "json-render-diagnostics"]
    if target is not None:
        command += ["--target", target if glibc is None else f"{target}.{glibc}"]
    if like_tests:
        # Cargo enables the features of the tests only if a test is built too: this one is the quickest.
        command += ["--workspace", "--lib", "--bin", COMMAND, "--test", "structure"]
    else:
        command += [f"--package={crate}" for crate in CRATES]
    environment = dict(os.environ)
    if profile() != "dev":
        # An installed wheel does not have the file that `make dist` moves the debug information to.
        name = profile().upper().replace("-", "_")
        environment |= {
            f"CARGO_PROFILE_{name}_DEBUG": "false",
            f"CARGO_PROFILE_{name}_STRIP": "symbols",
        }
    with tempfile.TemporaryDirectory() as folder:
        if python.config is not None:
            config = pathlib.Path(folder) / "pyo3.txt"
            config.write_text(python.config)
            environment["PYO3_CONFIG_FILE"] = str(config)
        done = subprocess.run(
            command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=False
        )
    if done.returncode != 0:
        sys.exit(f"error: {' '.join(command)} failed")
    return dict(built(done.stdout))


def built(messages: str) -> Iterator[tuple[str, pathlib.Path]]:
    """The module's and the command's file, as cargo names them."""
    for line in messages.splitlines():
        message = json.loads(line)
        if message.get("reason") != "compiler-artifact":
            continue
        kinds, name = message["target"]["kind"], message["target"]["name"]
        if (name, kinds) == (MODULE, ["cdylib"]):
            yield MODULE, pathlib.Path(message["filenames"][0])
        elif (name, kinds) == (COMMAND, ["bin"]):
            yield COMMAND, pathlib.Path(message["executable"])


def pack(
    folder: pathlib.Path,
    metadata: pathlib.Path,
    files: Mapping[str, pathlib.Path],
    python: Python,
    platform: str,
) -> pathlib.Path:
    """Write the wheel into `folder`; `metadata` is its directory `.dist-info`."""
    release = metadata.name.removesuffix(".dist-info")
    tag = f"{python.tag}-{platform}"
    path = folder / f"{release}-{tag}.whl"
    folder.mkdir(parents=True, exist_ok=True)
    records: list[str] = []

    def add(name: str, content: bytes, mode: int = 0o644) -> None:
        # The same content makes the same file: no time, no owner.
        entry = zipfile.ZipInfo(name)
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = (0o100000 | mode) << 16
        wheel.writestr(entry, content, compresslevel=1 if profile() == "dev" else 9)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        records.append(f"{name},sha256={digest},{len(content)}\n")

    partial = path.with_suffix(".partial")
    with zipfile.ZipFile(partial, "w") as wheel:
        for file in package_files():
            add(f"vesica/{file.relative_to(PACKAGE).as_posix()}", file.read_bytes())
        add(f"vesica/{MODULE}.{python.suffix}", stripped(files[MODULE]), 0o755)
        add(f"{release}.data/scripts/{COMMAND}", stripped(files[COMMAND]), 0o755)
        about = f"Wheel-Version: 1.0\nGenerator: vesica\nRoot-Is-Purelib: false\nTag: {tag}\n"
        add(f"{metadata.name}/WHEEL", about.encode())
        for file in sorted(one for one in metadata.rglob("*") if one.is_file()):
            name = file.relative_to(metadata).as_posix()
            if name not in ("WHEEL", "RECORD"):
                add(f"{metadata.name}/{name}", file.read_bytes())
        record = f"{metadata.name}/RECORD"
        add(record, "".join([*records, f"{record},,\n"]).encode())
    partial.replace(path)
    return path


def package_files() -> list[pathlib.Path]:
    """The package's files, without the ones that running it leaves behind."""
    files = (file for file in PACKAGE.rglob("*") if file.is_file())
    return sorted(file for file in files if file.suffix not in (".pyc", ".so"))


def stripped(file: pathlib.Path) -> bytes:
    """The content of a program or a library, without symbols."""
    if profile() != "dev":
        # The linker has already left them out.
        return file.read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / file.name
        subprocess.run(["objcopy", "--strip-all", file, copy], check=True)
        return copy.read_bytes()


def build_wheel(
    wheel_directory: str,
    config_settings: Mapping[str, Any] | None = None,
    metadata_directory: str | None = None,
) -> str:
    """The hook of PEP 517: a wheel for this interpreter and this machine."""
    python = this_python()
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    files = build(python)
    with tempfile.TemporaryDirectory() as folder:
        metadata = (
            pathlib.Path(metadata_directory)
            if metadata_directory is not None
            else described(folder)
        )
        return pack(pathlib.Path(wheel_directory), metadata, files, python, platform).name


def described(folder: str) -> pathlib.Path:
    """The metadata of the package, written into `folder`."""
    return pathlib.Path(folder, maturin.prepare_metadata_for_build_wheel(folder))


def main() -> None:
    """Build a wheel into a folder, and print its path on the last line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--target", help="triple of Rust; built with zig")
    parser.add_argument("--glibc", help="the lowest version of glibc, such as 2.17")
    parser.add_argument(
        "--free-threaded", type=int, metavar="MINOR", help="for Python 3.MINOR without the GIL"
    )
    parser.add_argument(
        "--like-tests", action="store_true", help="with the features of the workspace's tests"
    )
    options = parser.parse_args()
    if shutil.which("cargo") is None:
        sys.exit("error: cargo is missing; https://rustup.rs installs it")
    machine = os.uname().machine if options.target is None else options.target.split("-")[0]
    minor = options.free_threaded
    python = stable() if minor is None else free_threaded(minor, machine)
    platform = f"linux_{machine}"
    if options.glibc is not None:
        platform = f"manylinux_{options.glibc.replace('.', '_')}_{machine}"
    files = build(python, options.target, options.glibc, options.like_tests)
    os.chdir(ROOT)
    with tempfile.TemporaryDirectory() as folder:
        print(pack(options.folder.absolute(), described(folder), files, python, platform))


if __name__ == "__main__":
    main()
