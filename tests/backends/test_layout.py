"""Long lines are broken without changing the program."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from platewright.backends.layout import laid_out

LINES = [
    "total = first(one, two) + second(three) - third[four, five] * (six + seven)",
    "value = np.concatenate([np.reshape(np.broadcast_to(1, (size_k,)), (size_k, 1)), other], axis=-1)",
    "name = 'a, b (c' + call({'x': 1, 'y': [1, 2, 3]}, key=(one,))",
    "return left[one, :, None] + right(two, three) * (four - five)",
    "found.add(one, two_of(three, four[:, None], kind=True), (five, six), (seven,))",
]
GALLERY = sorted((Path(__file__).parents[2] / "examples").glob("*/*/algorithm.txt"))


def inside_a_function(line: str) -> str:
    return f"def f():\n    {line}\n"


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("width", [20, 40, 60, 80])
def test_breaking_lines_keeps_the_meaning(line: str, width: int) -> None:
    text = inside_a_function(line)
    assert ast.dump(ast.parse(laid_out(text, width))) == ast.dump(ast.parse(text))


@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.parent.name)
def test_emitted_programs_keep_to_the_width_and_survive_another(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert max(len(line) for line in text.splitlines()) <= 120
    for width in (70, 90):
        assert ast.dump(ast.parse(laid_out(text, width))) == ast.dump(ast.parse(text))
