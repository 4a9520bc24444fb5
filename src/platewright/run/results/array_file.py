"""Arrays in a zip file, as NumPy writes them but without pickle, and never larger in memory than in the file."""

from __future__ import annotations

import math
import zipfile
from typing import IO

import numpy as np
from numpy.lib import format as npy

from platewright.errors import FormatError
from platewright.family import Array

KINDS = "biuf"
"""Truth values, integers and floating-point numbers: nothing that could hold an object."""


def write_array(archive: zipfile.ZipFile, name: str, value: object) -> None:
    """Store one array of numbers, uncompressed."""
    array = np.asarray(value)
    if array.dtype.kind not in KINDS:
        raise FormatError(f"an array of type {array.dtype} cannot be saved", expected="numbers")
    with archive.open(name, "w", force_zip64=True) as stream:
        # ascontiguousarray would give a number an axis
        npy.write_array(stream, array if array.flags.c_contiguous else array.copy(order="C"), allow_pickle=False)


def read_array(archive: zipfile.ZipFile, name: str) -> Array:
    """One array; its header must agree with the size of its entry before memory is taken."""
    try:
        entry = archive.getinfo(name)
    except KeyError:
        raise FormatError(f"the file lacks `{name}`"[:80]) from None
    if entry.compress_type != zipfile.ZIP_STORED:
        raise FormatError(f"`{name}` is compressed, which we never do"[:80])
    with archive.open(entry) as stream:
        shape, order, kind = _header(stream, name)
        count = math.prod(shape)
        start = stream.tell()
        if kind.kind not in KINDS or start + count * kind.itemsize != entry.file_size:
            raise FormatError(f"`{name}` is damaged: its header does not fit its size"[:80])
        flat = np.frombuffer(stream.read(), dtype=kind)
    array: Array = flat.reshape(shape, order="F" if order else "C")
    return array


def _header(stream: IO[bytes], name: str) -> tuple[tuple[int, ...], bool, np.dtype]:
    try:
        version = npy.read_magic(stream)
        reader = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        return reader(stream)
    except ValueError as error:
        raise FormatError(f"`{name}` is damaged: {error}"[:120]) from error
