"""Explanations of tagged sentences: the contributions of each token's features to the score of its tag."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from markupsafe import Markup

from treille.explain.explanation import Contribution, Explained, Explanation, Shown
from treille.explain.highlighting import MOST_BARS, highlighted_sentence
from treille.tagging import TokenFeatures


@dataclass(frozen=True, eq=False, kw_only=True)
class Decision(Explanation):
    """The explanation of a token's tag: the parts are the features of the token, the largest contributions first.

    The weight of a conjunction of features is shared equally among them.

    Attributes
    ----------
    token : object
        As in `Sentences`: a str, or a tuple of columns, or a list of features.
    ids : list of int
        The ids of the features that are the parts.
    patterns : list of (list of int, float)
        The ids of the features in each conjunction with weight, and the weight, the largest first.
    """

    token: Any
    features: TokenFeatures
    ids: Sequence[int]
    patterns: Sequence[tuple[Sequence[int], float]]

    @cached_property
    def names(self) -> list[str]:
        return [self.features.name(id) for id in self.ids]

    @property
    def tag(self) -> str:
        """The tag that is explained, in the scheme that the model learned."""
        return str(self.predicted)

    def conjunctions(self, count: int | None = None) -> list[Contribution]:
        """Single features and conjunctions with their weights, all or the `count` largest."""
        return [Contribution(" & ".join(map(self.features.name, ids)), value) for ids, value in self.patterns[:count]]

    def as_dict(self, label: Any = None) -> dict[str, Any]:
        token = list(self.token) if isinstance(self.token, tuple) else self.token
        own = super().as_dict(label)
        del own["base"]  # there is none
        return {"token": token, "tag": self.tag} | own


@dataclass(frozen=True, eq=False)
class TaggedSentence(Explained, Sequence[Decision]):
    """The explanation of a sentence's tags: a sequence of decisions, one for each token.

    `predicted` has the tags as `predict` returns them; the tags of the decisions are in the scheme that the model learned.

    >>> import treille
    >>> model = treille.Tagger("linear()", ["word[-1]", "word[0]"], min_count=1)
    >>> found = model.fit([["to", "sing"], ["to", "be"]], [["TO", "VB"], ["TO", "VB"]]).explain(["to", "go"])
    >>> found.predicted, found[1].parts(count=1)[0].name
    (['TO', 'VB'], 'word[-1]=to')
    """

    decisions: Sequence[Decision]
    predicted: list[str]

    def __len__(self) -> int:
        return len(self.decisions)

    def __getitem__(self, key: Any) -> Any:
        return self.decisions[key]

    def html(self, label: Any = None, truth: Sequence[str] | None = None, count: int = MOST_BARS) -> str:
        """Every token with its tag, and up to `count` features behind it on demand; tags that differ from `truth` are marked."""
        tokens = [decision.token for decision in self.decisions]
        return highlighted_sentence(tokens, self.predicted, truth, self.decisions, count)

    def as_dict(self, label: Any = None) -> dict[str, Any]:
        return {"tags": self.predicted, "tokens": [decision.as_dict() for decision in self.decisions]}

    def shown(self, label: Any = None, name: str = "", label_name: str | None = None) -> Shown:
        return Shown(name, Markup(self.html()))
