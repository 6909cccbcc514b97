"""Where a number comes from: commit, machine, versions and command, and how results are written."""

from __future__ import annotations

import json
import os
import platform
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import crib_env

ROOT = Path(__file__).resolve().parent.parent
UNKNOWN = "unknown"


def commit() -> str:
    """Returns the commit of this checkout, with "-dirty" if a tracked file has been changed.

    "unknown" where there is no git, no commit yet, or no checkout, also when the sources lie inside
    a checkout of something else.
    """
    top = _git("rev-parse", "--show-toplevel")
    if top is None or Path(top).resolve() != ROOT:
        return UNKNOWN
    head = _git("rev-parse", "--verify", "HEAD")
    if head is None:
        return UNKNOWN
    return head + ("-dirty" if _git("status", "--porcelain", "--untracked-files=no") else "")


def _git(*arguments: str) -> str | None:
    """Returns what a git command prints, None if it fails or there is no git."""
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def cpu() -> str:
    """Returns the name of the processor."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass  # not Linux
    return platform.processor() or platform.machine() or UNKNOWN


def origin(module: str, arguments: Sequence[str]) -> dict[str, str]:
    """Returns what every result says of itself: command, commit, version of crib_env and cpu.

    Args:
        module: What ``python -m`` ran.
        arguments: Its command line.
    """
    return {
        "command": shlex.join(["python", "-m", module, *arguments]),
        "commit": commit(),
        "version": crib_env.__version__,
        "cpu": cpu(),
    }


def check_writable(path: Path) -> None:
    """Makes sure, before the work, that its result can be written to *path*.

    Raises:
        ValueError: If it cannot.
    """
    folder = path.absolute().parent
    if not folder.is_dir():
        raise ValueError(f"{path}: there is no folder {folder}")
    if path.is_dir():
        raise ValueError(f"{path}: is a folder, not a file")
    if not os.access(folder, os.W_OK):
        raise ValueError(f"{path}: the folder {folder} cannot be written to")


def write_json(path: Path, result: Mapping[str, Any]) -> None:
    """Writes a result to a file, whole or not at all, whatever interrupts it.

    Raises:
        OSError: If it cannot be written; what was there before is still there.
    """
    text = json.dumps(result, indent=2, allow_nan=False) + "\n"
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with scratch.open("x", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        scratch.replace(path)
    finally:
        scratch.unlink(missing_ok=True)
