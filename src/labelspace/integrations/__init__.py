"""Criteria inside other people's training code: one file for each library, imported on request."""
