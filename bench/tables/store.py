"""Remembers what measuring commands printed."""

import contextlib
import hashlib
import json
import math
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).absolute()
# Tests measure a build that is there anyway.
VESICA = pathlib.Path(os.environ.get("VESICA", TARGET / "dist" / "vesica")).absolute()
PRIMITIVES = pathlib.Path(os.environ.get("VESICA_BENCH", TARGET / "dist" / "vesica-bench")).absolute()

NAMES = {VESICA: "vesica", PRIMITIVES: "vesica-bench"}


class Store:
    """Runs commands, and remembers their output in a file if it has one, so that an interrupted measurement can
    continue. Another build of the programs measures everything again."""

    def __init__(self, path=None, until=None):
        """After `until`, of `time.monotonic`, commands that are not remembered do not start, and those that run end."""
        self.path = path
        self.until = until
        self.left_out = 0
        self.builds = {name: digest(program) for program, name in NAMES.items()}
        self.names = dict(NAMES)
        self.known = {}
        if path and path.exists():
            for line in path.read_text().splitlines():
                # An interrupted measurement may have left half a line.
                with contextlib.suppress(ValueError):
                    one = json.loads(line)
                    if one["build"] == self.builds[one["command"][0]]:
                        self.known[key(one["command"], one["turn"])] = one

    def run(self, command, limit_s=None, turn=0):
        """The exit status and the standard output of a command; errors go to the terminal. The status is None if the
        command took longer than `limit_s` or the time was up. `turn` distinguishes runs of one command."""
        named = [self.names.get(part, str(part)) for part in command]
        one = self.known.get(key(named, turn), {"status": -1})
        if one["status"] == 0 or (one["status"] is None and one["limit_s"] >= (limit_s or math.inf)):
            return one["status"], one["output"]
        left_s = self.until - time.monotonic() if self.until else math.inf
        if left_s <= 0:
            self.left_out += 1
            return None, ""
        print(f"  … {' '.join(named)}", file=sys.stderr, flush=True)
        started = time.time()
        status, output = run_whole([str(part) for part in command], min(limit_s or math.inf, left_s))
        if status is None and left_s < (limit_s or math.inf):
            self.left_out += 1
            return None, ""
        # The next measurement tries again what failed.
        if not status:
            seconds = round(time.time() - started, 3)
            one = {"command": named, "turn": turn, "build": self.builds[named[0]]}
            one |= {"limit_s": limit_s, "status": status, "output": output}
            one |= {"started": started, "seconds": seconds}
            self.known[key(named, turn)] = one
            self.write(one)
        return status, output

    def forget(self, command, turn=0):
        """Another measurement runs this command again."""
        named = [self.names.get(part, str(part)) for part in command]
        if one := self.known.pop(key(named, turn), None):
            self.write({**one, "status": -1})

    def write(self, one):
        if not self.path:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        is_cut = self.path.exists() and not self.path.read_bytes().endswith(b"\n")
        with self.path.open("a") as file:
            file.write("\n" * is_cut + json.dumps(one) + "\n")


def run_whole(command, limit_s):
    """The exit status and the output of a command that may start others: all of them end with it. The status is None after
    `limit_s`."""
    TARGET.mkdir(parents=True, exist_ok=True)
    # What an ended run leaves in its directory goes with it. The system's folder for this may be in memory.
    with tempfile.TemporaryDirectory(dir=TARGET, ignore_cleanup_errors=True) as directory:
        options = {"cwd": directory, "stdout": subprocess.PIPE, "text": True, "start_new_session": True}
        with subprocess.Popen(command, **options) as process:
            try:
                output, _ = process.communicate(timeout=None if limit_s == math.inf else limit_s)
                return process.returncode, output
            except subprocess.TimeoutExpired:
                return None, ""
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)


def key(named, turn):
    return (*named, turn)


def digest(program):
    return hashlib.sha256(program.read_bytes()).hexdigest() if program.exists() else None
