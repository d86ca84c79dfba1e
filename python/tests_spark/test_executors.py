"""Runs whose work executors do, and what goes wrong with them."""

from __future__ import annotations

import contextlib
import http.server
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

import pyarrow as pa
import pytest
import vesica as v
from scene import LIMIT, Cluster, Scene, common, keys_of, rows, value

#: Time until what cannot work is known, in seconds.
SOON = 10

Laptop = Callable[..., Future[v.Result]]


def emails(count: int, step: int) -> pa.Table:
    return pa.table({"email": [f"u{step * id}@x.org" for id in range(count)]})


def numbers_of(result: v.Result, step: int) -> set[int]:
    return {step * id for id in pa.array(result.positions).to_pylist()}


def refused(answer: Future[Any]) -> dict[str, Any]:
    found = answer.result(LIMIT)
    assert "error" in found, found
    assert found["hint"], found
    return dict(found)


def test_executors_match_rows_that_are_others_each_time(
    clusters: list[Cluster], scene: Scene
) -> None:
    deal = scene.agree(receives="all", partition_rows=1000)
    # Some of them at random, each twice, without an order.
    some = f"select * from ({rows(2500, 2, ', rand() draw')}) where draw < 0.9"
    some = f"select * from ({some}) lateral view explode(array(1, 2)) copies as copy"
    sides = {"grocer": some, "airline": rows(1200, 3)}
    answers = {
        name: cluster.call("match", sides[name], deal, **scene.settings(name, on_executors=True))
        for name, cluster in zip(sides, clusters, strict=True)
    }
    found = {name: value(answer) for name, answer in answers.items()}
    for name in sides:
        assert [one.split("-")[0] for one in scene.left(name)] == ["rows"]
    here, there = keys_of(2500, 2), keys_of(1200, 3)
    numbers = sorted(row["number"] for row in found["grocer"])
    assert numbers[::2] == numbers[1::2]
    assert set(numbers) < set(common(here, there))
    assert len(numbers) > 300
    assert all(row["draw"] < 0.9 for row in found["grocer"])
    both = {here[number] for number in numbers}
    assert sorted(row["number"] for row in found["airline"]) == [
        number for number, key in there.items() if key in both
    ]


def test_rows_beyond_the_first_piece_of_bits(
    clusters: list[Cluster], scene: Scene, laptop: Laptop
) -> None:
    deal = scene.agree(receives="all", max_rows=200_000, partition_rows=20_000)
    # One file with three pieces of 65,536 rows, and names that mean something to Spark or to this package.
    some = "select concat('u', id, '@x.org') email, id `number`, id `a.b`, 'x' `c``d` from range(0, 140000, 1, 1)"
    table = pa.table({"email": [f"u{id}@x.org" for id in range(1, 150_000, 1009)]})
    other = laptop(deal, table)
    here = scene.settings("grocer", on_executors=True)
    found = value(clusters[0].call("match", some, deal, **here))
    expected = list(range(1, 140_000, 1009))
    assert sorted(row["number"] for row in found) == expected
    assert all(row["email"] == f"u{row['a.b']}@x.org" and row["c`d"] == "x" for row in found)
    assert numbers_of(other.result(LIMIT), 1) == set(range(len(expected)))


def test_executors_meet_in_a_bucket(clusters: list[Cluster], scene: Scene) -> None:
    # The executors find the credentials in the environment of the cluster, which `clusters` sets.
    deal = scene.agree(receives="grocer", partition_rows=1000)
    place = {"exchange": f"s3://shared/{scene.folder.name}", "on_executors": True}
    answers = [
        cluster.call("match", rows(1500, step), deal, **scene.settings(name, **place))
        for cluster, name, step in zip(clusters, ("grocer", "airline"), (2, 3), strict=True)
    ]
    found = value(answers[0])
    assert value(answers[1]) is None
    expected = common(keys_of(1500, 2), keys_of(1500, 3))
    assert sorted(row["number"] for row in found) == expected
    assert len(expected) > 100


class Refusing(http.server.BaseHTTPRequestHandler):
    """An S3 service that accepts no key."""

    def do_GET(self) -> None:
        self.answer(403, b"<Error><Code>InvalidAccessKeyId</Code><Message>no</Message></Error>")

    def answer(self, code: int, answer: bytes) -> None:
        self.send_response(code)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


class ForReaders(Refusing):
    """An S3 service with a bucket to which no one may write."""

    def do_GET(self) -> None:
        names = b"<Name>shared</Name><Prefix/><KeyCount>0</KeyCount><MaxKeys>1000</MaxKeys>"
        self.answer(
            200, b"<ListBucketResult>%s<IsTruncated>false</IsTruncated></ListBucketResult>" % names
        )

    def do_PUT(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(403, b"<Error><Code>AccessDenied</Code><Message>no</Message></Error>")


@contextlib.contextmanager
def service(of: type[Refusing]) -> Iterator[str]:
    """The URL of such a service."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), of) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_bucket_that_cannot_be_used_is_refused_before_any_job(
    clusters: list[Cluster], scene: Scene
) -> None:
    deal = scene.agree()
    with service(Refusing) as refusing, service(ForReaders) as for_readers:
        cases = [
            ("s3://nowhere/match", {}, "has no such bucket"),
            ("s3://shared/match", {"AWS_ENDPOINT_URL": refusing}, "refuses access"),
            ("s3://shared/match", {"AWS_ENDPOINT_URL": for_readers}, "access is refused"),
        ]
        for place, environment, says in cases:
            here = scene.settings("grocer", exchange=place, on_executors=True)
            wrong = {"environment": environment}
            error = refused(clusters[0].call("match", rows(20, 2), deal, wrong=wrong, **here))
            assert error["error"] == "SettingsError" and says in error["message"], error
            bucket = place.split("/")[2]
            # Those of the policy in docs/exchange.md: the grocer is the second by name.
            rights = f"s3:PutObject and s3:DeleteObject on arn:aws:s3:::{bucket}/match/*/1-*"
            assert f"s3:ListBucket on arn:aws:s3:::{bucket}," in error["hint"]
            assert rights in error["hint"]
            assert "secret" not in str(error).lower().replace("aws_secret_access_key", "")
            assert error["seconds"] < SOON
            assert not (scene.folder / "work-grocer").exists()


@pytest.mark.parametrize("missing", ["pandas", "pyarrow"])
def test_packages_that_executors_lack_are_named(
    clusters: list[Cluster], scene: Scene, missing: str
) -> None:
    deal = scene.agree(partition_rows=1000)
    wrong = {"hidden": [missing]}
    here = scene.settings("grocer", on_executors=True)
    error = refused(clusters[0].call("match", rows(20, 2), deal, wrong=wrong, **here))
    assert error["error"] == "SettingsError" and missing in error["message"] + error["hint"], error
    assert not (scene.folder / "work-grocer").exists()


@pytest.mark.parametrize("is_wanted", [True, None])
def test_executors_without_this_package_are_refused_before_anybody_is_met(
    clusters: list[Cluster], scene: Scene, is_wanted: bool | None
) -> None:
    deal = scene.agree(partition_rows=1000)
    here = scene.settings("grocer", on_executors=is_wanted)
    for wrong, says in (
        ({"package": "vesica_that_is_missing"}, "executors have no package vesica"),
        ({"package": "pandas"}, "of this package; the driver has version"),
    ):
        error = refused(clusters[0].call("match", rows(3000, 2), deal, wrong=wrong, **here))
        assert error["error"] == "SettingsError" and says in error["message"], error
        assert "on_executors=False" in error["hint"]
        work = scene.folder / "work-grocer"
        assert not work.exists() or scene.left("grocer") == []
        assert list((scene.folder / "between").rglob("*")) == []


def test_rows_that_were_mended_are_taken(
    clusters: list[Cluster], scene: Scene, laptop: Laptop
) -> None:
    deal = scene.agree(receives="all", partition_rows=1000)
    here = scene.settings("grocer", on_executors=True)
    other = laptop(deal, emails(50, 3))
    none = "select cast(null as string) email, id number from range(50)"
    error = refused(clusters[0].call("match", none, deal, **here))
    assert error["error"] == "DataError", error
    assert "none of the 50 rows has a usable key: 50 empty" in error["message"]
    error = refused(clusters[0].call("match", f"{none} where id < 0", deal, **here))
    assert error["error"] == "DataError" and "no rows" in error["message"], error
    assert scene.left("grocer") == []
    # Nothing is in common.
    mended = "select concat('v', id, '@x.org') email from range(50)"
    assert value(clusters[0].call("match", mended, deal, **here)) == []
    assert numbers_of(other.result(LIMIT), 3) == set()


def test_a_run_goes_on_after_a_job_was_cancelled(
    clusters: list[Cluster], scene: Scene, laptop: Laptop
) -> None:
    deal = scene.agree(receives="all", partition_rows=1000)
    here = scene.settings("grocer", on_executors=True)
    some = f"select * from ({rows(1500, 2, ', rand() draw')}) where draw < 0.5"
    other = laptop(deal, emails(1200, 3))
    cancelled = {"cancelled": True}
    error = refused(clusters[0].call("match", some, deal, wrong=cancelled, **here))
    assert "a job of the run failed" in error["message"], error
    assert "the same call again" in error["hint"], error
    written = [one for one in scene.left("grocer") if one.startswith("rows-")]
    assert len(written) == 1
    assert not other.done()

    found = value(clusters[0].call("match", some, deal, **here))
    assert found
    assert scene.left("grocer") == written
    keys = {int(row["email"][1:-6]) for row in found}
    assert keys == numbers_of(other.result(LIMIT), 3)


def test_a_call_that_is_interrupted_takes_its_jobs_with_it_and_goes_on(
    clusters: list[Cluster], scene: Scene, laptop: Laptop
) -> None:
    deal = scene.agree(receives="all", partition_rows=1000)
    here = scene.settings("grocer", on_executors=True)
    some = rows(20_000, 2)
    other = laptop(deal, emails(1200, 3))
    wrong = {"interrupted": True}
    stopped = clusters[0].call("match", some, deal, wrong=wrong, **here).result(LIMIT)
    # Its job did not come to its end.
    assert stopped == {"interrupted": "FAILED"}
    assert not other.done()
    found = value(clusters[0].call("match", some, deal, **here))
    assert {int(row["email"][1:-6]) for row in found} == numbers_of(other.result(LIMIT), 3)


def test_executors_that_cannot_reach_work(
    clusters: list[Cluster], scene: Scene, laptop: Laptop
) -> None:
    deal = scene.agree(receives="all", partition_rows=1000)
    here = scene.settings("grocer", on_executors=True)
    other = laptop(deal, emails(50, 3))
    some = rows(50, 2)
    error = refused(clusters[0].call("match", some, deal, wrong={"work": "driver"}, **here))
    assert "a job of the run failed" in error["message"], error
    assert "`work`" in error["hint"], error
    # Now they can.
    found = value(clusters[0].call("match", some, deal, **here))
    keys = {int(row["email"][1:-6]) for row in found}
    assert keys and keys == numbers_of(other.result(LIMIT), 3)


def test_a_peer_with_other_partitions(
    clusters: list[Cluster], scene: Scene, laptop: Laptop
) -> None:
    other = scene.agree(partition_rows=2000)
    theirs = f"{other}.theirs"
    os.rename(other, theirs)
    deal = scene.agree(partition_rows=1000)
    waits = laptop(theirs, emails(50, 3), wait=3)
    here = scene.settings("grocer", on_executors=True, wait=3)
    error = refused(clusters[0].call("match", rows(50, 2), deal, **here))
    # Runs of another agreement are in another folder of the place, so that neither sees the other.
    assert error["error"] == "NetworkError" and "waits for airline" in error["message"], error
    assert isinstance(waits.exception(LIMIT), v.NetworkError)
