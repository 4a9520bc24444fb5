"""Random models of vectors: mean vectors, precision and covariance matrices, several outputs, groups."""

from __future__ import annotations

from laws.random_models import Sketch


def write_vector(s: Sketch) -> None:
    """A multivariate normal with known or unknown matrix."""
    size = s.choose.randint(1, 3)
    s.plate("n", s.choose.randint(1, 6))
    s.plate("d", size, fixed=True)
    plates, at = "()", "{}"
    if s.chance(0.3):
        s.plate("g", 2, fixed=True)
        plates, at = "g", f"{{}}[{s.coded('z', 'n', 'g')}]"
    kind = s.pick("precision", "covariance", "identity", "table")
    prior, noise = _matrix(s, kind, size, plates, at)
    shape = s.pick("mean", "mean", "weights", "known", "separate")
    if shape == "known":
        mean = s.number()
    elif shape == "weights":
        s.plate("c", 2)
        s.real("X", "(n, c)")
        s.write(f"m.B = pw.MultivariateNormal(0.0, {prior}, over=d, plates={'(g, c)' if plates == 'g' else 'c'})")
        mean = f"pw.dot(m.X, {at.format('m.B')}, over=c)"
    elif shape == "separate":
        s.write(f"m.mu = pw.MultivariateNormal(0.0, precision=pw.identity(d), over=d, plates={plates})")
        mean = at.format("m.mu")
    else:
        s.write(f"m.mu = pw.MultivariateNormal({s.number()}, {prior}, over=d, plates={plates})")
        mean = at.format("m.mu")
    s.write(f"m.y = pw.MultivariateNormal({mean}, {noise}, over=d, plates=n)")
    s.observed.append("y")
    s.values["y"] = s.numbers.normal(size=(s.sizes["n"], size))


def _matrix(s: Sketch, kind: str, size: int, plates: str, at: str) -> tuple[str, str]:
    """How the scale is written in the prior of the mean and in the noise."""
    more = s.number()
    degrees = f"{size + s.choose.uniform(0.5, 3):.2f}"
    if kind == "precision":
        s.write(f"m.S = pw.Wishart({degrees}, scale=pw.identity(d), over=d, plates={plates})")
        return f"precision={more} * m.S", f"precision={at.format('m.S')}"
    if kind == "covariance":
        s.write(f"m.S = pw.InverseWishart({degrees}, scale=pw.identity(d), over=d, plates={plates})")
        return f"covariance=m.S / {more}", f"covariance={at.format('m.S')}"
    if kind == "identity":
        s.write(f"m.tau = pw.Gamma(2.0, rate=1.0, plates={plates})")
        noise = f"precision={at.format('m.tau')} * pw.identity(d)"
        return f"precision={more} * m.tau * pw.identity(d)", noise
    table = [[1.5 if i == j else 0.3 for j in range(size)] for i in range(size)]
    return f"precision=pw.identity(d) * {more}", f"precision=np.array({table})"
