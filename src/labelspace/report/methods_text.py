"""A paragraph for the section on methods of a paper, and the table, as LaTeX; every number is the result's."""

from labelspace.report import words
from labelspace.report.columns import strength_text
from labelspace.report.latex import escaped, latex_table
from labelspace.results import Result, Row

SCIKIT = "classifiers of scikit-learn on the same samples"


def methods_text(result: Result) -> str:
    """Return how a comparison was made, as a paragraph of LaTeX, and its table.

    Args:
        result: what a comparison found.
    """
    parts = [
        _data(result),
        _training(result),
        _prices(result),
        _methods(result),
        _rivals(result),
        _decisions(result),
        _statistics(result),
        _found(result),
        _versions(result),
    ]
    paragraph = " ".join(escaped(part) for part in parts if part)
    return f"{paragraph}\n\n{latex_table(result)}"


def _data(result: Result) -> str:
    data = result.data
    classes = f"{words.count(len(data.names))} {'tokens' if result.measure is not None else 'classes'}"
    shape = f", inputs of {' × '.join(map(str, data.input_shape))}" if data.input_shape else ""
    names = {"train": "training", "validation": "validation", "test": "test"}
    counts = [f"{words.count(data.counts[part])} {name}" for part, name in names.items() if data.counts.get(part)]
    samples = f"; {_listed(counts)} samples" if counts else ""
    # scores that came from elsewhere are of models
    text = f"We compared {'labels' if result.model else 'models'} on {data.name} ({classes}{shape}{samples})."
    if data.group_by:
        whole = f", {data.test_groups} of them in the test part" if data.test_groups else ""
        text += f" Samples of one {data.group_by} were kept in one part{whole}."
    return text + (f" Training labels had noise ({result.label_noise})." if result.label_noise else "")


def _training(result: Result) -> str:
    if result.model is None:
        return "Their scores were computed elsewhere."
    frozen = f" on frozen features of {result.backbone}" if result.backbone else ""
    epochs = f" for {result.epochs} epochs" if result.epochs else ""
    how = f" ({result.training})" if result.training else ""
    text = f"Every network was of the same kind, {result.model}{frozen}, and was trained{epochs}{how}"
    seeds = f", once for each of the seeds {_seeds(result.seeds)}." if len(result.seeds) > 1 else ", once."
    if not result.rehearsal:
        return text + seeds
    tried = f"{len(result.rehearsal)} settings"
    return (
        f"{text}{seeds} Learning rate, weight decay and epochs were chosen among {tried} for {result.reference.spoken},"
        " by negative log-likelihood on validation data at its best temperature."
    )


def _seeds(seeds: tuple[int, ...]) -> str:
    whole = len(seeds) > 2 and seeds == tuple(range(seeds[0], seeds[0] + len(seeds)))
    return f"{seeds[0]} to {seeds[-1]}" if whole else _listed([str(seed) for seed in seeds])


def _prices(result: Result) -> str:
    if result.measure is not None:
        how = f" (signature {result.measure.signature})" if result.measure.signature else ""
        return f"Texts were judged by {result.measure.title}{how}."
    example = f" ({result.cost.example})" if result.cost.example else ""
    known = f" What was known of the classes: {result.space.words}." if result.space is not None else ""
    return f"Prices of mistakes: {result.cost.words}{example}.{known}"


def _methods(result: Result) -> str:
    others = [row for row in result.rows if row.role == "method"]
    if not others:
        return ""
    counts = sorted({tried for row in others if row.strength is not None for tried in [_tried(row)] if tried > 1})
    others_chose = all(row.tried_merit is not None for row in others if row.strength is not None)
    with_seeds = ", by networks of other seeds than those that are judged" if others_chose else ""
    tuned = f", each strength the best of {_range(counts)} on validation data{with_seeds}" if counts else ""
    text = f"The reference was {result.reference.label}; compared with it were {_listed([_row(row) for row in others])}"
    controls = [row for row in result.rows if row.role == "control"]
    about = _listed(list(dict.fromkeys(str(row.of) for row in controls)))
    kinds = _listed(list(dict.fromkeys(str(row.control) for row in controls if row.control)))
    said = f" Controls for {about}: {kinds} classes in the same label space." if controls else ""
    return f"{text}{tuned}.{said}"


def _row(row: Row) -> str:
    strength = f" ({strength_text(row)})" if row.strength is not None else ""
    options = f" with {words.options_text(row.options)}" if row.options else ""
    return f"{row.label}{strength}{options}"


def _tried(row: Row) -> int:
    return len([trial for trial in row.trials if trial.value is not None])


def _range(counts: list[int]) -> str:
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def _rivals(result: Result) -> str:
    rivals = [row for row in result.rows if row.role == "rival"]
    return f"Rivals were {SCIKIT}: {_listed([_row(row) for row in rivals])}." if rivals else ""


def _decisions(result: Result) -> str:
    if result.measure is not None:
        return ""
    undone = [row.label for row in result.rows if row.inverted]
    known = f" A known smoothing was undone for {_listed(undone)}." if undone else ""
    if result.decision == "argmax":
        return f"The likeliest class was called.{known}"
    honest = f" of probabilities after {_calibrated(result)} fitted on validation data"
    fitted = honest if any(row.temperatures for row in result.rows) else ""
    what = "class" if {each.name for each in result.decided} <= set(result.data.names) else "action"
    return (
        f"Decisions were the likeliest class (argmax) and the {what} of least expected cost (min-cost){fitted}; the"
        f" latter is what changes refer to.{known}"
    )


def _calibrated(result: Result) -> str:
    """Return how scores became probabilities."""
    each = [calibration for row in result.rows for calibration in row.calibrations or ()]
    kinds = sorted({str(calibration["kind"]) for calibration in each if calibration is not None})
    if not kinds:
        return "a temperature"
    models = sum(len(row.temperatures or ()) for row in result.rows)
    some = sum(calibration is not None for calibration in each)
    return f"a temperature, and for {some} of {models} models after {_listed(kinds)} calibration,"


def _statistics(result: Result) -> str:
    changes = [row.change for row in result.rows if row.change is not None]
    if not changes:
        return ""
    what = {"points": "differences", "per sample": "differences of the mean cost per sample"}.get(
        result.unit, "relative changes of the mean cost"
    )
    text = f"Changes are {what} against {result.reference.label} on test data"
    if any(change.low is not None for change in changes):
        units = "test texts" if result.measure is not None else "test samples"
        drawn = f"groups of {units}" if result.data.test_groups else units
        over = f"seeds and {drawn}" if len(result.seeds) > 1 else drawn
        text += f", with {_share(changes[0].level)} intervals over {over}, paired"
    if any(row.p_holm is not None for row in result.rows):
        text += "; the winner was tested first, and p-values of the others were corrected by Holm's procedure"
    return f"{text}. Changes within ±{_within(result)} were held to be no difference."


def _within(result: Result) -> str:
    verdict = result.verdict
    if result.measure is not None:
        return f"{verdict.margin:g} {result.measure.unit}"
    if verdict.stake is None:
        return _share(verdict.margin)
    stake = words.per_sample(verdict.stake, sign=False)
    of = f"{_share(verdict.margin)} of the mean absolute cost of the reference's decisions, {stake}"
    return f"{words.per_sample(verdict.within, sign=False)} per sample ({of})"


def _share(share: float) -> str:
    return f"{100 * share:.10g}{words.THIN}%"


def _found(result: Result) -> str:
    verdict, change = result.verdict, ""
    if verdict.estimate is not None:
        change = f": {_shown(result)}".removesuffix(f" {words.MISSING}")
    taken = ""
    if result.best is not None:
        row = next((row for row in result.rows if row.label == result.best.label), None)
        cost = None if row is None or result.measure is not None else row.headline.cost
        costs = "" if cost is None else f" ({words.fixed(cost, words.decimals_for([cost]))} per test sample)"
        taken = f" On validation data {result.best.label} was best{costs}."
        if row is not None and row.mixed:
            rows = [each for each in result.rows if each is not row and not set(each.runs).isdisjoint(row.runs)]
            count = sum(each.role not in ("ensemble", "control") for each in rows)
            taken = (
                f" Validation data did not tell {count} rows apart; their {len(row.runs)} models were averaged{costs}."
            )
    few = ", indicative only" if verdict.indicative else ""
    return f"The verdict on {verdict.subject} is {verdict.kind}{few}{change}.{taken}"


def _shown(result: Result) -> str:
    """Return the estimate of the verdict and its interval."""
    verdict = result.verdict
    estimate, low, high = verdict.estimate, verdict.low, verdict.high
    if result.measure is not None:
        return f"{words.points(estimate)} {words.points_interval(low, high)}"
    if verdict.unit == "per sample":
        ends = words.per_sample_interval(low, high, estimate)
        return f"{words.per_sample(estimate, low, high)} per sample {ends}"
    return f"{words.percent(estimate)} {words.interval(low, high)}"


def _versions(result: Result) -> str:
    listed = _listed([f"{name} {version}" for name, version in result.versions.items()])
    return f"Computed with {listed}." if listed else ""


def _listed(texts: list[str]) -> str:
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}" if texts else ""
