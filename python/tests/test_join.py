"""Requests in the folder of a helper's lists that no helper has written: which of them start a job, and when."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import vesica as v
from vesica import _join
from vesica._join import first_of, outstanding, pause
from vesica._work import Work, opened_in

ANOTHER = 54321
is_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


def shared(folder: Path) -> Work:
    return Work(folder, None, name="folder", is_shared=True)


def ask(folder: Path, name: str, time: int, request: bytes = b"") -> None:
    (folder / name).mkdir()
    path = folder / name / "request"
    path.write_bytes(request)
    os.utime(path, (time, time))


def test_the_oldest_requests_come_first_up_to_a_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, time in (("join-a", 30), ("join-b", 10), ("join-c", 20)):
        ask(tmp_path, name, time)
    ask(tmp_path, "other", 1)
    (tmp_path / "join-file").touch()
    assert outstanding(shared(tmp_path)) == ["join-b", "join-c", "join-a"]
    (tmp_path / "join-c" / "answer").touch()
    assert outstanding(shared(tmp_path)) == ["join-b", "join-a"]
    monkeypatch.setattr(_join, "MOST_REQUESTS", 2)
    assert first_of(["a", "b", "c", "d"], []) == (["a", "b"], True)
    assert first_of(["a", "b", "c", "d"], ["a", "c"]) == (["b", "d"], False)


@pytest.mark.parametrize("wait", [0, 0.05])
def test_requests_that_fail_keep_no_others_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wait: float
) -> None:
    monkeypatch.setattr(_join, "MOST_REQUESTS", 2)
    monkeypatch.setattr(_join, "LOOK_EVERY", 0.01)
    monkeypatch.setattr(_join, "check_packages", lambda: None)
    tried = []

    def answer(spark: Any, work: Work, name: str, limit: float) -> bool:
        tried.append(name)
        if name != "join-honest":
            raise v.DataError("it is bogus", "delete it")
        (tmp_path / name / "answer").touch()
        return True

    monkeypatch.setattr(_join, "answer", answer)
    bogus = [f"join-{number}" for number in range(7)]
    for name in bogus:
        ask(tmp_path, name, 1)
    ask(tmp_path, "join-honest", 2)
    with pytest.raises(v.DataError, match="bogus"):
        _join.helper_join(None, tmp_path, wait=wait)
    # Once each: the second try comes after 30 seconds.
    assert tried == [*bogus, "join-honest"]


@pytest.mark.parametrize("linked", ["request", "list-1"])
def test_links_to_a_request_or_a_list_are_no_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, linked: str
) -> None:
    monkeypatch.setattr(_join._vesica, "JoinRequest", Request)
    monkeypatch.setattr(Request, "lens", (10, 10))
    folder = tmp_path / "join-a"
    ask(tmp_path, "join-a", 1, b"well formed")
    for list in range(2):
        (folder / f"list-{list}").write_bytes(bytes(range(100, 110)))
    spark, work = Counting(), shared(tmp_path)
    with pytest.raises(AssertionError):
        _join.answer(spark, work, "join-a")
    elsewhere = tmp_path / "elsewhere"
    (folder / linked).rename(elsewhere)
    makes = [
        lambda: (folder / linked).symlink_to(elsewhere),
        lambda: os.mkfifo(folder / linked),
        lambda: (folder / linked).mkdir(),
    ]
    spark.jobs = 0
    for make in makes:
        make()
        if linked == "request":
            assert outstanding(work) == []
            assert not _join.answer(spark, work, "join-a")
        else:
            assert outstanding(work) == ["join-a"]
            with pytest.raises(v.DataError, match="missing, or shorter"):
                _join.answer(spark, work, "join-a")
        # Executors too.
        with pytest.raises(FileNotFoundError):
            opened_in(work.files, str(folder), linked)
        (folder / linked).rmdir() if (folder / linked).is_dir() else (folder / linked).unlink()
    assert spark.jobs == 0
    elsewhere.rename(folder / linked)
    with opened_in(work.files, str(folder), "list-1") as file:
        assert file.read_at(3, 2) == b"fgh"
        assert file.read_at(30, 8) == b"lm"
        assert file.read_at(3, 12) == b""
    folder.rename(tmp_path / "away")
    folder.symlink_to(tmp_path / "away")
    with pytest.raises(FileNotFoundError):
        opened_in(work.files, str(folder), "list-1")


def test_links_and_folders_of_others_are_no_requests(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "shared", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    ask(elsewhere, "join-a", 1)
    (folder / "join-a").symlink_to(elsewhere / "join-a")
    ask(folder, "join-b", 1)
    (folder / "join-b").chmod(0o777)
    ask(folder, "join-c", 1)
    (folder / "join-d..").mkdir()
    (folder / "join- e").mkdir()
    assert outstanding(shared(folder)) == ["join-c"]


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o772])
def test_a_folder_that_all_users_can_write_to_is_refused(tmp_path: Path, mode: int) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(mode)
    with pytest.raises(v.SettingsError, match="can write to"):
        outstanding(shared(folder))


@is_root
def test_a_folder_is_ours_or_of_a_group_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    # As docs/helper.md says: another user's, with a group.
    os.chown(folder, ANOTHER, ANOTHER)
    folder.chmod(0o2770)
    with pytest.raises(v.SettingsError, match="shares it with no group of yours"):
        outstanding(shared(folder))
    monkeypatch.setattr(os, "getgroups", lambda: [ANOTHER])
    assert outstanding(shared(folder)) == []
    folder.chmod(0o2750)
    with pytest.raises(v.SettingsError, match="shares it with no group of yours"):
        outstanding(shared(folder))
    # Ours, but a group can write to it that we are not in.
    monkeypatch.undo()
    os.chown(folder, 0, ANOTHER)
    folder.chmod(0o2770)
    with pytest.raises(v.SettingsError, match="can write to"):
        outstanding(shared(folder))


class Request:
    """A request that is well formed."""

    FOLDER_PREFIX, FILE, ANSWER_FILE = "join-", "request", "answer"
    folder, lens, ranges = "join-a", (1000, 1 << 60), 1 << 20

    @staticmethod
    def decode(data: bytes) -> Any:
        return Request() if data == b"well formed" else None

    @staticmethod
    def list_file(list: int) -> str:
        return f"list-{list}"


class Counting:
    """A session that counts its jobs."""

    def __init__(self) -> None:
        self.jobs = 0

    def range(self, *_: int) -> Counting:
        self.jobs += 1
        raise AssertionError


def test_a_request_without_its_lists_starts_no_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_join._vesica, "JoinRequest", Request)
    ask(tmp_path, "join-a", 1, b"well formed")
    spark, work = Counting(), shared(tmp_path)
    for size in (None, 10, 1000):
        for list in range(2):
            if size is not None:
                (tmp_path / "join-a" / f"list-{list}").write_bytes(bytes(size))
        with pytest.raises(v.DataError, match="missing, or shorter"):
            _join.answer(spark, work, "join-a")
    assert spark.jobs == 0
    monkeypatch.setattr(Request, "lens", (1000, 1000))
    with pytest.raises(AssertionError):
        _join.answer(spark, work, "join-a")


def test_a_request_that_fails_again_waits_longer() -> None:
    assert [pause(tries) for tries in (1, 2, 3, 7, 8, 1_000_000)] == [30, 60, 120, 1920, 3600, 3600]


@pytest.mark.parametrize("limit", [0, -1, float("nan")])
def test_a_limit_is_a_time(limit: float) -> None:
    with pytest.raises(v.SettingsError, match="limit"):
        _join.helper_join(None, "folder", limit=limit)


def test_a_request_that_cannot_be_read_keeps_no_others_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_join, "check_packages", lambda: None)
    ask(tmp_path, "join-a", 1)

    def unreadable(*_: Any) -> Any:
        raise PermissionError

    monkeypatch.setattr(_join, "opened_in", unreadable)
    with pytest.raises(v.DataError, match=r"request cannot be read \(PermissionError"):
        _join.helper_join(None, tmp_path)
