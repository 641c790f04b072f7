"""What commands say of a model of sequences: how good it is, and a translation for each line of a text."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from labelspace import _files
from labelspace._checks import InputError
from labelspace.cli.screen import bars, console, print_file, print_json
from labelspace.cli.table_output import check_output, stopped_cleanly

if TYPE_CHECKING:
    from labelspace.training.run import Run


def translate(
    run: "Run", new: str, output: Path | None, beam: int | None, device: str, as_json: bool, others: Sequence[str]
) -> None:
    """Write translations to a file, or to stdout as they come.

    Args:
        run: of sequences.
        new: a text file, one text on each line.
        output: a .txt file; stdout if None.
        beam: the width of the search; by default that of the run.
        device: where to compute.
        as_json: print sources and translations as JSON.
        others: flags that were given and say nothing here.
    """
    from labelspace.serving import translations

    if others:
        raise InputError("", others[0], "left out for a model of sequences", "it")
    if output is not None:
        check_output("predict", output, new, (".txt",))
    texts = translations.texts_of(new)
    found: list[str] = []
    with stopped_cleanly(), bars() as bar:
        task = bar.add_task(f"translate {Path(new).name}", total=len(texts))
        for piece in translations.translations(run, texts, beam, device):
            found += piece
            if output is None and not as_json:
                print_file("".join(f"{text}\n" for text in piece))
            bar.update(task, completed=len(found))
        if output is not None:
            _files.write_bytes(output, "".join(f"{text}\n" for text in found).encode())
    if as_json:
        pairs = [{"source": text, "translation": made} for text, made in zip(texts, found, strict=True)]
        facts = {"run": str(run.folder), "rows": len(found), "output": None if output is None else str(output)}
        print_json(facts | ({"translations": pairs} if output is None else {}))
    elif output is not None:
        console.print(f"{len(found):,} texts → {output}", soft_wrap=True)


def tell_search(run: "Run") -> None:
    """Print what computed BLEU, as sacrebleu says it, and how texts were looked for; yellow where many have no end.

    Args:
        run: of sequences.
    """
    from labelspace.data.vocabulary import SPECIAL
    from labelspace.sequences.quality import measures_for
    from labelspace.sequences.searched import ended, many, words

    target = run.preprocessing["vocabularies"]["target"]
    measure = measures_for(target["tokens"][len(SPECIAL) :], target["lowercase"])["BLEU"]
    console.print(f"BLEU by     {measure.signature}", soft_wrap=True)
    test, texts = run.result["test"], len(run.translations["test"])
    said = ", ".join(filter(None, (words(run.result.get("search", {})), ended(test, texts))))
    console.print(f"search      {said}", style="yellow" if many(test, texts) else None, soft_wrap=True)
