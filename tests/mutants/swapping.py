"""Plant a defect in memory: the code of a function that is already imported is exchanged, for everybody who has it.

Much sooner than a fresh import, in a fork that ends with the tests. It cannot reach what was made when modules were
imported, nor source text that is read from files: what seems to survive so is tried again in a copy of the files.
"""

from __future__ import annotations

import importlib
import sys
from functools import cached_property
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from mutants.planting import Mutant, planted
from platewright.algebra.expression import Expression
from platewright.family import Family


def swapped(mutant: Mutant) -> bool:
    """Exchange the code of the function; False where the scope is no function or cannot be reached."""
    dotted = mutant.file.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
    module = importlib.import_module(f"platewright.{dotted}")
    changed = planted(Path(str(module.__file__)).read_text(encoding="utf-8"), mutant)
    code = compile(changed, str(module.__file__), "exec", dont_inherit=True)
    place: Any = module
    if "." not in mutant.scope and not callable(vars(module).get(mutant.scope)):
        return refilled(vars(module).get(mutant.scope), code, module, mutant.scope)
    for part in mutant.scope.split("."):
        code = next((c for c in code.co_consts if isinstance(c, CodeType) and c.co_name == part), None)
        place = bare(vars(place).get(part))
        if code is None or place is None:
            return False
        if isinstance(place, FunctionType):
            if place.__code__.co_freevars != code.co_freevars:
                return False
            place.__code__ = code
            return True
    return False


def refilled(old: Any, code: CodeType, module: ModuleType, name: str) -> bool:
    """Put other contents into a value that was made when its module was imported: a family, or a table of texts."""
    space = {"__name__": module.__name__, "__file__": module.__file__}
    exec(code, space)
    new: Any = space[name]
    if type(old) is dict:
        changed = {key: (old.get(key), value) for key, value in new.items() if old.get(key) != value}
        for table in tables():  # those that were put together from this one too
            for key, (before, after) in changed.items():
                if table.get(key) == before:
                    table[key] = after
        return True
    families = [(made, space[called]) for called, made in vars(module).items() if isinstance(made, Family)]
    for made, other in families if isinstance(new, Expression | Family) else ():  # a part of a family, or the whole
        made.__dict__.clear()
        made.__dict__.update(other.__dict__)
    return isinstance(new, Expression | Family) and bool(families)


def tables() -> list[dict[Any, Any]]:
    """Every dictionary at the top of a module of Platewright."""
    modules = [module for name, module in sys.modules.items() if name.startswith("platewright")]
    return [value for module in modules for value in vars(module).values() if type(value) is dict]


def bare(found: Any) -> Any:
    """The function inside a property, a method of the class, or a cache."""
    if isinstance(found, property):
        found = found.fget
    if isinstance(found, cached_property):
        found = found.func
    if isinstance(found, staticmethod | classmethod):
        found = found.__func__
    while hasattr(found, "__wrapped__"):
        found = found.__wrapped__
    return found
