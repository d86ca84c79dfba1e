"""Requests in the folder of a helper's lists that no helper has written: which of them start a job, and when."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import vesica as v
from vesica import _join
from vesica._join import outstanding, pause
from vesica._work import Work

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
    monkeypatch.setattr(_join, "MOST_REQUESTS", 2)
    assert outstanding(shared(tmp_path)) == ["join-b", "join-c"]
    (tmp_path / "join-c" / "answer").touch()
    assert outstanding(shared(tmp_path)) == ["join-b", "join-a"]


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
        with pytest.raises(v.DataError, match="not there, or are shorter"):
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
