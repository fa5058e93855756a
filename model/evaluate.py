"""How well a model translates: BLEU and chrF (sacreBLEU) on a file of sentence pairs.

python -m model.evaluate pairs.tsv --json      last line: one object with bleu, chrf, signature, n, by_length
python -m model.evaluate pairs.tsv --bootstrap 1000     and the intervals of bleu and chrf (Koehn 2004)
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import sacrebleu
import torch
from sacrebleu.metrics import BLEU, CHRF

from model import checkpoint, command, data
from model.command import WIDEST_BEAM, at_least
from model.config import EOS, MAX_PIECES
from model.decode import LENGTH_PENALTY, Decoding, decode
from model.encoder_decoder import EncoderDecoder
from model.tokenizer import Tokenizer

LENGTHS = ((1, 5), (6, 10), (11, 15), (16, 20), (21, 30), (31, 50), (51, 10_000))  # source words, both ends included
BATCH = 64


def translate_all(
    model: EncoderDecoder, tokenizer: Tokenizer, sentences: Sequence[str], decoding: Decoding = Decoding()
) -> list[str]:
    """Translations in the order of the sentences. Sentences of similar length share a batch; long ones are cut."""
    encoded = [tokenizer.encode(sentence)[:MAX_PIECES] for sentence in sentences]
    order = sorted(range(len(encoded)), key=lambda i: len(encoded[i]))
    translated = [""] * len(encoded)
    for start in range(0, len(order), BATCH):
        batch = order[start : start + BATCH]
        found = decode(model, data.pad([[*encoded[i], EOS] for i in batch]), decoding)
        for i, hypothesis in zip(batch, found, strict=True):
            translated[i] = tokenizer.decode(hypothesis.ids)
    return translated


def bleu_of(translated: Sequence[str], references: Sequence[str]) -> float:
    """Corpus BLEU, 0 to 100."""
    return float(sacrebleu.corpus_bleu(list(translated), [list(references)]).score)


def scores(
    sources: Sequence[str], translated: Sequence[str], references: Sequence[str], *, bootstrap: int = 0
) -> dict[str, Any]:
    """bleu and chrf (0 to 100), sacreBLEU's signature, n, and BLEU by words in the source.

    With a bootstrap of so many draws of n sentences, also bleu_interval and chrf_interval, 95 %, drawn with
    sacreBLEU's own seed, so that they repeat.
    """
    measures = {"bleu": BLEU(), "chrf": CHRF()}
    found: dict[str, Any] = {}
    for name, measure in measures.items():
        result = measure.corpus_score(list(translated), [list(references)], n_bootstrap=max(bootstrap, 1))
        found[name] = round(result.score, 2)
        if bootstrap:
            told = json.loads(result.format(is_json=True, signature=str(measure.get_signature())))
            found[f"{name}_interval"] = _around(told["confidence_mean"], told["confidence_var"])
    by_length = []
    for least, most in LENGTHS:
        here = [i for i, source in enumerate(sources) if least <= len(source.split()) <= most]
        if here:
            part = bleu_of([translated[i] for i in here], [references[i] for i in here])
            by_length.append({"words": [least, most], "n": len(here), "bleu": round(part, 2)})
    return found | {"signature": str(measures["bleu"].get_signature()), "n": len(sources), "by_length": by_length}


def _around(middle: float, reach: float) -> list[float]:
    return [round(middle - reach, 2), round(middle + reach, 2)]


def evaluate(options: argparse.Namespace) -> None:
    pairs = data.read_pairs(options.file, limit=options.limit)
    if options.bootstrap == 1:
        raise command.InputError("--bootstrap 1: one draw has no spread; ask for 0, or for 2 and more")
    model, tokenizer = checkpoint.load_any(options.weights)
    method = "beam" if options.beam > 1 else "greedy"
    try:
        decoding = Decoding(method, beam=options.beam, length_penalty=options.length_penalty)
    except ValueError as error:
        raise command.InputError(str(error)) from error
    sources, references = [p.source for p in pairs], [p.target for p in pairs]
    with torch.inference_mode():
        translated = translate_all(model, tokenizer, sources, decoding)
    found = scores(sources, translated, references, bootstrap=options.bootstrap)
    if options.json:
        print(json.dumps(found))
        return
    for source, text in list(zip(sources, translated, strict=True))[:5]:
        print(f"{source}\n    {text}")
    print(f"BLEU {found['bleu']}   chrF {found['chrf']}   on {found['n']} pairs   {found['signature']}")
    for name in ("bleu", "chrf") if options.bootstrap else ():
        print(f"    {name}, 95 % of {options.bootstrap} draws: {' to '.join(map(str, found[f'{name}_interval']))}")
    for row in found["by_length"]:
        print(f"    {row['words'][0]} to {row['words'][1]} words: BLEU {row['bleu']} ({row['n']})")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = command.parser("evaluate", "Score a model on a file of source<TAB>target lines.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--json", action="store_true", help="one object on the last line")
    parser.add_argument("--beam", type=at_least(1, WIDEST_BEAM), default=1, help="1 (default) is greedy")
    parser.add_argument("--length-penalty", type=float, default=LENGTH_PENALTY)
    parser.add_argument("--bootstrap", type=at_least(0), default=0, help="draws for intervals; 0 (default): none")
    parser.add_argument("--limit", type=at_least(1), help="only the first N lines")
    return command.run(evaluate, parser, arguments)


if __name__ == "__main__":
    sys.exit(main())
