"""Training: configuration, loop, checkpoints, sweeps."""
