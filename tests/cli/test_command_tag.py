"""treille tag: train on files of tagged sentences, tag streams, compare."""

import gzip
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import treille
from treille.tagging import chunk_scores, read_features, read_sentences

NOUNS, VERBS, WORDS = ["cat", "dog", "bird"], ["sees", "eats", "likes"], ["the", "a"]
SHORT = [("the", "DT", "B-NP"), ("cat", "NN", "I-NP")]
ENVIRONMENT = os.environ | {"PYTHONUNBUFFERED": ""}


def sentence(rng):
    """Noun chunk, verb chunk, noun chunk."""

    def chunk():
        words = [(rng.choice(WORDS), "DT"), *([("big", "JJ")] * rng.integers(2)), (rng.choice(NOUNS), "NN")]
        return [(*token, f"{'I' if i else 'B'}-NP") for i, token in enumerate(words)]

    return [*chunk(), (rng.choice(VERBS), "VBZ", "B-VP"), *chunk(), (".", ".", "O")]


def written(path, sentences):
    path.write_text("".join("".join(" ".join(token) + "\n" for token in each) + "\n" for each in sentences))
    return path


@pytest.fixture
def data(tmp_path):
    rng = np.random.default_rng(0)
    return written(tmp_path / "train.txt", [sentence(rng) for _ in range(30)] + [SHORT] * 10)


@pytest.fixture
def other_data(tmp_path):
    rng = np.random.default_rng(1)
    given = [sentence(rng) for _ in range(10)]
    given[3][0] = ("the", "DT", "O")  # a chunk that no tagger finds
    return written(tmp_path / "test.txt", given)


@pytest.fixture
def tagger(cli, data):
    answer = cli("tag", "train", data, "--kernel", "linear()", "--model", "m.treille")
    assert answer.code == 0, answer.err
    return data.with_name("m.treille")


def without_tags(path):
    return "".join(line.rpartition(" ")[0] + "\n" for line in path.read_text().splitlines())


def test_training_says_how_the_file_was_understood_and_how_it_ended(cli, data):
    answer = cli("tag", "train", data, "--kernel", "polynomial(2)", "--model", "m.treille", "--holdout", "0.2")
    assert answer.code == 0, answer.err
    assert "train.txt: 40 sentences, " in answer.err
    assert "2 columns and the tag, such as" in answer.err
    assert "4 tags: " in answer.err
    for text in (
        "B-NP, B-VP, I-NP, O: chunks in the scheme IOB2",
        "polynomial(2), as given",
        "converged, duality gap",
        "word[-2..2], pos[-2..2]",
        "on 20% held out",
        "saved:    m.treille",
        "treille tag run m.treille FILE",
    ):
        assert text in answer.out
    model = treille.load("m.treille")
    X, y = read_sentences(data).separate()
    assert model.predict(X) == treille.Tagger("polynomial(2)").fit(X, y).predict(X)


def test_the_defaults_equal_those_of_the_estimator(cli, data):
    cli("tag", "train", data, "--model", "m.treille")
    parameters = treille.load("m.treille").get_params()
    expected = treille.Tagger().get_params()
    for name in expected.keys() - {"kernel", "n_jobs", "verbose"}:
        assert parameters[name] == expected[name], name


def test_options_reach_the_estimator(cli, data):
    given = {"C": 0.5, "loss": "hinge", "tol": 0.1, "max-epochs": 50, "min-count": 3, "scheme": "bioes"}
    given |= {"direction": "backward", "beam": 3, "multiclass": "pairs", "seed": 7}
    words = [word for name, value in given.items() for word in (f"--{name}", value)]
    assert cli("tag", "train", data, "--kernel", "linear()", "--model", "m.treille", *words).code == 0
    found = treille.load("m.treille").get_params()
    expected = {name.replace("-", "_"): value for name, value in given.items() if name != "seed"}
    expected |= {"scheme": "BIOES", "random_state": 7}
    assert {name: found[name] for name in expected} == expected
    assert "pairs of classes" in cli("inspect", "m.treille").out


def test_json_of_training_has_the_score_of_the_test_file(cli, data, other_data):
    answer = cli("tag", "train", data, "--kernel", "linear()", "--test", other_data, "--json").json()
    X, y = read_sentences(data).separate()
    model = treille.Tagger("linear()").fit(X, y)
    assert answer["score"]["f1"] == pytest.approx(model.score(*read_sentences(other_data).separate()))
    assert (answer["sentences"], answer["columns"], answer["scheme"], answer["model"]) == (40, 2, "IOB2", None)
    assert answer["report"]["status"] == "converged"
    assert answer["templates"][0] == "word[-2]"
    assert sum(answer["tags"].values()) == answer["tokens"] == X.n_tokens


def test_the_part_held_out_is_scored_by_a_model_that_has_not_seen_it(cli, data):
    words = ("tag", "train", data, "--kernel", "linear()", "--holdout", "0.25", "--json")
    answer = cli(*words).json()
    assert answer["score"]["sentences"] == 10
    assert cli(*words).json()["score"] == answer["score"]
    assert cli(*words, "--seed", 5).json()["score"]["tokens"] != answer["score"]["tokens"]


def test_several_files_are_read_as_one_set(cli, data, tmp_path):
    whole = data.read_text()
    first, second = whole[: len(whole) // 2].rpartition("\n\n")[0] + "\n", whole[len(whole) // 2 :].partition("\n\n")[2]
    (tmp_path / "a.txt").write_text(first)
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(second.encode()))
    answer = cli("tag", "train", "a.txt", "b.txt.gz", "--kernel", "linear()", "--model", "m.treille", "--json").json()
    assert answer["sentences"] == len(read_sentences("a.txt")) + len(read_sentences("b.txt.gz"))
    assert answer["file"] == "a.txt, b.txt.gz"
    (tmp_path / "c.txt").write_text("cat B-NP\n")
    answer = cli("tag", "train", "a.txt", "c.txt", "--model", "m.treille")
    assert answer.code == 1
    assert "c.txt, line 1: found tokens with 1 column, expected 2 columns as in a.txt, line 1" in answer.err


def test_a_place_in_the_second_file_is_named(cli, data, tmp_path):
    (tmp_path / "b.txt").write_text("the DT B-NP\ncat NN noun\n")
    answer = cli("tag", "train", data, "b.txt", "--scheme", "BIO", "--model", "m.treille")
    assert answer.code == 1
    assert "b.txt, line 2: the tag 'noun' is not a chunk tag" in answer.err


def test_run_adds_the_tags_as_a_column_and_changes_nothing_else(cli, tagger, other_data):
    X, _ = read_sentences(other_data).separate()
    expected = treille.load(tagger).predict(X)
    plain = without_tags(other_data)
    answer = cli("tag", "run", tagger, "-", stdin=plain.encode())
    assert answer.code == 0, answer.err
    lines = zip(answer.out.splitlines(), plain.splitlines(), strict=True)
    tags = iter(tag for each in expected for tag in each)
    assert all(line == (f"{old} {next(tags)}" if old else "") for line, old in lines)
    assert cli("tag", "run", tagger, stdin=plain.encode()).out == answer.out
    kept = cli("tag", "run", tagger, other_data)
    assert [line.split()[:3] for line in kept.out.splitlines()] == [
        line.split() for line in other_data.read_text().splitlines()
    ]
    assert cli("tag", "run", tagger, other_data, "--json").json()["tags"] == expected


def test_run_writes_files_and_keeps_sentences_of_different_files_apart(cli, tagger, tmp_path):
    (tmp_path / "a.txt").write_text("the DT\ncat NN")
    (tmp_path / "b.txt").write_text("the DT\r\ncat NN\r\n")
    answer = cli("tag", "run", tagger, "a.txt", "b.txt", "a.txt", "--output", "out.txt", "--json")
    assert answer.json() | {"seconds": 0} == {
        "model": str(tagger),
        "file": "a.txt, b.txt, a.txt",
        "sentences": 3,
        "tokens": 6,
        "output": "out.txt",
        "seconds": 0,
    }
    one = "the DT B-NP\ncat NN I-NP"
    assert (tmp_path / "out.txt").read_bytes().replace(b"\r", b"").decode() == f"{one}\n\n{one}\n\n{one}"


def test_the_beam_of_a_run_can_be_changed(cli, tagger, other_data):
    model = treille.load(tagger).set_params(beam=1)
    X, _ = read_sentences(other_data).separate()
    assert cli("tag", "run", tagger, other_data, "--beam", 1, "--json").json()["tags"] == model.predict(X)
    assert cli("tag", "run", tagger, other_data, "--beam", 0).code == 2


def answer_of(process, lines):
    return [process.stdout.readline().decode() for _ in range(lines)]


@pytest.mark.skipif(not hasattr(signal, "SIGPIPE"), reason="needs pipes of Unix")
def test_run_answers_each_sentence_as_it_arrives_and_ends_when_interrupted(tagger):
    command = [sys.executable, "-m", "treille", "tag", "run", str(tagger), "--jobs", "1"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(command, **pipes, env=ENVIRONMENT)
    for _ in range(2):
        process.stdin.write(b"the DT\ncat NN\n\n")
        process.stdin.flush()
        assert answer_of(process, 3) == ["the DT B-NP\n", "cat NN I-NP\n", "\n"]
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, b"treille: error: interrupted\n")


@pytest.mark.skipif(not hasattr(signal, "SIGPIPE"), reason="needs pipes of Unix")
def test_run_ends_quietly_when_its_reader_has_seen_enough(tagger):
    command = [sys.executable, "-m", "treille", "tag", "run", str(tagger), "--jobs", "1", "--quiet"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(command, **pipes, env=ENVIRONMENT)
    process.stdin.write(b"the DT\n\n")
    process.stdin.flush()
    assert answer_of(process, 1) == ["the DT B-NP\n"]
    process.stdout.close()
    for _ in range(100):
        try:
            process.stdin.write(b"the DT\n\n")
            process.stdin.flush()
        except BrokenPipeError:
            break
        time.sleep(0.05)
    assert process.wait(timeout=60) == -signal.SIGPIPE
    assert process.stderr.read() == b""
    process.stderr.close()


def test_evaluate_prints_the_score_of_the_model(cli, tagger, other_data):
    model, (X, y) = treille.load(tagger), read_sentences(other_data).separate()
    answer = cli("tag", "evaluate", tagger, other_data, "--json").json()
    expected = chunk_scores(y, model.predict(X))
    assert answer["f1"] == model.score(X, y) == expected.f1 < 1
    assert answer["accuracy"] == expected.accuracy
    assert answer["types"]["NP"]["recall"] == expected.types["NP"].recall
    assert answer["confused"] == [{"true": "O", "predicted": "B-NP", "tokens": 1}]
    shown = cli("tag", "evaluate", tagger, other_data).out
    assert f"F1 of chunks {expected.f1:.4f}, accuracy {expected.accuracy:.4f}" in shown
    row = next(line.split() for line in shown.splitlines() if line.startswith("VP"))
    assert row == ["VP", "1.0000", "1.0000", "1.0000", "10", "10", "10"]
    assert next(line.split()[3] for line in shown.splitlines() if line.startswith("all")) == f"{expected.f1:.4f}"


def test_plain_labels_are_scored_by_accuracy_and_confused_pairs(cli, data, tmp_path):
    words = ("tag", "train", data, "--tag-column", "2", "--kernel", "linear()", "--model", "pos.treille")
    answer = cli(*words)
    assert answer.code == 0, answer.err
    assert "plain labels" in answer.out
    (tmp_path / "test.txt").write_text("the DT B-NP\ncat VBZ I-NP\n")
    answer = cli("tag", "evaluate", "pos.treille", "test.txt", "--tag-column", "2", "--json").json()
    assert (answer["accuracy"], answer["f1"]) == (0.5, None)
    assert answer["confused"] == [{"true": "VBZ", "predicted": "NN", "tokens": 1}]
    shown = cli("tag", "evaluate", "pos.treille", "test.txt", "--tag-column", "2").out
    assert "accuracy 0.5000 (1 of 2 tags right)" in shown
    assert ["VBZ", "NN", "1"] in [line.split() for line in shown.splitlines()]


def test_templates_of_crf_are_read_and_kept(cli, data, other_data, tmp_path):
    (tmp_path / "template").write_text("# words\nU00:%x[0,0]\nU01:%x[-1,0]/%x[0,1]\nB\n")
    words = ("tag", "train", data, "--kernel", "linear()", "--model", "m.treille")
    answer = cli(*words, "--templates", "template", "--json")
    assert answer.code == 0, answer.err
    assert answer.json()["templates"] == ["word[0]", "word[-1]|pos[0]", "tag[-1]"]
    assert cli("inspect", "m.treille", "--json").json()["templates"] == ["word[0]", "word[-1]|pos[0]", "tag[-1]"]
    assert cli("tag", "evaluate", "m.treille", other_data).code == 0
    (tmp_path / "template").write_text("U00:%x[0,0]\n\nU01:%x[0,2]\n")
    answer = cli(*words, "--templates", "template")
    assert answer.code == 1
    assert "template, line 3: the template 'x2[0]' reads column 2, but the tokens have 2 columns" in answer.err


def test_the_column_of_tags_is_refused_where_lines_have_none(cli):
    answer = cli("tag", "train", "items.txt", "--format", "crfsuite", "--tag-column", "1", "--model", "m.treille")
    assert answer.code == 2
    assert "--tag-column: is for columns: leave it out for CRFsuite's items, where the tag comes first" in answer.err


def test_items_of_crfsuite_are_learned_and_tagged(cli, data, tmp_path):
    X, y = read_sentences(data).separate()
    lines = (
        "".join(f"{tag}\tword={w}\tpos={p}\n" for (w, p), tag in zip(tokens, tags, strict=True)) + "\n"
        for tokens, tags in zip(X, y, strict=True)
    )
    (tmp_path / "items.txt").write_text("".join(lines))
    words = ("--format", "crfsuite", "--kernel", "linear()", "--model", "m.treille")
    answer = cli("tag", "train", "items.txt", *words, "--json")
    assert answer.code == 0, answer.err
    assert answer.json()["templates"] == ["items", "tag[-1]", "tag[-2]", "tag[-2]|tag[-1]"]
    features, y = read_features("items.txt")
    model = treille.load("m.treille")
    assert cli("tag", "evaluate", "m.treille", "items.txt", "--json").json()["f1"] == model.score(features, y)
    assert "--tag-column: is for columns" in cli("tag", "evaluate", "m.treille", "items.txt", "--tag-column", 1).err
    tagged = cli("tag", "run", "m.treille", "items.txt").out
    assert [each.split("\n") for each in tagged.rstrip("\n").split("\n\n")] == model.predict(features)
    assert "features of tokens" in cli("inspect", "m.treille").out


def test_options_of_other_files_are_refused_for_those_of_sentences(cli, tagger, data):
    for command in (("explain", tagger, data), ("report", tagger, data)):
        answer = cli(*command, "--text", "word")
        assert (answer.code, "--text: is not for files of sentences" in answer.err) == (2, True)
        assert cli(*command, "--encoding", "utf-8").code == 0


def test_a_model_that_did_not_converge_is_saved_with_exit_code_3(cli, data):
    words = ("--kernel", "linear()", "--tol", "1e-9", "--max-epochs", "1")
    answer = cli("tag", "train", data, "--model", "m.treille", *words)
    assert answer.code == 3
    assert "not yet 1e-09: raise --max-epochs" in answer.err
    assert cli("inspect", "m.treille").code == 0


def test_inspect_describes_a_tagger(cli, tagger):
    answer = cli("inspect", tagger)
    assert answer.code == 0, answer.err
    for text in (
        "(Tagger)",
        "linear()",
        "word, pos",
        "B-NP, B-VP, I-NP, O: chunks in the scheme IOB2",
        "converged",
        "beam=5",
    ):
        assert text in answer.out
    assert cli("inspect", tagger, "--json").json()["classes"] == ["B-NP", "B-VP", "I-NP", "O"]


def test_commands_of_other_models_refuse_a_tagger_and_vice_versa(cli, tagger, data, wines):
    for verb, instead in (("predict", "run"), ("evaluate", "evaluate")):
        answer = cli(verb, tagger, wines)
        assert answer.code == 1
        assert f"is a model that tags sentences: use 'treille tag {instead}" in answer.err
    cli("train", wines, "--kernel", "ngram(2)", "--model", "wines.treille")
    for verb in ("run", "evaluate"):
        answer = cli("tag", verb, "wines.treille", data)
        assert answer.code == 1
        assert "wines.treille: is a model of SVC, expected one of 'treille tag train'" in answer.err
        assert "is a model, expected data" in cli("tag", verb, tagger, tagger).err
        assert "The model comes first: MODEL FILE" in cli("tag", verb, data, tagger).err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("the DT B-NP\ncat NN\n", "bad.txt, line 2: found 2 columns, expected 3 like the lines before it"),
        ("", "bad.txt: found no token, expected one per line"),
        ("\n\n", "bad.txt: found no token, expected one per line"),
        ("the\ncat\n", "bad.txt: found 1 column, expected at least a word and its tag"),
        ("the \udcff B-NP\n", "bad.txt, line 1: found bytes that are not utf-8 text"),
    ],
)
def test_bad_files_are_refused_by_every_command_that_reads_tags(cli, tagger, tmp_path, text, message):
    (tmp_path / "bad.txt").write_text(text, errors="surrogateescape")
    for words in (("train", "bad.txt", "--model", "n.treille"), ("evaluate", tagger, "bad.txt")):
        answer = cli("tag", *words)
        assert answer.code == 1
        assert message in answer.err.replace(str(tmp_path) + os.sep, "")
    assert not (tmp_path / "n.treille").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"the DT\ncat\n", "standard input, line 2: found 1 column, expected 2 like the lines before it"),
        (b"", "standard input: found no token"),
        (b"the\ncat\n", "standard input: found 1 column, expected 2 as in training (word and part of speech)"),
        (b"the \xff\n", "standard input, line 1: found bytes that are not utf-8 text"),
    ],
)
def test_bad_input_of_a_run_is_refused(cli, tagger, text, message):
    answer = cli("tag", "run", tagger, stdin=text)
    assert answer.code == 1
    assert message in answer.err


def test_sentences_before_a_bad_line_are_written(cli, tagger):
    answer = cli("tag", "run", tagger, stdin=b"the DT\n\n" * 200_000 + b"the\n")
    assert answer.code == 1
    assert "line 400001: found 1 column" in answer.err
    assert answer.out.startswith("the DT B-NP\n\n")


def test_a_tag_that_is_not_a_chunk_tag_is_named_with_its_line(cli, tagger, data, tmp_path):
    (tmp_path / "bad.txt").write_text("the DT B-NP\ncat NN I-NP\n\nbirds NNS noun\n")
    message = "bad.txt, line 4: the tag 'noun' is not a chunk tag"
    answer = cli("tag", "train", "bad.txt", "--scheme", "BIO", "--model", "n.treille")
    assert (answer.code, message in answer.err) == (1, True)
    answer = cli("tag", "evaluate", tagger, "bad.txt")
    assert (answer.code, message in answer.err) == (1, True)
    answer = cli("tag", "train", data, "bad.txt", "--kernel", "linear()", "--model", "n.treille")
    assert answer.code == 0
    assert "the tag 'noun' is not one of a chunk (bad.txt, line 4), so all tags are taken as plain labels" in answer.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "say where to save the model"),
        (("--holdout", "1.5"), "1.5 is not between 0 and 1"),
        (("--holdout", "0.5", "--test", "x"), "choose one way to score"),
        (("--model", "n.treille", "--kernel", "ngram(2)"), "expected Linear, Polynomial or Conjunctions"),
        (("--model", "n.treille", "--kernel", "polynomal(2)"), "did you mean polynomial"),
        (("--model", "n.treille", "--scheme", "XYZ"), "found the scheme 'XYZ'"),
        (("--model", "n.treille", "--beam", "0"), "beam is 0"),
        (("--model", "n.treille", "--min-count", "0"), "min_count is 0"),
        (("--model", "n.treille", "--tag-column", "4"), "4 is not one of the 3 columns of train.txt"),
        (("--model", "n.treille", "--tag-column", "0"), "0 is not one of the 3 columns of train.txt"),
        (("--model", "n.treille", "--direction", "up"), "'up' is not one of"),
    ],
)
def test_a_wrong_option_ends_with_exit_code_2(cli, data, words, message):
    answer = cli("tag", "train", "train.txt", *words)
    assert answer.code == 2, answer.err
    assert message in answer.err


def test_no_command_overwrites_its_input(cli, data, tagger):
    answer = cli("tag", "train", data, "--model", data)
    assert (answer.code, "is an input of this command" in answer.err) == (1, True)
    for output in (data, tagger):
        answer = cli("tag", "run", tagger, data, "--output", output)
        assert (answer.code, "is an input of this command" in answer.err) == (1, True)


CONLLU = """# sent_id = {0}
1-2\tDon't{0}\t_\t_\t_\t_\t_\t_\t_\t_
1\tDo\tdo\tAUX\tVBP\t_\t3\taux\t_\t_
2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t_\t_
3\trun{0}\trun\tVERB\tVB\t_\t0\troot\t_\tSpaceAfter=No
3.1\tit\tit\tPRON\tPRP\t_\t_\t_\t3:obj\t_

"""


@pytest.fixture
def treebank(tmp_path):
    path = tmp_path / "dev.conllu"
    path.write_text("".join(map(CONLLU.format, range(5))))
    return path


@pytest.mark.parametrize(
    ("words", "column"), [([], "upos"), (["--tag-column", "4"], "upos"), (["--tag-column", "xpos"], "xpos")]
)
def test_conllu_is_read_by_its_columns_and_only_words_are_features(cli, treebank, words, column):
    answer = cli("tag", "train", treebank, *words, "--model", "m.treille", "--test", treebank, "--json")
    assert (
        f"5 sentences, 15 tokens, CoNLL-U: the word is FORM, the tag {column.upper()}, such as 'Do' and" in answer.err
    )
    value = answer.json()
    assert (value["sentences"], value["tokens"], value["columns"], value["score"]["accuracy"]) == (5, 15, 1, 1.0)
    assert set(value["tags"]) == ({"AUX", "PART", "VERB"} if column == "upos" else {"VBP", "RB", "VB"})
    assert not [template for template in value["templates"] if "pos[" in template or re.search(r"\bx\d\[", template)]
    assert treille.load("m.treille").reading_["tag_column"] == column
    text = treebank.read_text()
    blank = text.replace("AUX", "_").replace("PART", "_").replace("VERB", "_") if column == "upos" else text
    answer = cli("tag", "run", "m.treille", "-", stdin=blank.encode())
    assert answer.out == text
    assert "accuracy 1.0000 (15 of 15 tags right)" in cli("tag", "evaluate", "m.treille", treebank).out
    assert cli("report", "m.treille", treebank, "--train", treebank).code == 0


def test_columns_that_are_no_tags_are_refused_by_name(cli, treebank, data):
    for column in ("head", "id", "11", "nonsense"):
        answer = cli("tag", "train", treebank, "--tag-column", column, "--model", "m.treille")
        assert answer.code == 2
        assert "expected a column of CoNLL-U: lemma (3), upos (4)" in answer.err
    answer = cli("tag", "train", data, "--tag-column", "upos", "--model", "m.treille")
    assert answer.code == 2
    assert "upos is not one of the 3 columns of" in answer.err
    assert "which is not CoNLL-U" in answer.err


NER = "-DOCSTART- -X- -X- O\n\n" + "".join(f"Anna{i} NNP B-NP B-PER\nsees{i} VBZ B-VP O\n\n" for i in range(20))


@pytest.mark.parametrize(
    "words", [["train", "--cv", "2"], ["train", "--stream"], ["train", "--memory", "2GB"], ["learn"]]
)
def test_tagged_sentences_are_pointed_to_tag_train(cli, tmp_path, words):
    (tmp_path / "ner.conll").write_text(NER)
    answer = cli(words[0], "ner.conll", *words[1:], "--model", "m.treille")
    assert (answer.code, answer.out) == (1, "")
    assert "looks like tagged sentences, one token per line" in answer.err
    assert "use 'treille tag train ner.conll'" in answer.err


def test_marks_of_documents_are_no_sentences_and_are_kept_in_the_output(cli, tmp_path):
    path = tmp_path / "ner.conll"
    path.write_text(NER)
    answer = cli("tag", "train", path, "--kernel", "linear()", "--model", "m.treille")
    assert "20 sentences, 40 tokens" in answer.err
    tagged = cli("tag", "run", "m.treille", path).out.splitlines()
    assert tagged[:3] == ["-DOCSTART- -X- -X- O O", "", "Anna0 NNP B-NP B-PER B-PER"]


def test_labels_before_texts_of_equal_length_with_blank_lines_are_still_texts(cli, tmp_path):
    rows = "".join(
        f"{'yes' if i % 2 else 'no'} word{i} and{i % 7} more{i % 9}\n" + "\n" * (i % 5 == 0) for i in range(40)
    )
    (tmp_path / "a.txt").write_text(rows)
    assert cli("train", "a.txt", "--cv", "2", "--kernel", "ngram(2)").code == 0
