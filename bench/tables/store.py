"""Remembers what measuring commands printed."""

import contextlib
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
# Tests measure a build that is there anyway.
VESICA = pathlib.Path(os.environ.get("VESICA", TARGET / "dist" / "vesica"))
PRIMITIVES = pathlib.Path(os.environ.get("VESICA_BENCH", TARGET / "dist" / "vesica-bench"))

NAMES = {VESICA: "vesica", PRIMITIVES: "vesica-bench"}


class Store:
    """Runs commands, and remembers their output in a file if it has one, so that an interrupted measurement can go on.
    Another build of the programs measures anew."""

    def __init__(self, path=None, until=None):
        """After `until`, of `time.monotonic`, commands that are not remembered do not start."""
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
        command took longer than `limit_s` or did not start. `turn` tells apart runs of one command."""
        named = [self.names.get(part, str(part)) for part in command]
        one = self.known.get(key(named, turn))
        if one and (one["status"] == 0 or one["limit_s"] >= (limit_s or float("inf"))):
            return one["status"], one["output"]
        if self.until and time.monotonic() > self.until:
            self.left_out += 1
            return None, ""
        print(f"  … {' '.join(named)}", file=sys.stderr, flush=True)
        command = [str(part) for part in command]
        started = time.monotonic()
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=limit_s)
            status, output = done.returncode, done.stdout
        except subprocess.TimeoutExpired:
            status, output = None, ""
        # The next measurement tries again what failed.
        if not status:
            seconds = round(time.monotonic() - started, 3)
            self.keep(named, turn, limit_s, status, output, seconds)
        return status, output

    def keep(self, named, turn, limit_s, status, output, seconds):
        one = {"command": named, "turn": turn, "limit_s": limit_s, "status": status, "output": output}
        one |= {"seconds": seconds, "build": self.builds[named[0]]}
        self.known[key(named, turn)] = one
        if self.path:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a") as file:
                file.write(json.dumps(one) + "\n")


def key(named, turn):
    return (*named, turn)


def digest(program):
    return hashlib.sha256(program.read_bytes()).hexdigest() if program.exists() else None
