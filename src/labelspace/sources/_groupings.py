"""Groupings that papers used, by name."""

from collections.abc import Mapping, Sequence

Grouping = Mapping[str, Sequence[str]]

# Table 1 of "Embedding semantic relationships in hidden representations via label smoothing". The first three were
# drawn at random; the last is the semantic one, which the text calls grouping_3 and the table grouping_4.
CIFAR10: tuple[Grouping, ...] = (
    {
        "cluster 1": ("frog", "truck", "airplane"),
        "cluster 2": ("cat", "dog", "deer"),
        "cluster 3": ("ship", "bird"),
        "cluster 4": ("horse", "automobile"),
    },
    {
        "cluster 1": ("bird", "automobile", "deer"),
        "cluster 2": ("airplane", "frog", "ship"),
        "cluster 3": ("truck", "horse"),
        "cluster 4": ("dog", "cat"),
    },
    {
        "cluster 1": ("airplane", "automobile", "ship"),
        "cluster 2": ("deer", "cat", "truck"),
        "cluster 3": ("frog", "horse"),
        "cluster 4": ("bird", "dog"),
    },
    {
        "mass transport": ("airplane", "ship", "truck"),
        "personal transport": ("automobile", "horse"),
        "domestic animals": ("cat", "dog"),
        "other animals": ("bird", "deer", "frog"),
    },
)
GROUPINGS: Mapping[str, Grouping] = {
    **{f"cifar10-{number}": grouping for number, grouping in enumerate(CIFAR10)},
    "cifar10-4": CIFAR10[3],
    "cifar10-semantic": CIFAR10[3],
}
