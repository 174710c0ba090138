"""treille train on valid input."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import StratifiedKFold, cross_val_score

import treille
from treille import SVCCV
from treille.kernels import NGram


def test_the_output_describes_data_choices_and_result_and_suggests_commands(cli, wines):
    answer = cli("train", "wines.csv", "--model", "wines.treille")
    assert answer.code == 0
    assert "wines.csv: 60 examples, CSV" in answer.err
    assert "2 classes: white (40, 66.7%), red (20, 33.3%)" in answer.err
    assert "ngram(5, unit=char+lower, counts=log).weighted(idf).normalized(), chosen:" in answer.out
    assert "converged, duality gap" in answer.out
    assert "saved:    wines.treille" in answer.out
    assert "  treille inspect wines.treille\n" in answer.out


def test_suggested_commands_have_the_options_that_models_do_not_store(cli, wines):
    wines.write_text(wines.read_text().replace("text,label", "vin,couleur"))
    answer = cli("train", wines, "--text", "vin", "--label", "couleur", "--encoding", "latin-1", "--model", "w.treille")
    assert "treille predict w.treille FILE --encoding latin-1\n" in answer.out
    assert cli("predict", "w.treille", wines, "--encoding", "latin-1").out.count("\n") == 60


def test_the_model_equals_the_model_trained_in_python(cli, wines):
    options = ["--C", 0.5, "--loss", "squared_hinge", "--class-weight", "balanced", "--no-intercept", "--tol", 1e-6]
    assert cli("train", wines, "--kernel", "ngram(2, min_n=1)", *options, "--model", "wines.treille").code == 0
    texts, labels = zip(*(line.rsplit(",", 1) for line in wines.read_text().splitlines()[1:]), strict=True)
    params = {"C": 0.5, "loss": "squared_hinge", "class_weight": "balanced", "fit_intercept": False, "tol": 1e-6}
    same = treille.SVC(NGram(2, min_n=1), **params).fit(list(texts), list(labels))
    saved = treille.load("wines.treille")
    assert saved.decision_function(texts) == pytest.approx(same.decision_function(texts), abs=1e-9)
    assert saved.get_params() | {"kernel": None} == same.get_params() | {"kernel": None}


def test_cross_validation_gives_mean_and_spread_and_names_the_positive_class(cli, wines):
    answer = cli("train", wines, "--cv", 5)
    assert answer.code == 0
    assert "in 5-fold cross-validation" in answer.out
    assert "F1 of 'white' 0." in answer.out
    assert answer.out.count("±") == 3
    assert "saved:    no" in answer.out


def test_json_is_one_object_alone_on_standard_output(cli, wines):
    answer = cli("train", wines, "--cv", 3, "--model", "wines.treille", "--json")
    value = answer.json()
    assert answer.out.count("\n") == 1
    assert value["classes"] == {"white": 40, "red": 20}
    assert value["report"]["status"] == "converged"
    assert value["report"]["relative_gap"] <= 1e-3
    assert value["score"]["folds"] == 3
    assert 0.9 < value["score"]["accuracy"]["mean"] < 1
    assert value["score"]["positive"] == "white"
    assert value["bytes"] == Path("wines.treille").stat().st_size


def test_a_part_held_out_is_scored(cli, wines):
    score = cli("train", wines, "--holdout", 0.25, "--json").json()["score"]
    assert score["folds"] == 1
    assert "spread" not in score["accuracy"]
    assert "on 25% held out" in cli("train", wines, "--holdout", 0.25).out


def test_another_file_is_scored_and_unknown_labels_in_it_are_refused_before_training(cli, wines):
    Path("test.csv").write_text("text,label\na red wine of dark cherries,red\na white wine,red\n")
    assert cli("train", wines, "--test", "test.csv", "--json").json()["score"]["accuracy"]["mean"] == 0.5
    Path("test.csv").write_text("text,label\na red wine of dark cherries,red\na pink wine,rosé\n")
    answer = cli("train", wines, "--test", "test.csv", "--model", "m.treille")
    assert (answer.code, answer.out) == (1, "")
    assert "1 example has a label that the model does not know, rosé (1); it knows red, white" in answer.err
    assert not Path("m.treille").exists()


def test_the_best_of_several_is_marked_as_optimistic_and_nested_folds_score_the_choice(cli, wines):
    grid = ("train", wines, "--cv", 3, "--C", "0.01,1", "--kernel", "ngram(2..3)")
    best, nested = cli(*grid), cli(*grid, "--nested")
    assert "in 3-fold cross-validation, the best of 4 on the folds that chose it, so optimistic" in best.out
    assert "in nested 3-fold cross-validation: chosen anew without each fold" in nested.out
    assert "optimistic" not in nested.out
    chosen = [line for line in nested.out.splitlines() if line.startswith("chosen")]
    assert chosen == [line for line in best.out.splitlines() if line.startswith("chosen")]
    assert cli(*grid, "--json").json()["score"]["optimistic"]
    assert not cli("train", wines, "--cv", 3, "--json").json()["score"]["optimistic"]
    assert "optimistic" not in cli("train", wines, "--cv", 3).out
    for words in (["--cv", 3], ["--C", "1"], []):
        answer = cli("train", wines, *words, "--nested", "--model", "m.treille")
        assert answer.code == 2
        assert "--nested" in answer.err


def test_classes_that_are_too_small_for_nested_folds_are_named(cli, tmp_path):
    (tmp_path / "few.csv").write_text("text,label\n" + "aa,a\nbb,b\n" * 3)
    answer = cli("train", "few.csv", "--cv", 3, "--C", "0.1,1", "--nested")
    assert answer.code == 1
    assert "--nested: without one of the folds, no class has 3 examples" in answer.err


def test_nested_scores_are_those_of_a_search_inside_a_cross_validation(cli, wines):
    texts, labels = zip(*(line.rsplit(",", 1) for line in wines.read_text().splitlines()[1:]), strict=True)
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    search = SVCCV([NGram(2), NGram(3)], [0.01, 1.0], cv=folds, random_state=0)
    expected = cross_val_score(search, np.array(texts), np.array(labels), cv=folds).mean()
    words = ("train", wines, "--cv", 3, "--C", "0.01,1", "--kernel", "ngram(2..3)", "--nested", "--json")
    assert cli(*words).json()["score"]["accuracy"]["mean"] == pytest.approx(expected)


def test_the_number_of_threads_changes_nothing(cli, wines):
    one, two = (cli("train", wines, "--jobs", jobs, "--cv", 3, "--json").json() for jobs in (1, 2))
    timed = {"seconds": 0, "history": []}
    assert one["report"] | timed == two["report"] | timed
    assert one["score"] == two["score"]


def test_the_seed_decides_the_folds(cli, wines):
    scores = [cli("train", wines, "--cv", 3, "--seed", seed, "--json").json()["score"] for seed in (1, 1, 2, 3, 4, 5)]
    assert scores[0] == scores[1]
    assert any(score != scores[0] for score in scores)


def test_quiet_says_nothing(cli, wines):
    answer = cli("train", wines, "--model", "wines.treille", "--quiet")
    assert (answer.code, answer.out, answer.err) == (0, "", "")
    assert Path("wines.treille").is_file()


def test_training_that_does_not_reach_the_gap_saves_the_model_and_ends_with_3(cli, wines):
    options = ["--kernel", "ngram(3)", "--C", 1000, "--tol", 1e-12, "--max-epochs", 1, "--model", "wines.treille"]
    answer = cli("train", wines, *options, "--quiet")
    assert answer.code == 3
    assert "treille: warning: the duality gap is" in answer.err
    assert "not yet 1e-12: raise --max-epochs" in answer.err
    assert cli("inspect", "wines.treille").code == 0
    assert cli("train", wines, *options, "--json").json()["report"]["status"] == "max_epochs"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("w.jsonl", '{"text": "red red", "label": 1}\n{"text": "white", "label": 0}\n'),
        ("w.tsv", "label\ttext\n1\tred red\n0\twhite\n"),
        ("w.txt", "1\tred red\n0\twhite\n"),
        ("w.fasta", ">1\nred\nred\n>0\nwhite\n"),
    ],
)
def test_every_format_is_read_plain_zipped_and_from_standard_input(cli, name, content):
    Path(name).write_text(content)
    Path(f"{name}.gz").write_bytes(gzip.compress(content.encode()))
    kernel = ["--kernel", "ngram(1)", "--model", "w.treille", "--json"]
    kind = cli("train", name, *kernel).json()["format"]
    for source, stdin in ((f"{name}.gz", None), ("-", content.encode()), ("-", gzip.compress(content.encode()))):
        value = cli("train", source, "--format", kind, *kernel, stdin=stdin).json()
        assert value["classes"] == {"0": 1, "1": 1}


def test_one_value_of_a_list_is_set_against_the_rest(cli):
    topics = [["acq"], ["acq", "earn"], [], ["grain"]]
    lines = [
        f'{{"title": "t{i}", "body": "b", "topics": {str(t).replace(chr(39), chr(34))}}}\n'
        for i, t in enumerate(topics)
    ]
    Path("news.jsonl").write_text("".join(lines))
    answer = cli(
        "train", "news.jsonl", "--text", "title+body", "--label", "topics=acq", "--model", "acq.treille", "--json"
    )
    assert answer.json()["classes"] == {"acq": 2, "not acq": 2}


def test_a_kernel_without_features_for_these_data_causes_a_warning(cli, wines):
    answer = cli("train", wines, "--kernel", "ngram(500)", "--model", "wines.treille")
    assert answer.code == 0
    assert "no text has a feature of this kernel" in answer.err


def test_a_kernel_without_features_trains_and_is_inspected(cli, wines, tmp_path):
    path = tmp_path / "m.treille"
    said = cli("train", wines, "--kernel", "subsequence(2)", "--model", path)
    assert "because Subsequence has no explicit features" in said.out + said.err
    answer = cli("inspect", path)
    assert "examples: " in answer.out + answer.err


@pytest.mark.parametrize("kernel", [None, "ngram(3)"])
def test_the_examples_are_read_into_one_batch_for_all_folds(cli, wines, kernel, monkeypatch):
    made, plain = [], treille.Strings.__init__

    def counted(self, data, *args, **options):
        made.append(len(data))
        plain(self, data, *args, **options)

    monkeypatch.setattr(treille.Strings, "__init__", counted)
    answer = cli("train", wines, "--cv", 3, "--model", "m.treille", *(["--kernel", kernel] if kernel else []))
    assert answer.code == 0, answer.err
    units = 1 if kernel else 2  # the default kernel reads words and characters
    assert [n for n in made if n > 1] == [60] * units


def test_cross_validation_chooses_among_kernels_and_values_of_C(cli, wines):
    options = ["--cv", 3, "--C", "0.001,0.1,10", "--kernel", "ngram(1..3).normalized()", "--max-epochs", 100_000]
    answer = cli("train", wines, *options, "--model", "wines.treille", "--json")
    value = answer.json()
    assert len(value["candidates"]) == 9
    best = value["candidates"][0]
    assert best["accuracy"] == max(each["accuracy"] for each in value["candidates"])
    assert value["score"]["accuracy"]["mean"] == pytest.approx(best["accuracy"])
    saved = treille.load("wines.treille")
    assert (saved.C, value["kernel"]) == (best["C"], best["kernel"])
    shown = cli("train", wines, *options).out
    assert "the best of 9 by accuracy" in shown
    texts, labels = zip(*(line.rsplit(",", 1) for line in wines.read_text().splitlines()[1:]), strict=True)
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    same = treille.SVCCV(
        [NGram(n).normalized() for n in (1, 2, 3)], Cs=[0.001, 0.1, 10.0], cv=folds, max_epochs=100_000
    )
    same.fit(list(texts), list(labels))
    assert same.best_score_ == pytest.approx(best["accuracy"])


@pytest.mark.parametrize("scoring", ["f1", "f1_macro", "roc_auc", "log_loss"])
def test_candidates_are_chosen_by_any_score(cli, wines, scoring):
    options = ["--cv", 3, "--C", "0.1,1,10", "--loss", "logistic", "--kernel", "ngram(2).normalized()"]
    value = cli("train", wines, *options, "--scoring", scoring, "--json").json()
    texts, labels = zip(*(line.rsplit(",", 1) for line in wines.read_text().splitlines()[1:]), strict=True)
    folds, positive = StratifiedKFold(3, shuffle=True, random_state=0), value["score"]["positive"]
    theirs = {
        "f1": make_scorer(f1_score, pos_label=positive), "f1_macro": "f1_macro", "roc_auc": "roc_auc",
        "log_loss": "neg_log_loss",
    }[scoring]  # fmt: skip
    same = treille.LogisticRegressionCV(NGram(2).normalized(), Cs=[0.1, 1.0, 10.0], cv=folds, scoring=theirs)
    means = np.abs(same.fit(list(texts), list(labels)).cv_results_["mean_test_score"])
    found = {each["C"]: each[scoring] for each in value["candidates"]}
    assert [found[C] for C in (0.1, 1.0, 10.0)] == pytest.approx(means)
    assert value["candidates"][0]["C"] == same.C_
    if scoring in ("roc_auc", "log_loss"):
        assert value["score"][scoring]["mean"] == pytest.approx(value["candidates"][0][scoring])
    title = {"f1": "F1", "f1_macro": "macro F1", "roc_auc": "area under the ROC curve", "log_loss": "log loss"}[scoring]
    shown = cli("train", wines, *options, "--scoring", scoring, "--nested").out
    assert f"the best of 3 by {title}" in shown
    assert title in next(line for line in shown.splitlines() if line.startswith("score:"))


def test_scores_of_several_classes(cli, tmp_path):
    texts, labels = [f"{label * 3} {i}" for label in "abc" for i in range(6)], [*"aaaaaabbbbbbcccccc"]
    (tmp_path / "t.csv").write_text("text,label\n" + "".join(map("{},{}\n".format, texts, labels)))
    options = ["t.csv", "--cv", 3, "--loss", "logistic", "--json"]
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    for scoring, theirs in (("roc_auc", "roc_auc_ovr"), ("log_loss", "neg_log_loss")):
        same = treille.LogisticRegressionCV(Cs=[30.0], cv=folds, scoring=theirs).fit(texts, labels).best_score_
        value = cli("train", *options, "--scoring", scoring).json()["score"][scoring]["mean"]
        assert value == pytest.approx(abs(same))
    answer = cli("train", *options, "--scoring", "f1")
    assert answer.code != 0
    assert "f1 is the score of one of two classes, and there are 3: use f1_macro" in answer.err


def test_class_weights_that_change_little_are_reported(cli, wines):
    options = ["--kernel", "ngram(3).normalized()", "--class-weight", "balanced", "--model", "w.treille", "--force"]
    assert "weights:  class weights change little: at most " in cli("train", wines, *options, "--C", 100).out
    assert "class weights" not in cli("train", wines, *options, "--C", 0.01).out


def test_the_default_C_is_the_one_of_the_estimator(cli, wines):
    for loss, C in (("hinge", 1.0), ("squared_hinge", 1.0), ("logistic", 30.0)):
        cli("train", wines, "--loss", loss, "--model", f"{loss}.treille")
        assert treille.load(f"{loss}.treille").C == C


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--C", "0.1,1"], "several values were given: add --cv 5"),
        (["--kernel", "ngram(1..3)"], "several values were given: add --cv 5"),
        (["--C", "0.1,x", "--cv", 3], "'0.1,x' is not a number"),
        (["--C", "0.1,-1", "--cv", 3], "C is -1.0, expected a positive number"),
        (["--kernel", "ngram(3..1)", "--cv", 3], "the range 3..1 is empty"),
        (["--kernel", "ngram(1..2000)", "--cv", 3], "stands for 2,000 kernels"),
        (["--scoring", "log_loss", "--cv", 3], "log_loss needs probabilities: add --loss logistic"),
        (["--scoring", "f1", "--holdout", 0.2], "is for --cv, which chooses by it: add --cv 5"),
    ],
)
def test_grids_that_cannot_be_searched_are_refused(cli, wines, options, message):
    answer = cli("train", wines, *options, "--model", "m.treille")
    assert answer.code == 2
    assert message in " ".join(answer.err.replace("│", " ").split())


def test_logistic_regression_is_trained_and_its_C_chosen(cli, wines):
    answer = cli(
        "train",
        wines,
        "--loss",
        "logistic",
        "--kernel",
        "ngram(2)",
        "--C",
        "0.1,1",
        "--cv",
        "2",
        "--model",
        "m.treille",
    )
    assert answer.code == 0, answer.err
    assert "a model of treille (LogisticRegression)" in cli("inspect", "m.treille").out


def test_the_solver_is_named_as_in_python(cli, tmp_path):
    (tmp_path / "a.tsv").write_text("label\ttext\n" + "a\tred wine\nb\twhite wine\n" * 6)
    assert cli("train", "a.tsv", "--solver", "SMO", "--holdout", "0.5", "--json").json()["solver"] == "SMO"
    assert cli("train", "a.tsv", "--solver", "SMO", "--cv", "2", "--json").json()["solver"] == "SMO"
    answer = cli("train", "a.tsv", "--solver", "SM0", "--holdout", "0.5")
    assert answer.code == 2
    assert "the solver 'SM0' is unknown" in answer.err
    assert (
        "for --solver: does not apply with --stream"
        in cli("train", "a.tsv", "--stream", "--solver", "SMO", "--model", "m").err
    )
