"""Pictures that mean nothing are refused in a sentence, and pictures that do have a stable text."""

from __future__ import annotations

import pytest

from platewright.drawing.picture import Picture, PictureArc, PictureNode, PicturePlate, check_picture, picture_text

THETA = PictureNode("theta", "theta", "random", False, ())
HEADS = PictureNode("heads", "heads", "random", True, ("toss",))
TOSS = PicturePlate("toss", "N")
COIN = Picture((THETA, HEADS), (PictureArc("theta", "heads"),), (TOSS,), "a coin")


def test_a_legal_picture_comes_back_as_it_is() -> None:
    assert check_picture(COIN) is COIN


@pytest.mark.parametrize(
    ("picture", "sentence"),
    [
        (Picture((THETA,), (PictureArc("theta", "tails"),)), "ends at node `tails`, which the picture does not have"),
        (Picture((HEADS,)), "node `heads` is on plate `toss`, which the picture does not have"),
        (Picture((THETA, THETA)), "node `theta` appears twice"),
        (Picture((), (), (TOSS, TOSS)), "plate `toss` appears twice"),
        (Picture((THETA,), (PictureArc("theta", "theta"),)), "goes from a node to itself"),
        (Picture((PictureNode("", "x", "random", False, ()),)), "a node of the picture has an empty name"),
        (Picture((PictureNode("x", "x", "cloud", False, ()),)), "node `x` has kind `cloud`; expected one of random"),
        (Picture((PictureNode("x", "x", "random", False, ("toss", "toss")),), (), (TOSS,)), "names a plate twice"),
    ],
)
def test_a_picture_without_meaning_is_refused_in_a_sentence(picture: Picture, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        check_picture(picture)


def test_an_undirected_arc_is_the_same_from_both_ends() -> None:
    other = PictureNode("other", "other", "undirected", False, ())
    arcs = (PictureArc("theta", "other", directed=False), PictureArc("other", "theta", directed=False))
    with pytest.raises(ValueError, match="arc `other -- theta` appears twice"):
        check_picture(Picture((THETA, other), arcs))


def test_the_text_form_is_one_line_for_each_thing() -> None:
    labelled = PictureNode("mu", 'the "mean"', "deterministic", False, ())
    picture = Picture(
        (*COIN.nodes, labelled), (*COIN.arcs, PictureArc("mu", "heads", optional=True)), (TOSS,), "a coin"
    )
    assert picture_text(picture) == (
        'picture "a coin"\n'
        "plate toss: N\n"
        "node theta: random, unknown\n"
        "node heads: random, known, on toss\n"
        'node mu: deterministic, unknown, labelled "the \\"mean\\""\n'
        "arc theta -> heads\n"
        "arc mu -> heads, optional\n"
    )
