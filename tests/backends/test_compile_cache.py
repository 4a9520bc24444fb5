"""Libraries in the cache: a damaged one is made again, one that cannot be is refused, and nothing ends the process."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import platewright as pw
from platewright.backends.c import compile as module
from platewright.backends.c.compile import Compiler, compiled, find_compiler, library
from platewright.backends.c.in_memory import compiled_in_memory, has_memory_compiler
from platewright.backends.c.kept import ENTRY, find_kept, keep, prune
from platewright.errors import BackendError, NoCompilerWarning
from schemas.mixtures import poissons

COMPILER = find_compiler()
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C compiler")
needs_shell = pytest.mark.skipif(os.name != "posix", reason="needs a shell")
SOURCE = "int answer(void)\n{\n    return ANSWER;\n}\n"
COUNTS = {"y": np.array([1, 0, 4, 7, 2, 9])}
RUN = {"by": "gibbs", "chains": 1, "draws": 1000, "warm_up": 10}


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PLATEWRIGHT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


# -- damaged libraries -----------------------------------------------------------------------------------------------


def _flipped(content: bytes, place: int) -> bytes:
    place %= len(content)
    return content[:place] + bytes([content[place] ^ 0xFF]) + content[place + 1 :]


DAMAGES: tuple[Callable[[bytes, np.random.Generator], bytes], ...] = (
    lambda content, random: content[: random.integers(0, len(content))],  # cut, as by a full disk
    lambda content, random: _flipped(content, int(random.integers(0, len(content)))),
    lambda content, random: _flipped(content, int(random.integers(0, 64))),  # in the head
    lambda content, random: content[: len(content) // 2] + bytes(len(content) - len(content) // 2),  # never written
    lambda content, random: random.bytes(len(content)),
    lambda content, random: b"",
    lambda content, random: content + b"more",
)
OF_LIBRARIES, OF_ENTRIES = 40, 10

CHECK = """
from platewright.backends.c.compile import compiled, find_compiler
source, wrong = {source!r}, []
for answer in range({first}, {last}):
    print("damaged library", answer, flush=True)
    found = compiled(source.replace("ANSWER", str(answer)), find_compiler()).answer()
    wrong += [] if found == answer else [(answer, found)]
print("wrong:", wrong)
"""


@needs_compiler
@pytest.mark.parametrize("first", range(0, OF_LIBRARIES + OF_ENTRIES, 10))
def test_damaged_libraries_are_made_again(first: int, own_cache: Path) -> None:
    """Ten a process: each was damaged in its own way, as a file that a killed process or a bad disk leaves."""
    assert COMPILER is not None
    random = np.random.default_rng(first)
    before = {}
    for number in range(first, first + 10):
        kept = library(SOURCE.replace("ANSWER", str(number)), COMPILER)
        path = kept.path
        if number >= OF_LIBRARIES:
            path = next(e for e in own_cache.glob(f"*{ENTRY}") if kept.path.name.encode() in e.read_bytes())
        content = path.read_bytes()
        path.write_bytes(DAMAGES[number % len(DAMAGES)](content, random))
        before[number] = path
        assert path.read_bytes() != content
    text = CHECK.format(source=SOURCE, first=first, last=first + 10)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stdout.endswith("wrong: []\n"), (done.returncode, done.stdout, done.stderr)
    assert done.stderr == ""


@needs_compiler
def test_a_fit_finds_its_damaged_libraries_and_gives_the_same_numbers(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platewright.run.samplers.native_choice.has_memory_compiler", lambda: False)
    found = [learned()]
    for damage in (b"", b"\x7fELF" + bytes(400)):
        for path in own_cache.iterdir():
            path.write_bytes(damage)
        module._opened.cache_clear()
        found.append(learned())
    assert np.array_equal(found[0], found[1]) and np.array_equal(found[0], found[2])


def learned() -> np.ndarray:
    fit = poissons().learn(COUNTS, backend="c", seed=3, **{**RUN, "draws": 100})
    assert "(c: " in fit.how and "-ffp-contract=off" in fit.how
    return fit.chains["rate"]


# -- compilers that do not do their work -------------------------------------------------------------------------------


def fake(tmp_path: Path, lines: str) -> Compiler:
    """A compiler that says its version, and then does something else."""
    program = tmp_path / "fake-cc"
    program.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo fake 1.0 && exit 0\n{lines}\n')
    program.chmod(0o700)
    return Compiler((str(program),), "fake 1.0")


TO = 'while [ "$1" != -o ]; do shift; done; '


@needs_shell
@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("exit 0", "said that all went well, and wrote no library"),
        (f': > "$({TO}echo "$2")"', "said that all went well, and wrote no library"),
        (f'echo no library > "$({TO}echo "$2")"', "does not load, and did not when it was made again"),
        ("echo out of order >&2; exit 1", "refused the emitted source: out of order"),
        ("sleep 1000", "was not done after 0.5 s"),
        ("kill -9 $$", "refused the emitted source: no message"),
    ],
    ids=["nothing", "empty", "rubbish", "refuses", "hangs", "dies"],
)
def test_a_compiler_that_does_not_do_its_work(
    lines: str, said: str, tmp_path: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SECONDS_TO_COMPILE", 0.5)
    begun = time.monotonic()
    with pytest.raises(BackendError, match=said) as refused:
        compiled(SOURCE.replace("ANSWER", "42"), fake(tmp_path, lines))
    assert refused.value.hint and time.monotonic() - begun < 20
    assert not any(path.is_dir() or path.suffix == ".so" for path in own_cache.iterdir())


@needs_shell
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs /proc")
def test_what_a_hanging_compiler_has_started_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SECONDS_TO_COMPILE", 0.5)
    with pytest.raises(BackendError):
        compiled(SOURCE.replace("ANSWER", "42"), fake(tmp_path, f'sleep 1000 & echo $! > "{tmp_path}/child"\nwait'))
    child = Path("/proc", (tmp_path / "child").read_text().strip(), "stat")
    time.sleep(0.2)
    assert not child.exists() or child.read_text().rpartition(")")[2].split()[0] == "Z"


@needs_shell
def test_what_was_asked_for_and_fails_is_an_error_and_auto_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", str(fake(tmp_path, "exit 0").command[0]))
    monkeypatch.setattr("platewright.run.samplers.native_choice.has_memory_compiler", lambda: False)
    with pytest.raises(BackendError, match="wrote no library"):
        poissons().learn(COUNTS, backend="c", **RUN)
    fit = poissons().learn(COUNTS, **RUN)
    assert fit.backend == "numpy" and "wrote no library" in fit.how


@pytest.mark.skipif(not has_memory_compiler(), reason="no libtcc")
@needs_shell
def test_libtcc_goes_on_where_the_compiler_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", str(fake(tmp_path, "exit 0").command[0]))
    monkeypatch.setattr("platewright.run.samplers.native_choice.SECONDS_OF_ANY_TEXT", -1.0)
    with pytest.warns(NoCompilerWarning, match="wrote no library; libtcc compiled the sampler"):
        fit = poissons().learn(COUNTS, backend="c", seed=3, **RUN)
    assert "(c: libtcc" in fit.how


@pytest.mark.parametrize(
    ("asked", "said"),
    [("cc 'not closed", "which is no command \\(no closing quotation\\)"), ("no-such-compiler -O9", "does not answer")],
)
def test_a_cc_that_is_no_compiler_is_said_once(asked: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", asked)
    module._found.cache_clear()
    with pytest.warns(NoCompilerWarning, match=said):
        found = find_compiler()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert find_compiler() == found


@needs_shell
def test_a_compiler_that_never_says_its_version_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "silent"
    program.write_text("#!/bin/sh\nsleep 1000\n")
    program.chmod(0o700)
    monkeypatch.setenv("CC", str(program))
    monkeypatch.setattr(module, "SECONDS_TO_ANSWER", 0.3)
    with pytest.warns(NoCompilerWarning, match="does not answer"):
        find_compiler()


# -- the folder ------------------------------------------------------------------------------------------------------


def test_what_is_kept_is_found_and_nothing_else(tmp_path: Path) -> None:
    kept = keep(tmp_path, "key", b"some bytes", "so", "-O3")
    assert find_kept(tmp_path, "key") == kept and kept.how == "-O3"
    assert find_kept(tmp_path, "other") is None
    kept.path.write_bytes(b"same length"[:10])
    assert find_kept(tmp_path, "key") is None
    keep(tmp_path, "key", b"some bytes", "so", "-O3")
    assert find_kept(tmp_path, "key") == kept
    (tmp_path / f"key{ENTRY}").write_text(f"10\nabc\n../../{kept.path.name}\n")
    assert find_kept(tmp_path, "key") is None


def test_what_was_not_used_for_longest_goes(tmp_path: Path) -> None:
    for number in range(30):
        kept = keep(tmp_path, f"key{number}", f"library {number}".encode(), "so", "")
        for path in (kept.path, tmp_path / f"key{number}{ENTRY}"):
            os.utime(path, (number, number))
    left_behind = tmp_path / "compiling-killed"
    left_behind.mkdir()
    (left_behind / "program.c").write_text("")
    os.utime(left_behind, (0, 0))
    assert find_kept(tmp_path, "key3") is not None  # and is young again
    prune(tmp_path, 40)
    found = [number for number in range(30) if find_kept(tmp_path, f"key{number}") is not None]
    assert found == [3, *range(21, 30)] and not left_behind.exists()


def test_a_folder_without_room_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("platewright.backends.c.kept.os.fsync", full)
    with pytest.raises(BackendError, match="No space left on device"):
        keep(tmp_path, "key", b"some bytes", "so", "")
    assert list(tmp_path.iterdir()) == []


# -- libraries that nobody uses any more -------------------------------------------------------------------------------


def mapped(name: str) -> int:
    return Path("/proc/self/maps").read_text().count(name)


@needs_compiler
@pytest.mark.skipif(not Path("/proc/self/maps").is_file(), reason="needs /proc")
def test_a_library_is_closed_when_its_last_function_is_dropped() -> None:
    assert COMPILER is not None
    source = SOURCE.replace("ANSWER", "43")
    name = library(source, COMPILER).path.name
    answer = compiled(source, COMPILER).answer
    module._opened.cache_clear()
    assert mapped(name) and answer() == 43  # the function holds it
    del answer
    collected()
    assert not mapped(name)


@pytest.mark.skipif(not has_memory_compiler(), reason="no libtcc")
def test_memory_of_texts_that_nobody_uses_is_freed() -> None:
    def made(number: int) -> int:
        return int(compiled_in_memory(SOURCE.replace("ANSWER", str(number))).answer())

    assert [made(number) for number in range(300)] == list(range(300))
    before = maps()
    assert [made(number) for number in range(300, 900)] == list(range(300, 900))
    assert maps() <= before + 8


def maps() -> int:
    collected()
    path = Path("/proc/self/maps")
    return len(path.read_text().splitlines()) if path.is_file() else 0


def collected() -> None:
    import gc

    gc.collect()


@pytest.mark.skipif(not has_memory_compiler(), reason="no libtcc")
def test_a_text_that_is_no_c_is_refused_with_its_line() -> None:
    with pytest.raises(BackendError, match=r"libtcc refused the emitted source: .*:2: error"):
        compiled_in_memory("int answer(void)\n{ return")
    with pytest.raises(BackendError, match=r"libtcc refused the emitted source: .*nowhere"):
        compiled_in_memory("int nowhere(void);\nint answer(void) { return nowhere(); }\n")


@pytest.mark.skipif(not has_memory_compiler(), reason="no libtcc")
def test_threads_compile_side_by_side() -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(8) as pool:
        found = list(
            pool.map(lambda k: compiled_in_memory(SOURCE.replace("ANSWER", str(k))).answer(), range(1000, 1200))
        )
    assert found == list(range(1000, 1200))


def test_a_model_needs_no_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not has_memory_compiler():
        pytest.skip("no libtcc")
    m = pw.Model("one mean")
    m.mu, m.tau = pw.Normal(0, sd=2), pw.Gamma(2, rate=1)
    m.y = pw.Normal(m.mu, precision=m.tau, plates=m.plate("n"))
    with_one = m.learn({"y": [1.0, 2.0, 4.0]}, by="gibbs", backend="c", seed=1)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    without = m.learn({"y": [1.0, 2.0, 4.0]}, by="gibbs", backend="c", seed=1)
    assert "libtcc" in without.how and np.array_equal(with_one.chains["mu"], without.chains["mu"])


@pytest.mark.skipif(not has_memory_compiler(), reason="no libtcc")
def test_a_function_that_is_not_there_is_no_attribute() -> None:
    made = compiled_in_memory(SOURCE.replace("ANSWER", "77"))
    collected()
    assert not hasattr(made, "question") and made.answer() == 77
