"""Augmentation by name, and lists of them."""

import pytest
import torch

from labelspace.augment.mixing import cutmix, mixup
from labelspace.augment.named import ENTRIES, Augment, augmentation, names
from labelspace.augment.randaugment import randaugment
from labelspace.augment.transforms import crop, cutout, flip, resized_crop, rotate


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


X = torch.randn(16, 3, 16, 16, generator=seeded(99))
Y = torch.arange(16) % 4


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("crop", lambda g: crop(X, g)),
        ("crop:4", lambda g: crop(X, g, padding=4)),
        ("crop:3:reflect", lambda g: crop(X, g, padding=3, fill="reflect")),
        ("crop::reflect", lambda g: crop(X, g, fill="reflect")),
        ("flip", lambda g: flip(X, g)),
        ("flip:0.9", lambda g: flip(X, g, probability=0.9)),
        ("rotate", lambda g: rotate(X, g)),
        ("rotate:45", lambda g: rotate(X, g, degrees=45)),
        ("resized-crop", lambda g: resized_crop(X, g)),
        ("resized-crop:0.25:2", lambda g: resized_crop(X, g, smallest=0.25, ratio=2)),
        ("resized-crop::1", lambda g: resized_crop(X, g, ratio=1)),
        ("cutout", lambda g: cutout(X, g)),
        ("cutout:8", lambda g: cutout(X, g, size=8)),
        ("randaugment", lambda g: randaugment(X, g)),
        ("randaugment:3:5", lambda g: randaugment(X, g, operations=3, magnitude=5)),
        ("mixup", lambda g: mixup(X, Y, 4, 0.2, g)),
        ("mixup:1:sample", lambda g: mixup(X, Y, 4, 1.0, g, per_sample=True)),
        ("cutmix", lambda g: cutmix(X, Y, 4, 1.0, g)),
        (" cutmix : 0.5 ", lambda g: cutmix(X, Y, 4, 0.5, g)),
    ],
)
def test_a_text_is_a_call(spec: str, expected) -> None:
    wanted = expected(seeded(1))
    result = augmentation(spec)(X, Y, 4, seeded(1))
    torch.testing.assert_close(result, wanted if isinstance(wanted, tuple) else (wanted, Y), rtol=0, atol=0)


@pytest.mark.parametrize(
    ("spec", "short"),
    [
        ("randaugment:2:9", "randaugment"),
        ("randaugment:2:9.5", "randaugment:2:9.5"),
        ("mixup:0.20:batch", "mixup"),
        ("mixup::sample", "mixup:0.2:sample"),
        ("crop::reflect", "crop::reflect"),
        ("crop:04", "crop:4"),
        ("flip:.5", "flip"),
        ("rotate:20", "rotate"),
        ("resized-crop:0.080", "resized-crop"),
        ("resized-crop::1.5", "resized-crop:0.08:1.5"),
    ],
)
def test_equal_meanings_have_equal_texts(spec: str, short: str) -> None:
    assert augmentation(spec).spec == short
    assert augmentation(short) == augmentation(spec)
    assert Augment.parse([spec]) == Augment.parse([short])
    assert hash(Augment.parse([spec])) == hash(Augment.parse([short]))


def test_all_names_are_listed_and_read_without_options() -> None:
    assert [name.split(":")[0] for name in names()] == list(ENTRIES)
    assert [augmentation(name).mixes for name in ENTRIES] == [entry.mixes for entry in ENTRIES.values()]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("crp", "`name` of augmentation must be one of 'crop', .*Got 'crp'. Did you mean 'crop'?"),
        ("mix-up", "Did you mean 'mixup'?"),
        ("", "`name` of augmentation must be one of"),
        (
            "flip:0.5:2",
            r"`spec` of augmentation 'flip:0.5:2' must be 'flip' with at most 1 values \(probability\). Got 2",
        ),
        ("crop:four", "`padding` of augmentation 'crop:four' must be a whole number. Got 'four'"),
        ("crop:2.5", "must be a whole number. Got '2.5'"),
        ("crop:-1", "`padding` of augmentation 'crop:-1' must be a whole number of at least 0. Got -1"),
        ("crop:4:mirror", "`fill` of augmentation 'crop:4:mirror' must be one of 'zero', 'reflect'"),
        ("flip:2", r"`probability` of .* must be a number in \[0, 1\]. Got 2"),
        ("rotate:200", r"`degrees` of .* must be a number in \[0, 180\]. Got 200"),
        ("resized-crop:0", r"`smallest` of .* must be a number in \(0, 1\]. Got 0"),
        ("resized-crop:0.5:0.5", r"`ratio` of .* must be a number in \[1, inf\). Got 0.5"),
        ("resized-crop:0.5:inf", r"`ratio` of .* Got inf"),
        ("resizedcrop", "Did you mean 'resized-crop'?"),
        ("cutout:0", "`size` of .* at least 1"),
        ("randaugment:0", "`operations` of .* at least 1"),
        ("randaugment:2:11", r"`magnitude` of .* must be a number in \[0, 10\]. Got 11"),
        ("mixup:0", r"`alpha` of .* must be a number in \(0, inf\). Got 0"),
        ("mixup:much", "`alpha` of .* must be a number. Got 'much'"),
        ("cutmix:nan", "`alpha` of .* Got nan"),
        ("cutmix:1:each", "`per` of .* must be one of 'batch', 'sample'. Got 'each'"),
    ],
)
def test_bad_texts_are_refused(spec: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        augmentation(spec)


def test_a_list_is_applied_in_order_by_one_generator() -> None:
    generator = seeded(2)
    x = crop(X, generator, padding=2)
    x = flip(x, generator)
    expected = cutmix(x, Y, 4, 1.0, generator)
    augment = Augment.parse(["crop:2", "flip", "cutmix:1.0"])
    assert augment.mixes
    torch.testing.assert_close(augment(X, Y, 4, seeded(2)), expected, rtol=0, atol=0)


def test_an_empty_list_changes_nothing() -> None:
    augment = Augment.parse([])
    assert not augment
    assert not augment.mixes
    x, y = augment(X, Y, 4, seeded())
    assert x is X
    assert y is Y


def test_the_number_of_threads_does_not_change_a_bit() -> None:
    augment = Augment.parse(["crop", "flip", "rotate", "resized-crop", "randaugment", "cutout", "mixup"])
    x, y = torch.randn(96, 3, 32, 32, generator=seeded()), torch.arange(96) % 10
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        first = augment(x, y, 10, seeded(4))
        torch.set_num_threads(3)
        torch.testing.assert_close(augment(x, y, 10, seeded(4)), first, rtol=0, atol=0)
    finally:
        torch.set_num_threads(threads)


def test_digits_go_through_everything() -> None:
    augment = Augment.parse(["crop", "flip", "rotate", "resized-crop", "cutout", "randaugment", "cutmix"])
    x, y = augment(torch.rand(20, 1, 8, 8, generator=seeded()), torch.arange(20) % 10, 10, seeded())
    assert x.shape == (20, 1, 8, 8)
    assert bool(torch.isfinite(x).all())
    torch.testing.assert_close(y.sum(1), torch.ones(20))


@pytest.mark.parametrize("specs", [["mixup", "crop"], ["cutmix", "mixup"], ["flip", "mixup", "mixup"]])
def test_mixing_comes_last_and_once(specs: list[str]) -> None:
    with pytest.raises(ValueError, match="`specs` of Augment must be a list in which only the last one mixes labels"):
        Augment.parse(specs)


def test_tables_and_features_can_be_mixed_up_only() -> None:
    rows = torch.randn(6, 5, generator=seeded())
    for kind in ("table", "features"):
        x, y = Augment.parse(["mixup:1.0"], kind)(rows, Y[:6], 4, seeded(1))
        torch.testing.assert_close((x, y), mixup(rows, Y[:6], 4, 1.0, seeded(1)), rtol=0, atol=0)
        for name in ("crop", "flip", "rotate", "resized-crop", "cutout", "randaugment", "cutmix"):
            with pytest.raises(ValueError, match=f"'mixup'.* or empty for data of kind {kind!r}. Got '{name}'"):
                Augment.parse([name], kind)


def test_token_ids_cannot_be_augmented() -> None:
    with pytest.raises(ValueError, match="must be empty: token ids cannot be blended for data of kind 'text'"):
        Augment.parse(["mixup"], "text")
    assert not Augment.parse([], "text")


def test_what_is_not_a_list_of_texts_is_refused() -> None:
    with pytest.raises(TypeError, match=r"`specs` of Augment must be a list of texts. Got 'crop'. Write \['crop'"):
        Augment.parse("crop")
    with pytest.raises(TypeError, match="`spec` of augmentation must be text such as 'crop:4'. Got 4"):
        Augment.parse([4])
    with pytest.raises(ValueError, match="`kind` of Augment must be one of 'images', .*Did you mean 'images'"):
        Augment.parse([], "image")
