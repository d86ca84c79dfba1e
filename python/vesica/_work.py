"""The folder of a run that a cluster and its driver can both reach."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import re
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from vesica._errors import SettingsError
from vesica._local import TRUSTED, LocalFile, LocalFolder, components, stat_of

log = logging.getLogger("vesica")

#: Most bytes of a note: it names each file of the rows.
NOTE_BYTES = 64 << 20
#: Most folders of abandoned runs that a note names.
MOST_STALE = 10_000
#: The name of a folder of rows, which a call chooses.
ROWS_NAME = re.compile("rows-[0-9a-f]{32}")
#: The name of a file of rows, which Spark chooses.
PART_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._%=+@-]*")


class Work:
    """A folder that the cluster and the driver can both reach."""

    def __init__(
        self,
        url: str | os.PathLike[str],
        files: Any,
        name: str = "work",
        example: str = "s3a://own-bucket/vesica",
        is_shared: bool = False,
    ) -> None:
        # `name` is the argument's name. `is_shared` is as for `LocalFolder`.
        if not isinstance(url, (str, os.PathLike)) or not os.fspath(url):
            raise SettingsError(
                f"{name} must be the path or URL of a folder", f'for example {name}="{example}"'
            )
        try:
            from pyarrow import fs
        except ImportError:
            raise SettingsError("Spark's rows need pyarrow", "pip install vesica[spark]") from None
        self.url = os.fspath(url)
        if any(one in self.url for one in "[]{}*?"):
            raise SettingsError(
                f"the name of {name} has a character that Spark takes for a pattern",
                "leave out [ ] { } * and ?",
            )
        if re.match("[A-Za-z][A-Za-z0-9+.-]*:", self.url) is None:
            self.url = f"file://{os.path.abspath(self.url)}"
        self.url = self.url.rstrip("/")
        scheme, slashes, rest = self.url.partition("://")
        if not slashes:
            raise SettingsError(
                f"{name} has no // after its scheme: {self.url}", "write scheme://place/folder"
            )
        self.name, self.is_shared = name, is_shared
        #: The folder of this machine that the URL names; None if it names another place.
        self.local: LocalFolder | None = None
        if files is not None:
            self.files, self.path = files, path_in(scheme, rest)
            self.find_local()
            return
        # These schemes for S3 are Hadoop's own.
        scheme = {"s3a": "s3", "s3n": "s3"}.get(scheme, scheme)
        refused = None
        try:
            self.files, self.path = fs.FileSystem.from_uri(f"{scheme}://{rest}")
        except Exception as error:
            refused = type(error).__name__
        if refused is not None:
            raise SettingsError(
                f"the driver cannot reach {self.url} ({refused})",
                "give its file system of pyarrow: files=pyarrow.fs.…",
            )
        self.find_local()

    def find_local(self) -> None:
        if self.files.type_name == "local":
            self.local = LocalFolder(self.path, self.name, self.is_shared)
            self.path = self.local.path
            if self.local.is_trusted:
                log.warning("who can write to %s is not checked: it is in %s", self.path, TRUSTED)
            if self.url.startswith("file://"):
                self.url = f"file://{self.path}"

    def check(self) -> None:
        """Refuse a folder of this machine that other users can change, if it is there."""
        if self.local is None:
            return
        refused = None
        try:
            self.local.check()
        except OSError as error:
            refused = type(error).__name__
        if refused is not None:
            raise SettingsError(
                f"the driver cannot open {self.url} ({refused})",
                f"it needs the right to read and write there; or give another folder as {self.name}",
            )

    def note(self, name: str) -> dict[str, Any] | None:
        """The last note that `keep_note` wrote; None if there is none."""
        refused = None
        try:
            if self.local is not None:
                data = self.local.read(name, NOTE_BYTES)
            else:
                with self.files.open_input_stream(self.below(name)) as file:
                    data = file.read(NOTE_BYTES)
            note = json.loads(data)
            if is_note(note):
                return dict(note)
            refused = "it was not written by this program"
        except FileNotFoundError:
            return None
        except SettingsError:
            raise
        except Exception as error:
            refused = type(error).__name__
        raise SettingsError(
            f"the driver cannot use {self.url}/{name} ({refused})",
            "make the same call again when it can; or find out who has changed the file, delete it, and add "
            "restart=True",
        )

    def check_own(self, name: str) -> None:
        """Refuse a folder of ours that another user of this machine may have replaced."""
        if self.local is not None and not self.local.is_own(name):
            raise SettingsError(
                f"{self.url}/{name} was not made by this user, or others can write to it",
                "find out who has changed it; add restart=True for a new run",
            )

    def put(self, name: str, data: bytes) -> None:
        with self.files.open_output_stream(self.below(name)) as file:
            file.write(data)

    def keep_note(self, name: str, note: Mapping[str, Any]) -> None:
        refused = None
        data = json.dumps(note).encode()
        try:
            if self.local is not None:
                self.local.write(name, data)
                return
            self.files.create_dir(self.path, recursive=True)
            self.put(name, data)
            return
        except SettingsError:
            raise
        except Exception as error:
            refused = type(error).__name__
        raise SettingsError(
            f"the driver cannot write to {self.url} ({refused})",
            "it needs the right to write there",
        )

    def create_private(self, name: str) -> None:
        """Make a folder that only its owner can enter, where the driver determines that."""
        if self.local is not None:
            self.local.make(name, is_new=True)

    def create(self, name: str) -> None:
        """Make a folder, durably."""
        if self.local is not None:
            self.local.make(name)
        else:
            self.files.create_dir(self.below(name))

    def create_anew(self, name: str) -> None:
        """Make an empty folder."""
        with contextlib.suppress(FileNotFoundError):
            self.delete(name)
        self.create(name)

    def forget(self, name: str) -> None:
        with contextlib.suppress(Exception):
            if self.local is not None:
                self.local.unlink(name)
            else:
                self.files.delete_file(self.below(name))

    def below(self, name: str) -> str:
        """The path of a name below this folder."""
        return "/".join([self.path, *components(name)])

    def names(self, name: str) -> list[str]:
        """The sorted names of the files in a folder that are complete."""
        from pyarrow import fs

        found = self.files.get_file_info(fs.FileSelector(self.below(name)))
        names = (one.base_name for one in found if one.is_file)
        return sorted(one for one in names if not one.startswith("_"))

    def remove(self, name: str) -> None:
        try:
            self.delete(name)
        except FileNotFoundError:
            pass
        except Exception:
            log.warning("%s/%s cannot be deleted: delete it, it has your rows", self.url, name)

    def delete(self, name: str) -> None:
        if self.local is not None:
            self.local.remove(name)
        else:
            self.files.delete_dir(self.below(name))


def is_note(note: Any) -> bool:
    """Whether this is a note that `Rows` writes: all its names are names of rows, and lead to no other file."""

    def is_rows(name: Any) -> bool:
        return isinstance(name, str) and ROWS_NAME.fullmatch(name) is not None

    def is_part(part: Any) -> bool:
        if not isinstance(part, list) or len(part) != 2:
            return False
        name, rows = part
        is_named = isinstance(name, str) and PART_NAME.fullmatch(name) is not None
        return is_named and type(rows) is int and 0 <= rows < 1 << 63

    if not isinstance(note, dict):
        return False
    rows, parts, stale, executors = (
        note.get(name) for name in ("rows", "parts", "stale", "executors")
    )
    if not isinstance(stale, list) or len(stale) > MOST_STALE or not all(map(is_rows, stale)):
        return False
    if parts is not None and not (isinstance(parts, list) and parts and all(map(is_part, parts))):
        return False
    is_known = executors is None or isinstance(executors, bool)
    return is_rows(rows) and rows not in stale and is_known


def path_in(scheme: str, rest: str) -> str:
    """The path of a URL in the file system of its scheme."""
    place, _, path = rest.partition("/")
    if scheme in ("file", "hdfs", "viewfs"):
        return f"/{path}"
    # The container comes before the account.
    return f"{place.partition('@')[0]}/{path}"


def opened_in(files: Any, folder: str, name: str) -> Any:
    """Open a file in a folder; it has the method `read_at(length, offset)`. On this machine links are not followed."""
    if files.type_name == "local":
        return LocalFile(folder, name)
    return files.open_input_file(f"{folder}/{name}")


def found_in(files: Any, folder: str, name: str) -> tuple[int, int] | None:
    """The bytes of a file in a folder, and when it was written, in ns; None if there is none.

    On this machine a link counts as none, and so does a file that this user cannot see.
    """
    from pyarrow import fs

    if files.type_name == "local":
        return stat_of(folder, name)
    found = files.get_file_info(f"{folder}/{name}")
    if found.type != fs.FileType.File:
        return None
    return int(found.size or 0), int(found.mtime_ns or 0)


def write_whole(files: Any, folder: str, name: str, write: Callable[[Any], None]) -> None:
    """Write a file whole or not at all, and durably in a local folder."""
    path = f"{folder}/{name}"
    # In these services a file appears when it is closed, in others with its first byte.
    appears_whole = files.type_name in ("s3", "gcs", "abfs")
    written = path if appears_whole else f"{folder}/_{uuid.uuid4().hex}"
    whole = io.BytesIO()
    write(whole)
    # Write all bytes in one call: a file that is closed after a failed write would appear with the bytes so far.
    with files.open_output_stream(written) as file:
        file.write(whole.getbuffer())
    if files.type_name == "local":
        synced(written)
    if not appears_whole:
        files.move(written, path)
    if files.type_name == "local":
        synced(folder)


def synced(path: str) -> None:
    """Wait until a local file or folder is on the disk."""
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
