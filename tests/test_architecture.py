"""The rules of the architecture, tested by reading the sources."""

import ast
import doctest
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import treille
from treille import _core, registry

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "treille"
SOURCES = sorted(PACKAGE.rglob("*.py"))
LAYERS = [
    "cli",
    "serve",
    "estimators",
    "explain",
    "scale",
    "tagging",
    "learning",
    "solvers",
    "spaces",
    "kernels",
    "features",
    "data",
    "automata",
    "registry",
    "scikit_learn",
    "io",
    "drawing",
]  # top to bottom
MAY_IMPORT = {package: set(LAYERS[place:]) for place, package in enumerate(LAYERS)} | {
    "cli": set(LAYERS) | {"datasets", "testing", "treille"},
    "serve": set(LAYERS[1:]) | {"treille"},
    "datasets": {"datasets", "data", "io"},
    "testing": set(LAYERS[2:]) | {"datasets", "testing", "treille"},
    "treille": set(LAYERS[2:]) | {"datasets", "testing", "treille"},
}
PUBLIC = [
    "treille",
    *(
        f"treille.{package}"
        for package in [
            "kernels",
            "features",
            "data",
            "automata",
            "solvers",
            "learning",
            "spaces",
            "io",
            "datasets",
            "tagging",
            "testing",
        ]
    ),
]


def relative(path):
    return path.relative_to(PACKAGE).as_posix()


def package_of(path):
    inside = path.relative_to(PACKAGE)
    if inside.name == "__main__.py":
        return "cli"
    return inside.parts[0] if len(inside.parts) > 1 else inside.stem if inside.stem in LAYERS else "treille"


def is_module(package, name):
    place = PACKAGE.parent.joinpath(*package.split("."))
    return (place / name).is_dir() or (place / f"{name}.py").is_file() or name == "_core"


def looked_up(call):
    """The package whose classes a call of the registry finds: it depends on that package as if it imported it."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    group = call.args[0].value if call.args and isinstance(call.args[0], ast.Constant) else None
    found = name in ("known", "find", "require", "registered_name") and group in registry.GROUPS
    return {"formats": "io"}.get(group, group) if found else None


def imported(path):
    """The treille modules that a file imports, at its top or in its functions, with the line of each."""
    package = ["treille", *path.relative_to(PACKAGE).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            modules = [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*start, *([node.module] if node.module else [])])
            modules = [f"{base}.{name.name}" if is_module(base, name.name) else base for name in node.names]
        elif isinstance(node, ast.Call) and (group := looked_up(node)):
            modules = [f"treille.{group}.{ast.unparse(node)}"]
        else:
            continue
        for module in modules:
            if module.split(".")[0] == "treille":
                yield node.lineno, module.split(".")[1:]


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_imports_flow_downwards_only(path):
    package = package_of(path)
    for line, module in imported(path):
        target = module[0] if module and (module[0] in LAYERS or (PACKAGE / module[0]).is_dir()) else "treille"
        if module and module[0] == "_core":
            continue
        where = f"{relative(path)}:{line} imports {'.'.join(['treille', *module])}"
        assert target in MAY_IMPORT[package], f"{where}: {package} stands below {target}"
        if target == package != "treille" and not path.name.startswith("__") and len(module) == 1:
            raise AssertionError(f"{where}: name the module, not the package")


@pytest.mark.parametrize(
    "line",
    [
        "import treille",
        "import treille.solvers",
        "from treille import solvers",
        "from treille.solvers import DualCD",
        "from treille.solvers.report import Report",
        "from ..solvers import DualCD",
        "from .. import solvers",
        "def f():\n    from treille.estimators import SVC",
        "from treille.kernels import NGram",
        'kinds = known("solvers")',
        'solver = registry.require("solvers", "DualCD")',
    ],
)
def test_an_import_upwards_is_found_however_it_is_written(line, tmp_path, monkeypatch):
    for package in ("kernels", "solvers", "estimators", "features", "data"):
        (tmp_path / "treille" / package).mkdir(parents=True)
    monkeypatch.setitem(globals(), "PACKAGE", tmp_path / "treille")
    path = tmp_path / "treille" / "kernels" / "new.py"
    path.write_text(f"from treille import _core\nfrom treille.features import Rows\n{line}\n")
    with pytest.raises(AssertionError, match=r"kernels/new\.py:[34] imports treille"):
        test_imports_flow_downwards_only(path)


def test_every_package_has_a_layer():
    packages = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert packages <= set(MAY_IMPORT)


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_files_are_short_enough_to_hold(path):
    assert len(path.read_text().splitlines()) < 500


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_files_begin_with_their_purpose(path):
    assert ast.get_docstring(ast.parse(path.read_text()))


def cpp(folder):
    files = [path for path in (ROOT / folder).rglob("*") if path.suffix in (".hpp", ".cpp")]
    return {path.relative_to(ROOT).as_posix(): path.read_text() for path in files}


def test_the_core_knows_nothing_of_python():
    for name, text in cpp("core").items():
        headers = re.findall(r'#include\s*[<"](.*?)[>"]', text)
        assert not [h for h in headers if re.match(r"(Python|nanobind|pybind|numpy)", h)], name


# Directories of the core from bottom to top: a file includes those of its own directory and of directories below.
CORE_ORDER = ["", "succinct", "features", "conjunctions", "automata", "text", "trees", "graphs", "representations"]
CORE_ORDER += ["solve", "tagging", "tests"]


def core_directory(name):
    return name.split("/")[0] if "/" in name else ""


@pytest.mark.parametrize("name", sorted(cpp("core")))
def test_includes_of_the_core_go_one_way(name):
    own = core_directory(name.removeprefix("core/"))
    assert own in CORE_ORDER, f"{name}: give {own} a place in CORE_ORDER"
    for header in re.findall(r'#include\s*"(.*?)"', cpp("core")[name]):
        if own == "tests" and "/" not in header and not (ROOT / "core" / header).exists():
            continue  # a neighbour in core/tests
        assert (ROOT / "core" / header).exists(), f"{name} includes {header}, which does not exist"
        directory = core_directory(header)
        assert CORE_ORDER.index(directory) <= CORE_ORDER.index(own), (
            f"{name} includes {header}: {own} is below {directory}"
        )


@pytest.mark.parametrize("name", sorted(cpp("core") | cpp("bindings")))
def test_files_of_the_core_are_short(name):
    assert len((cpp("core") | cpp("bindings"))[name].splitlines()) <= 400


def test_bindings_have_no_default_arguments():
    for name, text in cpp("bindings").items():
        assert not re.search(r'("_a|nb::arg\(".*?"\))\s*=', text), name


def test_bindings_return_types_that_python_knows():
    functions = [_core, *(value for value in vars(_core).values() if inspect.isclass(value))]
    for name, function in ((name, value) for each in functions for name, value in vars(each).items()):
        assert "treille::" not in (function.__doc__ or ""), f"{name} has a C++ type that no caster converts"


def public_names():
    """Everything in the __all__ of the public modules, once."""
    seen = set()
    for module in map(importlib.import_module, PUBLIC):
        yield module.__name__, module
        for name in module.__all__:
            thing = getattr(module, name)
            if not inspect.ismodule(thing) and id(thing) not in seen:
                seen.add(id(thing))
                yield f"{module.__name__}.{name}", thing


NAMES = dict(public_names())
CALLABLES = {name: thing for name, thing in NAMES.items() if inspect.isclass(thing) or inspect.isfunction(thing)}
METHODS = {
    f"{name}.{method}": value
    for name, thing in CALLABLES.items()
    if inspect.isclass(thing)
    for method, value in inspect.getmembers(thing)
    if not method.startswith("_")
    and (inspect.isfunction(value) or inspect.ismethod(value) or isinstance(value, property))
}


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_is_documented(name):
    assert inspect.getdoc(NAMES[name])
    assert NAMES[name].__doc__, f"{name} has only the words of its parent"


@pytest.mark.parametrize("name", METHODS)
def test_every_public_method_is_documented(name):
    assert inspect.getdoc(METHODS[name])


@pytest.mark.parametrize("name", CALLABLES)
def test_every_public_class_and_function_shows_an_example(name):
    assert doctest.DocTestParser().get_examples(CALLABLES[name].__doc__), f"{name} shows no example (>>>)"


def modules():
    for module in pkgutil.walk_packages(treille.__path__, "treille."):
        if not module.name.endswith(("._core", ".__main__")):
            yield module.name


@pytest.mark.parametrize("name", ["treille", *modules()])
def test_every_example_in_the_sources_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


def test_the_readme_s_python_runs(tmp_path, monkeypatch):
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(), re.M | re.S)
    if not blocks:
        pytest.skip("the README shows no Python yet")
    monkeypatch.chdir(tmp_path)
    shared = {"__name__": "readme"}
    for block in blocks:
        if ">>>" in block:
            test = doctest.DocTestParser().get_doctest(block, shared, "README", "README.md", 0)
            assert doctest.DocTestRunner().run(test, clear_globs=False).failed == 0
            shared = test.globs
        else:
            exec(compile(block, "README.md", "exec"), shared)


def test_the_version_is_that_of_the_project():
    assert re.search(rf'^version = "{re.escape(treille.__version__)}"$', (ROOT / "pyproject.toml").read_text(), re.M)


@pytest.mark.parametrize("name", PUBLIC)
def test_exports_are_sorted_and_exist(name):
    module = importlib.import_module(name)
    assert all(hasattr(module, each) for each in module.__all__)
    assert len(set(module.__all__)) == len(module.__all__)
