"""Checks of the shape of one sample, before a network is made for it."""

from collections.abc import Sequence

from labelspace import _checks

FORMS = "(channels, height, width) for images, (numbers,) for tables and features, (length,) for text"


def sample_shape(owner: str, input_shape: Sequence[int]) -> tuple[int, ...]:
    """Return the shape of one sample as a tuple of positive whole numbers."""
    if isinstance(input_shape, str | int) or not hasattr(input_shape, "__iter__"):
        raise _checks.fail_type(owner, "input_shape", f"the shape of one sample: {FORMS}", repr(input_shape))
    shape = tuple(input_shape)
    whole = all(isinstance(side, int) and not isinstance(side, bool) and side > 0 for side in shape)
    if not shape or not whole:
        remedy = "Leave the number of samples out: use x.shape[1:]."
        raise _checks.fail(owner, "input_shape", f"the shape of one sample: {FORMS}", repr(shape), remedy)
    return shape


def image_shape(owner: str, shape: tuple[int, ...], least: int = 1) -> tuple[int, int, int]:
    """Return channels, height and width, at least ``least`` high and wide."""
    if len(shape) != 3:
        remedy = "For tables and features use 'linear' or 'mlp-500-500'."
        if len(shape) == 2:
            remedy = f"For grey images add the channel: (1, {shape[0]}, {shape[1]})."
        raise _checks.fail(owner, "input_shape", "(channels, height, width): it is a network for images", shape, remedy)
    channels, height, width = shape
    if min(height, width) < least:
        remedy = "Resize the images, or use a smaller network such as 'cnn-3-layer-2'."
        raise _checks.fail(owner, "input_shape", f"of images at least {least} high and wide", shape, remedy)
    return channels, height, width


def text_shape(owner: str, shape: tuple[int, ...]) -> int:
    """Return the number of tokens of a text."""
    if len(shape) != 1:
        remedy = "For images use a network such as 'cnn-6-layer-2'; for text give token ids (N, length)."
        raise _checks.fail(owner, "input_shape", "(length,): it is a network for token ids", shape, remedy)
    return shape[0]
