"""Compile emitted C with the machine's compiler, once: kept by hash of source, compiler, flags and machine.

Order: `CC`, cc, gcc, clang, then `python -m ziglang cc`. Never -ffast-math: loading such a library changes floating
point for the whole process; the flags below keep NaN, infinities and denormals. `in_memory.py` has the compiler that is
there where none of these is, and that is done before one of these has begun.
"""

from __future__ import annotations

import _ctypes
import contextlib
import ctypes
import hashlib
import importlib.util
import os
import platform
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import warnings
import weakref
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from platewright.backends.c.kept import COMPILING, Kept, cache_folder, find_kept, forget, keep
from platewright.errors import BackendError, NoCompilerWarning

FLAGS = (
    "-O3",
    "-march=native",
    "-ffp-contract=fast",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fassociative-math",
    "-fno-signed-zeros",
    "-shared",
    "-fPIC",
)

BUILT_IN = ("exp", "log", "log1p", "expm1", "pow", "lgamma", "sin", "cos", "tan", "erf", "erfc")
"""Functions that a compiler would compute itself where it can; its last digit may differ from the library's."""

AS_WRITTEN = (
    "-O3",
    "-march=native",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-trapping-math",
    *(f"-fno-builtin-{name}" for name in BUILT_IN),
    "-shared",
    "-fPIC",
)
"""For samplers: every operation as it is written and in its order, so that any compiler draws the same bits."""

LIGHT = ("-O1", *AS_WRITTEN[1:])
"""For samplers whose loops are short: they would not repay the time that -O3 takes."""

LINKED = ("-nostdlib", "-lm", "-lc") if sys.platform == "linux" else ("-lm",)
"""Libraries; a library of plain functions needs nothing that runs when it is loaded, and links in half the time."""

ENDING = "dll" if sys.platform == "win32" else "so"

SECONDS_TO_COMPILE = 120.0
SECONDS_TO_ANSWER = 10.0
"""For a compiler that is asked for its version."""

MOST_OPEN = 32
"""Libraries that are held open although no plan may use them any more."""


class Functions(Protocol):
    """Compiled C, whoever compiled it: its functions by name, and who made them."""

    made_by: str

    def __getattr__(self, name: str) -> Any: ...


class Library(ctypes.CDLL):
    """A loaded library, which is closed when the last of its functions is dropped."""

    made_by: str = ""


@dataclass(frozen=True)
class Compiler:
    """How the compiler is called, and what it says it is."""

    command: tuple[str, ...]
    version: str


def find_compiler() -> Compiler | None:
    """The first C compiler that answers, or none."""
    return _found(os.environ.get("CC", ""), os.environ.get("PATH", ""))


@lru_cache(maxsize=16)
def _found(asked: str, path: str) -> Compiler | None:
    named = _command(asked)
    candidates = [named] if named else []
    candidates += [["cc"], ["gcc"], ["clang"]]
    if importlib.util.find_spec("ziglang") is not None:
        candidates.append([sys.executable, "-m", "ziglang", "cc"])
    for command in candidates:
        program = shutil.which(command[0], path=path)
        version = _version((program, *command[1:])) if program else None
        if program and version:
            return Compiler((program, *command[1:]), version)
        if command is named:
            _say(f"CC is `{asked}`, which does not answer to --version; another compiler is looked for")
    return None


def _command(asked: str) -> list[str]:
    """The words of `CC`; none where it cannot be read, which is said."""
    try:
        return shlex.split(asked)
    except ValueError as error:
        _say(f"CC is `{asked}`, which is no command ({str(error).lower()}); another compiler is looked for")
        return []


def _say(text: str) -> None:
    warnings.warn(text, NoCompilerWarning, stacklevel=2)


def _version(command: tuple[str, ...]) -> str | None:
    """The first line a compiler says about itself; none when it does not run."""
    try:
        code, said, _ = _run([*command, "--version"], SECONDS_TO_ANSWER)
    except (OSError, subprocess.SubprocessError):
        return None
    return said.strip().partition("\n")[0] or "unknown" if code == 0 else None


def _run(command: list[str], seconds: float) -> tuple[int, str, str]:
    """Exit status and what was said. Ended with all that it has started when time is up, or when we are interrupted."""
    apart = os.name == "posix"
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, start_new_session=apart
    ) as process:
        try:
            said, complained = process.communicate(timeout=seconds)
        except BaseException:
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL) if apart else process.kill()
            raise
    return process.returncode, said.decode(errors="replace"), complained.decode(errors="replace")


def compiled(source: str, compiler: Compiler, flags: tuple[str, ...] = FLAGS, shared: str = "") -> Library:
    """The functions of a source: from the cache, or compiled now; a library that does not load is made once more.

    `shared` is the text of functions that the source only declares; they are compiled once for all sources.
    """
    return _opened(source, compiler, flags, shared, os.environ.get("PLATEWRIGHT_CACHE", ""))


@lru_cache(maxsize=MOST_OPEN)
def _opened(source: str, compiler: Compiler, flags: tuple[str, ...], shared: str, _: str) -> Library:
    said: OSError | None = None
    for _again in range(2):
        kept = library(source, compiler, flags, shared)
        try:
            return _loaded(kept, compiler)
        except OSError as error:
            said = error
            forget(kept)
    raise BackendError(
        f"the library that {compiler.command[0]} made does not load, and did not when it was made again: {said}",
        hint='use backend="numpy", or CC=... for another compiler',
    ) from said


def _loaded(kept: Kept, compiler: Compiler) -> Library:
    found = Library(str(kept.path))
    found.made_by = f"{compiler.version} {kept.how}"
    close = getattr(_ctypes, "dlclose" if os.name == "posix" else "FreeLibrary")
    # Not at the end of the process: threads of ours may still be inside.
    weakref.finalize(found, close, found._handle).atexit = False
    return found


def is_compiled(source: str, compiler: Compiler, flags: tuple[str, ...] = FLAGS, shared: str = "") -> bool:
    """Whether the library is there already."""
    return find_kept(cache_folder(os.environ), _key((source, shared), compiler, flags)) is not None


def library(source: str, compiler: Compiler, flags: tuple[str, ...] = FLAGS, shared: str = "") -> Kept:
    """The compiled source as a file: from the cache, or compiled now."""
    folder, key = cache_folder(os.environ), _key((source, shared), compiler, flags)
    return find_kept(folder, key) or _made(source, compiler, flags, folder, key, shared)


def _object(source: str, compiler: Compiler, flags: tuple[str, ...]) -> Kept:
    """A source compiled without being linked. Its loops are short: -O3 takes twice the time and gains nothing."""
    folder, flags = cache_folder(os.environ), ("-O2", "-c", *(flag for flag in flags[1:] if flag != "-shared"))
    key = _key((source,), compiler, flags)
    return find_kept(folder, key) or _made(source, compiler, flags, folder, key)


def _key(texts: tuple[str, ...], compiler: Compiler, flags: tuple[str, ...]) -> str:
    """Under which key that is kept which is made of such texts in such a way."""
    parts = (*texts, " ".join(compiler.command), compiler.version, " ".join(flags), _machine())
    return hashlib.sha256(chr(0).join(parts).encode()).hexdigest()


def _made(source: str, compiler: Compiler, flags: tuple[str, ...], folder: Path, key: str, shared: str = "") -> Kept:
    """Compile in a folder of its own, and keep what came out."""
    objects = (str(_object(shared, compiler, flags).path),) if shared else ()
    ending = "o" if "-c" in flags else ENDING
    said = ""
    # A compiler that does not know this machine still compiles for its kind, and links in its usual way.
    plain = tuple(flag for flag in flags if flag != "-march=native")
    try:
        with tempfile.TemporaryDirectory(dir=folder, prefix=COMPILING) as scratch:
            text, made = Path(scratch, "program.c"), Path(scratch, f"program.{ending}")
            text.write_text(source, encoding="utf-8")
            for chosen, linked in ((flags, LINKED), (plain, ("-lm",))):
                libraries = () if "-c" in flags else linked
                command = [*compiler.command, *chosen, str(text), *objects, "-o", str(made), *libraries]
                code, _, complained = _run(command, SECONDS_TO_COMPILE)
                if code == 0:
                    # Under a name of its own: another time the first flags may do, and their last bits are others.
                    kept_as = key if chosen == flags else _key((source,), compiler, chosen)
                    return keep(folder, kept_as, _content(made, compiler), ending, shown_flags(chosen))
                said = said or complained.strip()
    except subprocess.TimeoutExpired as error:
        raise BackendError(
            f"{compiler.command[0]} was not done after {SECONDS_TO_COMPILE:g} s",
            hint='use backend="numpy", or CC=... for another compiler',
        ) from error
    except OSError as error:
        raise BackendError(f"{compiler.command[0]} did not run: {error}", hint='use backend="numpy"') from error
    first = said.partition("\n")[0] or "no message"
    raise BackendError(f"{compiler.command[0]} refused the emitted source: {first}", hint='use backend="numpy"')


def _content(made: Path, compiler: Compiler) -> bytes:
    """What the compiler wrote; it may have written nothing."""
    content = made.read_bytes() if made.is_file() else b""
    if not content:
        raise BackendError(
            f"{compiler.command[0]} said that all went well, and wrote no library",
            hint='use backend="numpy", or CC=... for another compiler',
        )
    return content


def compile_line(flags: tuple[str, ...], compiler: str = "cc") -> str:
    """The first line of an emitted file: how it is compiled alone."""
    return f"/* {compiler} {' '.join(flags)} FILE.c -lm */"


def shown_flags(flags: tuple[str, ...]) -> str:
    """The flags that matter for the numbers."""
    return " ".join(flag for flag in flags if flag not in ("-shared", "-fPIC") and "-fno-builtin" not in flag)


@lru_cache(maxsize=1)
def _machine() -> str:
    """What `-march=native` stands for here: a home folder may be shared by unlike machines."""
    said = [platform.machine(), platform.system()]
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith(("flags", "Features", "model name")):
                    said.append(line.strip())
                if line == "\n":
                    break
    except OSError:
        said.append(platform.processor())
    return "\n".join(said)
