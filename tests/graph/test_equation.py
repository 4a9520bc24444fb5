"""The joint density read off the graph."""

from __future__ import annotations

from discrete_models import network
from learning_models import Normal, figure_15
from platewright.graph.equation import component_equation, joint_equation, joint_latex
from platewright.graph.graph import read_graph
from platewright.language.distribution import Input
from platewright.language.functions import dot
from platewright.language.model import Model

MEDICAL = "Age, Occ, Clim, Age -> Dis, Occ -> Dis, Clim -> Dis, Dis -> Symp"
FIGURE_6 = (
    "Age, Occ, Clim, Heart - Lung, Age -> Heart, Occ -> Heart, Clim -> Heart, Age -> Lung, Occ -> Lung, Clim -> Lung, "
    "A - B, A - C, B - C, Heart -> A, Lung -> A, Heart -> B, Lung -> B, Heart -> C, Lung -> C"
)


def test_figure_2_reads_as_equation_1() -> None:
    graph = network(MEDICAL)
    assert joint_equation(graph) == "p(Age) p(Occ) p(Clim) p(Dis | Age, Occ, Clim) p(Symp | Dis)"
    assert (
        joint_equation(graph, context="M")
        == "p(Age | M) p(Occ | M) p(Clim | M) p(Dis | Age, Occ, Clim, M) p(Symp | Dis, M)"
    )


def test_figure_2_in_latex() -> None:
    assert joint_latex(network("a, a -> theta1")) == r"p(a) \, p(\theta_{1} \mid a)"
    assert joint_latex(network("Heart_Dis")) == r"p(\mathit{Heart\_Dis})"


def test_figure_6_reads_as_equation_6() -> None:
    assert joint_equation(network(FIGURE_6)) == (
        "p(Age) p(Occ) p(Clim) p(Heart, Lung | Age, Occ, Clim) p(A, B, C | Heart, Lung)"
    )


def test_a_component_reads_as_its_potentials_over_their_normaliser() -> None:
    graph = network("a, a -> x, x - y, y - z")
    assert joint_equation(graph) == "p(a) p(x, y, z | a)"
    shown = component_equation(graph, frozenset("xyz"))
    assert shown == "f_of_x_y(x, y) f_of_y_z(y, z) f_of_a_x(x, a) / Z(a)"


def test_figure_15_has_a_product_for_its_plate_as_in_equation_12() -> None:
    assert joint_equation(figure_15()) == (
        "p(phi) prod_classes (p(theta1[classes]) p(theta2[classes]) p(theta3[classes])) "
        "prod_case p(class_[case] | phi) p(var1[case] | theta1, class_[case]) "
        "p(var2[case] | theta2, class_[case]) p(var3[case] | theta3, class_[case])"
    )


def test_figure_15_in_latex() -> None:
    shown = joint_latex(figure_15())
    assert shown.startswith(r"p(\phi) \, \prod_{classes} (p(\theta_{1,classes})")
    assert r"p(\mathit{var}_{1,case} \mid \theta_{1}, \mathit{class\_}_{case})" in shown


def test_functions_are_looked_through_and_a_sum_takes_the_whole_variable() -> None:
    m = Model("regression")
    row, column = m.plate("row"), m.plate("column")
    m.w = Normal(0, sd=1, plates=column)
    m.x = Input(plates=(row, column))
    m.mean = dot(m.w, m.x, over=column)
    m.y = Normal(m.mean, sd=1, plates=row)
    assert joint_equation(read_graph(m, ["y"])) == "prod_column p(w[column]) prod_row p(y[row] | w, x)"


def test_a_lag_and_a_loose_potential_are_shown() -> None:
    m = Model("walk")
    step = m.plate("step", ordered=True)
    m.z = Normal(m.lag("z"), sd=1, start=0.0, plates=step)
    m.a = Normal(0, sd=1)
    m.b = Normal(0, sd=1)
    m.potential("soft", -((m.a - m.b) ** 2))
    assert joint_equation(read_graph(m)) == "p(a) p(b) f_soft(a, b) prod_step p(z[step] | z[step-1])"
