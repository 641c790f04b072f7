"""`python -m labelspace`."""

from labelspace.cli.main import app

app()
