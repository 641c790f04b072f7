"""By name, by path or in memory: which reader it is for, what options it takes, and the dataset that comes out."""

import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path

from labelspace import _checks
from labelspace.data import chosen, files, memory, remarks, tables
from labelspace.data.dataset import Dataset, of_classes
from labelspace.data.files import OWNER
from labelspace.data.found import assemble
from labelspace.data.known import KNOWN, Reader
from labelspace.data.readers import arrays, cifar, idx, image_folder, items, parallel, table, tiny_imagenet
from labelspace.data.source import Source
from labelspace.data.splits import leak_sentences

PAIRS = "sequences"
# options that every kind of data takes
COMMON = ("seed", "validation", "test", "classes", "data_dir", "kind")
FOLDERS: tuple[tuple[Callable[[Path], bool], Reader], ...] = (
    (idx.recognises, idx.read),
    (cifar.recognises, cifar.read),
    (tiny_imagenet.recognises, tiny_imagenet.read),
    (parallel.recognises, parallel.read),
    (table.recognises, table.read),
    (arrays.recognises, arrays.read),
)
IN_MEMORY: Mapping[str, Reader] = {
    "arrays": arrays.read,
    "columns": table.read,
    "items": items.read,
    "pictures": items.read_pictures,
}


def names() -> tuple[str, ...]:
    """Return the datasets known by name.

    Example:
        >>> names()[:3]
        ('digits', 'mnist', 'fashion-mnist')
    """
    return tuple(KNOWN)


def load(
    name_or_path: object,
    *,
    seed: int = 0,
    validation: float | str | None = None,
    test: float | None = None,
    classes: str | Sequence[str] | None = None,
    data_dir: str | Path | None = None,
    kind: str | None = None,
    **options: object,
) -> Dataset:
    """Return a dataset in three parts.

    Parts that the data brings are kept. Where there is no validation part it is split from training, where there is
    nothing all three are split: by class, with a seed, groups and repeated rows on one side. A class of one sample
    stays in training. The same content in training and in another part is warned of, with counts.

    Args:
        name_or_path: one of ``names()``, a file (CSV, TSV, Parquet, NPZ, tar of Tiny-ImageNet), a folder (pictures,
            IDX, CIFAR, Tiny-ImageNet, train and test tables, NPY files, sentences in two languages); or something in
            memory: a pair ``(x, y)``, a DataFrame or a dict of columns (read as a CSV file of the same content), a
            torch Dataset of items ``(x, y)``, a Hugging Face Dataset, a dict of such parts
            (``{"train": …, "test": …}``; validation may be among them), or a Dataset of labelspace. A name wins over
            a folder of the same name: write ``./digits`` for the folder.
        seed: of the splits.
        validation: the share that is held out for choices, of what is split: 0.15 if not given (of digits, 300
            images). ``"first 5000"`` and ``"last 10%"`` take that end of the training samples, as they come; with
            ``"none"`` everything but the test part is trained on, and nothing can be chosen.
        test: the share that is held out for the last measurement, where the data brings no test part: 0.15 if not
            given (of digits, 697 images).
        classes: keep only samples of these classes, in all parts, with labels in the order given: names, or one text
            such as ``"cat,dog"``, ``"first 5"`` or ``"last 50%"``.
        data_dir: where datasets known by name lie; else ``$LABELSPACE_DATA``, else the user's cache folder.
        kind: ``"sequences"`` reads the pairs of texts in a TSV or tar file, or in a folder of them, where it would be
            taken for something else.
        options: of the reader, for example ``label=`` for tables or ``resize=`` for pictures.

    Example:
        >>> dataset = load(([[float(row)] for row in range(40)], ["no", "yes"] * 20), test=0.2)
        >>> dataset.names, len(dataset.test)
        (('no', 'yes'), 8)
        >>> load("digits", classes=["9", "8"], validation="first 100")
        Dataset(images 1×8×8, 2 classes: 194 train, 23 validation, 137 test)
        >>> load({"size": list(range(20)), "kind": ["small"] * 10 + ["large"] * 10}, label="kind").names
        ('large', 'small')
    """
    common = {
        "seed": seed,
        "validation": validation,
        "test": test,
        "classes": classes,
        "data_dir": data_dir,
        "kind": kind,
    }
    return loaded(name_or_path, {**common, **options})


def loaded(name_or_path: object, options: Mapping[str, object]) -> Dataset:
    """Return what ``load`` does, for options as people write them: each is checked when it is used."""
    seed, classes, data_dir = options.get("seed", 0), options.get("classes"), options.get("data_dir")
    if isinstance(name_or_path, Dataset):
        asked = {**dict.fromkeys(COMMON), **options, "seed": seed or None, "classes": None}
        return _cut(name_or_path, classes, [name for name, value in asked.items() if value is not None])
    if not isinstance(data_dir, str | Path | None):
        raise _checks.fail_type(OWNER, "data_dir", "a folder", repr(data_dir))
    kind = options.get("kind")
    read, place = reader_of(name_or_path, data_dir, kind)
    seed = _checks.whole(OWNER, "seed", seed)
    held, test = chosen.validation(options.get("validation")), options.get("test")
    if test is not None:
        test = _checks.number(OWNER, "test", test, low=0, high=1, open_low=True, open_high=True)
    own = {name: value for name, value in options.items() if name not in COMMON}
    _check_options(read, own)
    found = read(**own) if place is None else read(place, **own)
    if kind is not None and found.kind != kind:
        raise _checks.fail(OWNER, "kind", f"{found.kind!r} or left out for these data", repr(kind))
    dataset = assemble(found, seed=seed, validation=held, test=test)
    dataset = dataset if classes is None else of_classes(dataset, classes)
    for sentence in warnings_of(dataset.source):
        warnings.warn(sentence, UserWarning, stacklevel=3)
    return dataset


def warnings_of(source: Source) -> tuple[str, ...]:
    """Return what whoever reads a dataset is warned of.

    Args:
        source: of the dataset.
    """
    return *remarks.on_load(source), *leak_sentences(source)


def _cut(dataset: Dataset, classes: object, others: Sequence[str]) -> Dataset:
    if others:
        expected = "left out for a Dataset, but for classes"
        raise _checks.fail(OWNER, others[0], expected, f"{', '.join(others)} with one", "Its parts are what they are.")
    return dataset if classes is None else of_classes(dataset, classes)


def reader_of(name_or_path: object, data_dir: str | Path | None = None, kind: object = None) -> tuple[Reader, object]:
    """Return the reader of a dataset and what to give it; None for what needs no place."""
    if kind is not None:
        _checks.choice(OWNER, "kind", kind, (PAIRS,))
    if not isinstance(name_or_path, str | Path):
        return IN_MEMORY[memory.form(name_or_path)], name_or_path
    known = KNOWN.get(str(name_or_path))
    if known is not None:
        if not known.folders:
            return known.read, None
        return known.read, files.find(str(name_or_path), known.folders, known.contents, data_dir)
    path = Path(name_or_path).expanduser()
    for place in (path, files.data_folder(data_dir) / path):
        if place.exists() and kind == PAIRS:
            return parallel.read, place
        if place.exists():
            return (_folder_reader(place) if place.is_dir() else _file_reader(place)), place
    near = get_close_matches(str(name_or_path), names(), n=1)
    remedy = f"Did you mean {near[0]!r}?" if near else f"Names are: {', '.join(names())}."
    expected = "the name of a dataset, or a file or folder that is there"
    raise _checks.fail(OWNER, "name_or_path", expected, repr(str(name_or_path)), remedy)


def _folder_reader(folder: Path) -> Reader:
    for recognises, read in FOLDERS:
        if recognises(folder):
            return read
    return image_folder.read


def _file_reader(path: Path) -> Reader:
    name = path.name.lower()
    if name.endswith(".npz"):
        return arrays.read
    if name.endswith(tables.ENDINGS):
        return table.read
    if name.endswith(tiny_imagenet.ARCHIVES):
        return tiny_imagenet.read
    listed = ", ".join((*tables.ENDINGS, ".npz", *tiny_imagenet.ARCHIVES))
    raise _checks.fail(OWNER, "name_or_path", f"a folder or a file of a known kind ({listed})", path.name)


def options_of(read: Reader) -> tuple[str, ...]:
    """Return the names of a reader's options."""
    parameters = inspect.signature(read).parameters.values()
    return tuple(parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY)


def option_names() -> frozenset[str]:
    """Return the names of all options of all readers, those that every reader takes among them.

    Example:
        >>> {"label", "resize", "seed"} <= option_names()
        True
    """
    readers = (
        [known.read for known in KNOWN.values()]
        + [read for _, read in FOLDERS]
        + [image_folder.read, *IN_MEMORY.values()]
    )
    return frozenset(COMMON).union(*(options_of(read) for read in readers))


def _check_options(read: Reader, options: Mapping[str, object]) -> None:
    allowed = options_of(read)
    for option in options:
        if option not in allowed:
            near = get_close_matches(option, (*allowed, *COMMON), n=1)
            remedy = f"Did you mean {near[0]!r}?" if near else f"It takes: {', '.join((*allowed, *COMMON))}."
            raise _checks.fail(OWNER, option, "an option of this kind of data", f"{options[option]!r}", remedy)
