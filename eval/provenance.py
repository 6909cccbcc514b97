"""Where a number comes from: commit, machine, versions and command, and how results are written."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import shlex
import subprocess
import sys
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
    folder = path.resolve().parent
    if not folder.is_dir():
        raise ValueError(f"{path}: there is no folder {folder}")
    if path.exists() and not path.is_file():
        raise ValueError(f"{path}: is there and is no file")
    scratch = _scratch(path)
    try:
        scratch.touch(exist_ok=False)
        scratch.unlink()
    except OSError as error:
        raise ValueError(f"{path}: cannot be written: {error.strerror}") from None


def _scratch(path: Path) -> Path:
    """Returns where a file is written before it takes its place, links followed to the end."""
    target = path.resolve()
    return target.with_name(f".{target.name}.{os.getpid()}")


def keep_json(path: Path, result: Mapping[str, Any], program: str) -> int:
    """Writes a command line's result and returns the exit status: 0, or 1 if it cannot."""
    try:
        write_json(path, result)
    except OSError as error:
        print(f"{program}: {path}: not written: {error.strerror}", file=sys.stderr)
        return 1
    return 0


def write_json(path: Path, result: Mapping[str, Any]) -> None:
    """Writes a result to a file, whole or not at all, whatever interrupts it.

    Raises:
        OSError: If it cannot be written; what was there before is still there.
    """
    write_text(path, json.dumps(result, indent=2, allow_nan=False) + "\n")


def write_text(path: Path, text: str) -> None:
    """Writes a text to a file, whole or not at all, whatever interrupts it.

    Raises:
        OSError: If it cannot be written; what was there before is still there.
    """
    scratch = _scratch(path)
    try:
        with scratch.open("x", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        scratch.replace(path.resolve())
    finally:
        with contextlib.suppress(OSError):
            scratch.unlink(missing_ok=True)
