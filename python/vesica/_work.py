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

log = logging.getLogger("vesica")


class Work:
    """A folder that the cluster and the driver can both reach."""

    def __init__(
        self,
        url: str | os.PathLike[str],
        files: Any,
        name: str = "work",
        example: str = "s3a://own-bucket/vesica",
    ) -> None:
        # `name` is that of the argument.
        if not isinstance(url, (str, os.PathLike)) or not os.fspath(url):
            raise SettingsError(f"{name} names no folder", f'for example {name}="{example}"')
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
        if files is not None:
            self.files, self.path = files, path_in(scheme, rest)
            return
        # What Hadoop calls its client of S3, others do not.
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

    @property
    def is_local(self) -> bool:
        return bool(self.files.type_name == "local")

    def note(self, name: str) -> dict[str, Any] | None:
        """What `keep_note` wrote last; None if nothing."""
        refused = None
        try:
            with self.files.open_input_stream(f"{self.path}/{name}") as file:
                return dict(json.loads(file.read()))
        except FileNotFoundError:
            return None
        except Exception as error:
            refused = type(error).__name__
        raise SettingsError(
            f"the driver cannot read {self.url}/{name} ({refused})",
            "make the same call again when it can; or delete the file, and add restart=True",
        )

    def put(self, name: str, data: bytes) -> None:
        with self.files.open_output_stream(f"{self.path}/{name}") as file:
            file.write(data)

    def keep_note(self, name: str, note: Mapping[str, Any]) -> None:
        refused = None
        try:
            self.files.create_dir(self.path, recursive=True)
            self.put(name, json.dumps(note).encode())
            return
        except Exception as error:
            refused = type(error).__name__
        raise SettingsError(
            f"the driver cannot write to {self.url} ({refused})",
            "it needs the right to write there",
        )

    def create_private(self, name: str) -> None:
        """Make a folder that only its owner can enter, where that is for the driver to say."""
        if self.is_local:
            os.makedirs(f"{self.path}/{name}", mode=0o700)

    def create(self, name: str) -> None:
        """Make a folder, so that it is there after a crash too."""
        self.files.create_dir(f"{self.path}/{name}")
        if self.is_local:
            synced(os.path.dirname(f"{self.path}/{name}"))

    def create_anew(self, name: str) -> None:
        """Make an empty folder."""
        with contextlib.suppress(FileNotFoundError):
            self.files.delete_dir(f"{self.path}/{name}")
        self.create(name)

    def forget(self, name: str) -> None:
        with contextlib.suppress(Exception):
            self.files.delete_file(f"{self.path}/{name}")

    def names(self, name: str) -> list[str]:
        """The names of the files in a folder that were written whole, in order."""
        from pyarrow import fs

        found = self.files.get_file_info(fs.FileSelector(f"{self.path}/{name}"))
        names = (one.base_name for one in found if one.is_file)
        return sorted(one for one in names if not one.startswith("_"))

    def remove(self, name: str) -> None:
        try:
            self.files.delete_dir(f"{self.path}/{name}")
        except FileNotFoundError:
            pass
        except Exception:
            log.warning("%s/%s cannot be deleted: delete it, it has your rows", self.url, name)


def path_in(scheme: str, rest: str) -> str:
    """The path of a URL in the file system of its scheme."""
    place, _, path = rest.partition("/")
    if scheme in ("file", "hdfs", "viewfs"):
        return f"/{path}"
    # The container comes before the account.
    return f"{place.partition('@')[0]}/{path}"


def write_whole(files: Any, folder: str, name: str, write: Callable[[Any], None]) -> None:
    """Have a file written that appears whole or not at all, and is on the disk of a local folder."""
    path = f"{folder}/{name}"
    # There a file appears when it is closed. Elsewhere it is there from the first byte on.
    appears_whole = files.type_name in ("s3", "gcs", "abfs")
    written = path if appears_whole else f"{folder}/_{uuid.uuid4().hex}"
    whole = io.BytesIO()
    write(whole)
    # At once: a file that is closed after an error would appear too.
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
