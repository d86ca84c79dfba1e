"""The folder `work` of a run from Spark, where another user of the machine or of the storage writes into it."""

from __future__ import annotations

import contextlib
import fcntl
import grp
import json
import os
import pwd
import re
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import vesica as v
from pyarrow import fs
from vesica import _local
from vesica._local import TRUSTED, LocalFolder
from vesica._rows import Rows
from vesica._work import MOST_STALE, Work

#: Some user of the machine.
ANOTHER = 54321
NOTE = "951ac97f9b0f2352-grocer-0123456789abcdef.json"
ROWS, OTHER_ROWS = f"rows-{'a' * 32}", f"rows-{'b' * 32}"
is_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


class Unread:
    """A DataFrame of which no row is read."""

    sparkSession = None
    isStreaming = False
    columns = ("email",)
    dtypes = (("email", "string"),)

    def selectExpr(self) -> None: ...


class Written(Rows):
    """The rows of a call, whose cluster has written one file."""

    def write_parts_of(self, data: Any) -> list[tuple[str, int]]:
        self.work.create_private(self.folder)
        self.work.create(f"{self.folder}/rows")
        self.work.put(f"{self.folder}/rows/part-00000-x.snappy.parquet", b"rows")
        return [("part-00000-x.snappy.parquet", 1)]


def rows_in(work: Work) -> Written:
    rows = Written(Unread(), work, ["email"], None)
    rows.note = NOTE
    return rows


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A folder of the user that is no business of the run."""
    folder = tmp_path / "home" / "documents"
    folder.mkdir(parents=True)
    (folder / "thesis").write_text("years of work")
    return folder


def local(tmp_path: Path) -> Work:
    return Work(tmp_path / "work", None)


def remote(tmp_path: Path) -> Work:
    """Not local as far as this package knows."""
    files = fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())
    return Work("s3a://work", files)


def notes(victim: Path) -> dict[str, bytes]:
    good = {"rows": ROWS, "parts": [["part-00000-x.snappy.parquet", 1]], "stale": []}

    def stale(*names: Any) -> dict[str, Any]:
        return {**good, "stale": list(names)}

    def parts(*some: Any) -> dict[str, Any]:
        return {**good, "parts": list(some)}

    wrong: dict[str, Any] = {
        "stale above": stale("../home/documents"),
        "stale absolute": stale(str(victim)),
        "stale below": stale(f"{ROWS}/../../home/documents"),
        "stale is the folder": stale("."),
        "stale is empty": stale(""),
        "stale is shorter": stale(ROWS[:-1]),
        "stale with a line": stale(f"{OTHER_ROWS}\n"),
        "stale with letters": stale(OTHER_ROWS.upper()),
        "stale with a zero": stale(f"{OTHER_ROWS}\0"),
        "stale of digits of another script": stale(f"rows-{'٣' * 32}"),
        "stale is a link": stale("link"),
        "stale has types": stale(None, True, 7, [], {}),
        "stale is text": {**good, "stale": OTHER_ROWS},
        "stale is an object": {**good, "stale": {OTHER_ROWS: 1}},
        "stale is missing": {"rows": ROWS},
        "stale is long": stale(*[OTHER_ROWS] * (MOST_STALE + 1)),
        "stale has the rows": stale(ROWS),
        "rows above": {**good, "rows": "../home/documents"},
        "rows absolute": {**good, "rows": str(victim)},
        "rows are a list": {**good, "rows": [ROWS]},
        "rows are missing": {"stale": []},
        "rows are no name": {**good, "rows": "rows-x"},
        "parts above": parts(["../../../home/documents/thesis", 1]),
        "parts absolute": parts([str(victim / "thesis"), 1]),
        "parts are dots": parts(["..", 1]),
        "parts without rows": parts(["part-0"]),
        "parts with negative rows": parts(["part-0", -1]),
        "parts with true rows": parts(["part-0", True]),
        "parts with many rows": parts(["part-0", 1 << 63]),
        "parts are text": {**good, "parts": "parts"},
        "no parts": parts(),
        "executors are text": {**good, "executors": "yes"},
        "executors are a number": {**good, "executors": 1},
        "pairs": [["rows", ROWS], ["stale", ["../home/documents"]]],
        "text": "rows",
        "null": None,
    }
    found = {name: json.dumps(one).encode() for name, one in wrong.items()}
    return {
        **found,
        "nothing": b"",
        "no JSON": b'{"rows": ',
        "no text": b"\xff\xfe\x00",
        "deep": b"[" * 200_000,
        "long number": b'{"rows": ' + b"9" * 10_000 + b"}",
    }


@pytest.mark.parametrize("place", [local, remote])
def test_a_note_with_other_names_is_refused_and_nothing_is_deleted(
    tmp_path: Path, victim: Path, place: Callable[[Path], Work]
) -> None:
    (tmp_path / "work").mkdir(mode=0o700)
    (tmp_path / "work" / "link").symlink_to(victim)
    for name, note in notes(victim).items():
        path = tmp_path / "work" / NOTE
        path.write_bytes(note)
        path.chmod(0o600)
        for goes_on in (False, True):
            rows = rows_in(place(tmp_path))
            with pytest.raises(v.SettingsError, match=NOTE) as refused:
                rows.find(goes_on)
            assert "restart=True" in refused.value.hint, name
            rows.forget_stale()
            rows.remove()
        assert (victim / "thesis").read_text() == "years of work", name
        assert path.read_bytes() == note


@pytest.mark.parametrize("place", [local, remote])
def test_names_below_work_lead_nowhere_else(
    tmp_path: Path, victim: Path, place: Callable[[Path], Work]
) -> None:
    work = place(tmp_path)
    (tmp_path / "work").mkdir(mode=0o700)
    for name in ("../home/documents", str(victim), ".", "", "a//b", "a/../../home/documents"):
        with pytest.raises(v.InternalError):
            work.delete(name)
        work.remove(name)
        work.forget(name)
    assert (victim / "thesis").exists()


@pytest.mark.parametrize("place", [local, remote])
def test_rows_of_abandoned_runs_are_deleted(tmp_path: Path, place: Callable[[Path], Work]) -> None:
    first = rows_in(place(tmp_path))
    (tmp_path / "work").mkdir(mode=0o700)
    first.find(goes_on=False)
    first.write()
    second = rows_in(place(tmp_path))
    second.find(goes_on=False)
    assert second.stale == [first.folder]
    second.write()
    second.take_state()
    assert sorted(os.listdir(tmp_path / "work")) == sorted([NOTE, second.folder])
    third = rows_in(place(tmp_path))
    third.find(goes_on=True)
    assert (third.folder, third.parts) == (second.folder, second.parts)


def test_what_a_link_leads_to_is_not_deleted(tmp_path: Path, victim: Path) -> None:
    work = local(tmp_path)
    (tmp_path / "work").mkdir(mode=0o700)
    (tmp_path / "work" / ROWS).symlink_to(victim)
    work.remove(ROWS)
    assert not os.path.lexists(tmp_path / "work" / ROWS)
    (tmp_path / "work" / ROWS).mkdir(mode=0o700)
    (tmp_path / "work" / ROWS / "rows").symlink_to(victim)
    work.remove(ROWS)
    assert not os.path.lexists(tmp_path / "work" / ROWS)
    (tmp_path / "work" / ROWS).symlink_to(victim.parent)
    work.remove(f"{ROWS}/documents")
    with pytest.raises(FileExistsError):
        work.create(ROWS)
    assert (victim / "thesis").exists()


def test_a_new_folder_is_for_this_user_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        rows = rows_in(Work(tmp_path / "above" / "work", None))
        rows.find(goes_on=False)
        rows.write()
    finally:
        os.umask(before)
    work = tmp_path / "above" / "work"
    for folder in (work.parent, work, work / rows.folder, work / rows.folder / "rows"):
        assert folder.stat().st_mode & 0o777 == 0o700, folder
    assert (work / NOTE).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o775, 0o757, 0o702, 0o722])
def test_a_folder_that_others_can_write_to_is_refused(tmp_path: Path, mode: int) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    folder.chmod(mode)
    with pytest.raises(v.SettingsError, match=f"can write to .*mode {mode:o}") as refused:
        local(tmp_path).check()
    assert f"chmod go-w {folder}" in refused.value.hint
    # Also if it becomes so later.
    folder.chmod(0o755)
    work = local(tmp_path)
    work.check()
    folder.chmod(mode)
    for use in (
        lambda: work.note(NOTE),
        lambda: work.keep_note(NOTE, {}),
        lambda: work.create("x"),
    ):
        with pytest.raises(v.SettingsError, match="can write to"):
            use()
    assert os.listdir(folder) == []


@is_root
def test_a_folder_of_another_user_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir(mode=0o700)
    for mode in (0o700, 0o1777):
        folder.chmod(mode)
        os.chown(folder, ANOTHER, ANOTHER)
        with pytest.raises(v.SettingsError, match="belongs to another user"):
            local(tmp_path).check()
    os.chown(folder, 0, 0)
    folder.rmdir()
    folder.symlink_to(tmp_path)
    local(tmp_path).check()
    os.chown(folder, ANOTHER, ANOTHER, follow_symlinks=False)
    with pytest.raises(v.SettingsError, match="a link that another user"):
        local(tmp_path)


@is_root
def test_in_a_sticky_folder_only_what_is_ours_is_taken(tmp_path: Path, victim: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    folder.chmod(0o1777)
    good = {"rows": ROWS, "parts": [["part-0", 1]], "stale": [OTHER_ROWS]}
    note = folder / NOTE
    note.write_text(json.dumps(good))
    os.chown(note, ANOTHER, ANOTHER)
    with pytest.raises(v.SettingsError, match="PermissionError"):
        rows_in(local(tmp_path)).find(goes_on=True)
    os.chown(note, 0, 0)
    note.chmod(0o600)
    # The folder of the rows is another user's.
    (folder / ROWS).mkdir(mode=0o700)
    os.chown(folder / ROWS, ANOTHER, ANOTHER)
    with pytest.raises(v.SettingsError, match="was not made by this user"):
        rows_in(local(tmp_path)).find(goes_on=True)
    (folder / OTHER_ROWS).mkdir(mode=0o700)
    os.chown(folder / OTHER_ROWS, ANOTHER, ANOTHER)
    rows = rows_in(local(tmp_path))
    rows.find(goes_on=False)
    rows.forget_stale()
    assert (folder / ROWS).exists() and (folder / OTHER_ROWS).exists()


def test_a_folder_that_others_can_replace_is_refused(tmp_path: Path) -> None:
    above = tmp_path / "above"
    (above / "work").mkdir(parents=True, mode=0o700)
    above.chmod(0o777)
    with pytest.raises(v.SettingsError, match="can replace"):
        Work(above / "work", None).check()
    # Before it is made, too.
    with pytest.raises(v.SettingsError, match="can replace"):
        rows_in(Work(above / "new" / "work", None)).write()
    above.chmod(0o1777)
    Work(above / "work", None).check()


def test_a_folder_that_is_a_link_is_followed_once(tmp_path: Path, victim: Path) -> None:
    (tmp_path / "disk").mkdir(mode=0o700)
    (tmp_path / "work").symlink_to(tmp_path / "disk")
    rows = rows_in(local(tmp_path))
    assert rows.work.url == f"file://{tmp_path}/disk"
    (tmp_path / "work").unlink()
    (tmp_path / "work").symlink_to(victim)
    rows.find(goes_on=False)
    rows.write()
    assert sorted(os.listdir(tmp_path / "disk")) == sorted([NOTE, rows.folder])
    assert os.listdir(victim) == ["thesis"]


def test_a_folder_that_is_replaced_is_noticed(tmp_path: Path, victim: Path) -> None:
    (tmp_path / "work").mkdir(mode=0o700)
    rows = rows_in(local(tmp_path))
    rows.find(goes_on=False)
    (tmp_path / "work").rename(tmp_path / "away")
    (tmp_path / "work").symlink_to(victim)
    with pytest.raises(v.SettingsError, match="is not a folder"):
        rows.write()
    (tmp_path / "work").unlink()
    (tmp_path / "work").mkdir(mode=0o700)
    rows.folder = ""
    with pytest.raises(v.SettingsError, match="not the same folder as at the start"):
        rows.write()
    assert os.listdir(tmp_path / "work") == []
    assert os.listdir(victim) == ["thesis"]


def test_a_note_that_is_no_file_is_refused(tmp_path: Path, victim: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir(mode=0o700)
    good = json.dumps({"rows": ROWS, "parts": [["part-0", 1]], "stale": []})
    elsewhere = victim / "note"
    elsewhere.write_text(good)
    note = folder / NOTE
    makes: list[Callable[[], object]] = [
        lambda: note.symlink_to(elsewhere),
        lambda: os.link(elsewhere, note),
        lambda: os.mkfifo(note),
        lambda: (note.write_text(good), note.chmod(0o666)),
    ]
    for make in makes:
        make()
        with pytest.raises(v.SettingsError, match=NOTE):
            rows_in(local(tmp_path)).find(goes_on=True)
        note.unlink()
    note.mkdir()
    with pytest.raises(v.SettingsError, match=NOTE):
        rows_in(local(tmp_path)).find(goes_on=True)
    assert elsewhere.exists()


def test_files_that_are_swapped_all_the_time_lead_nowhere_else(
    tmp_path: Path, victim: Path
) -> None:
    """A user who can write to `work` all the same, as only root should, changes names between the check and the use."""
    folder = LocalFolder(str(tmp_path / "work"), "work")
    folder.create()
    path, spare, ended = tmp_path / "work" / ROWS, tmp_path / "spare", threading.Event()

    def swap() -> None:
        while not ended.is_set():
            with contextlib.suppress(OSError):
                os.symlink(victim, path)
            with contextlib.suppress(OSError):
                spare.mkdir(mode=0o700, exist_ok=True)
                (spare / "thesis").touch()
                spare.rename(path)

    swapping = threading.Thread(target=swap)
    swapping.start()
    try:
        for _ in range(2000):
            with contextlib.suppress(OSError):
                folder.remove(ROWS)
    finally:
        ended.set()
        swapping.join()
    assert (victim / "thesis").read_text() == "years of work"


@pytest.mark.parametrize("place", [local, remote])
@pytest.mark.parametrize("end", ["withdraw", "remove"])
def test_a_second_call_leaves_the_rows_of_the_first(
    tmp_path: Path, place: Callable[[Path], Work], end: str
) -> None:
    folder = tmp_path / "work"
    folder.mkdir(mode=0o700)
    first, second = rows_in(place(tmp_path)), rows_in(place(tmp_path))
    first.find(goes_on=False)
    first.write()
    # The state is not there yet, or the second call has `restart`.
    second.find(goes_on=False)
    second.write()
    before = json.loads((folder / NOTE).read_text())
    assert before["rows"] == second.folder
    getattr(second, end)()
    assert sorted(os.listdir(folder)) == sorted([NOTE, first.folder])
    assert json.loads((folder / NOTE).read_text())["rows"] == first.folder
    first.take_state()
    again = rows_in(place(tmp_path))
    again.find(goes_on=True)
    assert again.folder == first.folder
    # Before the first call has the state, after both have written.
    third = rows_in(place(tmp_path))
    third.find(goes_on=False)
    third.write()
    first.has_state = False
    first.take_state()
    third.withdraw()
    assert sorted(os.listdir(folder)) == sorted([NOTE, first.folder])
    assert json.loads((folder / NOTE).read_text())["rows"] == first.folder


@pytest.mark.parametrize("place", [local, remote])
def test_a_call_writes_nothing_while_another_has_the_state(
    tmp_path: Path, place: Callable[[Path], Work]
) -> None:
    (tmp_path / "work").mkdir(mode=0o700)
    (tmp_path / "state").mkdir(mode=0o700)
    first = rows_in(place(tmp_path))
    first.find(goes_on=False)
    first.write()
    first.take_state()
    before = (tmp_path / "work" / NOTE).read_bytes()

    def there() -> list[str]:
        assert (tmp_path / "work" / NOTE).read_bytes() == before
        return sorted(os.listdir(tmp_path / "work"))

    class Late(Written):
        """The first call takes the state while this one's cluster writes."""

        def write_parts_of(self, data: Any) -> list[tuple[str, int]]:
            parts = super().write_parts_of(data)
            fcntl.flock(lock, fcntl.LOCK_EX)
            first.has_state = False
            first.take_state()
            return parts

    with open(tmp_path / "state" / "vesica-run.lock", "wb") as lock:
        late = Late(Unread(), place(tmp_path), ["email"], None)
        late.note, late.state = NOTE, str(tmp_path / "state")
        late.find(goes_on=False)
        with pytest.raises(v.StateInUse, match="already running"):
            late.write()
        assert there() == sorted([NOTE, first.folder])
        second = rows_in(place(tmp_path))
        second.state = str(tmp_path / "state")
        for use in (lambda: second.find(goes_on=True), lambda: second.write()):
            with pytest.raises(v.StateInUse, match="already running"):
                use()
        # Killed now, it leaves the note of the first call.
        assert there() == sorted([NOTE, first.folder])
    second.find(goes_on=True)
    assert (second.folder, second.parts) == (first.folder, first.parts)


@pytest.mark.parametrize(
    ("owner", "mode", "user", "own", "expected"),
    [
        # Those of crates/link/src/access.rs.
        (1000, 0o755, 1000, False, False),
        (0, 0o755, 1000, False, False),
        (1000, 0o777, 1000, False, True),
        (0, 0o1777, 1000, False, False),
        (1000, 0o775, 1000, True, False),
        (1000, 0o775, 1000, False, True),
        (1000, 0o1775, 1000, False, False),
        (1001, 0o1755, 1000, False, True),
        # In a container.
        (1000, 0o755, 0, False, False),
        (1000, 0o777, 0, False, True),
        # A volume of Kubernetes.
        (0, 0o2775, 1000, False, True),
        (0, 0o2775, 1000, True, False),
        # Users outside this user namespace.
        (65534, 0o755, 1000, False, False),
        (65534, 0o1777, 1000, False, False),
        (65534, 0o777, 1000, False, True),
    ],
)
def test_a_folder_is_replaced_by_those_who_can_write_to_its_parent(
    monkeypatch: pytest.MonkeyPatch, owner: int, mode: int, user: int, own: bool, expected: bool
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setattr(_local, "outside", lambda: (65534,))
    monkeypatch.setattr(_local, "is_own_group", lambda group, user: own and user != 65534)
    parent: Any = SimpleNamespace(st_uid=owner, st_gid=2000, st_mode=mode)
    assert _local.others_can_replace(parent) == expected
    if owner == 65534:
        monkeypatch.setattr(_local, "outside", lambda: ())
        assert _local.others_can_replace(parent)


def test_a_group_is_of_the_user_alone_if_no_other_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    users = {1000: ("ann", 1000), 1001: ("bob", 1001)}
    groups: dict[int, tuple[str, list[str]]] = {1000: ("ann", []), 1001: ("bob", ["bob"])}

    def user(uid: int) -> Any:
        return SimpleNamespace(pw_name=users[uid][0], pw_uid=uid, pw_gid=users[uid][1])

    def group(gid: int) -> Any:
        return SimpleNamespace(gr_name=groups[gid][0], gr_mem=groups[gid][1])

    monkeypatch.setattr(pwd, "getpwuid", user)
    monkeypatch.setattr(pwd, "getpwall", lambda: [user(uid) for uid in users])
    monkeypatch.setattr(grp, "getgrgid", group)
    own = _local.is_own_group
    assert own(1000, 1000) and own(1001, 1001) and not own(1001, 1000)
    groups[1000] = ("ann", ["ann", "bob"])
    assert not own(1000, 1000)
    groups[1000] = ("ann", [])
    # It is the primary group of another user.
    users[1001] = ("bob", 1000)
    assert not own(1000, 1000)
    # In a container that does not know them: runAsUser and fsGroup.
    assert own(2000, 2000) and not own(2000, 2001) and not own(2000, 1000)
    users[1002] = ("eve", 2000)
    assert not own(2000, 2000)


def other_way(refused: pytest.ExceptionInfo[v.SettingsError], works: bool = True) -> str:
    """The folder to trust that a hint names, if the other folder that it names works."""
    hint = refused.value.hint
    assert hint is not None
    if works:
        [folder] = re.findall("such as (.*) if the whole cluster", hint)
        Work(folder, None).check()
    [trusted] = re.findall(f"{TRUSTED}=(.*) .docs/spark.md", hint)
    return str(trusted)


@is_root
@pytest.mark.parametrize("mode", [0o2775, 0o777], ids=["fsGroup", "FUSE"])
def test_a_volume_can_be_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, mode: int
) -> None:
    mount = tmp_path / "mount"
    (mount / "work").mkdir(parents=True)
    (mount / "work").chmod(0o700)
    os.chown(mount, 0, ANOTHER)
    mount.chmod(mode)
    monkeypatch.setenv("HOME", str(tmp_path))
    # The mount itself, and a folder in it that is there or not.
    for folder in (mount, mount / "work", mount / "new"):
        monkeypatch.delenv(TRUSTED, raising=False)
        with pytest.raises(v.SettingsError, match=f"can write to {mount}") as refused:
            Work(folder, None).check()
        assert other_way(refused) == str(folder)
        monkeypatch.setenv(TRUSTED, f"relative:/other::{other_way(refused)}")
        rows = rows_in(Work(folder, None))
        rows.find(goes_on=False)
        rows.write()
        assert f"who can write to {folder} is not checked" in caplog.text
    monkeypatch.setenv(TRUSTED, str(mount))
    Work(mount / "work", None).check()
    monkeypatch.setenv(TRUSTED, str(mount / "wor"))
    with pytest.raises(v.SettingsError, match="can write to"):
        Work(mount / "work", None).check()


@is_root
def test_a_file_system_that_shows_other_owners_can_be_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, victim: Path
) -> None:
    folder = tmp_path / "work"
    folder.mkdir(mode=0o700)
    rows = rows_in(local(tmp_path))
    rows.find(goes_on=False)
    rows.write()
    for one in (folder / rows.folder, folder / NOTE):
        os.chown(one, ANOTHER, ANOTHER)
        one.chmod(0o777)
    monkeypatch.setenv("HOME", str(tmp_path))
    # No error of the system alone: there is a way out.
    with pytest.raises(v.SettingsError, match="the file system shows it as such") as refused:
        rows.work.create(f"{rows.folder}/items")
    assert other_way(refused) == str(folder)
    monkeypatch.setenv(TRUSTED, str(folder))
    os.chown(folder, ANOTHER, ANOTHER)
    folder.chmod(0o777)
    again = rows_in(local(tmp_path))
    again.find(goes_on=True)
    assert again.folder == rows.folder
    again.work.create(f"{rows.folder}/items")
    # Links lead nowhere else, and names are names.
    (folder / OTHER_ROWS).symlink_to(victim)
    again.stale = [OTHER_ROWS]
    again.forget_stale()
    with pytest.raises(v.InternalError):
        again.work.delete("../home/documents")
    again.work.delete(again.folder)
    assert os.listdir(folder) == [NOTE]
    assert (victim / "thesis").exists()


@is_root
def test_root_works_below_a_folder_of_another_user(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir(mode=0o755)
    os.chown(folder, ANOTHER, ANOTHER)
    with pytest.raises(v.SettingsError, match=f"uid {ANOTHER}") as refused:
        Work(folder, None).check()
    assert f"such as {folder}/vesica-work if" in str(refused.value.hint)
    assert other_way(refused) == str(folder)
    Work(folder / "vesica-work", None).check()


@is_root
def test_another_user_works_below_folders_of_root_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "work"
    folder.mkdir(mode=0o755)
    os.chown(folder, 1000, 1000)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(_local, "outside", lambda: ())
    os.chown(tmp_path, ANOTHER, 0)
    with pytest.raises(v.SettingsError, match="can replace"):
        local(tmp_path).check()
    # The machine's root is a user outside this namespace.
    monkeypatch.setattr(_local, "outside", lambda: (ANOTHER,))
    local(tmp_path).check()
    link = tmp_path / "link"
    link.symlink_to(folder)
    os.chown(link, ANOTHER, 0, follow_symlinks=False)
    tmp_path.chmod(0o755)
    Work(link, None).check()
    tmp_path.chmod(0o1777)
    with pytest.raises(v.SettingsError, match="a link that another user"):
        Work(link, None)
    os.chown(folder, ANOTHER, ANOTHER)
    with pytest.raises(v.SettingsError, match="belongs to another user"):
        local(tmp_path).check()


@is_root
def test_a_group_of_the_user_alone_may_write_to_what_is_in_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kubernetes gives the group of a volume this right when a pod starts."""
    (tmp_path / "work").mkdir(mode=0o700)
    rows = rows_in(local(tmp_path))
    rows.find(goes_on=False)
    rows.write()
    for one, mode in ((NOTE, 0o660), (rows.folder, 0o2770)):
        os.chown(tmp_path / "work" / one, 0, 2000)
        (tmp_path / "work" / one).chmod(mode)
    with pytest.raises(v.SettingsError, match=NOTE):
        rows_in(local(tmp_path)).find(goes_on=True)
    monkeypatch.setattr(_local, "is_own_group", lambda group, user: group == 2000)
    again = rows_in(local(tmp_path))
    again.find(goes_on=True)
    assert again.folder == rows.folder
