"""The datasets known by name: who reads them, where they may lie, and what belongs there."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from labelspace.data.found import Found
from labelspace.data.readers import arrays, cifar, idx, lcsts, parallel, table, tiny_imagenet

Reader = Callable[..., Found]


@dataclass(frozen=True)
class Known:
    """A dataset known by name: its reader, the folders it may lie in, and what belongs there."""

    read: Reader
    folders: tuple[str, ...]
    contents: str
    about: str


KNOWN: Mapping[str, Known] = {
    "digits": Known(arrays.read_digits, (), "", "1,797 grey images 8×8 of 10 digits, part of scikit-learn"),
    "mnist": Known(
        idx.read,
        ("mnist",),
        "the four IDX files (train-images-idx3-ubyte.gz …)",
        "70,000 grey images 28×28 of 10 digits",
    ),
    "fashion-mnist": Known(
        partial(idx.read, names=idx.FASHION),
        ("fashion-mnist",),
        "the four IDX files (train-images-idx3-ubyte.gz …)",
        "70,000 grey images 28×28 of 10 kinds of clothes",
    ),
    "cifar-10": Known(
        cifar.read,
        ("cifar-10-batches-bin", "cifar-10"),
        "data_batch_1.bin … and test_batch.bin of the binary version (.gz too)",
        "colour images 32×32 of 10 classes",
    ),
    "cifar-100": Known(
        cifar.read,
        ("cifar-100-binary", "cifar-100"),
        "train.bin, test.bin and fine_label_names.txt of the binary version (.gz too)",
        "colour images 32×32 of 100 classes, 20 with coarse=True",
    ),
    "tiny-imagenet": Known(
        tiny_imagenet.read,
        ("tiny-imagenet-200", "tiny-imagenet"),
        "the folders train and val with wnids.txt, or the tar file of them",
        "colour images 64×64 of 200 WordNet classes",
    ),
    "imdb": Known(
        table.read,
        ("imdb",),
        "train.csv.gz and test.csv.gz with the columns text and label",
        "50,000 film reviews, good or bad",
    ),
    "multi30k": Known(
        partial(parallel.read, columns=("en", "de")),
        ("multi30k",),
        "train.en, train.de, val.en, val.de and a test (test_2016_flickr.en …; .gz too)",
        "31,014 captions of pictures, English and German",
    ),
    "iwslt15": Known(
        partial(parallel.read, columns=("en", "vi")),
        ("iwslt15",),
        "train.en, train.vi, tst2012.en, tst2012.vi, tst2013.en and tst2013.vi, or tar files of them",
        "136,000 sentences of talks, English and Vietnamese",
    ),
    "en-vi": Known(
        partial(parallel.read, columns=("en", "vi")),
        ("en-vi",),
        "train.tsv, valid.tsv and test.tsv: English, tab, Vietnamese (.gz too)",
        "60,384 messages of programs, English and Vietnamese",
    ),
    "summaries": Known(
        partial(parallel.read, columns=("description", "summary"), cut="source", measure="ROUGE-1"),
        ("summaries",),
        "train.tsv, valid.tsv and test.tsv: description, tab, summary (.gz too)",
        "59,282 descriptions of packages and their one-line summaries",
    ),
    "lcsts": Known(
        lcsts.read,
        ("lcsts", "LCSTS"),
        "PART_I.txt, PART_II.txt and PART_III.txt, or a tar file of them (.gz too)",
        "2.4 million short Chinese texts and their summaries",
    ),
}
