"""The nonlinear curves of NIST StRD in our language."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import platewright as pw

Curve = Callable[..., Any]


def _saturation(b: Sequence[Any], x: Any) -> Any:
    return b[0] * (1 - pw.exp(-b[1] * x))


def _peaks(b: Sequence[Any], x: Any) -> Any:
    first = b[2] * pw.exp(-((x - b[3]) ** 2) / b[4] ** 2)
    return b[0] * pw.exp(-b[1] * x) + first + b[5] * pw.exp(-((x - b[6]) ** 2) / b[7] ** 2)


def _decays(b: Sequence[Any], x: Any) -> Any:
    return b[0] * pw.exp(-b[1] * x) + b[2] * pw.exp(-b[3] * x) + b[4] * pw.exp(-b[5] * x)


def _cubics(b: Sequence[Any], x: Any) -> Any:
    return (b[0] + b[1] * x + b[2] * x**2 + b[3] * x**3) / (1 + b[4] * x + b[5] * x**2 + b[6] * x**3)


CURVES: dict[str, Curve] = {
    "Bennett5": lambda b, x: b[0] * (b[1] + x) ** (-1 / b[2]),
    "BoxBOD": _saturation,
    "Chwirut1": lambda b, x: pw.exp(-b[0] * x) / (b[1] + b[2] * x),
    "DanWood": lambda b, x: b[0] * pw.exp(b[1] * pw.log(x)),
    "Eckerle4": lambda b, x: b[0] / b[1] * pw.exp(-0.5 * ((x - b[2]) / b[1]) ** 2),
    "Gauss1": _peaks,
    "Gauss3": _peaks,
    "Hahn1": _cubics,
    "Lanczos1": _decays,
    "Lanczos3": _decays,
    "MGH09": lambda b, x: b[0] * (x**2 + x * b[1]) / (x**2 + x * b[2] + b[3]),
    "Misra1a": _saturation,
    "Misra1c": lambda b, x: b[0] * (1 - (1 + 2 * b[1] * x) ** (-0.5)),
    "Nelson": lambda b, x, other: b[0] - b[1] * x * pw.exp(-b[2] * other),
    "Rat42": lambda b, x: b[0] / (1 + pw.exp(b[1] - b[2] * x)),
    "Roszman1": lambda b, x: b[0] - b[1] * x - pw.arctan(b[2] / (x - b[3])) / math.pi,
}
