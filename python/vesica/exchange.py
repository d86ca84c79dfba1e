"""Stores for ``exchange=`` of `vesica.run`: adapters for fsspec and pyarrow, and the protocol for your own.

Folders, buckets and SFTP servers do not need this module: ``exchange=`` takes their paths and URLs. Any other store
is an object with the methods of `Store`; the additional methods of `Listing` are optional.

    v.run(deal, df, key="grocer.key", exchange=v.exchange.fsspec(filesystem, "partner"))
"""

from __future__ import annotations

import abc
import contextlib
import inspect
import os
import secrets
from collections.abc import Iterable
from typing import Any, Protocol

from vesica._errors import SettingsError

__all__ = ["Listing", "Place", "Store", "fsspec", "pyarrow"]

#: The beginning of the names of files that are not complete.
UNFINISHED = ".unfinished-"

#: Services of pyarrow that show an object when it is complete, and not before.
WHOLE = ("s3", "gcs", "abfs")


class Store(Protocol):
    """A write-once object store that both sides can reach.

    Names are relative, such as ``6a1f0c9d2b7e4f11-0001/0-hello``: one folder and a name in it, of ``a-z``, ``0-9``,
    ``-`` and ``_``. Threads of the run call the methods concurrently, but never write the same name twice at once.

    The store is not trusted: all contents are encrypted, and each side remembers what it has read from the other. An
    exception ends the run with an error whose ``__cause__`` it is. The same call resumes the run.
    """

    def put_if_absent(self, name: str, data: bytes, /) -> bool:
        """Store `data` under `name`, whole or not at all, and durably; False if the object already exists."""
        ...

    def get(self, name: str, /) -> bytes | None:
        """The whole object; None if there is none."""
        ...


class Listing(Store, Protocol):
    """Optional methods of a `Store`. Each may be missing.

    Without `list` and `folders`, a run asks for names one by one. Without `remove`, objects of earlier runs stay.
    Without `size`, `get` reads an object before its length is known.
    """

    def size(self, name: str, /) -> int | None:
        """The length of the object in bytes; None if there is none, or if it is not known.

        An object whose length is not the expected one is not read.
        """
        ...

    def list(self, folder: str, /) -> Iterable[str]:
        """The names of all objects in the folder, without the folder's; none if it does not exist."""
        ...

    def folders(self) -> Iterable[str]:
        """The names of all folders."""
        ...

    def remove(self, name: str, /) -> None:
        """Remove the object, if there is one."""
        ...


#: A store: the path of a folder, a URL, or an object.
Place = str | os.PathLike[str] | Store


def fsspec(filesystem: Any, path: str) -> Place:
    """The folder `path` of an fsspec file system, as a store.

    For a local file system this is the path of the folder, which must exist.

    If the file system can write an object only if its name is not taken (``pipe_file`` with ``mode="create"``, as
    s3fs, gcsfs and adlfs can), that is used. Otherwise a complete file is moved to its name, after a check that the
    name is free; a process that writes the same name at that moment can then replace it. This **does not endanger
    what a run keeps secret**: each side writes only its own names, under keys and randomness of its own run, and the
    other side accepts only the object that it saw first. At worst the run fails.

    Args:
        filesystem: An ``AbstractFileSystem`` of fsspec, with its credentials.
        path: A folder in it, not the top. Both sides give the same one.

    Raises:
        SettingsError: The path is the top.
    """
    root = root_of(filesystem._strip_protocol(str(path)))
    names = filesystem.protocol
    if "file" in ((names,) if isinstance(names, str) else names):
        return root
    return Fsspec(filesystem, root)


def pyarrow(filesystem: Any, path: str) -> Place:
    """The folder `path` of a pyarrow file system, as a store.

    For a local file system this is the path of the folder, which must exist.

    pyarrow's file systems cannot write an object only if its name is not taken. So each write first checks that the
    name is free; a process that writes the same name at that moment can replace it. This **does not endanger what a
    run keeps secret**: each side writes only its own names, under keys and randomness of its own run, and the other
    side accepts only the object that it saw first. At worst the run fails. The bucket URLs that ``exchange=`` takes
    have no such gap.

    In buckets of S3, Google and Azure an object appears when it is complete. In other file systems a file is written
    under another name, and moved.

    Args:
        filesystem: A ``pyarrow.fs.FileSystem``, with its credentials.
        path: A folder in it, not the top. Both sides give the same one.

    Raises:
        SettingsError: The path is the top.
    """
    path = str(path)
    while filesystem.type_name == "subtree":
        path = f"{filesystem.base_path.rstrip('/')}/{path}"
        filesystem = filesystem.base_fs
    handler: Any = getattr(filesystem, "handler", None)
    if handler is not None and type(handler).__name__ == "FSSpecHandler":
        return fsspec(handler.fs, path)
    if filesystem.type_name == "local":
        return root_of(path)
    return Pyarrow(filesystem, root_of(path))


def root_of(path: str) -> str:
    """A path without a slash at its end. The top is refused, because its folders may be buckets."""
    if not path.strip("/"):
        raise SettingsError(
            "the path of an exchange is the top of a file system",
            "give the exchange its own folder",
        )
    return path.rstrip("/")


class Files(abc.ABC):
    """A folder of a file system; subclasses write and read its files."""

    def __init__(self, filesystem: Any, root: str, shows_parts: bool) -> None:
        self.filesystem, self.root = filesystem, root
        #: Whether a file can be seen before it is complete.
        self.shows_parts = shows_parts

    def put_if_absent(self, name: str, data: bytes) -> bool:
        path = f"{self.root}/{name}"
        if self.has(path):
            return False
        if not self.shows_parts:
            return self.write(path, data)
        folder = path.rpartition("/")[0]
        self.make(folder)
        unfinished = f"{folder}/{UNFINISHED}{secrets.token_hex(8)}"
        try:
            self.write(unfinished, data)
            if self.has(path):
                return False
            self.move(unfinished, path)
        finally:
            # After a move there is nothing to remove.
            with contextlib.suppress(Exception):
                self.discard(unfinished)
        return True

    def get(self, name: str) -> bytes | None:
        try:
            return self.read(f"{self.root}/{name}")
        except FileNotFoundError:
            return None

    def size(self, name: str) -> int | None:
        try:
            return self.length(f"{self.root}/{name}")
        except FileNotFoundError:
            return None

    def list(self, folder: str) -> Iterable[str]:
        return self.entries(f"{self.root}/{folder}", folders=False)

    def folders(self) -> Iterable[str]:
        return self.entries(self.root, folders=True)

    def remove(self, name: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            self.discard(f"{self.root}/{name}")

    @abc.abstractmethod
    def has(self, path: str) -> bool:
        """Whether there is a file."""

    @abc.abstractmethod
    def read(self, path: str) -> bytes:
        """A whole file; FileNotFoundError if there is none."""

    @abc.abstractmethod
    def length(self, path: str) -> int | None:
        """The length of a file, None if that is not known; may raise FileNotFoundError if there is none."""

    @abc.abstractmethod
    def write(self, path: str, data: bytes) -> bool:
        """Write a file; False if the file system reports that it exists."""

    @abc.abstractmethod
    def make(self, folder: str) -> None:
        """Make a folder, if there is none."""

    @abc.abstractmethod
    def move(self, source: str, target: str) -> None:
        """Give a file another name."""

    @abc.abstractmethod
    def discard(self, path: str) -> None:
        """Remove a file; may raise FileNotFoundError if there is none."""

    @abc.abstractmethod
    def entries(self, folder: str, folders: bool) -> Iterable[str]:
        """The names of the files in a folder, or of the folders; none if it does not exist."""


class Fsspec(Files):
    def __init__(self, filesystem: Any, root: str) -> None:
        self.creates = creates(filesystem)
        super().__init__(filesystem, root, shows_parts=not self.creates)

    def has(self, path: str) -> bool:
        # The file system's cache of a folder may be older than what the other side wrote there.
        self.filesystem.invalidate_cache(path)
        self.filesystem.invalidate_cache(path.rpartition("/")[0])
        return bool(self.filesystem.exists(path))

    def read(self, path: str) -> bytes:
        return bytes(self.filesystem.cat_file(path))

    def length(self, path: str) -> int | None:
        # As in `has`.
        self.filesystem.invalidate_cache(path)
        self.filesystem.invalidate_cache(path.rpartition("/")[0])
        size = self.filesystem.info(path).get("size")
        return None if size is None else int(size)

    def write(self, path: str, data: bytes) -> bool:
        if not self.creates:
            self.filesystem.pipe_file(path, data)
            return True
        try:
            self.filesystem.pipe_file(path, data, mode="create")
        except FileExistsError:
            return False
        return True

    def make(self, folder: str) -> None:
        self.filesystem.makedirs(folder, exist_ok=True)

    def move(self, source: str, target: str) -> None:
        self.filesystem.mv(source, target)

    def discard(self, path: str) -> None:
        self.filesystem.rm_file(path)

    def entries(self, folder: str, folders: bool) -> Iterable[str]:
        self.filesystem.invalidate_cache(folder)
        try:
            found = self.filesystem.ls(folder, detail=True)
        except FileNotFoundError:
            return []
        kind = "directory" if folders else "file"
        paths = (one["name"].rstrip("/") for one in found if one["type"] == kind)
        return shown(path.rpartition("/")[2] for path in paths)


def creates(filesystem: Any) -> bool:
    """Whether a file system of fsspec can itself write a file only if it does not exist."""
    import fsspec as library

    write = filesystem.pipe_file
    is_own = getattr(write, "__func__", write) is not library.AbstractFileSystem.pipe_file
    return is_own and "mode" in inspect.signature(write).parameters


class Pyarrow(Files):
    def __init__(self, filesystem: Any, root: str) -> None:
        super().__init__(filesystem, root, shows_parts=filesystem.type_name not in WHOLE)

    def has(self, path: str) -> bool:
        return bool(self.filesystem.get_file_info(path).is_file)

    def read(self, path: str) -> bytes:
        with self.filesystem.open_input_file(path) as file:
            return bytes(file.read())

    def length(self, path: str) -> int | None:
        size = self.filesystem.get_file_info(path).size
        return None if size is None else int(size)

    def write(self, path: str, data: bytes) -> bool:
        with self.filesystem.open_output_stream(path) as file:
            file.write(data)
        return True

    def make(self, folder: str) -> None:
        self.filesystem.create_dir(folder)

    def move(self, source: str, target: str) -> None:
        self.filesystem.move(source, target)

    def discard(self, path: str) -> None:
        self.filesystem.delete_file(path)

    def entries(self, folder: str, folders: bool) -> Iterable[str]:
        from pyarrow.fs import FileSelector, FileType

        kind = FileType.Directory if folders else FileType.File
        found = self.filesystem.get_file_info(FileSelector(folder, allow_not_found=True))
        return shown(one.base_name for one in found if one.type == kind)


def shown(names: Iterable[str]) -> list[str]:
    """The names of complete files."""
    return [name for name in names if not name.startswith(".")]
