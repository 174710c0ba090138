"""Writes ngram_v1.treille and ngram_v1.json; see README.md."""

import json
from pathlib import Path

import treille
from treille.kernels import NGram

HERE = Path(__file__).parent
TRAIN = {
    "en": ["to be, or not to be", "that is the question", "the rest is silence"],
    "fr": ["être, ou ne pas être", "telle est la question", "le reste est silence"],
    "\U0001f347": ["\U0001f347\U0001f377", "\U0001f377\U0001f347\U0001f347", "\U0001f377 \U0001f377"],
}
NEW = ["to be", "ne pas être", "\U0001f377\U0001f347", "", "never seen: ωβ", "the rest, le reste"]

if __name__ == "__main__":
    texts, labels = zip(*((text, label) for label, group in TRAIN.items() for text in group), strict=True)
    kernel = NGram(3, min_n=1, order_weights=[0.25, 0.5, 1.0]).normalized()
    model = treille.SVC(kernel, C=10.0, tol=1e-6, max_epochs=100_000, class_weight={"en": 2.0}).fit(texts, labels)
    model.save(HERE / "ngram_v1.treille")
    known = {
        "treille": treille.__version__,
        "texts": NEW,
        "classes": model.classes_.tolist(),
        "decisions": model.decision_function(NEW).tolist(),
        "predictions": model.predict(NEW).tolist(),
        "primal": model.report_.primal,
    }
    (HERE / "ngram_v1.json").write_text(json.dumps(known, indent=1) + "\n")
