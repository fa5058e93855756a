"""Trees are read as CoNLL-U says, and a head is credited with a dependency as one would count it by hand."""

import lzma
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from model.capture import trace_of
from model.data import DataError
from model.evidence import parsed, relations
from model.gold import join
from model.syntax import (
    FEWEST,
    RelationCounts,
    Tree,
    best_relation,
    encode_tree,
    ends,
    read_trees,
    strongest_words,
)
from model.tokenizer import Tokenizer
from model.trace import Array
from model.transformer import Transformer

L, H = 3, 5


def row(number: str, word: str, head: str, relation: str, misc: str = "_") -> str:
    return "\t".join([number, word, "_", "X", "_", "_", head, relation, "_", misc])


SENTENCES = "\n".join(
    [
        "# sent_id = 1",
        "# text = Mary doesn't hear Tom's,\u2028and dogs.",
        row("1", "Mary", "4", "nsubj"),
        row("2-3", "doesn't", "_", "_"),
        row("2", "does", "4", "aux"),
        row("3", "n't", "4", "advmod", "Typo=No|SpaceAfter=Yes"),
        row("4", "hear", "0", "root"),
        row("5-6", "Tom's", "_", "_", "SpaceAfter=No"),
        row("5", "Tom", "4", "nmod:poss"),
        row("6", "'s", "5", "case"),
        row("7", ",", "9", "punct"),
        row("7.1", "hear", "_", "_", "CopyOf=4"),
        row("8", "and", "9", "cc"),
        row("9", "dogs", "5", "conj", "SpaceAfter=No"),
        row("10", ".", "4", "punct", "SpaceAfter=No"),
        "",
        "",
        "# a comment, and nothing else",
        "",
        row("1", "Go", "0", "root", "Lang=en|SpaceAfter=No"),
        row("2", "!", "1", "punct"),
        "",
    ]
)


def written(tmp_path: Path, content: str | bytes, name: str = "trees.conllu") -> Path:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def a_tree(*words: tuple[str, int, str]) -> Tree:
    """Words with their heads (from 0; -1 for the root) and relations."""
    texts, heads, names = zip(*words, strict=True)
    return Tree(texts, (False,) * len(words), heads, names)


MAN = a_tree(("the", 2, "det"), ("old", 2, "amod"), ("man", 3, "nsubj"), ("hears", -1, "root"), ("dogs", 3, "obj"))


def test_words_are_the_numbered_lines_whatever_stands_between_them(tmp_path: Path) -> None:
    first, second = read_trees(written(tmp_path, SENTENCES))
    assert first.words == ("Mary", "does", "n't", "hear", "Tom", "'s", ",", "and", "dogs", ".")
    assert first.heads == (3, 3, 3, -1, 3, 4, 8, 8, 4, 3)
    assert " ".join(first.relations) == "nsubj aux advmod root nmod case punct cc conj punct"
    assert second == Tree(("Go", "!"), (False, True), (-1, 0), ("root", "punct"))


def test_words_of_one_token_are_glued_and_what_follows_it_as_the_token_says(tmp_path: Path) -> None:
    texts = [join(tree.words, tree.glued)[0] for tree in read_trees(written(tmp_path, SENTENCES))]
    assert texts == ["Mary doesn't hear Tom's, and dogs.", "Go!"]


def test_compressed_and_from_windows_it_is_the_same(tmp_path: Path) -> None:
    plain = read_trees(written(tmp_path, SENTENCES))
    assert read_trees(written(tmp_path, lzma.compress(SENTENCES.encode()), "trees.conllu.xz")) == plain
    assert read_trees(written(tmp_path, b"\xef\xbb\xbf" + SENTENCES.replace("\n", "\r\n").encode())) == plain


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("", " holds no sentence"),
        ("# only\n\n# comments\n", " holds no sentence"),
        (f"{SENTENCES}\nThe cat.\tDie Katze.\n", ", sentence 3: a line without ten columns; is this CoNLL-U?"),
        (row("1", "Go", "_", "root"), ", sentence 1: columns 1 and 7 (a word and its head) must be numbers"),
        (row("1-x", "Go", "0", "root"), ", sentence 1: columns 1 and 7"),
        (row("1", "Go", "2", "root"), ", sentence 1: no word, or one whose head (column 7) is not there"),
        (row("1", "Go", "-1", "root"), ", sentence 1: no word, or one"),
        (row("1.1", "Go", "0", "root"), ", sentence 1: no word, or one"),
        (b"1\tf\xfcr", " is not readable as UTF-8 text"),
    ],
)
def test_what_is_no_tree_is_said_with_its_sentence(content: str | bytes, complaint: str, tmp_path: Path) -> None:
    path = written(tmp_path, content)
    with pytest.raises(DataError) as raised:
        read_trees(path)
    assert str(raised.value).startswith(f"{path}{complaint}")


def test_a_damaged_archive_is_said(tmp_path: Path) -> None:
    whole = lzma.compress(SENTENCES.encode())
    for damaged in (b"no archive", whole[:-9]):
        with pytest.raises(DataError, match="is not readable"):
            read_trees(written(tmp_path, damaged, "trees.xz"))


def test_each_relation_has_two_ends_and_two_directions() -> None:
    tree = a_tree(("well", 1, "discourse"), ("see", -1, "root"), ("dogs", 1, "obj"), ("cats", 1, "obj"))
    assert ends(tree) == {"obj": [(2, 1), (3, 1)], "obj, reversed": [(1, 2), (1, 3)]}
    assert ends(a_tree(("dogs", -1, "obj"), ("bark", 0, "discourse"))) == {}  # a root has no other end


def test_words_of_a_tree_have_the_pieces_that_spell_them(tokenizer: Tokenizer, tmp_path: Path) -> None:
    tree = read_trees(written(tmp_path, SENTENCES))[0]
    encoded = encode_tree(tokenizer, tree)
    assert encoded is not None
    ids, groups = encoded
    assert ids == tokenizer.encode("Mary doesn't hear Tom's, and dogs.")
    assert {index for group in groups for index in group} == set(range(len(ids)))
    for word, group in zip(tree.words, groups, strict=True):
        assert word in tokenizer.decode([ids[index] for index in group])


def test_a_sentence_too_long_or_with_a_word_of_nothing_is_left_out(tokenizer: Tokenizer) -> None:
    assert encode_tree(tokenizer, a_tree(("q" * 300, -1, "root"))) is None
    assert encode_tree(tokenizer, a_tree(("go", -1, "root"), ("\u200b", 0, "obj"))) is None


def looking(where: Callable[[int], int], words: int) -> Array:
    """(L, H, words): head 2 of layer 3 looks at where(word); the others all at the first word."""
    strongest = np.zeros((L, H, words), dtype=int)
    strongest[2, 1] = [where(word) for word in range(words)]
    return strongest


def repeated(strongest: Array, tree: Tree, times: int = FEWEST) -> RelationCounts:
    counts = RelationCounts()
    for _ in range(times):
        counts.add(strongest, tree)
    return counts


def test_a_head_that_always_looks_at_the_other_end_is_always_right() -> None:
    counts = RelationCounts()
    near = a_tree(("dogs", 1, "nsubj"), ("bark", -1, "root"), ("loudly", 1, "advmod"))
    far = a_tree(("dogs", 2, "nsubj"), ("never", 2, "advmod"), ("bark", -1, "root"))
    for tree, times in ((near, 70), (far, 30)):
        for _ in range(times):
            counts.add(looking(lambda word, tree=tree: max(tree.heads[word], 0), 3), tree)
    assert counts.offsets["nsubj"] == {1: 70, 2: 30}
    assert counts.offsets["nsubj, reversed"] == {-1: 70, -2: 30}
    assert counts.offsets["advmod"] == {-1: 70, 1: 30}
    assert counts.accuracy("nsubj", 3, 2) == counts.accuracy("advmod", 3, 2) == 1
    assert counts.accuracy("nsubj", 2, 2) == counts.accuracy("nsubj", 3, 1) == 0
    assert counts.share_at("nsubj", 1) == 0.7
    assert counts.share_at("nsubj", 5) == 0
    assert best_relation(counts, counts, 3, 2) == {
        "relation": "nsubj",
        "accuracy": 1.0,
        "offset": 1,
        "offset_accuracy": 0.7,
        "n": 100,
    }


def test_a_head_that_looks_at_a_fixed_offset_is_no_better_than_it() -> None:
    counts = repeated(looking(lambda word: min(word + 1, 4), 5), MAN)
    assert {name: int(right[2, 1]) for name, right in counts.right.items() if right[2, 1]} == {
        "amod": 100,
        "nsubj": 100,
        "obj, reversed": 100,
    }
    best = best_relation(counts, counts, 3, 2)
    assert best is not None
    assert (best["accuracy"], best["offset_accuracy"]) == (1.0, 1.0)


NEAR = a_tree(("the", 1, "det"), ("man", -1, "root"), ("sees", 1, "obj"))
FAR = a_tree(("the", 2, "det"), ("old", 2, "amod"), ("man", -1, "root"))


def test_the_best_relation_is_the_one_furthest_above_its_offset() -> None:
    """All of obj is found, but it always stands at the same place; det does not, and 130 of 160 are found."""
    counts = RelationCounts()
    for tree, end, times in ((NEAR, 1, 100), (FAR, 2, 30), (FAR, 1, 30)):
        for _ in range(times):
            counts.add(looking(lambda _, end=end: end, 3), tree)
    best = best_relation(counts, counts, 3, 2)
    assert best is not None
    assert (best["relation"], best["accuracy"], best["offset_accuracy"]) == ("det", 0.8125, 0.625)


def test_relation_and_offset_are_chosen_on_one_half_and_reported_on_the_other() -> None:
    """Chosen: det, at +1 in 100 of 140, found in all. On the other half the head finds none of it, +1 is right in 8."""
    chosen, reported = RelationCounts(), RelationCounts()
    for tree, times in ((NEAR, 100), (FAR, 40)):
        for _ in range(times):
            chosen.add(looking(lambda word, tree=tree: max(tree.heads[word], 0), 3), tree)
    for tree, times in ((NEAR, 8), (FAR, 32)):
        for _ in range(times):
            reported.add(looking(lambda word: word, 3), tree)
    assert best_relation(chosen, reported, 3, 2) == {
        "relation": "det",
        "accuracy": 0.0,
        "offset": 1,
        "offset_accuracy": 0.2,
        "n": 40,
    }


def test_a_relation_seen_too_rarely_says_nothing() -> None:
    right = looking(lambda word: max(MAN.heads[word], 0), 5)
    often, rarely = repeated(right, MAN, FEWEST), repeated(right, MAN, FEWEST - 1)
    assert best_relation(rarely, often, 3, 2) is None
    assert best_relation(often, RelationCounts(), 3, 2) is None
    best = best_relation(often, rarely, 3, 2)
    assert best is not None
    assert (best["accuracy"], best["n"]) == (1.0, FEWEST - 1)


def test_the_word_itself_counts_and_the_end_of_the_sentence_does_not() -> None:
    """As in Voita et al. 2019, who leave out `</s>` alone."""
    weights = np.full((1, 1, 3, 3), 0.1)
    weights[0, 0, 0] = [0.4, 0.1, 0.5]  # itself, once `</s>` is left out
    weights[0, 0, 1] = [0.35, 0.2, 0.45]
    assert strongest_words(weights, [[0], [1]]).tolist() == [[[0, 0]]]


def test_weight_to_a_word_is_summed_over_its_pieces_and_from_it_averaged() -> None:
    """dogs is pieces 0 and 1, bark is 2 and 3, loudly is 4: no single piece says what the words do."""
    weights = np.zeros((1, 1, 6, 6))
    weights[0, 0, 0, [2, 3, 4]] = [0.3, 0.3, 0.4]  # bark, in two pieces, outweighs loudly
    weights[0, 0, 1, [2, 4]] = [0.45, 0.5]  # dogs: bark (0.6 + 0.45) / 2, loudly (0.4 + 0.5) / 2
    weights[0, 0, 2, [0, 4]] = [0.9, 0.0]
    weights[0, 0, 3, [0, 4]] = [0.0, 0.8]  # bark: dogs 0.45, loudly 0.4
    weights[0, 0, 4, [0, 1, 2]] = [0.3, 0.3, 0.4]  # loudly: dogs 0.6, bark 0.4
    assert strongest_words(weights, [[0, 1], [2, 3], [4]]).tolist() == [[[1, 0, 0]]]


def test_over_a_corpus_each_head_is_right_as_often_as_a_loop_finds(
    model: Transformer, tokenizer: Tokenizer, tmp_path: Path
) -> None:
    """Trees are told apart by their place among those that can be read: first, third … to choose on."""
    trees = [a_tree(("q" * 300, 1, "nsubj"), ("go", -1, "root")), *read_trees(written(tmp_path, SENTENCES)), MAN]
    counts = relations(model, tokenizer, parsed(tokenizer, trees))["own"]
    right: dict[tuple[int, str, int, int], int] = {}
    for index, tree in enumerate(trees[1:]):
        encoded = encode_tree(tokenizer, tree)
        assert encoded is not None
        ids, groups = encoded
        weights = trace_of(model, tokenizer, ids, [70, 71]).weights("encoder")  # the target does not matter
        assert weights.shape[:2] == (L, H)
        for layer, head in np.ndindex(L, H):
            for looks, group in enumerate(groups):
                means = [
                    sum(float(weights[layer, head, piece, column]) for piece in group for column in other) / len(group)
                    for other in groups
                ]
                for name, pairs in ends(tree).items():
                    hits = pairs.count((looks, int(np.argmax(means))))
                    key = (index % 2, name, layer, head)
                    right[key] = right.get(key, 0) + hits
    assert [half.total["nsubj"] for half in counts] == [2, 0]
    assert sum(right.values()) > 20
    assert right == {
        (half, name, *at): int(n)
        for half in (0, 1)
        for name, array in counts[half].right.items()
        for at, n in np.ndenumerate(array)
    }


def test_shuffled_it_is_the_words_rows_that_are_exchanged(model: Transformer, tokenizer: Tokenizer) -> None:
    """As many rows look at each word as before; which one looks where is lost."""
    sentence = parsed(tokenizer, [MAN])
    own, shuffled = (relations(model, tokenizer, sentence * 40)[name] for name in ("own", "shuffled"))
    for before, after in zip(own, shuffled, strict=True):
        assert before.total == after.total
        assert before.offsets == after.offsets
        assert any((before.right[name] != after.right[name]).any() for name in before.right)
        for name, right in before.right.items():  # always the same sentence, so a head is always right or never
            assert set(right.ravel().tolist()) <= {0, before.total[name]}
        assert any(0 < n < after.total[name] for name, right in after.right.items() for n in right.ravel())
