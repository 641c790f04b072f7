"""The words and signs of table and page, each explained in a sentence: where it stands, and in one list."""

from collections.abc import Iterable

from labelspace.results import Result, Row

# what the one number says that is tuned, by the name of its option
STRENGTHS = {
    "smoothing": "the share of a class's target that is given to other classes",
    "temperature": "how flat the scores are made that teach beside the label: 1 leaves them as they are",
    "repel": "how strongly the labels of different classes are pushed apart",
    "strength": "the weight of the method's own term in the loss",
    "rate": "the share of training labels that are disturbed",
    "mixup": "how far samples are blended with others, and their labels with them, α: 0 not at all",
    "C": "how closely samples are followed: small values hold back",
    "learning_rate": "how much every tree adds",
    "min_samples_leaf": "the fewest samples that are told apart no further",
    "gamma": "how much less samples count that are right already",
}
TERMS = {
    "argmax": "The likeliest class is called, whatever mistakes cost.",
    "min-cost": "The class is called whose expected cost is least: probabilities after temperature, times prices.",
    "calibrated": "Calibrated: scores are divided by a temperature, and a calibrator fitted on validation data follows"
    " where it makes decisions cheaper, so that probabilities are honest.",
    "T": "Temperature: scores are divided by one number, fitted on validation data, so that probabilities are honest.",
    "constant": "What calls the same class for every sample, the one that training labels make best (validation"
    " labels, where only scores are known): who is no better learned nothing.",
    "control": "The same method with classes shuffled, the mean of several such forms: what they gain too is not gained"
    " by what the labels know.",
    "rival": "A classifier of another kind, on the same samples with as many trials and the same decisions.",
    "ensemble": "Several models as one: the mean of their probabilities, which takes as many times as long. They are"
    " all seeds of a row, or one of each row that validation data do not tell from the cheapest (at most five).",
    "interval": "Where the true change lies with this probability, over seeds and test samples, paired.",
    "Holm": "A correction of p-values for the number of methods: with many of them, one looks good by luck.",
    "●": "The change excludes 0 even after Holm's correction.",
    "▸": "What is taken home, chosen on validation data.",
    "indicative": "Fewer seeds than an exact test needs to be sure (six at 95 %): a hint, not a proof.",
    "ECE": "Expected calibration error: how far confidence is from the share that is right. 0 is honest.",
    "NLL": "Negative log-likelihood of the true class: lower is better.",
    "risk–coverage": "Mean cost when only the surest samples are decided, averaged over how many: lower is better.",
    "κ²": "Quadratic-weighted kappa: agreement beyond chance in an order, 1 is perfect.",
    "NAA": "Neurodynamical agglomerative analysis: how far apart classes lie in what the network's last layer does.",
    "τ (agreement)": "Kendall's rank correlation of two orders of distances: 1 is the same order, 0 none.",
}
BRIEF = {
    "argmax": "the likeliest class",
    "min-cost": "the class of least expected cost",
    "T": "temperature",
    "calibrated": "temperature, and a calibrator where it pays",
    "Holm": "corrects for many methods",
}


def strength_words(rows: Iterable[Row]) -> dict[str, str]:
    """Return what the signs of strengths mean, by sign; several methods may share one.

    Args:
        rows: whose strengths are shown.
    """
    meant: dict[str, list[str]] = {}
    for row in rows:
        if row.strength is not None and row.strength.symbol:
            name = row.strength.name
            said = name.replace("_", " ")
            text = f"{said}, {STRENGTHS[name]}" if name in STRENGTHS else said
            listed = meant.setdefault(row.strength.symbol, [])
            listed += [] if text in listed else [text]
    return {symbol: "; ".join(texts) for symbol, texts in meant.items()}


def honest_by(result: Result) -> str:
    """Return the term for what makes probabilities honest: a temperature alone, or a calibrator of some row beside it.

    Args:
        result: what a comparison found.
    """
    return "calibrated" if any(row.calibrations for row in result.rows) else "T"


def glossary(result: Result, sections: Iterable[str] = ()) -> dict[str, str]:
    """Return the words and signs that a page shows, explained.

    Args:
        result: what a comparison found.
        sections: names of the figures that are drawn.
    """
    rows, drawn = result.lines, set(sections)
    several, texts = len(result.rows) > 1, result.measure is not None
    shown = {
        "argmax": not texts,
        "min-cost": result.decision == "min_cost",
        honest_by(result): not texts,
        "constant": result.constant is not None,
        "control": any(row.role == "control" for row in rows),
        "rival": any(row.role == "rival" for row in rows),
        "ensemble": any(row.role == "ensemble" for row in rows),
        "interval": several,
        "Holm": several,
        "●": several,
        "▸": any(row.winner for row in rows),
        "indicative": result.verdict.indicative,
        **dict.fromkeys(("ECE", "NLL", "risk–coverage"), not texts),
        "κ²": any(extra.key == "kappa" for extra in result.extra),
        **dict.fromkeys(("NAA", "τ (agreement)"), "distances" in drawn),
    }
    signs = {symbol: f"{text[0].upper()}{text[1:]}." for symbol, text in strength_words(rows).items()}
    return {**{term: TERMS[term] for term, used in shown.items() if used}, **signs}


def chosen_text(result: Result) -> str:
    """Return what the mark ▸ says, and where the verdict is about another row, which one.

    Args:
        result: what a comparison found.
    """
    if result.elsewhere is None:
        return "▸ chosen on validation"
    return f"▸ chosen on validation: best/ holds it; the verdict is about {result.elsewhere}"
