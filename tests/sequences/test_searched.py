"""How a search is recorded and said."""

from labelspace.sequences.searched import ended, facts, many, unended, words


def test_nothing_is_said_of_a_record_that_says_nothing() -> None:
    assert (words({}), ended({"bleu": 3.0}, 30), many({"bleu": 3.0}, 30)) == ("", "", False)


def test_the_words_are_those_of_the_facts() -> None:
    assert words(facts(3, None)) == "beam of 3, length penalty 1, at most 2 × source + 10 tokens"
    assert words(facts(3, 7)).endswith("tokens and 7")


def test_models_that_rarely_end_by_themselves_are_named() -> None:
    rows = {"one-hot": {"forced": 5.0}, "LLS": {"forced": 5.5}}
    assert unended(rows, 100) == [
        "LLS: 6 of 100 test texts were ended by force, at the longest that the search allows: "
        "they repeat themselves, or are cut off."
    ]
