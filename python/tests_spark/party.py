"""One party with a cluster of its own: takes calls of `vesica.spark` as lines of JSON, and answers each with a line."""

from __future__ import annotations

import datetime
import decimal
import json
import os
import pathlib
import random
import sys
import tempfile
import threading
import time
from typing import Any

import vesica as v
from pyspark.sql import DataFrame, SparkSession
from vesica import spark as vs


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


def answer(spark: SparkSession, call: dict[str, Any]) -> dict[str, Any]:
    try:
        df = spark.sql(call["rows"])
        function = getattr(vs, call["call"])
        settings = call["settings"]
        if "flaky" in settings:
            settings["exchange"] = Flaky(settings.pop("flaky"))
        return {"value": plain(function(df, call["agreement"], *call["more"], **settings))}
    except v.VesicaError as error:
        return {"error": type(error).__name__, "message": str(error), "hint": error.hint}


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
