"""The command prints a translation alone on its line, or everything about it as JSON."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from model.config import MAX_PIECES
from model.tokenizer import Tokenizer
from model.translate import main

SENTENCE = "The cat looks for two green trees."


Said = Callable[..., tuple[str, str]]


@pytest.fixture
def said(weights: Path, capsys: pytest.CaptureFixture[str]) -> Said:
    """What the command says on stdout, and on stderr, with these arguments."""

    def call(*given: str) -> tuple[str, str]:
        assert main([*given, "--weights", str(weights)]) == 0
        out, err = capsys.readouterr()
        return out, err

    return call


def test_the_translation_stands_alone_on_its_line(said: Said) -> None:
    out, err = said(SENTENCE)
    assert out.endswith("\n")
    assert len(out.splitlines()) == 1
    assert out.split()[0] in ("Der", "Die", "Ein", "Meine", "Tom", "Maria")
    assert err == ""


def test_json_is_one_object_with_the_translation_and_each_step(said: Said, tokenizer: Tokenizer) -> None:
    found = json.loads(said(f"  {SENTENCE}\n", "--json")[0])
    assert set(found) == {"text", "source", "target", "log_probability", "steps"}
    assert found["source"] == SENTENCE
    assert found["text"] == found["target"] == said(SENTENCE)[0].rstrip("\n")
    assert found["log_probability"] == pytest.approx(sum(step["log_probability"] for step in found["steps"]))
    assert all(set(step) == {"token", "log_probability"} for step in found["steps"])
    assert found["steps"][-1]["token"] == "</s>"
    spelled = "".join(step["token"].removeprefix("·") for step in found["steps"][:-1])
    assert spelled.replace("␣", "") == found["target"].replace(" ", "")


def test_a_beam_of_one_is_greedy_and_a_wider_one_answers_too(said: Said) -> None:
    greedy = said(SENTENCE)[0]
    assert said(SENTENCE, "--beam", "1")[0] == greedy
    assert json.loads(said(SENTENCE, "--beam", "3", "--json")[0])["target"]


def test_sampling_repeats_with_its_seed(said: Said) -> None:
    drawn = [said(SENTENCE, "--sample", "--temperature", "1.5", "--seed", seed)[0] for seed in "112345"]
    assert drawn[0] == drawn[1]
    assert len(set(drawn)) > 1
    assert said(SENTENCE, "--sample", "--top-k", "1")[0] == said(SENTENCE)[0]


def test_a_text_beyond_the_limit_is_translated_up_to_it_with_a_note_beside(said: Said) -> None:
    out, err = said("house " * (MAX_PIECES + 40))
    assert len(out.splitlines()) == 1
    assert err.startswith(f"note: cut to {MAX_PIECES} pieces; left out: “")
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    "text",
    ["x", "😀😀", "שלום עולם", "</script><img src=x onerror=alert(1)>", "**b** $x^2$", "a\tb\nc", "a\x00b", "\ud800"],
)
def test_strange_text_gets_a_translation(said: Said, text: str) -> None:
    assert json.loads(said(text, "--json")[0])["steps"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--sample", "--temperature", "0"], "temperature=0.0 must be above 0"),
        (["--sample", "--top-p", "1.5"], "top_p=1.5 above 0, at most 1"),
        (["--beam", "2", "--length-penalty", "nan"], "length_penalty=nan must be a finite number"),
    ],
)
def test_an_impossible_decoding_is_one_clear_line(
    weights: Path, capsys: pytest.CaptureFixture[str], given: list[str], words: str
) -> None:
    assert main([SENTENCE, *given, "--weights", str(weights)]) == 2
    said = capsys.readouterr()
    assert words in said.err
    assert len(said.err.splitlines()) == 1
    assert said.out == ""


@pytest.mark.parametrize("given", [["--beam", "0"], ["--top-k", "-1"], ["--beam", "many"]])
def test_a_number_that_is_none_stops_the_command_with_status_two(
    weights: Path, capsys: pytest.CaptureFixture[str], given: list[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main([SENTENCE, *given, "--weights", str(weights)])
    assert stopped.value.code == 2
    assert "is not a whole number" in capsys.readouterr().err
