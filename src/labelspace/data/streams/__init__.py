"""Samples without labels, a piece at a time: what a trained model is asked about."""
