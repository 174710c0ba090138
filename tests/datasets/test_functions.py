"""The built-in set: functions of the standard library."""

import ast
import sysconfig
from collections import Counter

import pytest

from treille.datasets import functions
from treille.io import InputError


@pytest.fixture
def library(tmp_path, monkeypatch):
    """An artificial standard library, empty at first."""
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
    return tmp_path


def fill(library, package, **modules):
    (library / package).mkdir(parents=True)
    for name, source in modules.items():
        (library / package / f"{name}.py").write_text(source)


@pytest.fixture(scope="module")
def default():
    return functions()


def test_there_are_hundreds_of_examples_of_balanced_classes(default):
    texts, labels = default
    counts = Counter(labels)
    assert len(texts) == len(labels)
    assert 1000 <= len(texts) <= 3000
    assert len(counts) >= 6
    assert max(counts.values()) <= 2 * min(counts.values())


def test_no_text_occurs_twice(default):
    assert len(set(default[0])) == len(default[0])


def test_every_text_parses_as_one_function_on_its_own(default):
    for text in default[0]:
        (node,) = ast.parse(text).body
        assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))


def test_every_call_returns_the_same_set(default):
    assert functions() == default


def test_length_and_number_follow_the_arguments():
    texts, labels = functions(["asyncio", "email"], min_length=300, per_package=7)
    assert Counter(labels) == {"asyncio": 7, "email": 7}
    assert min(map(len, texts)) >= 300


def test_single_modules_and_packages_inside_packages_are_found_too():
    assert set(functions(["argparse", "xml.dom"], per_package=5)[1]) == {"argparse", "xml.dom"}


def test_methods_and_decorators_are_shown_and_inner_functions_stay_inside(library):
    source = (
        "import os\n\nclass A:\n    @property\n    def a(self):\n        def b():\n            return '''\n"
        "left'''\n        return b\n\nif os:\n    async def c(): pass\n"
    )
    fill(library, "asyncio", a=source)
    texts, _ = functions(["asyncio"], min_length=0)
    assert texts == [
        "@property\ndef a(self):\n    def b():\n        return '''\nleft'''\n    return b",
        "async def c(): pass",
    ]


def test_form_feeds_and_other_encodings_of_source_are_read_as_python_reads_them(library):
    (library / "email").mkdir()
    source = "# -*- coding: latin-1 -*-\r\n\f\r\ndef f():\r\n    return 'é\f'\r\n"
    (library / "email" / "a.py").write_bytes(source.encode("latin-1"))
    assert functions(["email"], min_length=0)[0] == ["def f():\n    return 'é\f'"]


def test_a_text_of_two_packages_is_kept_once_and_tests_are_left_out(library):
    fill(library, "email", a="def f(): pass\ndef g(): pass\n")
    fill(library, "http", a="def f(): pass\ndef h(): pass\n")
    fill(library, "http/tests", a="def i(): pass\n")
    texts, labels = functions(min_length=0)
    assert texts == ["def f(): pass", "def g(): pass", "def h(): pass"]
    assert labels == ["email", "email", "http"]


def test_a_python_without_its_source_is_refused(library):
    with pytest.raises(InputError, match=r"the source of the standard library is not at .*: expected packages such as"):
        functions()


def test_a_package_that_does_not_exist_is_named_with_some_that_do():
    with pytest.raises(InputError, match=r"no source of asincio in the standard library .* for example asyncio, email"):
        functions(["asincio", "email"])


def test_a_number_below_one_is_refused():
    with pytest.raises(InputError, match="per_package is 0, expected at least 1"):
        functions(per_package=0)
