"""How classes lie on a page: which spaces are drawn, what they are drawn by, targets, distances and points."""

from pathlib import Path
from typing import Any

import torch
from scipy.stats import kendalltau

from labelspace.report.document import Room
from labelspace.report.reading import Material, read_comparison
from labelspace.report.spaces import distances, distinct_spaces, projections, space_pictures, targets
from labelspace.space import LabelSpace
from report.folders import spaces
from report.unpacking import unpack


def read(comparison: Path) -> Material:
    return read_comparison(comparison)[1]


def test_spaces_are_shown_by_what_they_are_compared_by() -> None:
    names = tuple("abcd")
    points = [[1.0, 0.0], [9.0, 0.0], [1.0, 1.0], [9.0, 1.0]]  # a and c are near
    shown: dict[str, Any] = {}
    for metric in ("euclidean", "cosine"):
        space = LabelSpace(names, points, "vectors", {"metric": metric})
        (picture,) = space_pictures([("learned", space)], Room(10**6))
        shown[metric] = picture
    assert set(shown["euclidean"]["layout"]["order"][:2]) in ({0, 2}, {1, 3})
    assert [shown[metric]["unit"] for metric in shown] == ["distance", "cosine"]


def test_a_space_is_shown_once_and_only_if_its_classes_differ(comparison: Path) -> None:
    material = read(comparison)
    found = dict(distinct_spaces(material))
    # one-hot and uniform labels say nothing; what was given is what semantic labels were trained on
    shown = ["given · semantic", "lls", "adaptive", "semantic shuffled", "semantic random", "prices"]
    assert list(found) == shown
    built = spaces(list(material.names), torch.Generator().manual_seed(7))
    for title, label in (("given · semantic", "semantic"), ("lls", "lls")):
        (picture,) = space_pictures([(title, found[title])], Room(10**6))
        layout: Any = picture["layout"]
        matrix: Any = picture["matrix"]
        arranged = built[label].matrix.double()[list(layout["order"])][:, list(layout["order"])]
        torch.testing.assert_close(unpack(matrix["full"]), arranged, rtol=0, atol=1e-4)


def test_targets_are_the_relations_of_a_class_the_nearest_first(comparison: Path) -> None:
    material = read(comparison)
    found: Any = targets(material, Room(10**6))
    assert found["start"] == 0.5  # the strength of the winner
    # prices are nothing that anyone trains on
    assert [row["title"] for row in found["rows"]] == [
        title for title, _ in distinct_spaces(material) if title != "prices"
    ]
    first = found["rows"][0]
    relations = spaces(list(material.names), torch.Generator().manual_seed(7))["semantic"].matrix
    for number in range(10):
        back = torch.zeros(10)
        back[first["classes"][number]] = torch.tensor(first["weights"][number])
        back[number] = first["own"][number]
        torch.testing.assert_close(back, relations[number].float(), rtol=0, atol=1e-3)
        assert first["weights"][number] == sorted(first["weights"][number], reverse=True)


def test_features_agree_with_targets_as_scipy_says(comparison: Path) -> None:
    material = read(comparison)
    found = {each["label"]: each for each in distances(material, Room(10**7))}
    assert list(found)[:2] == ["one-hot", "semantic"]
    between, target = material.geometry["naa/semantic"], material.geometry["target/semantic"]
    others = [[place for place in range(10) if place != number] for number in range(10)]
    each = [kendalltau(between[number, kept], target[number, kept]).statistic for number, kept in enumerate(others)]
    agreement: Any = found["semantic"]["agreement"]
    assert abs(agreement - sum(each) / 10) < 1e-3
    assert found["one-hot"]["agreement"] is None  # all classes are alike to it: there is no order to agree with


def test_points_are_those_of_the_folder(comparison: Path) -> None:
    material = read(comparison)
    found: Any = projections(material, Room(10**7))
    assert found["y"] == material.geometry["projection_y"].tolist()
    for row in found["rows"]:
        points = material.geometry[f"projection/{row['label']}"].double()
        torch.testing.assert_close(unpack(row["points"]), points, rtol=0, atol=1e-3)
