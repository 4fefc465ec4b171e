"""CPU time and peak memory of whole processes, as the kernel accounts for them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Measured:
    """One finished process: the median run of several."""

    cpu_s: float
    wall_s: float
    peak_mb: float
    exit_code: int
    output: str


def measure(command: Sequence[str], *, runs: int = 3, warmup: int = 1) -> Measured:
    """Run a command several times and keep the run with the median CPU time."""
    finished = sorted(
        (_once(command) for _ in range(warmup + runs)), key=lambda measured: measured.cpu_s
    )
    return finished[len(finished) // 2]


def measure_python(module: str, *arguments: str, runs: int = 3, warmup: int = 1) -> Measured:
    """`measure` for `python -m module arguments`, in this interpreter."""
    return measure([sys.executable, "-m", module, *arguments], runs=runs, warmup=warmup)


def ratio_line(name: str, measured: Measured, ours: Measured) -> str:
    """One aligned line; the ratio is how many times our CPU time it took."""
    return (
        f"  {name:<24} {measured.cpu_s:8.2f} s CPU {measured.wall_s:8.2f} s wall "
        f"{measured.peak_mb:7.0f} MB   {measured.cpu_s / ours.cpu_s:5.1f} x"
    )


def _once(command: Sequence[str]) -> Measured:
    import time

    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    output = process.stdout.read() if process.stdout else ""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.stdout:
        process.stdout.close()
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} exited {process.returncode}:\n{output}")
    return Measured(
        cpu_s=usage.ru_utime + usage.ru_stime,
        wall_s=time.perf_counter() - started,
        peak_mb=usage.ru_maxrss / 1024,
        exit_code=process.returncode,
        output=output,
    )
