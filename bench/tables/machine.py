"""The machine that measures: its name, and how busy others keep it."""

import dataclasses
import os
import pathlib
import platform
import resource
import time

# Cores that others may use before and during a measurement that counts as quiet.
QUIET_CORES = 0.25

# How long the load is measured before a cell, for one that does not wait, and how long to wait before it is measured
# again.
SAMPLE_S = 0.5
QUICK_SAMPLE_S = 0.1
PAUSE_S = 5

STAT = pathlib.Path("/proc/stat")
TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")


def name():
    """Processor, cores and memory."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    kind = f"{platform.system()} {platform.machine()}"
    return f"{processor()}, {os.cpu_count()} cores, {memory:.0f} GiB, {kind}"


def processor():
    try:
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or "unknown processor"


def busy_s(stat=None):
    """CPU seconds of all processes since the machine started; None where the system does not say. Interrupts are left
    out, as those of our own traffic belong to no process."""
    try:
        first = (stat or STAT.read_text()).splitlines()[0].split()
    except OSError:
        return None
    if first[0] != "cpu" or len(first) < 9:
        return None
    user, nice, system, _idle, _waiting, _irq, _soft, steal = map(int, first[1:9])
    return (user + nice + system + steal) / TICKS_A_SECOND


def own_s(processes=()):
    """CPU seconds of this process, of those that it has waited for, and of `processes` that run."""
    used = [resource.getrusage(who) for who in [resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN]]
    total = sum(one.ru_utime + one.ru_stime for one in used)
    for process in processes:
        try:
            # The name, in brackets, may have spaces.
            fields = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        total += (int(fields[11]) + int(fields[12])) / TICKS_A_SECOND
    return total


@dataclasses.dataclass(frozen=True)
class Load:
    """How many cores others used, None where that is unknown."""

    before: float | None
    during: float | None

    def is_quiet(self):
        return all(cores is not None and cores <= QUIET_CORES for cores in [self.before, self.during])


class Watch:
    """Measures how many cores others use from its making on."""

    def __init__(self, processes=()):
        self.processes = processes
        self.started = (time.monotonic(), busy_s(), own_s(processes))

    def cores(self):
        started, busy, own = self.started
        now = busy_s()
        if busy is None or now is None:
            return None
        of_others = (now - busy) - (own_s(self.processes) - own)
        return round(max(0.0, of_others / max(time.monotonic() - started, 1e-9)), 3)


def load(processes=(), sample_s=SAMPLE_S):
    """How many cores others use now."""
    watch = Watch(processes)
    time.sleep(sample_s)
    return watch.cores()


def wait_until_quiet(wait_s, processes=(), measure=load, sleep=time.sleep):
    """Waits up to `wait_s` until others leave the machine alone. How many cores they use then."""
    until = time.monotonic() + wait_s
    while True:
        cores = measure(processes, SAMPLE_S if wait_s else QUICK_SAMPLE_S)
        if cores is None or cores <= QUIET_CORES or time.monotonic() >= until:
            return cores
        sleep(min(PAUSE_S, max(0.0, until - time.monotonic())))
