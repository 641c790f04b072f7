"""Looking at data before anyone trains: counts, shapes and problems."""

import inspect
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import torch

from labelspace import _checks
from labelspace.data import pair_report, remarks
from labelspace.data.dataset import Dataset, repeated_rows
from labelspace.data.examples import examples
from labelspace.data.known import Reader
from labelspace.data.loading import loaded, options_of, reader_of
from labelspace.data.missing import SUGGESTED
from labelspace.data.report import DataReport
from labelspace.data.splits import Say, leak_sentences

# a largest class this many times the smallest is worth a word
IMBALANCE = 10.0
# as many test samples must carry a difference before a comparison decides anything
FEW = 20


def check(name_or_path: object, *, data_dir: str | Path | None = None, say: Say = str, **options: object) -> DataReport:
    """Return what is found in a dataset, and what is wrong with it.

    Missing values, unreadable pictures and texts that are too long, on which ``load`` stops, are listed as problems
    here. What cannot be read at all is an error, as it is there.

    Args:
        name_or_path: as for ``load``.
        data_dir: as for ``load``.
        say: how settings that would help are written in the problems.
        options: as for ``load``.

    Example:
        >>> report = check("digits")
        >>> report.problems, report.rows()[-1]
        ([], ('all', '800', '300', '697'))
    """
    read, _ = reader_of(name_or_path, data_dir, options.get("kind"))
    asked = {name: value for name, value in _lenient(read).items() if name not in options}
    with warnings.catch_warnings():
        # leakage is listed among the problems instead
        warnings.simplefilter("ignore", UserWarning)
        dataset = loaded(name_or_path, {"data_dir": data_dir, **options, **asked})
    if dataset.kind == "sequences":
        report: DataReport = pair_report.of(dataset, asked, say)
    else:
        report = _report(dataset, asked, say)
    return replace(report, options=examples(options_of(read), dataset.source, dataset.names, say))


def _lenient(read: Reader) -> dict[str, object]:
    """Return the options with which a reader goes on where it would stop."""
    usual = {name: one.default for name, one in inspect.signature(read).parameters.items()}
    stops = {"missing": "error", "skip_unreadable": False, "cut": False}
    goes_on = {"missing": "median", "skip_unreadable": True, "cut": True}
    return {name: goes_on[name] for name, value in stops.items() if name in usual and usual[name] == value}


def _report(dataset: Dataset, asked: Collection[str], say: Say) -> DataReport:
    counts = {
        name: torch.bincount(part.y, minlength=len(dataset.names)).tolist() for name, part in dataset.parts.items()
    }
    groups = {name: len(torch.unique(part.groups)) for name, part in dataset.parts.items() if part.groups is not None}
    leaks = dataset.source.get("leakage", {})
    repeated = {name: repeated_rows(part) for name, part in dataset.parts.items()}
    return DataReport(
        title=f"{dataset.source['path']}: {dataset!r}",
        names=dataset.names,
        counts=counts,
        shape=dataset.input_shape,
        dtype=str(dataset.train.x.dtype).removeprefix("torch."),
        groups=groups,
        missing=dataset.source.get("missing", {}),
        repeated=repeated,
        leakage=leaks,
        problems=_problems(dataset, asked, say) + leak_sentences(dataset.source, say),
        notes=[*remarks.notes(dataset.source, say), *_notes(dataset, counts, repeated)],
        source=dataset.source,
    )


def _problems(dataset: Dataset, asked: Collection[str], say: Say) -> list[str]:
    said = []
    empty = dataset.source.get("missing", {})
    if empty and "missing" in asked:
        listed = ", ".join(f"{count} in {name!r}" for name, count in empty.items())
        rule = say(_checks.Setting("missing", SUGGESTED))
        said.append(f"Values are missing: {listed}. Training stops on them; {rule} fills them and marks where.")
    skipped = dataset.source.get("skipped")
    if skipped and "skip_unreadable" in asked:
        files = ", ".join(skipped["files"][:5]) + (" …" if skipped["count"] > 5 else "")
        needed = say(_checks.Setting("skip_unreadable", True))
        said.append(f"{skipped['count']} pictures cannot be read: {files}. Training stops unless {needed} is given.")
    return said


def _notes(dataset: Dataset, counts: Mapping[str, Sequence[int]], repeated: Mapping[str, int]) -> list[str]:
    said = []
    most, least = max(counts["train"]), min(counts["train"])
    if most >= IMBALANCE * least:
        names = [dataset.names[list(counts["train"]).index(count)] for count in (most, least)]
        said.append(
            f"The largest class has {most} training samples ({names[0]!r}), the smallest {least} ({names[1]!r})."
        )
    if not len(dataset.validation):
        said.append("There are no validation samples: nothing can be tuned, stopped early or calibrated.")
    if len(dataset.test) < FEW:
        held = f"{len(dataset.test)} test {'sample' if len(dataset.test) == 1 else 'samples'}"
        said.append(f"Only {held}: a comparison decides nothing on fewer than {FEW}. Add samples.")
    for part in ("validation", "test") if len(dataset.validation) else ("test",):
        absent = [name for name, count in zip(dataset.names, counts[part], strict=True) if count == 0]
        if absent:
            said.append(f"{len(absent)} classes have no {part} samples ({', '.join(map(repr, absent[:5]))}).")
    if repeated["train"]:
        said.append(f"Training samples that repeat another one: {repeated['train']}.")
    if dataset.source.get("cache"):
        said.append(f"The array cache was {dataset.source['cache']}.")
    return said
