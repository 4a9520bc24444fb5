"""Arrays in a zip file, as NumPy writes them but without pickle, and never larger in memory than in the file."""

from __future__ import annotations

import math
import re
import zipfile
from typing import IO

import numpy as np
from numpy.lib import format as npy

from platewright.errors import FormatError
from platewright.family import Array

KINDS = "biuf"
"""Truth values, integers and floating-point numbers: nothing that could hold an object."""
HEADER = re.compile(
    r"""\{'descr': '(?P<type>[<>|](?:b1|[iu][1248]|f[248]))', 'fortran_order': (?P<order>True|False), """
    r"""'shape': \((?P<shape>(?:\d{1,15}, ){0,63}(?:\d{1,15},?)?)\), \}\s*"""
)
"""The one form in which NumPy writes what an array is, for arrays of numbers."""
MOST_HEADER = 10_000
MOST_AXES = 32


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
        if stream.tell() + math.prod(shape) * kind.itemsize != entry.file_size:
            raise FormatError(f"`{name}` is damaged: its header does not fit its size"[:80])
        content = stream.read()
    if len(content) != math.prod(shape) * kind.itemsize:
        raise FormatError(f"`{name}` is damaged: it ends too early"[:80])
    array: Array = np.frombuffer(content, dtype=kind).reshape(shape, order="F" if order else "C")
    return array


def _header(stream: IO[bytes], name: str) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Shape, order and type; read by form alone, for NumPy would take a header apart as Python."""
    length = {b"\x01": 2, b"\x02": 4, b"\x03": 4}
    head = stream.read(8)
    size = stream.read(length.get(head[6:7], 0))
    text = stream.read(min(int.from_bytes(size, "little"), MOST_HEADER)).decode("latin1")
    found = HEADER.fullmatch(text)
    if head[:6] != b"\x93NUMPY" or not size or found is None:
        raise FormatError(f"`{name}` is damaged: it has no header of an array"[:80])
    shape = tuple(int(part) for part in found["shape"].split(",") if part.strip())
    if len(shape) > MOST_AXES:
        raise FormatError(f"`{name}` has {len(shape)} axes"[:80], expected=f"at most {MOST_AXES}")
    return shape, found["order"] == "True", np.dtype(found["type"])
