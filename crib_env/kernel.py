"""The one file that knows Numba: the `kernel` decorator, its cache, and two bit instructions.

Everywhere else a rule is plain Python. With ``NUMBA_DISABLE_JIT=1`` the same text runs uncompiled,
a few hundred times slower, so that coverage tools and debuggers can see it.

This file must not know what a card or a game is.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numba
import numpy as np
from numba.core import event as numba_event
from numba.core import types as numba_types
from numba.extending import intrinsic

Function = TypeVar("Function", bound=Callable[..., Any])

# Numba sets these names at run time, where type checkers cannot see them.
config: Any = numba.config
event: Any = numba_event

COMPILED = not config.DISABLE_JIT


_CACHE_NAME = "crib_env-kernels-"
_NO_KERNELS = (
    "__init__.py",
    "__main__.py",
    "aec_env.py",
    "batch.py",
    "checks.py",
    "env.py",
    "explain.py",
    "lanes.py",
    "lanes_owner.py",
    "make_tables.py",
    "make_win_probability.py",
    "match.py",
    "narrator.py",
    "opponents.py",
    "options.py",
    "policy.py",
    "position.py",
    "records.py",
    "vector_env.py",
)


def _source_key() -> str:
    """Returns a hash of all that the compiled code is made of.

    Numba's own cache looks at the file of the compiled function alone: it misses a change in a
    function that is *called* from another file, and in a table that was compiled in as a constant.
    Bounds checks are compiled in too, so they have a cache of their own. Files that kernels neither
    stand in nor take constants from are left out: a word there costs no compilation.
    """
    package = Path(__file__).parent
    digest = hashlib.sha256()
    digest.update(f"{numba.__version__} {np.__version__} {config.BOUNDSCHECK}".encode())
    for path in sorted([*package.glob("*.py"), *package.glob("data/*.np[yz]")]):
        if path.name in _NO_KERNELS:
            continue
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _cache_folder() -> str:
    """Returns the folder of the compiled code: beside the sources, or else the user's own cache.

    "" where neither can be written to: then each process compiles for itself. A folder that others
    share is no place for code.
    """
    if os.environ.get("NUMBA_CACHE_DIR"):
        root = Path(os.environ["NUMBA_CACHE_DIR"])
    else:
        root = Path(__file__).parent / "__pycache__"
        writable = root if root.exists() else root.parent
        if not os.access(writable, os.W_OK):
            home = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
            root = Path(home)
            if not os.access(root if root.exists() else root.parent, os.W_OK):
                return ""
    return str(root / f"{_CACHE_NAME}{_source_key()}")


_CACHE_FOLDER = _cache_folder() if COMPILED else ""
_STALE = 24 * 3600  # seconds after which the compiled code of other sources is removed


def _remove_stale() -> None:
    """Removes compiled code of other versions of the sources that has long not been written to."""
    folder = Path(_CACHE_FOLDER)
    for other in folder.parent.glob(f"{_CACHE_NAME}*"):
        with contextlib.suppress(OSError):  # somebody else was faster
            if other != folder and time.time() - other.stat().st_mtime > _STALE:
                shutil.rmtree(other, ignore_errors=True)


def kernel(function: Function) -> Function:
    """Compiles *function* at its first call and caches the result; the identity with JIT off.

    Compiled kernels do not check their arguments or bounds: their docstrings say who did.
    """
    # Small functions call small functions all through the rule book: inlined, a random game
    # takes about two thirds of the time.
    return _compiled(function, inline=True)


def apart(function: Function) -> Function:
    """Compiles *function* as `kernel` does, but leaves it a call of its own: for what is rare."""
    return _compiled(function, inline=False)


def _compiled(function: Function, inline: bool) -> Function:
    """Returns the compiled form of *function*, or itself with JIT off."""
    if not COMPILED:
        return function
    # The cache folder is read when the dispatcher is made, and is global to Numba: put it back so
    # that other packages' functions stay where they were.
    before = config.CACHE_DIR
    config.CACHE_DIR = _CACHE_FOLDER
    try:
        compiled = numba.njit(cache=bool(_CACHE_FOLDER), forceinline=inline)(function)
        return cast(Function, compiled)
    finally:
        config.CACHE_DIR = before


class _CompileNotice(numba_event.Listener):
    """Says once on screen that kernels are being compiled, since that takes a while."""

    def __init__(self) -> None:
        self.said = False

    def on_start(self, happening: Any) -> None:
        """Prints one line at the first kernel that the cache did not hold."""
        function = happening.data["dispatcher"].py_func
        if self.said or not function.__module__.startswith(__package__ or "crib_env"):
            return
        self.said = True
        if _CACHE_FOLDER:
            _remove_stale()
        print(
            "crib_env: compiling its kernels, about a minute, once for this version ...",
            file=sys.stderr,
            flush=True,
        )

    def on_end(self, happening: Any) -> None:
        """Needs nothing at the end of a compilation."""


if COMPILED:
    event.register("numba:compile", _CompileNotice())


def as_records(games: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Returns *games* in the form that kernels take: attributes reach the fields of a record.

    Compiled code reads the fields of a plain structured array, which is also the fast form to pass
    (0.4 microseconds against 4.7 for a recarray); uncompiled code needs the recarray view.
    """
    plain = games.view(np.ndarray)
    return plain if COMPILED else plain.view(np.recarray)


if TYPE_CHECKING or not COMPILED:

    def bit_count(bits: int) -> int:
        """Returns how many bits of an int64 are set."""
        return int(bits).bit_count()

    def lowest_bit(bits: int) -> int:
        """Returns the index of the lowest bit set in an int64 that is not zero."""
        bits = int(bits)
        return (bits & -bits).bit_length() - 1

else:

    @intrinsic
    def bit_count(typing_context: Any, bits: Any) -> Any:
        """Returns how many bits of an int64 are set: one instruction."""

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.ctpop(args[0])

        return numba_types.int64(numba_types.int64), generate

    @intrinsic
    def lowest_bit(typing_context: Any, bits: Any) -> Any:
        """Returns the index of the lowest bit set in an int64 that is not zero: one instruction."""

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.cttz(args[0], context.get_constant(numba_types.boolean, True))

        return numba_types.int64(numba_types.int64), generate
