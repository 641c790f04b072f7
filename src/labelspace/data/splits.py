"""Which samples are for training, for choosing, and for the last measurement: pure functions of labels and a seed."""

import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from labelspace import _checks
from labelspace.data.digests import Digests
from labelspace.data.files import OWNER
from labelspace.data.source import Source

Rows = NDArray[np.int64]

# rows that occur twice are kept together only while they are few: in a small table of categories nearly all repeat
REPEATED = 0.1

# as many of the rows that are in two parts, expected by chance, make them a matter of coarse columns
BY_CHANCE = 0.25

Say = Callable[[_checks.Setting], str]


def in_both_forms(setting: _checks.Setting) -> str:
    """Return a setting as it is written in Python and, without its value, on the command line."""
    return f"{setting} (--{setting.name.replace('_', '-')})"


def alike_by_chance(source: Source, part: str) -> bool:
    """Return whether rows of a part are in an earlier one too because few different rows are possible."""
    return source.get("alike by chance", {}).get(part, 0.0) >= BY_CHANCE


def hold_out(
    y: Rows,
    fraction: float,
    seed: int,
    *,
    groups: Rows | None = None,
    digests: Digests | None = None,
) -> tuple[Rows, Rows]:
    """Return the rows that stay and the rows held out, both in ascending order.

    Every class keeps at least one sample on the side that stays; a class with a single sample is not held out at
    all, one with two or more is held out at least once. With ``groups`` whole groups are held out instead, chosen
    so that sizes and class proportions come as near as the groups allow.

    Args:
        y: class indices ``(n,)``.
        fraction: how much to hold out, in (0, 1).
        seed: the same seed gives the same rows.
        groups: group codes ``(n,)``; a group is wholly on one side.
        digests: fingerprints of the rows; rows of equal content stay together (without ``groups``).

    Example:
        >>> y = np.array([0] * 8 + [1] * 4)
        >>> stay, held = hold_out(y, 0.25, seed=0)
        >>> y[stay].tolist(), y[held].tolist()
        ([0, 0, 0, 0, 0, 0, 1, 1, 1], [0, 0, 1])
    """
    held = _by_class(y, fraction, seed) if groups is None else _by_group(y, fraction, seed, groups)
    chosen = np.zeros(len(y), dtype=bool)
    chosen[held] = True
    if groups is None and digests is not None:
        repeated = chosen & np.isin(digests, digests[~chosen])
        if repeated.sum() <= REPEATED * chosen.sum():
            chosen &= ~repeated
    return np.flatnonzero(~chosen), np.flatnonzero(chosen)


def subset(y: Rows, count: int, seed: int) -> Rows:
    """Return ``count`` rows in ascending order, class proportions kept and every class present.

    Example:
        >>> rows = subset(np.array([0] * 90 + [1] * 10), 10, seed=0)
        >>> int((rows >= 90).sum())
        1
    """
    counts = np.bincount(y)
    wanted = _allocation(counts, count, low=np.minimum(counts, 1), high=counts)
    return _draw(y, wanted, seed)


def leak_sentences(source: Source, say: Say = in_both_forms) -> list[str]:
    """Return one sentence per leak between the parts of a dataset, or from labels into columns, and what would help.

    Args:
        source: of the dataset.
        say: how settings that would help are written.

    Example:
        >>> leaks = {"validation": {"groups": 2, "of": 9}}
        >>> leak_sentences({"leakage": leaks, "split": {"validation": "the first 9 of train"}}, say=str)[0][-76:]
        'A share in place of an end of the data (validation=0.15) keeps groups whole.'
    """
    said = [_given_away(names, say) for names in source.get("giving away", [])]
    grouped = bool(source.get("options", {}).get("group_by"))
    pairs = "vocabularies" in source
    for name, counts in source.get("leakage", {}).items():
        came = str(source.get("split", {}).get(name, "given"))
        own = came == "given" or came.endswith("of the data")
        others = "a training sample" if name == "validation" else "a training or validation sample"
        if counts.get("rows") and not alike_by_chance(source, name):
            same = "source text" if pairs else "content"
            sentence = (
                f"{counts['rows']} of the {counts['of']} {name} samples {'has' if counts['rows'] == 1 else 'have'} "
                f"the same {same} as {others}: "
                f"results on the {name} part will look better than they are."
            )
            them = "it" if counts["rows"] == 1 else "them"
            hint = f"Take {them} out of one part." if pairs else _rows_hint(own, grouped, say)
            said.append(f"{sentence} {hint}".rstrip())
        if counts.get("groups"):
            said.append(
                f"{counts['groups']} groups of the {name} part are in an earlier part too. {_groups_hint(own, say)}"
            )
    return said


def _given_away(names: list[str], say: Say) -> str:
    listed = ", ".join(repr(name) for name in names)
    how = "alone tells" if len(names) == 1 else "together tell"
    ignore = say(_checks.Setting("ignore", names))
    return f"{listed} {how} the label of every row: unless that is known before the label, leave it out with {ignore}."


def _rows_hint(own: bool, grouped: bool, say: Say) -> str:
    by_group = say(_checks.Setting("group_by"))
    if own:
        return (
            f"Take them out of one part, or put all rows into one file and name what belongs together with {by_group}."
        )
    return "" if grouped else f"Name what belongs together (patients, users, devices) with {by_group}."


def _groups_hint(own: bool, say: Say) -> str:
    by_group = say(_checks.Setting("group_by"))
    if own:
        remedy = f"put all rows into one file, which is then split with {by_group}."
        return f"Parts that come with the data stay as they are: {remedy}"
    return f"A share in place of an end of the data ({say(_checks.Setting('validation', 0.15))}) keeps groups whole."


def _by_class(y: Rows, fraction: float, seed: int) -> Rows:
    # scikit-learn's StratifiedShuffleSplit refuses classes of one sample and parts smaller than the number of
    # classes; the allocation below is the same (largest remainders) with both ends of every class bounded
    counts = np.bincount(y)
    high = np.maximum(counts - 1, 0)
    return _draw(y, _allocation(counts, round(fraction * len(y)), low=np.minimum(high, 1), high=high), seed)


def _allocation(counts: Rows, total: int, *, low: Rows, high: Rows) -> Rows:
    """Share ``total`` among classes in proportion to ``counts``, within the bounds, by largest remainders."""
    total = int(np.clip(total, low.sum(), high.sum()))
    quota = counts * (total / max(int(counts.sum()), 1))
    share: Rows = np.clip(np.floor(quota).astype(np.int64), low, high)
    while share.sum() != total:
        step = 1 if share.sum() < total else -1
        movable = share < high if step > 0 else share > low
        need = np.where(movable, (quota - share) * step, -np.inf)
        order = np.argsort(-need, kind="stable")[: min(abs(total - int(share.sum())), int(movable.sum()))]
        share[order] += step
    return share


def _draw(y: Rows, wanted: Rows, seed: int) -> Rows:
    generator = np.random.default_rng(seed)
    drawn = [generator.permutation(np.flatnonzero(y == code))[:count] for code, count in enumerate(wanted)]
    return np.sort(np.concatenate(drawn)).astype(np.int64)


def _by_group(y: Rows, fraction: float, seed: int, groups: Rows) -> Rows:
    movable = _movable(y, groups)
    count = len(np.unique(groups[movable]))
    if count < 2:
        got = f"{len(np.unique(groups))} groups, of which {count} can be held out without taking a whole class away"
        remedy = "Give more groups, fewer classes, or split without group_by."
        raise _checks.fail(OWNER, "group_by", "groups enough to hold some out", got, remedy)
    folds = _folds(y[movable], groups[movable], min(max(round(1 / fraction), 2), count), seed)
    wanted = np.bincount(y) * fraction
    best: tuple[float, Rows] | None = None
    for fold in folds:
        held = movable[fold]
        counts = np.bincount(y[held], minlength=len(wanted))
        distance = float(np.abs(counts - wanted).sum())
        keeps_classes = bool((counts < np.bincount(y)).all())
        if keeps_classes and len(held) and (best is None or distance < best[0]):
            best = (distance, held)
    if best is None:
        remedy = "Some class lives in too few groups: give more groups, or split without group_by."
        raise _checks.fail(OWNER, "group_by", "groups that leave every class in training", "none that do", remedy)
    return np.sort(best[1])


def _movable(y: Rows, groups: Rows) -> Rows:
    """Return the rows of groups that may be held out: the only group that holds some class has to stay."""
    pairs = np.unique(np.stack([y, groups]), axis=1)
    classes, holders = np.unique(pairs[0], return_counts=True)
    alone = pairs[1][np.isin(pairs[0], classes[holders == 1])]
    return np.flatnonzero(~np.isin(groups, alone))


def _folds(y: Rows, groups: Rows, count: int, seed: int) -> list[Rows]:
    from sklearn.model_selection import GroupKFold, StratifiedGroupKFold

    with warnings.catch_warnings():
        # it warns of classes with fewer samples than folds; the choice of a fold looks at every class itself
        warnings.simplefilter("ignore", UserWarning)
        try:
            splitter = StratifiedGroupKFold(n_splits=count, shuffle=True, random_state=seed)
            return [held for _, held in splitter.split(y, y, groups)]
        except ValueError:
            # every class has fewer samples than there are folds: nothing to stratify by
            splitter = GroupKFold(n_splits=count, shuffle=True, random_state=seed)
            return [held for _, held in splitter.split(y, y, groups)]
