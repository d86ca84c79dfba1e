"""Remembers what measuring commands printed, on which machine, and how busy others kept it."""

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

from tables import machine

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).absolute()
# Tests measure a build that is there anyway.
VESICA = pathlib.Path(os.environ.get("VESICA", TARGET / "dist" / "vesica")).absolute()
PRIMITIVES = pathlib.Path(os.environ.get("VESICA_BENCH", TARGET / "dist" / "vesica-bench")).absolute()

NAMES = {VESICA: "vesica", PRIMITIVES: "vesica-bench"}

# The commands of `vesica-bench` that count or fill tables: what they print does not depend on who else computes.
COUNTING = ["circuits", "loads", "public-key", "stashes"]

# What the programs are built from.
SOURCES = ["Cargo.toml", "Cargo.lock", "crates", "bench/primitives"]


class Store:
    """Runs commands, and remembers their output in a file if it has one, so that an interrupted measurement can
    continue. Another build of the programs measures everything again, unless another machine built it of the same
    source text: then its measurements stay, with that machine's name."""

    def __init__(self, path=None, until=None, wait_s=0, only_quiet=False):
        """After `until`, of `time.monotonic`, commands that are not remembered do not start, and those that run end. A
        command waits up to `wait_s` for a quiet machine. With `only_quiet`, what a busy one measured is measured
        again."""
        self.path = path
        self.until = until
        self.wait_s = wait_s
        self.only_quiet = only_quiet
        self.left_out = 0
        self.builds = {name: digest(program) for program, name in NAMES.items()}
        self.names = dict(NAMES)
        self.machine = self.last_machine = machine.name()
        self.code = code()
        # Servers of ours, whose work is not that of others.
        self.servers = set()
        # The measurements that were asked for.
        self.used = {}
        self.known = {}
        if path and path.exists():
            for line in path.read_text().splitlines():
                # An interrupted measurement may have left half a line.
                with contextlib.suppress(ValueError):
                    self.recall(json.loads(line))

    def recall(self, one):
        """Takes a line of the file, if it belongs to this build or to the same source text on another machine."""
        is_here = one.get("machine", self.machine) == self.machine
        is_same = one["build"] == self.builds[one["command"][0]] or (
            not is_here and self.code and one.get("code") == self.code
        )
        before = self.known.get(key(one["command"], one["turn"]))
        # What this machine measured takes precedence.
        if is_same and (is_here or not before or before["machine"] != self.machine):
            self.known[key(one["command"], one["turn"])] = {"machine": self.machine, **one}

    def run(self, command, limit_s=None, turn=0):
        """The exit status and the standard output of a command; errors go to the terminal. The status is None if the
        command took longer than `limit_s` or the time was up. `turn` distinguishes runs of one command."""
        named = [self.names.get(part, str(part)) for part in command]
        one = self.known.get(key(named, turn), {"status": -1})
        if self.only_quiet and not is_quiet(one):
            one = {"status": -1}
        if one["status"] == 0 or (one["status"] is None and one["limit_s"] >= (limit_s or math.inf)):
            self.used[key(named, turn)] = one
            self.last_machine = one["machine"]
            return one["status"], one["output"]
        left_s = self.until - time.monotonic() if self.until else math.inf
        if left_s <= 0:
            self.left_out += 1
            return None, ""
        print(f"  … {' '.join(named)}", file=sys.stderr, flush=True)
        before = machine.wait_until_quiet(min(self.wait_s, left_s), self.servers)
        left_s = max(1, self.until - time.monotonic()) if self.until else math.inf
        self.last_machine = self.machine
        started, watch = time.time(), machine.Watch(self.servers)
        status, output = run_whole([str(part) for part in command], min(limit_s or math.inf, left_s))
        if status is None and left_s < (limit_s or math.inf):
            self.left_out += 1
            return None, ""
        # The next measurement tries again what failed.
        if not status:
            seconds = round(time.time() - started, 3)
            one = {"command": named, "turn": turn, "build": self.builds[named[0]]}
            one |= {"limit_s": limit_s, "status": status, "output": output}
            one |= {"started": started, "seconds": seconds, "machine": self.machine, "code": self.code}
            one |= {"others_before": before, "others_during": watch.cores()}
            self.known[key(named, turn)] = self.used[key(named, turn)] = one
            self.write(one)
        return status, output

    def forget(self, command, turn=0):
        """Another measurement runs this command again."""
        named = [self.names.get(part, str(part)) for part in command]
        self.used.pop(key(named, turn), None)
        if one := self.known.pop(key(named, turn), None):
            self.write({**one, "status": -1})

    def write(self, one):
        if not self.path:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        is_cut = self.path.exists() and not self.path.read_bytes().endswith(b"\n")
        with self.path.open("a") as file:
            file.write("\n" * is_cut + json.dumps(one) + "\n")


def is_quiet(one):
    """Whether others left the machine alone while this was measured, or it may be busy."""
    if one.get("command", [""])[0] == "vesica-bench" and one["command"][1] in COUNTING:
        return True
    return machine.Load(one.get("others_before"), one.get("others_during")).is_quiet()


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


def code(root=ROOT):
    """A digest of the committed source text of the programs; None if it was changed since, or there is no repository."""
    git = lambda *words: subprocess.run(["git", "-C", root, *words], capture_output=True, text=True)
    changed, listed = git("status", "--porcelain", "--", *SOURCES), git("ls-tree", "HEAD", "--", *SOURCES)
    if changed.returncode or listed.returncode or changed.stdout or not listed.stdout:
        return None
    return hashlib.sha256(listed.stdout.encode()).hexdigest()
