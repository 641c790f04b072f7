"""Vocabularies: texts come back from their ids, counts are those of a plain count, subwords those of the library."""

import json
import os
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelspace._checks import InputError
from labelspace.data.vocabulary import END, PARALLEL, SPACE, SPECIAL, UNKNOWN, Form, Vocabulary

FORMS: tuple[Form, ...] = ("word", "subword", "character")
CAPTIONS = [
    "Two young, White males are outside near many bushes.",
    "Several men in hard hats are operating a giant pulley system.",
    "A little girl climbing into a wooden playhouse; it's hers (really).",
    "Two men are at the stove, preparing food.",
]
texts = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=40), min_size=1, max_size=8)


def spaced(text: str) -> str:
    return " ".join(text.replace(SPACE, " ").split())


@settings(max_examples=60, deadline=None)
@given(texts=texts)
@pytest.mark.parametrize("form", FORMS)
def test_texts_come_back_up_to_white_space(form: Form, texts: list[str]) -> None:
    if not any(spaced(text) for text in texts):
        return
    vocabulary = Vocabulary.learn(texts, form, size=1000)
    rows = vocabulary.encode(texts)
    assert len(rows) == len(texts)
    for row, text in zip(rows, texts, strict=True):
        assert row.dtype == np.int64
        assert row[-1] == END
        assert END not in row[:-1]
        assert UNKNOWN not in row
        assert vocabulary.decode(row.tolist()) == spaced(text)


@pytest.mark.parametrize("form", FORMS)
def test_it_is_the_same_after_json(form: Form) -> None:
    vocabulary = Vocabulary.learn(CAPTIONS, form, size=60, lowercase=True)
    again = Vocabulary.stored(json.loads(json.dumps(vocabulary.plain())))
    assert (again.form, again.tokens, again.merges, again.lowercase) == (
        form,
        vocabulary.tokens,
        vocabulary.merges,
        True,
    )
    assert [row.tolist() for row in again.encode(CAPTIONS)] == [row.tolist() for row in vocabulary.encode(CAPTIONS)]
    assert vocabulary.decode(vocabulary.encode(["THE MEN"])[0].tolist()) == "the men" or form == "word"


def test_words_are_the_most_frequent_and_ties_alphabetical() -> None:
    # cut by another rule: punctuation set off by hand, then split at spaces
    counts = Counter(
        f"{SPACE}{word}" if spaced_before else word
        for text in CAPTIONS
        for spaced_before, word in ((m[1] != "" or m.start() == 0, m[2]) for m in re.finditer(r"( ?)([\w']+|\S)", text))
    )
    expected = sorted(counts, key=lambda token: (-counts[token], token))
    assert Vocabulary.learn(CAPTIONS).tokens == (*SPECIAL, *expected)
    assert Vocabulary.learn(CAPTIONS, size=7).tokens == (*SPECIAL, *expected[:5])


def test_characters_are_counted() -> None:
    counts = Counter("".join(CAPTIONS).replace(" ", SPACE))
    expected = sorted(counts, key=lambda token: (-counts[token], token))
    assert Vocabulary.learn(CAPTIONS, "character").tokens == (*SPECIAL, *expected)


def test_subwords_are_those_of_the_library() -> None:
    tokenizers = pytest.importorskip("tokenizers")
    vocabulary = Vocabulary.learn(CAPTIONS, "subword", size=70)
    assert len(vocabulary.tokens) == 70
    places = {token: place for place, token in enumerate(vocabulary.tokens)}
    model = tokenizers.models.BPE(vocab=places, merges=list(vocabulary.merges), unk_token=SPECIAL[1], fuse_unk=True)
    library = tokenizers.Tokenizer(model)
    library.pre_tokenizer = tokenizers.pre_tokenizers.Sequence(
        [
            tokenizers.pre_tokenizers.Metaspace(replacement=SPACE, prepend_scheme="always"),
            tokenizers.pre_tokenizers.Split(tokenizers.Regex(r"▁?(?:\w+(?:['’]\w+)*|[^▁])"), "isolated"),
        ]
    )
    unseen = ["Men climbing near the system, it's 北京 outside", *CAPTIONS]
    for text, row in zip(unseen, vocabulary.encode(unseen), strict=True):
        assert row.tolist() == [*library.encode(text).ids, END]


def test_subwords_do_not_depend_on_the_order_of_texts() -> None:
    there, back = (Vocabulary.learn(side, "subword", size=70) for side in (CAPTIONS, CAPTIONS[::-1]))
    assert (there.tokens, there.merges) == (back.tokens, back.merges)
    used = np.bincount(np.concatenate(there.encode(CAPTIONS)), minlength=70)[2:]
    assert (np.diff(used) <= 0).all()


def test_learning_subwords_leaves_the_environment_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(PARALLEL, raising=False)
    Vocabulary.learn(CAPTIONS, "subword", size=70)
    assert PARALLEL not in os.environ
    monkeypatch.setenv(PARALLEL, "true")
    Vocabulary.learn(CAPTIONS, "subword", size=70)
    assert os.environ[PARALLEL] == "true"


@pytest.mark.parametrize("form", FORMS)
def test_what_was_not_learned_is_unknown(form: Form) -> None:
    vocabulary = Vocabulary.learn(["ab ab"], form)
    row = vocabulary.encode(["ab 北"])[0]
    assert row[-2:].tolist() == [UNKNOWN, END]
    assert vocabulary.decode(row.tolist()) == "ab ⁇"


@pytest.mark.parametrize("form", FORMS)
def test_what_is_spelled_like_a_special_token_is_none(form: Form) -> None:
    vocabulary = Vocabulary.learn(["a <end> b <unknown>"], form)
    row = vocabulary.encode(["a <end> b"])[0].tolist()
    assert row.index(END) == len(row) - 1
    assert vocabulary.decode(row) == "a <end> b"


def test_other_ends_of_lines_are_white_space_too() -> None:
    assert Vocabulary.learn(["a\u2028b\tc"]).tokens[2:] == ("▁a", "▁b", "▁c")


def test_no_texts_are_no_rows() -> None:
    assert Vocabulary.learn(["a"]).encode([]) == []


@pytest.mark.parametrize("size", [0, 2, -1])
@pytest.mark.parametrize("form", FORMS)
def test_a_size_without_room_for_a_token_is_refused(form: Form, size: int) -> None:
    with pytest.raises(InputError, match=rf"`size` of Vocabulary must be a whole number of at least 3\. Got {size}"):
        Vocabulary.learn(CAPTIONS, form, size=size)


@pytest.mark.parametrize("form", FORMS)
def test_no_size_is_exceeded(form: Form) -> None:
    for size in (3, 5, 20):
        vocabulary = Vocabulary.learn(["äöü 東京 xyz"] * 3, form, size=size)
        assert len(vocabulary.tokens) <= size
        vocabulary.encode(["äöü 大阪"])


def test_texts_without_words_and_ids_beyond_the_vocabulary_are_refused() -> None:
    with pytest.raises(InputError, match="texts with words in them"):
        Vocabulary.learn([" ", ""])
    with pytest.raises(InputError, match="token ids from 0 to 2"):
        Vocabulary.learn(["a"]).decode([3])
    with pytest.raises(InputError, match="one of 'word', 'subword', 'character'"):
        Vocabulary.learn(["a"], "words")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"form": "words"}, "form 'words'"),
        ({"lowercase": 1}, "lowercase 1"),
        ({"tokens": ["a", "b"]}, "beginning with <end>"),
        ({"tokens": [*SPECIAL, "a", "a"]}, "different texts"),
        ({"tokens": [*SPECIAL, 3]}, "different texts"),
        ({"tokens": "<end>"}, "different texts"),
        ({"merges": [["a"]]}, "no pairs"),
        ({"merges": 3}, "no pairs"),
        ({"merges": [["a", "z"]]}, "no token"),
    ],
)
def test_a_damaged_one_is_refused(change: dict[str, object], why: str) -> None:
    sound = Vocabulary.learn(["a"]).plain()
    with pytest.raises(InputError, match=why):
        Vocabulary.stored({**sound, **change})
    with pytest.raises(InputError, match="without form, tokens"):
        Vocabulary.stored([])
