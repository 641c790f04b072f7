"""What is run by tests, and holds none."""

collect_ignore = ["two_ranks_worker.py"]  # imports libraries that need not be here
