"""Scripts without blanks between words are recognised by the letters of all texts, and get runs of characters."""

import pandas as pd
import pytest

import treille
from treille import Strings
from treille.data.scripts import without_blanks

SENTENCES = {
    "Chinese": "房间很干净，服务也不错。",
    "Japanese": "部屋はとてもきれいでした。",
    "Thai": "ห้องสะอาดมากและบริการดี",
    "Lao": "ຫ້ອງສະອາດຫຼາຍ",
    "Burmese": "အခန်းက သန့်ရှင်းတယ်",
    "Khmer": "បន្ទប់ស្អាតណាស់",
}
WITH_BLANKS = ["the room was clean", "das Zimmer war schön", "номер был чистый", "방이 아주 깨끗했어요", "", "12, 3!"]
RUNS = "2 * NGram(n=3, min_n=1, unit='char+lower', counts='log').weighted('idf').normalized()"
AS_GIVEN = RUNS.replace(" unit='char+lower',", "")  # a batch of characters is read as it is


@pytest.mark.parametrize("script", SENTENCES)
def test_every_script_without_blanks_is_recognised(script):
    assert without_blanks([SENTENCES[script], ""]) == (script, 1.0)


def test_scripts_with_blanks_and_texts_without_letters_are_not():
    assert without_blanks(WITH_BLANKS) is None
    assert all(without_blanks([text]) is None for text in WITH_BLANKS)


def test_a_few_quotations_do_not_count():
    quoting = f"The sign at the door of the hotel says {SENTENCES['Chinese'][:5]}, and we took off our shoes there"
    assert without_blanks([quoting]) is None
    assert without_blanks([quoting, SENTENCES["Chinese"] * 5]) is not None


def test_texts_in_all_places_are_examined():
    texts = ["english"] * 3000 + [SENTENCES["Thai"]] * 3000
    script, share = without_blanks(texts)
    assert script == "Thai"
    assert 0.5 < share < 0.9


@pytest.mark.parametrize(
    ("container", "kernel"),
    [
        (list, RUNS),
        (tuple, RUNS),
        (pd.Series, RUNS),
        (Strings, AS_GIVEN),
        (lambda texts: Strings(texts, unit="char+lower"), RUNS),
    ],
)
def test_every_container_of_such_texts_gets_runs_of_characters(container, kernel):
    X = container(["plain words"] + [SENTENCES["Chinese"], SENTENCES["Japanese"]] * 4)
    plan = treille.SVC().fit(X, [0, 1, 0] * 3).plan_
    assert repr(plan.kernel) == kernel
    assert "of the letters are of scripts without blanks between words, most of them Chinese" in plan.kernel_why


def test_texts_given_as_words_keep_their_unit():
    words = Strings([SENTENCES["Chinese"], "b c"], unit="word")
    assert "word" in repr(treille.SVC().fit(words, [0, 1]).plan_.kernel)


def test_words_inside_sentences_are_learned():
    texts = [
        "房间很干净我们喜欢",
        "服务也不错",
        "价格不错下次再来",
        "早餐不好吃",
        "太吵了不推荐",
        "这里太贵了",
        "位置不错",
        "房间太小",
    ]
    model = treille.SVC().fit(texts, ["good", "good", "good", "bad", "bad", "bad", "good", "bad"])
    assert model.predict(["电梯不错啊", "早餐太贵"]).tolist() == ["good", "bad"]
