"""Compiled libraries kept in a folder: written whole or not at all, and looked at before they are loaded.

    KEY.entry     size and SHA-256 of a library, and how it was compiled; KEY is a hash of source, compiler and flags
    SHA-256.so    the library, under the hash of its own bytes

A library is written beside its place, forced to the disk and renamed, and only then its entry is: an entry names a
whole library, and any number of processes may write at once. What is not as its entry says counts as not there. What
was not used for longest goes when there are many.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from platewright.errors import BackendError

ENTRY = ".entry"
MOST_FILES = 1_000
"""Files in the folder from which on the oldest half go; a library has two."""
SECONDS_LEFT_BEHIND = 86_400.0
"""A folder in which something was compiled so long ago belongs to a process that was killed."""
COMPILING = "compiling-"
"""How names of such folders begin."""


@dataclass(frozen=True)
class Kept:
    """A library that is as it was written, and the words that say how it was compiled."""

    path: Path
    how: str


def find_kept(folder: Path, key: str) -> Kept | None:
    """What is kept under a key; none where it, or a byte of it, is missing or others could have written it."""
    entry = folder / f"{key}{ENTRY}"
    try:
        if not is_ours(entry):
            return None
        size, digest, name, how = entry.read_text(encoding="utf-8").split("\n")
        path = folder / Path(name).name
        if not is_ours(path) or path.stat().st_size != int(size):
            return None
        if hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            return None
        for used in (entry, path):  # what is used last goes last
            os.utime(used)
    except (OSError, ValueError):
        return None
    return Kept(path, how)


def keep(folder: Path, key: str, made: bytes, ending: str, how: str) -> Kept:
    """Keep a library; raises `BackendError` where it cannot be written."""
    digest = hashlib.sha256(made).hexdigest()
    path = folder / f"{digest}.{ending}"
    try:
        _write(path, made)
        _write(folder / f"{key}{ENTRY}", f"{len(made)}\n{digest}\n{path.name}\n{how}".encode())
        prune(folder, MOST_FILES)
    except OSError as error:
        raise BackendError(
            f"a compiled library could not be written to {folder}: {error.strerror or error}",
            hint="set PLATEWRIGHT_CACHE to a folder with room",
        ) from error
    return Kept(path, how)


def forget(kept: Kept) -> None:
    """Remove a library that is no good; its entry then names nothing."""
    with contextlib.suppress(OSError):
        kept.path.unlink()


def prune(folder: Path, most: int) -> None:
    """Remove the files that were not used for longest, half of `most` of them being left; and what was left behind."""
    files: list[tuple[float, Path]] = []
    for found in folder.iterdir():
        try:
            age = found.lstat().st_mtime
        except OSError:
            continue  # another process was faster
        if found.name.startswith(COMPILING):
            if time.time() - age > SECONDS_LEFT_BEHIND:
                _remove_folder(found)
        else:
            files.append((age, found))
    if len(files) <= most:
        return
    for _, path in sorted(files)[: len(files) - most // 2]:
        with contextlib.suppress(OSError):  # in use on Windows, or gone already
            path.unlink()


def _remove_folder(folder: Path) -> None:
    for inner in folder.iterdir():
        with contextlib.suppress(OSError):
            inner.unlink()
    with contextlib.suppress(OSError):
        folder.rmdir()


def _write(path: Path, content: bytes) -> None:
    """Beside its place, to the disk, then renamed, then the folder to the disk: nobody ever sees a part of it."""
    handle, beside = tempfile.mkstemp(dir=path.parent, prefix=f"{COMPILING}write-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        raise
    if os.name != "posix":
        return  # elsewhere a folder cannot be opened
    place = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(place)
    finally:
        os.close(place)


# -- where libraries are kept --------------------------------------------------------------------------------------


def cache_folder(environment: Mapping[str, str]) -> Path:
    """A folder that only this user can enter; `PLATEWRIGHT_CACHE` names another."""
    for folder in (_wanted_folder(environment), Path(tempfile.gettempdir(), f"platewright-{_user()}")):
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError:
            continue
        if is_ours(folder) and os.access(folder, os.W_OK | os.X_OK):
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


def is_ours(path: Path) -> bool:
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
