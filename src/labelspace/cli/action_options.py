"""What is typed of actions: which there are, and how many samples each may get."""

from labelspace._checks import InputError
from labelspace.spec.prices import TREE


def tree_only(actions: str | None) -> str | None:
    """Return the one word that there is for actions; others come with their prices.

    Args:
        actions: as typed.
    """
    if actions not in (None, TREE):
        remedy = "Other actions are columns of --cost FILE."
        raise InputError("", "--actions", f"{TREE!r}", repr(actions), remedy)
    return actions


def shares_of(capacity: list[str] | None) -> dict[str, float] | None:
    """Return the largest share of samples for each action.

    Args:
        capacity: as typed, such as ``"send to a person=5%"`` or ``"ask=0.05"``.
    """
    found: dict[str, float] = {}
    for text in capacity or []:
        name, _, share = text.rpartition("=")
        try:
            value = float(share.strip().removesuffix("%")) / (100 if share.strip().endswith("%") else 1)
            sound = bool(name.strip()) and 0 <= value <= 1
        except ValueError:
            sound = False
        if not sound:
            remedy = 'Such as "send to a person=5%".'
            raise InputError("", "--capacity", "ACTION=SHARE, a share of samples from 0 to 100%", repr(text), remedy)
        found[name.strip()] = value
    return found or None
