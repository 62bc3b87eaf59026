"""Minimum and maximum: a one-directional score and, where rows are many, an anchor inside the data."""
