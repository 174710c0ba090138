"""Templates: how they are written, and files of CRF++."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treille import InputError
from treille.tagging import Template, TokenFeatures, default_templates, read_templates
from treille.tagging.templates import Atom, as_templates, derived, orthographic, shape, short_shape

names = st.sampled_from(["", "lower", "prefix1", "suffix12", "shape", "shortshape", "ortho"])
atoms = st.builds(Atom, st.integers(0, 12), names, st.integers(-32, 32)) | st.builds(
    Atom, st.just(-1), st.just(""), st.integers(1, 32)
)


@given(st.lists(atoms, min_size=1, max_size=4))
def test_templates_are_read_back_from_their_text(atoms):
    template = Template.parse("|".join(map(str, atoms)))
    assert set(template.atoms) == set(atoms)
    assert Template.parse(str(template)) == template


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("word[0]", "x0[0]"),
        ("pos[-1]", "x1[-1]"),
        ("x2[+1]", "x2[1]"),
        ("suffix3[0]", "word.suffix3[0]"),
        (" tag[-1] | word[0] ", "word[0]|tag[-1]"),
        ("word[0]|word[0]", "word[0]"),
        ("items", " items"),
        ("bias", "bias "),
    ],
)
def test_spellings_of_one_template(text, same):
    assert Template.parse(text) == Template.parse(same)


def test_a_template_file_of_crfpp(tmp_path):
    path = tmp_path / "template"
    path.write_text(
        "# Unigram\nU00:%x[-2,0]\nU05:%x[-1,0]/%x[0,0]\n\nU10:%x[0,1]\r\nU99:\n"
        "# Bigram\nB\nB01:%x[0,0]\nB02:%x[ 0 , 0 ]\nsuffix3[0]|tag[-2]\n"
    )
    assert list(map(str, read_templates(path))) == [
        "word[-2]",
        "word[-1]|word[0]",
        "pos[0]",
        "bias",
        "tag[-1]",
        "word[0]|tag[-1]",
        "suffix3[0]|tag[-2]",
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("U00:%x[0]", r"template, line 2: found 'U00:%x\[0\]', expected a template such as U05"),
        ("U00:%y[0,0]", r"line 2: found 'U00:%y\[0,0\]'"),
        ("U-1 word", r"line 2: found 'U-1 word'"),
        ("B:", r"line 2: found 'B:'"),
        ("U00:%x[99,0]", r"line 2: the offset in 'U00:%x\[99,0\]' is 99, expected -32 to 32"),
        ("word[0", r"line 2: found 'word\[0' in the template 'word\[0', expected a name and an offset"),
        ("words[0]", r"line 2: 'words' in 'words\[0\]' is unknown, expected word, pos, x0"),
        ("tag[0]", r"line 2: found 'tag\[0\]', expected a tag given before, such as tag\[-1\]"),
        ("prefix0[0]", r"'prefix0' in 'prefix0\[0\]' is unknown"),
        ("word[0]|word[40]", r"the offset in 'word\[40\]' is 40"),
        ("x" + "1" * 5000 + ".lower[0]", r"line 2: found 'x111"),
        ("x" + "1" * 5000 + "[0]", r"line 2: 'x111"),
        ("items|word[0]", r"found 'items' in the template"),
    ],
)
def test_malformed_lines_are_refused_with_file_and_line(line, message, tmp_path):
    path = tmp_path / "template"
    path.write_text(f"U00:%x[0,0]\n{line}\n")
    with pytest.raises(InputError, match=message):
        read_templates(path)


def test_a_column_that_is_missing_is_named_with_the_line_of_the_template(tmp_path):
    path = tmp_path / "template"
    path.write_text("U00:%x[0,0]\nU01:%x[0,3]\n")
    with pytest.raises(
        InputError,
        match=r"template, line 2: the template 'x3\[0\]' reads column 3, but the tokens have 2 columns, 0 to 1",
    ):
        TokenFeatures.fit(read_templates(path), [[("a", "b")]], [["O"]])
    with pytest.raises(InputError, match=r"^the template 'pos\[0\]' reads column 1, but the tokens have 1 column$"):
        TokenFeatures.fit(["pos[0]"], [["a"]], [["O"]])
    with pytest.raises(InputError, match="'items' reads features, but the tokens have columns"):
        TokenFeatures.fit(["items"], [["a"]], [["O"]])
    (tmp_path / "empty").write_text("# nothing\n")
    with pytest.raises(InputError, match="found no template"):
        read_templates(tmp_path / "empty")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("word[0]", r"templates are 'word\[0\]', expected a list"),
        ([3], "template 0 is int, expected str"),
        ([], "there is no template"),
    ],
)
def test_invalid_templates_are_refused(given, message):
    with pytest.raises(InputError, match=message):
        as_templates(given, 1)


def test_the_default_templates_hold_those_of_the_paper():
    assert len(default_templates(1)) == 48
    assert len(default_templates(3)) == 62
    assert {"word[-2]", "pos[2]", "ortho[0]", "prefix2[-1]", "suffix4[1]", "tag[-1]", "tag[-2]"} <= set(
        default_templates(2)
    )
    assert "x2[0]" in default_templates(3)


@given(st.text(max_size=8))
def test_attributes_exist_for_every_text(word):
    assert len(shape(word)) == len(word)
    assert len(short_shape(word)) <= len(word)
    assert orthographic(word)
    for n in (1, 3):
        assert derived(f"prefix{n}", [word]) == [word[:n] if len(word) >= n else None]
        assert derived(f"suffix{n}", [word]) == [word[-n:] if len(word) >= n else None]
