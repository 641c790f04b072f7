"""From the name of a class to a noun sense of WordNet."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from labelspace import _checks
from labelspace.sources._wordnet_graph import NounGraph, bare_form

# WordNet's own rules for plurals, tried in this order
PLURAL_ENDINGS = (
    ("s", ""),
    ("ses", "s"),
    ("xes", "x"),
    ("zes", "z"),
    ("ches", "ch"),
    ("shes", "sh"),
    ("men", "man"),
    ("ies", "y"),
)
SYNSET_ID = re.compile(r"n(\d{8})")
SYNSET_NAME = re.compile(r"(.+)\.n\.(\d{1,3})", re.IGNORECASE)
WORD_BOUNDARY = re.compile(r"[\s_-]+|(?<=[a-z])(?=[A-Z])")
PART_BOUNDARY = re.compile(r"\s*[/,;|]\s*")
MOST_LISTED = 8  # senses in a message


@dataclass(frozen=True)
class Reading:
    """What a name may mean.

    Args:
        synsets: the senses, most likely first.
        how: ``"exact"``, ``"plural"``, ``"variant"``, ``"part"``, ``"head word"``, ``"id"``, ``"given"`` or
            ``"given, another word's"``.
    """

    synsets: tuple[int, ...]
    how: str


def read_name(graph: NounGraph, name: str) -> Reading | None:
    """Return what a class name means, or nothing if no rule finds a noun.

    Tried in order: a WordNet id or synset name; the name itself; its singular; other spellings (hyphens,
    spaces, capitals); the parts between slashes and commas; the last words of the name, the
    longest run that is a noun.
    """
    named = _synset_called(graph, name)
    if named is not None:
        return Reading((named,), "id")
    whole = _read_phrase(graph, name)
    if whole is not None:
        return whole
    parts = [part for part in PART_BOUNDARY.split(name) if part]
    for phrases, how in ((parts, "part"), ([end for part in parts for end in _endings(part)], "head word")):
        for phrase in phrases:
            found = _read_phrase(graph, phrase)
            if found is not None:
                return Reading(found.synsets, how)
    return None


def other_part(graph: NounGraph, name: str, synset: int) -> str | None:
    """Return the first part of a name, between slashes and commas, that is a noun and cannot mean this synset."""
    for part in PART_BOUNDARY.split(name):
        found = _read_phrase(graph, part) if part else None
        if found is not None and synset not in found.synsets:
            return part
    return None


def read_given(graph: NounGraph, name: str, sense: str | int) -> Reading:
    """Return the sense that the user picked for a name: a synset name, an id, or the number of a sense.

    The other senses that the name could have meant follow it.
    """
    reading = read_name(graph, name)
    known = reading.synsets if reading is not None else ()
    written = int(sense) if isinstance(sense, str) and sense.isdecimal() else sense
    chosen = _synset_called(graph, written) if isinstance(written, str) else _numbered(graph, name, known, written)
    if chosen is None:
        remedy = _sense_remedy(graph, known, str(sense))
        raise _checks.fail("wordnet", "senses", "noun senses of WordNet", f"{sense!r} for {name!r}", remedy)
    how = "given" if chosen in known or not known else "given, another word's"
    return Reading((chosen, *(synset for synset in known if synset != chosen)), how)


def _numbered(graph: NounGraph, name: str, known: tuple[int, ...], sense: int) -> int:
    number = _checks.whole("wordnet", "senses", sense, low=1)
    if number <= len(known):
        return known[number - 1]
    expected = f"sense numbers up to {len(known)} for {name!r}"
    raise _checks.fail("wordnet", "senses", expected, number, f"Its noun senses are: {_listed(graph, known)}.")


def _sense_remedy(graph: NounGraph, known: Sequence[int], sense: str) -> str:
    match = SYNSET_NAME.fullmatch(sense)
    lemma = _joined(match.group(1) if match else sense)
    # of the word in the sense, where that is a noun: it may be another than the name of the class
    senses = graph.senses_of(lemma)
    if senses or known:
        whose = f"The noun senses of {lemma!r}" if senses else "Its noun senses"
        return f"{whose} are: {_listed(graph, senses or known)}."
    return "Write 'cat.n.01', an id such as 'n02121620', or the number of a sense, counted from 1."


def _listed(graph: NounGraph, synsets: Sequence[int]) -> str:
    shown = [f"{graph.synset_name(synset)} ({graph.meaning(synset)})" for synset in synsets[:MOST_LISTED]]
    return "; ".join(shown) + (f" and {len(synsets) - MOST_LISTED} more" if len(synsets) > MOST_LISTED else "")


def _synset_called(graph: NounGraph, text: str) -> int | None:
    by_id = SYNSET_ID.fullmatch(text)
    if by_id:
        return graph.synset_at(int(by_id.group(1)))
    by_name = SYNSET_NAME.fullmatch(text)
    if by_name:
        senses = graph.senses_of(_joined(by_name.group(1)))
        number = int(by_name.group(2))
        return senses[number - 1] if 1 <= number <= len(senses) else None
    return None


def _read_phrase(graph: NounGraph, phrase: str) -> Reading | None:
    form = _joined(phrase)
    singulars = list(_singulars(graph, form))
    exact = graph.senses_of(form)
    # "men" is itself a noun (a work force) and the plural of another: both are what the name may mean
    senses = exact + [synset for singular in singulars for synset in graph.senses_of(singular)]
    if senses:
        return Reading(tuple(dict.fromkeys(senses)), "exact" if exact else "plural")
    bare = bare_form(phrase)
    for attempt in (bare, *_singulars(graph, bare)):
        if attempt in graph.spellings:
            return Reading(tuple(graph.senses_of(graph.spellings[attempt])), "variant")
    return None


def _joined(phrase: str) -> str:
    return "_".join(phrase.lower().split())


def _singulars(graph: NounGraph, form: str) -> Iterator[str]:
    """Yield the forms of which this could be the plural; most of them are no words."""
    yield from graph.exceptions.get(form, ())
    head = re.search(r"[^_-]+$", form)
    if head and head.start():
        for singular in graph.exceptions.get(head.group(), ()):
            yield form[: head.start()] + singular
    if len(form) > 2 and not form.endswith("ss"):
        for ending, replacement in PLURAL_ENDINGS:
            if form.endswith(ending):
                yield form.removesuffix(ending) + replacement


def _endings(phrase: str) -> Iterator[str]:
    """Yield the last words of a phrase, as many as possible first, but no lone letter or number."""
    words = [word for word in WORD_BOUNDARY.split(phrase) if word]
    for start in range(1, len(words)):
        ending = " ".join(words[start:])
        if sum(character.isalpha() for character in ending) > 1:
            yield ending
