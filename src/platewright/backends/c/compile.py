"""Compile emitted C with the machine's compiler, once: kept by hash of source, compiler, flags and machine.

Order: `CC`, cc, gcc, clang, then `python -m ziglang cc`. Never -ffast-math: loading such a library changes floating
point for the whole process; the flags below keep NaN, infinities and denormals.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import os
import platform
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from platewright.errors import BackendError

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
LIGHT = ("-O1", *FLAGS[1:])
"""For sources whose loops are short: they would not repay the time that -O3 takes."""

LINKED = ("-nostdlib", "-lm", "-lc") if sys.platform == "linux" else ("-lm",)
"""Libraries; a library of plain functions needs nothing that runs when it is loaded, and links in half the time."""

SECONDS_TO_COMPILE = 120


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
    candidates = [shlex.split(asked)] if asked.strip() else []
    candidates += [["cc"], ["gcc"], ["clang"]]
    if importlib.util.find_spec("ziglang") is not None:
        candidates.append([sys.executable, "-m", "ziglang", "cc"])
    for command in candidates:
        program = shutil.which(command[0], path=path)
        version = _version((program, *command[1:])) if program else None
        if program and version:
            return Compiler((program, *command[1:]), version)
    return None


def _version(command: tuple[str, ...]) -> str | None:
    """The first line a compiler says about itself; none when it does not run."""
    try:
        said = subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return said.stdout.strip().partition("\n")[0] or "unknown"


def library(source: str, compiler: Compiler, flags: tuple[str, ...] = FLAGS, shared: str = "") -> Path:
    """The compiled source: from the cache, or compiled now.

    `shared` is the text of functions that the source only declares; they are compiled once for all sources.
    """
    folder = cache_folder(os.environ)
    target = _kept(folder, (source, shared), compiler, flags, "dll" if sys.platform == "win32" else "so")
    if not _is_ours(target):
        _compile(source, compiler, flags, folder, target, (_object(shared, compiler),) if shared else ())
    return target


def shared_library(source: str, compiler: Compiler, shared: str) -> Path:
    """A library that belongs to no model, and is compiled once on a machine; it rounds every product and sum."""
    folder, flags = cache_folder(os.environ), (*LIGHT, "-ffp-contract=off")
    target = _kept(folder, (source, shared), compiler, flags, "so")
    target = target.with_name(f"shared-{target.name}")
    if not _is_ours(target):
        _compile(source, compiler, flags, folder, target, (_object(shared, compiler),))
    return target


def _object(source: str, compiler: Compiler) -> Path:
    """A source compiled without being linked. Its loops are short: -O3 takes twice the time and gains nothing."""
    folder, flags = cache_folder(os.environ), ("-O2", "-c", *(flag for flag in FLAGS[1:] if flag != "-shared"))
    target = _kept(folder, (source,), compiler, flags, "o")
    if not _is_ours(target):
        _compile(source, compiler, flags, folder, target)
    return target


def _kept(folder: Path, texts: tuple[str, ...], compiler: Compiler, flags: tuple[str, ...], ending: str) -> Path:
    """Where what is made of such texts in such a way is kept."""
    parts = (*texts, " ".join(compiler.command), compiler.version, " ".join(flags), _machine())
    return folder / f"{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()}.{ending}"


def _compile(
    source: str,
    compiler: Compiler,
    flags: tuple[str, ...],
    folder: Path,
    target: Path,
    objects: tuple[Path, ...] = (),
) -> None:
    """Write beside the target, then rename: nobody ever sees half a library."""
    with tempfile.TemporaryDirectory(dir=folder, prefix="compiling-") as scratch:
        text, made = Path(scratch, "program.c"), Path(scratch, target.name)
        text.write_text(source, encoding="utf-8")
        said = ""
        # A compiler that does not know this machine still compiles for its kind, and links in its usual way.
        plain = tuple(flag for flag in flags if flag != "-march=native")
        for chosen, linked in ((flags, LINKED), (plain, ("-lm",))):
            libraries = () if "-c" in flags else linked
            command = [*compiler.command, *chosen, str(text), *map(str, objects), "-o", str(made), *libraries]
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS_TO_COMPILE)
            except (OSError, subprocess.SubprocessError) as error:
                raise BackendError(f"{compiler.command[0]} did not run: {error}") from error
            if done.returncode == 0:
                os.replace(made, target)
                return
            said = said or done.stderr.strip()
        first = said.partition("\n")[0] or "no message"
        raise BackendError(f"{compiler.command[0]} refused the emitted source: {first}", hint='use backend="numpy"')


@lru_cache(maxsize=64)
def loaded_library(path: Path) -> ctypes.CDLL:
    """The library, loaded once."""
    return ctypes.CDLL(str(path))


# -- where libraries are kept --------------------------------------------------------------------------------------


def cache_folder(environment: Mapping[str, str]) -> Path:
    """A folder that only this user can enter; `PLATEWRIGHT_CACHE` names another."""
    for folder in (_wanted_folder(environment), Path(tempfile.gettempdir(), f"platewright-{_user()}")):
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError:
            continue
        if _is_ours(folder) and os.access(folder, os.W_OK | os.X_OK):
            return folder
    raise BackendError("no folder to keep compiled programs in", hint="set PLATEWRIGHT_CACHE to a folder of your own")


def _wanted_folder(environment: Mapping[str, str]) -> Path:
    if chosen := environment.get("PLATEWRIGHT_CACHE"):
        return Path(chosen).expanduser().absolute()
    home = Path(os.path.expanduser("~"))
    if sys.platform == "win32":
        return Path(environment.get("LOCALAPPDATA") or home / "AppData" / "Local") / "platewright" / "cache"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "platewright"
    return Path(environment.get("XDG_CACHE_HOME") or home / ".cache") / "platewright"


def _is_ours(path: Path) -> bool:
    """Whether a file or folder is there, belongs to this user, and nobody else can write it."""
    try:
        found = path.lstat()
    except OSError:
        return False
    if not hasattr(os, "getuid"):
        return True
    return found.st_uid == os.getuid() and not stat.S_ISLNK(found.st_mode) and not found.st_mode & 0o022


def _user() -> str:
    return str(os.getuid()) if hasattr(os, "getuid") else "user"


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
