"""A local folder that other users of the machine cannot change, reached by descriptors.

Spark and pyarrow reach files by their paths. So no other user may be able to change where a path leads: this is
checked for the folder and for all folders above it. The driver itself reads, creates and deletes files relative to
the folder's descriptor, without following links.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import grp
import os
import pwd
import re
import shutil
import stat
import tempfile
import uuid
from collections.abc import Iterator

from vesica._errors import InternalError, SettingsError

SUPERUSER = 0
#: The write permissions of users other than the owner.
WRITE_OTHERS = 0o022
#: The variable with the folders whose owners and permissions are not checked.
TRUSTED = "VESICA_TRUSTED_FOLDERS"
#: A folder, without following a link to it.
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
#: One component of a name below the folder: never `.`, `..` or one with a slash.
COMPONENT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


class LocalFolder:
    """A folder of this machine. `name` is the name of the argument that gave it.

    If it `is_shared`, a group that this user is in may write to it, and its owner may be another user.
    """

    def __init__(self, path: str, name: str, is_shared: bool = False) -> None:
        self.name, self.is_shared = name, is_shared
        self.given = os.path.abspath(path)
        #: With links resolved, so that a link that is changed later has no effect.
        self.path = os.path.realpath(self.given)
        #: Whether the user vouches for everyone who can write here and above.
        self.is_trusted = is_trusted(self.path)
        if not self.is_trusted:
            check_links(self.given, name)
        self.seen: tuple[int, int] | None = None

    def check(self) -> None:
        """Refuse a folder that other users can change, if it is there."""
        with contextlib.suppress(FileNotFoundError), self.opened():
            pass

    @contextlib.contextmanager
    def opened(self, create: bool = False) -> Iterator[int]:
        """The folder's descriptor, after all checks."""
        if create:
            self.create()
        if not self.is_trusted:
            check_parents(self.path, self.name)
        try:
            folder = os.open(self.path, FOLDER)
        except NotADirectoryError:
            raise SettingsError(
                f"{self.name} is not a folder: {self.path}", "give the path of a folder"
            ) from None
        try:
            found = os.fstat(folder)
            if not self.is_trusted:
                self.check_access(found)
            if self.seen not in (None, (found.st_dev, found.st_ino)):
                raise SettingsError(
                    f"{self.path} is not the same folder as at the start of this call",
                    f"find out who has replaced it, and give another folder as {self.name}",
                )
            self.seen = (found.st_dev, found.st_ino)
            yield folder
        finally:
            os.close(folder)

    def create(self) -> None:
        missing, path = [], self.path
        while not os.path.lexists(path):
            missing.append(path)
            path = os.path.dirname(path)
        for one in reversed(missing):
            # Another call may make it at the same time.
            with contextlib.suppress(FileExistsError):
                os.mkdir(one, 0o700)

    def check_access(self, found: os.stat_result) -> None:
        if self.is_shared:
            self.check_shared(found)
            return
        if found.st_uid not in (os.geteuid(), SUPERUSER):
            raise SettingsError(
                f"{self.path} belongs to another user of this machine (uid {found.st_uid})",
                hint(self.path, self.name, self.path),
            )
        # In a sticky folder others cannot rename or delete our files, and their files are not used.
        is_sticky = found.st_mode & stat.S_ISVTX and found.st_uid == os.geteuid()
        if found.st_mode & WRITE_OTHERS and not is_sticky:
            raise SettingsError(
                f"other users of this machine can write to {self.path} (mode {found.st_mode & 0o7777:03o})",
                f"run `chmod go-w {self.path}` if no other user has changed anything in it; otherwise "
                f"{hint(self.path, self.name, self.path)}",
            )

    def check_shared(self, found: os.stat_result) -> None:
        is_of_group = found.st_gid in (os.getegid(), *os.getgroups())
        is_ours = is_of_group and found.st_mode & 0o070 == 0o070
        if found.st_uid not in (os.geteuid(), SUPERUSER) and not is_ours:
            raise SettingsError(
                f"{self.path} belongs to another user of this machine, who shares it with no group of yours",
                f"give a folder of yours as {self.name}, or one that its owner shares: chgrp join {self.path}; "
                f"chmod 2770 {self.path}; or, {trust(self.path, self.path)}",
            )
        if found.st_mode & stat.S_IWOTH or (found.st_mode & stat.S_IWGRP and not is_of_group):
            raise SettingsError(
                f"other users of this machine can write to {self.path} (mode {found.st_mode & 0o7777:03o})",
                f"run `chmod o-w {self.path}`, and give it a group that only the helper and this cluster are in; or, "
                f"{trust(self.path, self.path)}",
            )

    @contextlib.contextmanager
    def above(self, name: str, create: bool = False) -> Iterator[tuple[int, str]]:
        """The descriptor of the folder that contains `name`, a name below this folder; and its last component."""
        *middle, last = components(name)
        with contextlib.ExitStack() as stack:
            folder = stack.enter_context(self.opened(create))
            for one in middle:
                folder = os.open(one, FOLDER, dir_fd=folder)
                stack.callback(os.close, folder)
                found = os.fstat(folder)
                if not self.is_ours(found):
                    raise SettingsError(
                        f"a folder in {self.path} belongs to another user of this machine (uid {found.st_uid}), or the "
                        "file system shows it as such",
                        f"find out who has made it; if a call of yours has, {hint(self.path, self.name, self.path)}",
                    )
            yield folder, last

    def is_ours(self, found: os.stat_result) -> bool:
        """Whether a file or a folder below this one belongs to this user, as far as the file system shows owners."""
        return self.is_trusted or found.st_uid == os.geteuid()

    def is_own_folder(self, name: str, folder: int) -> bool:
        """Whether this is a folder of ours, not a link, that no other user can write to."""
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        is_closed = self.is_trusted or not others_write(found)
        return stat.S_ISDIR(found.st_mode) and is_closed and self.is_ours(found)

    def read(self, name: str, most: int) -> bytes:
        """The bytes of one of our files."""
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with (
            self.above(name) as (folder, last),
            os.fdopen(os.open(last, flags, dir_fd=folder), "rb") as file,
        ):
            found = os.fstat(file.fileno())
            # In a sticky folder others can make files, and links to our files.
            if not stat.S_ISREG(found.st_mode):
                raise PermissionError
            is_alone = found.st_nlink == 1 and not others_write(found)
            if not self.is_ours(found) or not (is_alone or self.is_trusted):
                raise PermissionError
            data = file.read(most + 1)
            if len(data) > most:
                raise OverflowError
            return data

    def write(self, name: str, data: bytes) -> None:
        """Write a file whole or not at all, durably."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with self.above(name, create=True) as (folder, last):
            written = f"_{uuid.uuid4().hex}"
            try:
                with os.fdopen(os.open(written, flags, 0o600, dir_fd=folder), "wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                os.rename(written, last, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(written, dir_fd=folder)
                raise
            os.fsync(folder)

    def make(self, name: str, is_new: bool = False) -> None:
        """Make a folder that only its owner can enter. If `is_new`, it must not exist."""
        with self.above(name, create=True) as (folder, last):
            try:
                os.mkdir(last, 0o700, dir_fd=folder)
            except FileExistsError:
                if is_new or not self.is_own_folder(last, folder):
                    raise
            os.fsync(folder)

    def is_own(self, name: str) -> bool:
        """Whether this is a folder of ours, not a link, that no other user can write to."""
        with contextlib.suppress(OSError), self.above(name) as (folder, last):
            return self.is_own_folder(last, folder)
        return False

    def is_folder(self, name: str) -> bool:
        """Whether this is a folder, not a link, to which users outside its group cannot write."""
        with contextlib.suppress(OSError, InternalError), self.above(name) as (folder, last):
            found = os.stat(last, dir_fd=folder, follow_symlinks=False)
            is_closed = self.is_trusted or not found.st_mode & stat.S_IWOTH
            return stat.S_ISDIR(found.st_mode) and is_closed
        return False

    def unlink(self, name: str) -> None:
        with self.above(name) as (folder, last):
            os.unlink(last, dir_fd=folder)

    def remove(self, name: str) -> None:
        """Delete a folder and its contents, without following links."""
        with self.above(name) as (folder, last):
            if stat.S_ISLNK(os.lstat(last, dir_fd=folder).st_mode):
                os.unlink(last, dir_fd=folder)
            elif not self.is_own_folder(last, folder):
                raise PermissionError
            else:
                shutil.rmtree(last, dir_fd=folder)


class LocalFile:
    """A regular file in a folder, open for reading. Neither the file nor the last component of the folder is a link."""

    def __init__(self, folder: str, name: str) -> None:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            above = os.open(folder, FOLDER)
            try:
                self.opened = os.open(name, flags, dir_fd=above)
            finally:
                os.close(above)
        except OSError as error:
            # A link, or a component that is not a folder.
            if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.ENXIO):
                raise FileNotFoundError(error.errno, "no file") from None
            raise
        if not stat.S_ISREG(os.fstat(self.opened).st_mode):
            os.close(self.opened)
            raise FileNotFoundError(errno.ENOENT, "no file")

    def __enter__(self) -> LocalFile:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.opened)

    def read_at(self, length: int, offset: int) -> bytes:
        """At most `length` bytes; fewer only at the end of the file."""
        parts = []
        while length and (part := os.pread(self.opened, length, offset)):
            parts.append(part)
            length, offset = length - len(part), offset + len(part)
        return b"".join(parts)


def stat_of(folder: str, name: str) -> tuple[int, int] | None:
    """The size of a regular file in a folder, and when it was written, in ns; None if this user sees no such file."""
    with contextlib.suppress(OSError):
        above = os.open(folder, FOLDER)
        try:
            found = os.stat(name, dir_fd=above, follow_symlinks=False)
        finally:
            os.close(above)
        if stat.S_ISREG(found.st_mode):
            return found.st_size, found.st_mtime_ns
    return None


def components(name: str) -> list[str]:
    """The components of a name below a folder."""
    parts = name.split("/")
    if not all(COMPONENT.fullmatch(one) for one in parts):
        raise InternalError("a name leads out of its folder", "report this")
    return parts


def is_trusted(path: str) -> bool:
    """Whether a path without links is one of the folders that the user vouches for, or below one."""
    given = filter(None, os.environ.get(TRUSTED, "").split(os.pathsep))
    folders = [os.path.realpath(one) for one in given if os.path.isabs(one)]
    return any(os.path.commonpath([path, one]) == one for one in folders)


def check_links(path: str, name: str) -> None:
    """Refuse a path with a link that another user has made."""
    while path != os.path.dirname(path):
        above = os.path.dirname(path)
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            found = os.lstat(path)
            # Where users can make links, an owner outside this namespace may be any of them.
            is_open = os.stat(above).st_mode & WRITE_OTHERS
            owners = {os.geteuid(), SUPERUSER, *([] if is_open else outside())}
            if stat.S_ISLNK(found.st_mode) and found.st_uid not in owners:
                raise SettingsError(
                    f"{path} is a link that another user of this machine has made",
                    f"give the folder itself as {name}",
                )
        path = above


def check_parents(path: str, name: str) -> None:
    """Refuse a path whose last component other users can replace, because they can write to a folder above it."""
    above = refused_parent(path)
    if above is not None:
        found = os.lstat(above)
        raise SettingsError(
            f"other users of this machine can replace {path}: they can write to {above}, which is above it "
            f"(uid {found.st_uid}, gid {found.st_gid}, mode {found.st_mode & 0o7777:03o})",
            hint(path, name, above),
        )


def refused_parent(path: str) -> str | None:
    """The folder above this path in which other users can replace the next component; None if there is none."""
    while path != os.path.dirname(path):
        path = os.path.dirname(path)
        with contextlib.suppress(FileNotFoundError):
            if others_can_replace(os.lstat(path)):
                return path
    return None


def others_can_replace(parent: os.stat_result) -> bool:
    """Whether users other than this one and the superuser can replace what is in a folder.

    The rule is the same as in `others_can_replace` in crates/link/src/access.rs. So a superuser can work in folders of
    other users, which is common in containers. A user namespace shows the superuser outside it as a separate owner.
    """
    user, owner = os.geteuid(), parent.st_uid
    is_foreign = owner not in (user, SUPERUSER, *outside()) and user != SUPERUSER
    return is_foreign or (others_write(parent) and not parent.st_mode & stat.S_ISVTX)


def others_write(found: os.stat_result) -> bool:
    """Whether the mode lets users other than this one, the owner and the superuser write."""
    writes = found.st_mode & WRITE_OTHERS
    if writes == stat.S_IWGRP:
        # An owner outside this namespace may be any user there.
        users = {found.st_uid, os.geteuid()} - set(outside())
        return not any(is_own_group(found.st_gid, one) for one in users)
    return bool(writes)


def is_own_group(group: int, user: int) -> bool:
    """Whether a group has only this user as a member: many systems give each user a group of the same name.

    A name service that does not list its users hides those whose primary group it is.
    """
    name = members = owner = None
    with contextlib.suppress(KeyError):
        owner = pwd.getpwuid(user).pw_name
    with contextlib.suppress(KeyError):
        found = grp.getgrgid(group)
        name, members = found.gr_name, set(found.gr_mem)
    if any(one.pw_gid == group and one.pw_uid != user for one in pwd.getpwall()):
        return False
    if name is None or members is None or owner is None:
        # The group of a user that this machine, or this container, does not know.
        return name is None and owner is None and group == user
    return name == owner and members <= {owner}


@functools.cache
def outside() -> tuple[int, ...]:
    """The user as which this user namespace shows the machine's superuser; empty in the machine's own namespace."""
    with contextlib.suppress(OSError, ValueError):
        with open("/proc/self/uid_map", encoding="ascii") as file:
            users = [tuple(map(int, line.split())) for line in file]
        with open("/proc/sys/kernel/overflowuid", encoding="ascii") as file:
            nobody = int(file.read())
        # All users of the machine, each as itself.
        if users != [(0, 0, (1 << 32) - 1)]:
            return (nobody,)
    return ()


def hint(path: str, name: str, cause: str) -> str:
    """What to do if other users can change `path` because they can write to `cause`."""
    works = working(path)
    such = f", such as {works} if the whole cluster can reach it" if works is not None else ""
    return f"give a folder that only you can write to as {name}{such}; or, {trust(path, cause)}"


def trust(path: str, cause: str) -> str:
    return (
        f"if you trust everyone who can write to {cause}, as in your own container, set the environment variable "
        f"{TRUSTED}={path} (docs/spark.md explains the risk)"
    )


def working(path: str) -> str | None:
    """A folder that this user can give instead of a refused one."""
    places = [lambda: path, lambda: os.path.expanduser("~"), os.getcwd, tempfile.gettempdir]
    for place in places:
        with contextlib.suppress(OSError):
            above = os.path.realpath(place())
            folder = os.path.join(above, "vesica-work")
            if refused_parent(folder) is None and is_free(folder):
                return folder
    return None


def is_free(folder: str) -> bool:
    """Whether this user has, or can make, this folder, and no other user can write to it."""
    if not os.path.lexists(folder):
        return os.access(os.path.dirname(folder), os.W_OK | os.X_OK)
    found = os.lstat(folder)
    is_ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
    return is_ours and not found.st_mode & WRITE_OTHERS
