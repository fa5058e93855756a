"""Does "it" become er, sie or es? 192 sentences of our own, and what is left of the answer when words are hidden.

python -m model.pronouns --json                 accuracy by condition, with 95 % intervals
python -m model.pronouns --json --heads         and what silencing each head does to it

"I saw a sled. It was big." German must say *Er*, since *Schlitten* is masculine. Three translations that differ in the
pronoun only are scored as a whole; the most probable one is the model's answer. 16 nouns of each gender in each of four
frames: whoever always answers the same is right in a third. The nouns and frames are in no training pair of
`model.templates`; the nouns may well be in other training data. The forced translation shows the article (einen, eine,
ein), so part of the answer can simply be read. Conditions (see model/questions.py) take that away.

What masked attention does by itself is `source`; what it is needed for is `shown` minus `sentence`. None of them says
which head: that is what --heads is for. A head without effect may have others that do the same.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from model import checkpoint, command
from model.editing import edited
from model.hiding import Hidden, hiding
from model.questions import Question, conditions, questions
from model.score import log_probabilities
from model.silence import places
from model.taps import heard
from model.templates import FORMS, GENDERS
from model.tokenizer import Tokenizer
from model.trace import Array
from model.transformer import Transformer

RESAMPLES, SEED = 10_000, 1  # of the bootstrap
PRONOUNS = {gender: form.capitalize() for gender, form in FORMS["er"].items()}


def gaps(scores: Array, genders: Sequence[str]) -> Array:
    """How far the right answer is ahead of the other two together, ln of the odds. scores (n, 3) -> (n,)."""
    right = np.array([GENDERS.index(gender) for gender in genders])
    others = np.delete(np.arange(scores.size), np.arange(len(right)) * 3 + right)
    wrong = scores.reshape(-1)[others].reshape(-1, 2)
    return scores[np.arange(len(right)), right] - np.logaddexp(wrong[:, 0], wrong[:, 1])


def summary(scores: Array, asked: Sequence[Question]) -> dict[str, Any]:
    """accuracy, its 95 % interval, by_gender of the noun; chosen: how often each form was; log_odds: their mean.

    centred: accuracy once each form's mean over the questions of a frame is taken away. A model that prefers *Es* so
    much that it always says it may still find *Er* less unlikely after *einen* than after *eine*.
    """
    genders = [question.noun.gender for question in asked]
    right = _is_right(scores, genders)
    counts = Counter(GENDERS[best] for best in scores.argmax(axis=1))
    return {
        "accuracy": round(float(right.mean()), 4),
        "interval": interval(right, asked),
        "by_gender": {g: round(float(right[[other == g for other in genders]].mean()), 4) for g in GENDERS},
        "chosen": {PRONOUNS[gender]: counts[gender] for gender in GENDERS},
        "centred": round(float(_is_right(_centred(scores, asked), genders).mean()), 4),
        "log_odds": round(float(gaps(scores, genders).mean()), 3),
    }


def _is_right(scores: Array, genders: Sequence[str]) -> Array:
    return np.array([GENDERS[best] == gender for best, gender in zip(scores.argmax(axis=1), genders, strict=True)])


def _centred(scores: Array, asked: Sequence[Question]) -> Array:
    alike = np.array([[one.frame == other.frame for other in asked] for one in asked], dtype=float)  # (n, n)
    return scores - alike @ scores / alike.sum(axis=1, keepdims=True)


def interval(right: Array, asked: Sequence[Question]) -> list[float]:
    """95 % bootstrap interval of the mean. Nouns are drawn, among those of their gender: what is asked about one noun

    is not independent, and how many there are of each gender is the design, not chance.
    """
    rng = np.random.default_rng(SEED)
    sums = np.zeros((RESAMPLES, 2))  # right answers, all answers
    for gender in GENDERS:
        names = sorted({question.noun.german for question in asked if question.noun.gender == gender})
        about = [np.array([question.noun.german == name for question in asked]) for name in names]
        counts = np.array([[right[here].sum(), here.sum()] for here in about]).reshape(-1, 2)
        if names:
            sums += counts[rng.integers(len(names), size=(RESAMPLES, len(names)))].sum(axis=1)
    return [round(float(end), 4) for end in np.quantile(sums[:, 0] / sums[:, 1], [0.025, 0.975])]


def scores_of(
    model: Transformer, tokenizer: Tokenizer, asked: Sequence[Question], *, article: str | None = None
) -> Array:
    """ln P of the three answers to each question, (n, 3), nothing hidden."""
    pairs = [pair for question in asked for pair in question.answers(article=article)]
    return np.array(log_probabilities(model, tokenizer, pairs)).reshape(-1, len(GENDERS))


def hidden_scores(model: Transformer, tokenizer: Tokenizer, asked: Sequence[Question]) -> dict[str, Array]:
    """The same under each condition, (n, 3) each. Questions in which the same columns are hidden share a call."""
    members: dict[tuple[str, Hidden], list[int]] = {}
    for index, question in enumerate(asked):
        for name, hidden in conditions(tokenizer, question).items():
            members.setdefault((name, hidden), []).append(index)
    found = {name: np.zeros((len(asked), len(GENDERS))) for name, _ in members}
    for (name, hidden), indices in members.items():
        some = [asked[index] for index in indices]
        found[name][indices] = heard(hiding(hidden), scores_of, model, tokenizer, some)
    return found


def misled(model: Transformer, tokenizer: Tokenizer, asked: Sequence[Question]) -> dict[str, float]:
    """With an article that is wrong for the noun ("eine Schlitten"): how often the pronoun goes by which of them."""
    followed: Counter[str] = Counter()
    for article in GENDERS:
        wrong = [question for question in asked if question.noun.gender != article]
        for question, scores in zip(wrong, scores_of(model, tokenizer, wrong, article=article), strict=True):
            chosen = GENDERS[scores.argmax()]
            followed["article" if chosen == article else "noun" if chosen == question.noun.gender else "neither"] += 1
    return {name: round(followed[name] / followed.total(), 4) for name in ("article", "noun", "neither")}


def silenced(model: Transformer, tokenizer: Tokenizer, asked: Sequence[Question]) -> list[dict[str, Any]]:
    """Accuracy and change of the mean ln odds with each head at 0, and (head null) with all heads of an attention."""
    before = summary(scores_of(model, tokenizer, asked), asked)["log_odds"]
    rows = []
    for place in places(model):
        listener = edited(place.edits("zero", model.config.n_heads))
        found = summary(heard(listener, scores_of, model, tokenizer, asked), asked)
        row = {"kind": place.kind, "layer": place.layer, "head": place.head, "accuracy": found["accuracy"]}
        rows.append(row | {"log_odds_change": round(found["log_odds"] - before, 3)})
    return rows


def pronouns(options: argparse.Namespace) -> None:
    model, tokenizer = checkpoint.load(options.weights)
    asked = questions()
    most, count = Counter(question.noun.gender for question in asked).most_common(1)[0]
    found: dict[str, Any] = {
        "n": len(asked),
        "nouns": len({question.noun for question in asked}),
        "majority": {"form": PRONOUNS[most], "share": round(count / len(asked), 4)},
        "conditions": {n: summary(s, asked) for n, s in hidden_scores(model, tokenizer, asked).items()},
        "misled": misled(model, tokenizer, asked),
    }
    if options.heads:
        found["heads"] = silenced(model, tokenizer, asked)
    print(json.dumps(found)) if options.json else _print(found)


def _print(found: dict[str, Any]) -> None:
    print(f"{found['n']} sentences, majority class {found['majority']['share']:.1%}")
    print("condition              accuracy  95 % interval     Er m    Sie f     Es n  centred  ln odds")
    for name, row in found["conditions"].items():
        low, high = row["interval"]
        genders = "".join(f"{row['by_gender'][gender]:9.1%}" for gender in GENDERS)
        print(f"{name:21}{row['accuracy']:10.1%}  {low:6.1%} – {high:6.1%} {genders}", end="")
        print(f"{row['centred']:9.1%}{row['log_odds']:9.2f}")
    print("a wrong article: " + ", ".join(f"{share:.1%} by the {name}" for name, share in found["misled"].items()))
    for row in sorted(found.get("heads", []), key=lambda row: row["log_odds_change"]):
        head = "all" if row["head"] is None else row["head"]
        print(f"{row['kind']:8}{row['layer']}.{head:<4}{row['accuracy']:8.1%}{row['log_odds_change']:9.2f}")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = command.parser("pronouns", "Whether the gender of a German pronoun is that of the noun it stands for.")
    parser.add_argument("--json", action="store_true", help="one object")
    parser.add_argument("--heads", action="store_true", help="silence each head, too (takes minutes)")
    return command.run(pronouns, parser, arguments)


if __name__ == "__main__":
    sys.exit(main())
