"""Functions as graphs of control flow and data flow."""

from textwrap import dedent

import pytest

from treille import InputError
from treille.data import Graphs
from treille.datasets import flow_graph, function_graphs

STATEMENTS = {
    "FunctionDef",
    "Assign",
    "For",
    "While",
    "If",
    "Return",
    "Raise",
    "Break",
    "Continue",
    "Try",
    "Pass",
    "Expr",
}
STATEMENTS |= {"ExceptHandler", "With", "Match", "AsyncFunctionDef", "AugAssign"}


def edges(source, kind):
    """The edges of one kind, as pairs of labels of nodes; statements are numbered where they occur several times."""
    graph, seen, names = flow_graph(dedent(source)), {}, []
    for label in graph.nodes:
        seen[label] = seen.get(label, 0) + 1
        names.append(label if label not in STATEMENTS or graph.nodes.count(label) == 1 else f"{label}{seen[label]}")
    return {(names[u], names[v]) for (u, v), own in zip(graph.edges, graph.edge_labels, strict=True) if own == kind}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("if a:\n  return\nelse:\n  a = 1\npass", {("If", "Return"), ("If", "Assign"), ("Assign", "Pass")}),
        ("if a:\n  raise\npass", {("If", "Raise"), ("If", "Pass")}),
        (
            "for b in a:\n  if b:\n    continue\n  if a:\n    break\nelse:\n  pass\nreturn",
            {
                *(("For", "If1"), ("If1", "Continue"), ("Continue", "For"), ("If1", "If2"), ("If2", "Break")),
                *(("If2", "For"), ("For", "Pass"), ("Pass", "Return"), ("Break", "Return")),
            },
        ),
        ("while a:\n  a = 1\nreturn", {("While", "Assign"), ("Assign", "While"), ("While", "Return")}),
        ("with a:\n  return\npass", {("With", "Return"), ("With", "Pass")}),
        (
            "try:\n  a = 1\nexcept E:\n  pass\nfinally:\n  a += 1\nreturn",
            {
                *(("Try", "Assign"), ("Try", "ExceptHandler"), ("ExceptHandler", "Pass"), ("Pass", "AugAssign")),
                *(("Assign", "AugAssign"), ("AugAssign", "Return")),
            },
        ),
        ("match a:\n  case 1:\n    return\n  case _:\n    pass", {("Match", "Return"), ("Match", "Pass")}),
    ],
)
def test_control_flow_follows_the_rules_of_python(body, expected):
    indented = body.replace("\n", "\n  ")
    found = edges(f"def f(a):\n  {indented}\n", "flow")
    assert {pair for pair in found if pair[0] != "FunctionDef"} == expected
    assert len([pair for pair in found if pair[0] == "FunctionDef"]) == 1


def test_variables_lead_from_what_binds_them_to_what_reads_them():
    source = """
    def f(a, *, b=limit):
        c = g(a)
        for d in c:
            c = d + b
        return lambda e: (c, e)
    """
    assert edges(source, "data") == {
        *(
            ("FunctionDef", "a"),
            ("FunctionDef", "b"),
            ("Assign1", "c"),
            ("Assign2", "c"),
            ("For", "d"),
            ("Return", "e"),
        ),
        *(("a", "g"), ("c", "For"), ("d", "Assign2"), ("b", "Assign2"), ("c", "Return")),
    }
    assert edges(source, "use") == {("FunctionDef", "limit"), ("Assign1", "g")}


def test_names_from_outside_calls_and_attributes_are_nodes_with_their_operands():
    source = """
    async def f(self):
        global known
        known = self.read(os.path, key=len)[0]()
        raise Error from None
    """
    assert edges(source, "use") == {
        *(("Assign", "known"), ("Assign", "call"), ("call", ".read"), (".read", ".path"), (".path", "os")),
        *((".read", "len"), ("Raise", "Error")),
    }
    assert flow_graph(dedent(source)).nodes[0] == "AsyncFunctionDef"


def test_functions_inside_are_one_statement_with_all_their_names():
    source = """
    def f():
        def inner(x):
            return g(x)
        return inner
    """
    assert flow_graph(dedent(source)).nodes.count("Return") == 1
    assert ("inner", "Return") in edges(source, "data")


def test_every_function_of_the_library_is_a_graph_with_one_component_of_statements():
    graphs, labels = function_graphs(per_package=40)
    batch = Graphs(graphs)
    assert len(batch) == len(labels) > 200
    assert batch.directed
    assert batch.edge_alphabet == ["data", "flow", "use"]
    for graph in graphs:
        reached = {0}
        for u, v in sorted(graph.edges):
            reached |= {v} if u in reached else set()
        assert len(reached) > 0.9 * graph.n_nodes  # statements after a return are not reached


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def f(:", "the source is not Python: invalid syntax"),
        ("x = 1", "the source has 1 statements at its top, expected one function"),
        ("def f(): pass\ndef g(): pass", "the source has 2 statements at its top, expected one function"),
    ],
)
def test_a_source_that_is_not_a_function_is_refused(source, message):
    with pytest.raises(InputError, match=message):
        flow_graph(source)
