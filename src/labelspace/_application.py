"""Every package of the application imports this first: where the extra is not installed, it says so in one line."""

from labelspace import _packages

if _lacking := _packages.missing():
    raise ImportError(_lacking)
