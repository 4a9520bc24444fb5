"""Print the functions of a sampler's file that are called from outside: `sweeps`, and two doors for laws."""

from __future__ import annotations

from dataclasses import dataclass

from platewright.backends.c.support import c_comment
from platewright.backends.c_gibbs.function import Arrays, Slot
from platewright.schemas.gibbs import GibbsPlan

ARGUMENTS = "void *const *array, const int64_t *size, uint64_t *random, int64_t *report"
CHAIN = "struct chain chain = {array, size, random, NULL, 0, 0};"


@dataclass(frozen=True)
class Doors:
    """Which blocks have statistics to bring up to date, which are one table, and which are moved by what."""

    prepared: tuple[int, ...]
    tables: tuple[int, ...]
    sliced: tuple[int, ...]
    paths: tuple[int, ...] = ()
    scales: tuple[int, ...] = ()
    coordinates: tuple[int, ...] = ()

    @property
    def looked_at(self) -> bool:
        """Whether some block shows its log density or its log weights."""
        return bool(self.sliced or self.tables or self.scales or self.coordinates)


def entry_functions(plan: GibbsPlan, arrays: Arrays, unknown: tuple[str, ...], doors: Doors) -> list[str]:
    """The text of each."""
    found = [_sweep(plan, doors), WRITE_DOWN.strip(), _sweeps(arrays, unknown), _statistics(doors)]
    found += [_gradients(doors)] if doors.paths else []
    return found + ([_densities(doors)] if doors.looked_at else [])


def _sweep(plan: GibbsPlan, doors: Doors) -> str:
    lines = ["/* Every block once (or one of them only), each given the newest values of the others. */"]
    lines += ["static int sweep(struct chain *chain, int64_t only, int64_t *report)", "{", "    int bad = 0;"]
    for number, block in enumerate(plan.blocks):
        step = f"(bad = draw_{number}(chain{', NULL' if number in doors.tables else ''}))"
        if number in doors.prepared:
            step = f"((bad = prepare_{number}(chain)) || {step})"
        lines.append(
            f"    if ((only < 0 || only == {number}) && {step}) {{ /* {c_comment(', '.join(block.variables))} */"
        )
        lines += [f"        report[0] = {number};", "        return bad;", "    }"]
    return "\n".join([*lines, "    return bad;", "}"])


WRITE_DOWN = """
/* Copy the present values of an unknown behind its draws so far; all are of 8 bytes. */
static void write_down(void *out, int64_t done, int64_t count, const void *values)
{
    if (out)
        memcpy((char *)out + 8 * done * count, values, 8 * (size_t)count);
}
"""


def _sweeps(arrays: Arrays, unknown: tuple[str, ...]) -> str:
    lines = [
        "/* `count` draws, every `thin` sweeps, into `out` (one array an unknown, or NULL); `only` is -1, or the",
        " * number of a block when no other is to be drawn. Returns 0, or 1 when a code is outside its plate or a",
        " * weight is negative, 2 when memory is short, 3 when a block is improper, 4 when a draw is not finite, 5",
        " * when no chain is possible; report: the block, and how many independent rows it lacks. */",
        f"int sweeps(int64_t count, int64_t thin, int64_t only, {ARGUMENTS}, void *const *out)",
        "{",
        f"    {CHAIN}",
        "    int bad = 0;",
        "    for (int64_t done = 0; done < count && !bad; done++) {",
        "        for (int64_t turn = 0; turn < thin && !bad; turn++)",
        "            bad = sweep(&chain, only, report);",
    ]
    for place, name in enumerate(unknown):
        slot = arrays.variable(name)
        values = f"array[{arrays.number(slot)}]"
        lines.append(
            f"        write_down(out[{place}], done, {_count(arrays, slot)}, {values}); /* {c_comment(name)} */"
        )
    lines += ["    }", "    report[1] = chain.missing;", "    free(chain.work);", "    return bad;", "}"]
    return "\n".join(lines)


def _count(arrays: Arrays, slot: Slot) -> str:
    """How many numbers an unknown has."""
    found = []
    for ((plate,),) in slot.extents:
        value = arrays.constants.get(plate)
        found.append(str(value) if value is not None else f"size[{arrays.size_number(plate)}]")
    return " * ".join(found) or "1"


def _statistics(doors: Doors) -> str:
    lines = ["/* The statistics of one block, left in its arrays; for laws. */"]
    lines += [f"int statistics(int64_t block, {ARGUMENTS})", "{", f"    {CHAIN}", "    int bad = -1;"]
    for number in doors.prepared:
        lines += [f"    if (block == {number})", f"        bad = prepare_{number}(&chain);"]
    return "\n".join([*lines, "    report[1] = chain.missing;", "    free(chain.work);", "    return bad;", "}"])


def _densities(doors: Doors) -> str:
    lines = ["/* Log densities of the elements of a sliced unknown at given values, or log weights; for laws. */"]
    lines += [f"int densities(int64_t block, {ARGUMENTS}, const double *values, double *found)", "{", f"    {CHAIN}"]
    lines += ["    int bad = -1;", "    (void)report, (void)values;"]
    for number in doors.sliced:
        lines += [f"    if (block == {number})", f"        bad = move_{number}(&chain, values, found);"]
    for number in doors.tables:
        lines += [f"    if (block == {number})", f"        bad = draw_{number}(&chain, found);"]
    along = {number: f"density_{number}(&chain, NULL, NULL, values[0])" for number in doors.scales}
    along |= {number: f"height_{number}(&chain, values)" for number in doors.coordinates}
    for number, height in along.items():
        lines += [f"    if (block == {number}) {{", f"        found[0] = {height};", "        bad = 0;", "    }"]
    return "\n".join([*lines, "    free(chain.work);", "    return bad;", "}"])


def _gradients(doors: Doors) -> str:
    lines = ["/* The log density of a block at coordinates, its slopes, and the precision that the rest gives. */"]
    lines += [f"int gradients(int64_t block, {ARGUMENTS}, const double *u, double *found, int64_t count)", "{"]
    lines += [f"    {CHAIN}", "    int bad = -1;", "    (void)report;"]
    for number in doors.paths:
        lines += [f"    if (block == {number}) {{", f"        found[0] = gradient_{number}(&chain, u, found + 1);"]
        lines += [f"        bad = precision_{number}(&chain, found + 1 + count);", "    }"]
    return "\n".join([*lines, "    free(chain.work);", "    return bad;", "}"])
