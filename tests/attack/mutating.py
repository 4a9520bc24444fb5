"""Damage done to files at random, in bytes, JSON and arrays; the parts may still fit where the meaning is wrong."""

from __future__ import annotations

import io
import json
import random
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

ODD: tuple[object, ...] = (
    None, True, False, 0, 1, -1, 2**31, 2**63, -(2**63), 10**30, 0.5, 1e308, -1e308, "nan", "inf", "", "x", "mu[z]",
    [], {}, [[]], [0], {"a": 1}, "\u202egnp.\x1b[2J", "\x00", "../../etc/passwd", "Normal", "Add", ["Constant", 1.0],
)  # fmt: skip


def damaged_bytes(content: bytes, rng: random.Random) -> bytes:
    """Some bytes flipped, cut off, doubled or put in."""
    found = bytearray(content)
    match rng.randrange(5):
        case 0:
            for _ in range(rng.choice([1, 1, 3, 20])):
                found[rng.randrange(len(found))] ^= 1 << rng.randrange(8)
        case 1:
            del found[rng.randrange(len(found)) :]
        case 2:
            at = rng.randrange(len(found))
            found[at:at] = found[at : at + rng.randrange(1, 200)]
        case 3:
            at = rng.randrange(len(found))
            found[at : at + rng.randrange(1, 64)] = rng.randbytes(rng.randrange(64))
        case 4:
            at = rng.randrange(len(found))
            found[at : at + 8] = b"\xff" * 8
    return bytes(found)


def damaged_json(data: Any, rng: random.Random) -> Any:
    """The same data with one or a few places changed: other values, gone, doubled, exchanged."""
    found = json.loads(json.dumps(data))
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        places = list(_places(found))
        if not places:
            return _odd(rng)
        holder, key = rng.choice(places)
        match rng.randrange(6):
            case 0 | 1:
                holder[key] = _odd(rng)
            case 2:
                del holder[key]
            case 3 if isinstance(holder, list):
                holder.insert(key, json.loads(json.dumps(holder[key])))
            case 4:
                other, place = rng.choice(places)
                try:
                    holder[key] = json.loads(json.dumps(other[place]))
                except (KeyError, IndexError):  # the place is gone by an earlier change
                    holder[key] = _odd(rng)
            case _:
                holder[key] = _near(holder[key], rng)
    return found


def _near(value: object, rng: random.Random) -> object:
    """A value much like this one."""
    match value:
        case bool():
            return not value
        case int() | float():
            return rng.choice([value + 1, value - 1, -value, value * 1000, 0])
        case str() if value:
            at = rng.randrange(len(value))
            return value[:at] + rng.choice(["", "x", "\u202e", " ", "[", value]) + value[at + 1 :]
        case list():
            return value[:-1] if value else [0]
    return _odd(rng)


def _odd(rng: random.Random) -> Any:
    """A value that nobody expects, for one place alone."""
    return json.loads(json.dumps(rng.choice(ODD)))


def _places(data: Any) -> Any:
    """Every place that holds a value: what it is in, and where."""
    pairs = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in list(pairs):
        yield data, key
        yield from _places(value)


def damaged_array(values: np.ndarray, rng: random.Random) -> np.ndarray:
    """An array of another shape, of another type, or with values that cannot be."""
    found = np.array(values)
    match rng.randrange(8):
        case 0:
            return found.ravel()[: rng.randrange(found.size + 1)]
        case 1:
            return np.resize(found, (*found.shape, 2)) if found.size else np.zeros(3)
        case 2:
            return found.reshape(-1) if found.ndim != 1 else found[None]
        case 3:
            return np.resize(found, tuple(n + rng.choice([-1, 1, 5]) if n else n for n in found.shape))
        case 4:
            kinds = ["f8", "f4", "i8", "i4", "i1", "u8", "?", "f2", ">f8"]
            with np.errstate(all="ignore"):
                return found.astype(rng.choice(kinds))
        case 5 | 6:
            wild = [np.nan, np.inf, -np.inf, -1, -(2**62), 2**62, 1e300, -1e300, 0, 10**6, 2**31]
            return _with(found, rng, wild)
        case _:
            return _with(found, rng, [1, 2, 3, -2, 0.5])


def _with(found: np.ndarray, rng: random.Random, values: list[Any]) -> np.ndarray:
    """Some elements with these values, as far as the type can hold them."""
    if not found.size:
        return found
    flat = found.reshape(-1)
    for _ in range(rng.choice([1, 1, 5, flat.size])):
        with np.errstate(all="ignore"):
            flat[rng.randrange(flat.size)] = np.array(rng.choice(values)).astype(found.dtype)
    return flat.reshape(found.shape)


def damaged_archive(source: Path, target: Path, rng: random.Random, *, text: str) -> None:
    """A zip of JSON and arrays with something wrong: in its bytes, its JSON, an array, or which entries there are."""
    if rng.random() < 0.2:
        target.write_bytes(damaged_bytes(source.read_bytes(), rng))
        return
    with zipfile.ZipFile(source) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    arrays = [name for name in files if name.endswith(".npy")]
    kind = rng.random()
    if kind < 0.45 or not arrays:
        data = json.loads(files[text])
        files[text] = json.dumps(damaged_json(data, rng)).encode()
    elif kind < 0.9:
        for name in rng.sample(arrays, min(len(arrays), rng.choice([1, 1, 2]))):
            held = np.load(io.BytesIO(files[name]), allow_pickle=False)
            stream = io.BytesIO()
            np.save(stream, damaged_array(held, rng), allow_pickle=False)
            files[name] = stream.getvalue()
    elif kind < 0.95:
        one, other = rng.choice(arrays), rng.choice(arrays)
        files[one], files[other] = files[other], files[one]
    else:
        name = rng.choice(list(files))
        files[name] = damaged_bytes(files[name] or b"0", rng)
    with zipfile.ZipFile(
        target, "w", rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
    ) as new:
        for name, content in files.items():
            stored = zipfile.ZIP_DEFLATED if name == text else zipfile.ZIP_STORED
            new.writestr(name, content, stored if rng.random() < 0.98 else zipfile.ZIP_DEFLATED)
