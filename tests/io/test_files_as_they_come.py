"""Tables and JSON written by other programs."""

import pytest

import treille
from treille.io import InputError, read


@pytest.fixture
def write(tmp_path):
    def writer(name, text):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return writer


@pytest.mark.parametrize(
    "content",
    [
        "Label,Text\nx,a vine\ny,a fig\n",
        "LABEL;TEXT\nx;a vine\ny;a fig\n",
        '"Label";"Text"\n"x";"a vine"\n"y";"a fig"\n',
        "text|class\na vine|x\na fig|y\n",
        "Text\tLabel\na vine\tx\na fig\ty\n",
    ],
)
def test_names_in_capitals_and_other_delimiters_are_recognised(write, content):
    examples = read(write("a.csv", content), labelled=True)
    assert (examples.X, examples.labels) == (["a vine", "a fig"], ["x", "y"])


def test_a_field_is_named_in_any_case(write):
    path = write("a.csv", "Kind,Wine\nx,a\ny,b\n")
    assert read(path, text="wine", label="kind").labels == ["x", "y"]


def test_commas_of_a_table_with_semicolons_are_text(write):
    assert read(write("a.csv", "text;label\nwell, then;x\n")).X == ["well, then"]
    assert read(write("b.csv", "well, then;x\nno, then;y\n"), text="1", label="2").X == ["well", "no"]


@pytest.mark.parametrize(
    "content",
    [
        '[{"text": "a", "label": 1},\n {"text": "b", "label": 0}]\n',
        '[\n{"text": "a", "label": 1},\n{"text": "b",\n"label": 0}\n]',
    ],
)
@pytest.mark.parametrize("name", ["a.json", "a.dat"])
def test_arrays_of_objects_are_read(write, name, content):
    examples = read(write(name, content))
    assert (examples.X, examples.labels) == (["a", "b"], ["1", "0"])
    assert examples.lines == ([1, 2] if content[1] == "{" else [2, 3])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('[{"text": "a"},\n{"text": oops}]', "line 2, column 10: not valid JSON"),
        ('[{"text": "a"},\n 3]', "line 2: found 3], expected one object per line"),
        ('[{"text": "a"}', "line 1, column 15: not valid JSON"),
        ("[]", "no example"),
    ],
)
def test_a_bad_array_is_named_with_the_line(write, content, said):
    with pytest.raises(InputError, match=r"a\.json") as caught:
        read(write("a.json", content))
    assert said in str(caught.value)


def test_fields_of_trees_are_read_as_trees_or_on_request_as_text(write):
    path = write("a.jsonl", '{"text": "(S (X a))", "label": 1}\n{"text": "(S)", "label": 0}\n')
    examples = read(path)
    assert [str(tree) for tree in treille.Trees(examples.X)] == ["(S (X a))", "(S)"]
    assert "text = text, read as trees" in examples.note
    assert read(path, brackets=False).X == ["(S (X a))", "(S)"]
    assert read(write("b.jsonl", '{"text": "(S (X a))"}\n{"text": "a vine"}\n')).X == ["(S (X a))", "a vine"]


def test_columns_are_read_as_the_file_has_them(write):
    X = read(write("a.jsonl", '{"title": "a", "year": 1987, "label": "x"}\n'), columns=["title", "year"]).X
    assert (X["title"], X["year"]) == (["a"], [1987])
    with pytest.raises(InputError, match="there is no field 'z'"):
        read(write("b.csv", "title,label\na,x\n"), columns=["title", "z"])


@pytest.mark.parametrize("name", ["a.parquet", "a.feather", "a.arrow", "a.dat"])
def test_parquet_and_arrow_are_read(tmp_path, name):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import feather, parquet

    table = pa.table({"ID": ["u", "v"], "Text": ["a vine", "a fig"], "Label": pa.array(["x", "y"]).dictionary_encode()})
    path = tmp_path / name
    if name.endswith((".parquet", ".dat")):
        parquet.write_table(table, path)
    elif name.endswith(".feather"):
        feather.write_feather(table, path)
    else:
        with pa.ipc.new_stream(path, table.schema) as stream:
            stream.write_table(table)
    examples = read(path)
    assert (examples.X, examples.labels, examples.ids) == (["a vine", "a fig"], ["x", "y"], ["u", "v"])
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match="or damaged"):
        read(path)


def test_values_of_parquet_that_are_no_texts_are_named(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pa.table({"text": pa.array([b"a"], pa.binary())}), tmp_path / "a.parquet")
    with pytest.raises(InputError, match=r"field 'text' is .* expected a string"):
        read(tmp_path / "a.parquet")
    data = pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0"), pa.py_buffer(b"\xff")])
    parquet.write_table(pa.table({"text": data}), tmp_path / "b.parquet")
    with pytest.raises(InputError, match=r"b\.parquet: not Parquet, or damaged: .*UTF8"):
        read(tmp_path / "b.parquet")


def test_parquet_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match=r"pip install 'treille\[formats\]'"):
        read(tmp_path / "a.parquet")
