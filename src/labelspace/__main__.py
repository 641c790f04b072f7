"""The command `labelspace`, also as `python -m labelspace`; without its packages it says what to install."""

import sys

from labelspace import _packages


def main() -> None:
    """Run the command line; exit code 2 where the extra `compare` is not installed."""
    lacking = _packages.missing()
    if lacking:
        if sys.argv[1:2] == ["doctor"]:
            print(*_extras(), sep="\n")
        print(f"labelspace: {lacking}", file=sys.stderr)
        raise SystemExit(2)
    from labelspace.cli.main import app

    app()


def _extras() -> list[str]:
    """Return one line for each extra: what `labelspace doctor` can say without the packages that draw its table."""
    lines = []
    for extra, packages in _packages.extras().items():
        absent = [package for package in packages if _packages.version(package) is None]
        lines.append(f"extra {extra}: {'without ' + ', '.join(absent) if absent else 'installed'}")
    return lines


if __name__ == "__main__":
    main()
