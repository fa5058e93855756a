"""The test set is balanced and hides what it says; accuracy, odds and intervals are what they are by hand."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from model import pronouns
from model.data import Pair
from model.editing import edited
from model.edits import Silence
from model.hiding import hiding
from model.pronouns import gaps, hidden_scores, interval, main, misled, scores_of, silenced, summary
from model.questions import Question, conditions, questions
from model.taps import heard
from model.templates import FORMS, GENDERS
from model.tokenizer import Tokenizer
from model.transformer import Transformer


@pytest.fixture
def asked() -> list[Question]:
    """Two nouns of each gender, each in two of the frames."""
    every = questions()
    return [q for gender in GENDERS for q in [q for q in every if q.noun.gender == gender][:8] if q.frame in FRAMES]


FRAMES = {questions()[0].frame, questions()[3].frame}


def test_the_three_answers_differ_in_the_pronoun_only_and_one_agrees() -> None:
    for question in questions():
        answers = question.answers()
        assert len({answer.source for answer in answers}) == 1
        words = [answer.target.split() for answer in answers]
        differing = [place for place in zip(*words, strict=True) if len(set(place)) > 1]
        assert differing == [("Er", "Sie", "Es")]


def test_nouns_are_16_of_each_gender_in_each_of_the_same_frames() -> None:
    every = questions()
    assert len(every) >= 100
    assert set(Counter(question.noun.gender for question in every).values()) == {64}
    assert set(Counter(question.noun.german for question in every).values()) == {4}
    assert set(Counter(question.frame for question in every).values()) == {48}
    assert len({question.answers()[0].source for question in every}) == len(every)


def test_an_article_of_another_gender_changes_the_article_only() -> None:
    question = questions()[0]
    assert question.noun.german == "Schlitten"
    assert question.answers(article="f")[2].target == question.answers()[2].target.replace("einen", "eine")


def test_what_is_hidden_is_what_the_condition_says(tokenizer: Tokenizer) -> None:
    for question in questions():
        answer = question.answers()[1]
        read = [2, *tokenizer.encode(answer.target)]
        source = [*tokenizer.encode(answer.source), 3]
        article = FORMS["einen"][question.noun.gender]
        sentence = answer.target.split(". ")[0]
        for name, hidden in conditions(tokenizer, question).items():
            german = tokenizer.decode(read[hidden.target.start : hidden.target.stop])
            english = tokenizer.decode(source[hidden.source.start : hidden.source.stop])
            expected = {"article": article, "noun": f"{article} {question.noun.german}", "sentence": sentence}
            assert german == expected.get(name.split("_")[-1], "")
            assert english == (question.noun.english if name.startswith("source") else "")


def test_the_row_that_predicts_the_pronoun_is_the_first_that_sees_nothing_of_the_sentence(tokenizer: Tokenizer) -> None:
    for question in questions()[:9]:
        row = conditions(tokenizer, question)["sentence"].target.stop
        read = [2, *tokenizer.encode(question.answers()[1].target)]
        assert tokenizer.decode(read[: row + 1]) == question.answers()[1].target.split(". ")[0] + "."


def test_with_noun_and_article_hidden_in_both_languages_equal_lengths_get_equal_scores(
    model: Transformer, tokenizer: Tokenizer
) -> None:
    """If anything of noun or article came through, questions about other nouns would be answered otherwise."""
    every = [question for question in questions() if question.frame == questions()[0].frame]
    alike: dict[object, list[Question]] = {}
    for question in every:
        hidden = conditions(tokenizer, question)["source_article_noun"]
        alike.setdefault((hidden, question.adjective, " an " in question.answers()[0].source), []).append(question)
    group = max(alike.values(), key=lambda questions: len({q.noun.gender for q in questions}))
    assert len({question.noun.gender for question in group}) > 1
    found = hidden_scores(model, tokenizer, group)
    tails = {name: scores - scores[:, :1] for name, scores in found.items()}  # up to the pronoun all three are alike
    assert np.allclose(tails["source_article_noun"], tails["source_article_noun"][0], atol=1e-5)
    for name in ("shown", "article", "article_noun", "source", "source_article"):
        assert not np.allclose(tails[name], tails[name][0], atol=1e-3), name


def test_questions_asked_together_are_answered_as_alone(
    model: Transformer, tokenizer: Tokenizer, asked: list[Question]
) -> None:
    together = hidden_scores(model, tokenizer, asked)
    for index, question in enumerate(asked):
        for name, hidden in conditions(tokenizer, question).items():
            alone = heard(hiding(hidden), scores_of, model, tokenizer, [question])[0]
            assert together[name][index] == pytest.approx(alone, abs=1e-4)


def test_odds_are_of_the_right_answer_against_both_others() -> None:
    scores = np.log([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8], [0.25, 0.5, 0.25]])
    assert gaps(scores, ["m", "m", "f"]) == pytest.approx(np.log([1.0, 1 / 9, 1.0]))


def right_scores(asked: Sequence[Question]) -> np.ndarray:
    return np.array([[float(gender == q.noun.gender) for gender in GENDERS] for q in asked])


def test_a_model_that_is_always_right_and_one_that_always_says_es(asked: list[Question]) -> None:
    right = summary(right_scores(asked), asked)
    assert (right["accuracy"], right["centred"], right["interval"]) == (1.0, 1.0, [1.0, 1.0])
    assert right["by_gender"] == {"m": 1.0, "f": 1.0, "n": 1.0}
    always = right_scores(asked) * 0.1 + [0.0, 0.0, 5.0]  # knows it, but prefers one form far too much
    found = summary(always, asked)
    assert (found["accuracy"], found["centred"]) == (0.3333, 1.0)
    assert found["interval"] == [0.3333, 0.3333]
    assert found["by_gender"] == {"m": 0.0, "f": 0.0, "n": 1.0}
    assert found["chosen"] == {"Er": 0, "Sie": 0, "Es": len(asked)}


def test_the_interval_is_that_of_nouns_drawn_again(asked: list[Question]) -> None:
    """Each gender has a noun with both answers right and one with both wrong: half as wide by sentence as by noun."""
    seen: dict[str, list[str]] = {gender: [] for gender in GENDERS}
    for question in asked:
        if question.noun.german not in seen[question.noun.gender]:
            seen[question.noun.gender].append(question.noun.german)
    right = np.array([seen[q.noun.gender].index(q.noun.german) == 0 for q in asked])
    assert Counter(right) == {True: 6, False: 6}
    by_frame = np.array([question.frame == asked[0].frame for question in asked])
    assert interval(by_frame, asked) == [0.5, 0.5]
    low, high = interval(right, asked)
    assert (low, high) == (pytest.approx(1 / 6, abs=1e-3), pytest.approx(5 / 6, abs=1e-3))


def by_article(_: object, __: object, pairs: Sequence[Pair]) -> list[float]:
    """A scorer that goes by the article."""
    genders = {FORMS["einen"][gender]: FORMS["er"][gender] for gender in GENDERS}
    found = []
    for pair in pairs:
        words = pair.target.rstrip(".").replace(".", "").split()
        article = next(word for word in words if word in genders)
        found.append(float(genders[article].capitalize() in words))
    return found


def test_who_goes_by_the_article_is_misled_by_it(
    model: Transformer, tokenizer: Tokenizer, asked: list[Question], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pronouns, "log_probabilities", by_article)
    assert misled(model, tokenizer, asked) == {"article": 1.0, "noun": 0.0, "neither": 0.0}
    assert summary(scores_of(model, tokenizer, asked), asked)["accuracy"] == 1.0


def test_a_silenced_head_is_the_one_that_is_named(
    model: Transformer, tokenizer: Tokenizer, asked: list[Question]
) -> None:
    rows = silenced(model, tokenizer, asked[::4])
    assert len(rows) == (3 + 2 + 2) * (5 + 1)
    before = summary(scores_of(model, tokenizer, asked[::4]), asked[::4])["log_odds"]
    after = heard(edited([Silence("masked", 2, 4)]), scores_of, model, tokenizer, asked[::4])
    (row,) = [row for row in rows if (row["kind"], row["layer"], row["head"]) == ("masked", 2, 4)]
    expected = summary(after, asked[::4])["log_odds"] - before
    assert row["log_odds_change"] == pytest.approx(expected, abs=1e-3)
    assert len({row["log_odds_change"] for row in rows}) > len(rows) / 2


def test_the_command_prints_one_object(
    weights: Path, asked: list[Question], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(pronouns, "questions", lambda: asked)
    assert main(["--json", "--weights", str(weights)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["n"], found["nouns"], found["majority"]["share"]) == (12, 6, 0.3333)
    assert list(found["conditions"]) == list(conditions_of(weights))
    assert sum(found["misled"].values()) == pytest.approx(1, abs=1e-3)
    assert "heads" not in found
    assert main(["--heads", "--weights", str(weights)]) == 0
    assert "source_article_noun" in capsys.readouterr().out
    assert main(["--weights", str(weights / "none")]) == 2


def conditions_of(weights: Path) -> dict[str, object]:
    tokenizer = Tokenizer.load(weights / "sentencepiece.model")
    return dict(conditions(tokenizer, questions()[0]))
