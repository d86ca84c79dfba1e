"""One party with a cluster of its own: takes calls of `vesica.spark` as lines of JSON, and answers each with a line."""

from __future__ import annotations

import contextlib
import datetime
import decimal
import glob
import json
import os
import pathlib
import random
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from typing import Any

import vesica as v
from pyarrow import fs
from pyspark.sql import DataFrame, SparkSession
from vesica import _packages
from vesica import spark as vs
from vesica._executors import Executors
from vesica._packages import PACKAGE


def session(settings: dict[str, str]) -> SparkSession:
    builder = SparkSession.builder
    usual = {
        "spark.master": "local[2]",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.local.dir": tempfile.mkdtemp(prefix="vesica-spark-"),
        "spark.sql.shuffle.partitions": "4",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    for name, value in {**usual, **settings}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


class Flaky:
    """A folder in which one request in twenty fails."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def path(self, name: str) -> pathlib.Path:
        if random.randrange(20) == 0:
            raise ConnectionResetError
        return pathlib.Path(self.folder, name)

    def put_if_absent(self, name: str, data: Any) -> bool:
        path = self.path(name)
        path.parent.mkdir(exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=self.folder, delete=False) as file:
            file.write(bytes(data))
        try:
            os.link(file.name, path)
        except FileExistsError:
            return False
        finally:
            os.unlink(file.name)
        self.path(name)
        return True

    def get(self, name: str) -> bytes | None:
        try:
            return self.path(name).read_bytes()
        except FileNotFoundError:
            return None


def watch(spark: SparkSession, sign: str) -> None:
    """Remove an executor whenever there is such a file."""
    context = spark.sparkContext._jsc.sc()  # type: ignore[union-attr]
    while True:
        if os.path.exists(sign):
            known = context.getExecutorIds()
            if known.size() > 1:
                context.killExecutor(known.apply(0))
                os.remove(sign)
        time.sleep(0.05)


def plain(value: Any) -> Any:
    if isinstance(value, DataFrame):
        return [plain(row.asDict()) for row in value.collect()]
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, (datetime.date, decimal.Decimal)):
        return str(value)
    if isinstance(value, v.Result):
        return {"kind": value.kind, "count": value.count, "rows": plain(value.rows())}
    return value


class OnDriver(fs.FileSystemHandler):  # type: ignore[misc]
    """The local file system, which the driver alone can reach."""

    def __init__(self, driver: int) -> None:
        self.driver = driver

    def local(self) -> fs.FileSystem:
        if os.getpid() != self.driver:
            raise PermissionError("this folder is the driver's")
        return fs.LocalFileSystem()

    def get_type_name(self) -> str:
        return "local"

    def normalize_path(self, path: str) -> str:
        return path

    def get_file_info(self, paths: list[str]) -> Any:
        return self.local().get_file_info(paths)

    def get_file_info_selector(self, selector: fs.FileSelector) -> Any:
        return self.local().get_file_info(selector)

    def create_dir(self, path: str, recursive: bool) -> None:
        self.local().create_dir(path, recursive=recursive)

    def delete_dir(self, path: str) -> None:
        self.local().delete_dir(path)

    def delete_dir_contents(self, path: str, missing_dir_ok: bool = False) -> None:
        self.local().delete_dir_contents(path, missing_dir_ok=missing_dir_ok)

    def delete_root_dir_contents(self) -> None:
        raise PermissionError

    def delete_file(self, path: str) -> None:
        self.local().delete_file(path)

    def move(self, source: str, to: str) -> None:
        self.local().move(source, to)

    def copy_file(self, source: str, to: str) -> None:
        self.local().copy_file(source, to)

    def open_input_stream(self, path: str) -> Any:
        return self.local().open_input_stream(path)

    def open_input_file(self, path: str) -> Any:
        return self.local().open_input_file(path)

    def open_output_stream(self, path: str, metadata: Any) -> Any:
        return self.local().open_output_stream(path)

    def open_append_stream(self, path: str, metadata: Any) -> Any:
        return self.local().open_append_stream(path)


def cancel_all(spark: SparkSession, work: str, ended: threading.Event) -> None:
    """Cancel the jobs of the cluster from the moment when it has grouped its rows."""
    while not ended.wait(0.02):
        if glob.glob(f"{work}/rows-*/items/*"):
            spark.sparkContext.cancelAllJobs()


def interrupt(spark: SparkSession, work: str, ended: threading.Event) -> None:
    """Press Ctrl-C while a job groups rows."""
    tracker = spark.sparkContext.statusTracker()

    def is_grouping(stage: int) -> bool:
        # Not the job that looks at the columns of a file.
        info = tracker.getStageInfo(stage)
        return info is not None and info.name.startswith("collect")

    while not ended.wait(0.01):
        if glob.glob(f"{work}/rows-*/items"):
            if any(is_grouping(stage) for stage in tracker.getActiveStageIds()):
                os.kill(os.getpid(), signal.SIGINT)
                return


def keep_secrets(file: str) -> None:
    """Write the secrets of a run to a file: what the driver wants executors to know."""
    group, take = Executors.group, Executors.take

    def write(*some: Any) -> None:
        with open(file, "a") as kept:
            print(json.dumps(some), file=kept)

    def noted_group(self: Executors, secret: bytes, buckets: int) -> None:
        write({"secret": list(secret)})
        group(self, secret, buckets)

    def noted_take(self: Executors, spec: Any, tasks: list[Any], kept: Any) -> None:
        write(json.loads(spec.text), *(json.loads(task.text) for task in tasks))
        take(self, spec, tasks, kept)

    Executors.group, Executors.take = noted_group, noted_take  # type: ignore[method-assign]


def keep_files(folders: list[str], kept: str, ended: threading.Event) -> None:
    """Keep all files in these folders, also those that are deleted soon."""
    seen = set()
    while not ended.wait(0.01):
        for folder in folders:
            for above, _, names in os.walk(folder):
                for path in (os.path.join(above, name) for name in names):
                    with contextlib.suppress(OSError):
                        found = os.stat(path)
                        if found.st_ino not in seen:
                            os.link(path, f"{kept}/{found.st_ino}-{os.path.basename(path)}")
                            seen.add(found.st_ino)


@contextlib.contextmanager
def with_fault(
    spark: SparkSession, wrong: dict[str, Any], settings: dict[str, Any]
) -> Iterator[None]:
    """What a test wants to be wrong: `environment`, `hidden` modules, the `package` that executors import, `work` that
    the driver alone can reach, all jobs `cancelled` after the first ones, or the call `interrupted`; or its secrets
    and files `kept`.
    """
    before = {name: os.environ.get(name) for name in wrong.get("environment", {})}
    os.environ.update(wrong.get("environment", {}))
    hidden = {name: sys.modules.get(name) for name in wrong.get("hidden", [])}
    sys.modules.update(dict.fromkeys(hidden))
    _packages.PACKAGE = wrong.get("package", PACKAGE)
    if "work" in wrong:
        settings["files"] = fs.PyFileSystem(OnDriver(os.getpid()))
    ended = threading.Event()
    if "cancelled" in wrong:
        arguments = (spark, settings["work"], ended)
        threading.Thread(target=cancel_all, args=arguments, daemon=True).start()
    if "interrupted" in wrong:
        arguments = (spark, settings["work"], ended)
        threading.Thread(target=interrupt, args=arguments, daemon=True).start()
    if "kept" in wrong:
        secrets, folders, kept = wrong["kept"]
        keep_secrets(secrets)
        keeping = (folders, kept, ended)
        threading.Thread(target=keep_files, args=keeping, daemon=True).start()
    try:
        yield
    finally:
        ended.set()
        _packages.PACKAGE = PACKAGE
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
        for name, module in hidden.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module


def answer(spark: SparkSession, call: dict[str, Any]) -> dict[str, Any]:
    settings, start = call["settings"], time.monotonic()
    try:
        function = getattr(vs, call["call"])
        if function is vs.helper_join:
            return {"value": function(spark, call["agreement"], **settings)}
        df = spark.sql(call["rows"])
        if "flaky" in settings:
            settings["exchange"] = Flaky(settings.pop("flaky"))
        with with_fault(spark, call["wrong"], settings):
            return {"value": plain(function(df, call["agreement"], *call["more"], **settings))}
    except KeyboardInterrupt:
        tracker = spark.sparkContext.statusTracker()
        latest = max(tracker.getJobIdsForGroup(None))
        until = time.monotonic() + 20
        while (
            status := tracker.getJobInfo(latest).status
        ) == "RUNNING" and time.monotonic() < until:
            time.sleep(0.05)
        return {"interrupted": status}
    except v.VesicaError as error:
        took = time.monotonic() - start
        told = {"error": type(error).__name__, "message": str(error), "hint": error.hint}
        return {**told, "seconds": took}


def main() -> None:
    # What Spark prints must not come between the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    spark = session(json.loads(sys.argv[1]))
    if sign := os.environ.get("REMOVE_AN_EXECUTOR"):
        threading.Thread(target=watch, args=(spark, sign), daemon=True).start()
    print(json.dumps({"value": spark.version}), file=answers, flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(spark, json.loads(line))), file=answers, flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
