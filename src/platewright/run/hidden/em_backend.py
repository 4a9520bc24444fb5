"""Which steps of EM and mean field are C's: both, fused into one pass over the rows; the statistics alone; or none.

A fused pass never stores probabilities, but knows hidden classes and chains of them only. Where hidden variables are
Gaussian, meet along chains or on plates inside one another, or parameters of EM that take turns need the rows
themselves, NumPy makes the expectations and C sums them up for EM. For mean field NumPy does that too, which keeps
every digit of the pools of shrinking means.
"""

from __future__ import annotations

from collections.abc import Mapping

from platewright.backends.c.compile import find_compiler
from platewright.backends.c.in_memory import has_memory_compiler
from platewright.backends.c.program import c_program
from platewright.backends.c_chain.chain import em_program
from platewright.errors import UnknownName
from platewright.family import Array
from platewright.run.exact.native import _warn_once
from platewright.run.hidden.native_cliques import NativeCliques
from platewright.run.hidden.native_em import NativeEM
from platewright.schemas.em import EMPlan
from platewright.schemas.hidden_plan import HiddenPlan
from platewright.schemas.mean_field import MeanFieldPlan

ROWS_FOR_C = 20_000
"""From here on a pass is worth a compilation."""
STEPS_FOR_C = 2_000
"""The same for the steps of hidden chains."""
SUMS_BY_C = "numpy, sums by c"
"""Expectations by NumPy, statistics by C."""


def choose_em_backend(plan: EMPlan, backend: str, sizes: Mapping[str, int]) -> str:
    """`c` where it was asked for or pays, and hidden variables do not meet; along chains NumPy goes step by step."""
    if not _is_wanted(plan, backend, sizes):
        return "numpy"
    if not why_not_fused(plan):
        return "c"
    pays = backend == "c" or _rows(plan, sizes) >= ROWS_FOR_C  # statistics do not take the time of a few steps
    has_sums = any(len(c_program(program).left) < len(program.passes) for program in plan.latent.programs)
    return SUMS_BY_C if pays and has_sums else "numpy"


def choose_field_backend(plan: MeanFieldPlan, backend: str, sizes: Mapping[str, int]) -> tuple[str, str]:
    """`c` where it was asked for or pays; else `numpy`, with the condition that failed if there was one."""
    if not _is_wanted(plan, backend, sizes):
        return "numpy", ""
    why = why_not_fused(plan)
    return ("numpy", why) if why else ("c", "")


def _is_wanted(plan: HiddenPlan, backend: str, sizes: Mapping[str, int]) -> bool:
    """Whether a compiler is there, and asked for or worth it."""
    if backend not in ("auto", "numpy", "c"):
        raise UnknownName(backend, ("auto", "numpy", "c"), where="backend=")
    by_step = any(item.chain for item in plan.hidden) or has_ties(plan)
    enough = STEPS_FOR_C if by_step else ROWS_FOR_C
    wanted = backend == "c" or (backend == "auto" and _rows(plan, sizes) >= enough)
    # Over plain rows NumPy is as fast as libtcc's code; along chains it goes step by step, and is 30 times slower.
    has_compiler = find_compiler() is not None or (by_step and has_memory_compiler())
    if backend == "c" and not has_compiler:
        schema = "EM" if isinstance(plan, EMPlan) else "mean field"
        _warn_once(f"no C compiler was found (CC, cc, gcc, clang or the package ziglang), so NumPy runs {schema}")
    return wanted and has_compiler


def _rows(plan: HiddenPlan, sizes: Mapping[str, int]) -> int:
    """The largest number of elements of a hidden variable."""
    return max((sizes[axes[0].plate] for axes in plan.latent.elements), default=0)


def why_not_fused(plan: HiddenPlan) -> str:
    """What keeps expectations and statistics from one pass in C; nothing where nothing does."""
    if plan.latent.gaussian:
        found = [member.name for group in plan.latent.gaussian for member in group.members]
        return f"{', '.join(found)} {'is' if len(found) == 1 else 'are'} Gaussian"
    if not plan.hidden and isinstance(plan, MeanFieldPlan):
        return "nothing is hidden"
    if not all(chain.group.alone for chain in plan.latent.chains):
        return "a chain meets other hidden variables"
    if inner := next((group for group in plan.latent.groups if group.places), None):
        shown = ", ".join(item.name for item in (*inner.members, *inner.given))
        return f"{shown} are hidden on plates inside one another"
    if plan.takes_turns and has_ties(plan):
        return "parameters take turns"
    if plan.takes_turns and isinstance(plan, EMPlan):
        return next((f"{name}: {reason}" for name, reason in em_program(plan).left), "")
    return ""


def has_ties(plan: HiddenPlan) -> bool:
    """Whether hidden classes meet."""
    return any(len(group.members) > 1 for group in plan.latent.groups)


def told_backend(chosen: str, native: NativeEM | NativeCliques | None) -> str:
    """Who made the steps, after a run: C may have been refused when it was prepared, or have handed steps on."""
    if native is None:
        return chosen
    if not native.native:
        return f"numpy: {native.left[0][1]}"
    handed = native.by_numpy if isinstance(native, NativeEM) else {}
    if not handed:
        return chosen
    return f"{chosen}, {sum(handed.values())} looks by numpy: {max(handed, key=lambda reason: handed[reason])}"


def native_runner(plan: HiddenPlan, columns: Mapping[str, Array], sizes: Mapping[str, int]) -> NativeEM | NativeCliques:
    """The C for a plan: by cliques where classes meet."""
    return NativeCliques(plan, columns, sizes) if has_ties(plan) else NativeEM(plan, columns, sizes)
