"""Random networks of categories: given or unknown tables and nodes, Gaussian leaves, inputs as indices."""

from __future__ import annotations

from laws.random_models import Sketch


def write_discrete(s: Sketch) -> None:
    """A network of two to four nodes; on rows when the tables are unknown, alone when they are given."""
    if s.chance(0.35):
        _alone(s)
    else:
        _on_rows(s)


def _alone(s: Sketch) -> None:
    """Given tables, one copy: any subset of the nodes may be known. Checked by enumeration."""
    count = s.choose.randint(2, 4)
    names: list[str] = []
    for k in range(count):
        name = f"a{k}"
        parents = [other for other in names if s.chance(0.6)][:2]
        probability = s.number(0.1, 0.9)
        for parent in parents:
            probability = f"pw.where(m.{parent}, {probability}, {s.number(0.1, 0.9)})"
        s.write(f"m.{name} = pw.Bernoulli({probability})")
        names.append(name)
    if s.chance(0.4):
        s.plate("n", 3)
        s.write(f"m.y = pw.Normal(pw.where(m.{names[-1]}, 1.0, -0.5), sd=1.2, plates=n)")
        s.observed.append("y")
    else:
        s.observed += [name for name in names if s.chance(0.4)] or [names[-1]]


def _on_rows(s: Sketch) -> None:
    rows = s.plate("n", s.choose.randint(2, 6))
    count = s.choose.randint(1, 3)
    parents: list[tuple[str, str]] = []
    if s.chance(0.4):
        s.plate("inp", 2, fixed=True)
        parents.append((s.coded("c", "n", "inp"), "inp"))
    for k in range(count):
        size = s.choose.randint(2, 3)
        s.plate(f"k{k}", size, fixed=True)
        given = [parent for parent in parents if s.chance(0.55)][:2]
        _table(s, k, size, given)
        at = ", ".join(code for code, _ in given)
        place = f"m.t{k}[{at}]" if given else f"m.t{k}"
        s.write(f"m.a{k} = pw.Categorical({place}, plates={rows})")
        parents.append((f"m.a{k}", f"k{k}"))
        if s.chance(0.94):
            s.observed.append(f"a{k}")
    if s.chance(0.35):
        _leaf(s, parents)
    if not s.observed:
        s.observed.append(f"a{count - 1}")


def _table(s: Sketch, k: int, size: int, given: list[tuple[str, str]]) -> None:
    plates = ", ".join(plate for _, plate in given)
    over = f", plates=({plates},)" if given else ""
    concentration = s.pick("1.0", s.number(), str([float(s.number()) for _ in range(size)]))
    if s.chance(0.1) and given:
        # One base measure shared by all rows of the table: not conjugate when unknown.
        s.write(f"m.strength{k} = pw.Gamma(2.0, rate=1.0)")
        concentration = f"m.strength{k}"
    s.write(f"m.t{k} = pw.Dirichlet({concentration}, over=k{k}{over})")


def _leaf(s: Sketch, parents: list[tuple[str, str]]) -> None:
    """A Gaussian or a count that depends on a category (conditional Gaussian network)."""
    code, plate = s.choose.choice(parents)
    if s.chance(0.3):
        s.write(f"m.rate = pw.Gamma(2.0, rate=1.5, plates={plate})")
        s.write(f"m.y = pw.Poisson(m.rate[{code}], plates=n)")
    elif s.chance(0.5):
        s.write(f"m.tau = pw.Gamma(2.0, rate=1.5, plates={plate})")
        s.write(f"m.mu = pw.Normal(0.0, precision={s.number()} * m.tau, plates={plate})")
        s.write(f"m.y = pw.Normal(m.mu[{code}], precision=m.tau[{code}], plates=n)")
    else:
        s.write(f"m.mu = pw.Normal(0.0, sd={s.number()}, plates={plate})")
        s.write(f"m.y = pw.Normal(m.mu[{code}], sd={s.number()}, plates=n)")
    s.observed.append("y")
