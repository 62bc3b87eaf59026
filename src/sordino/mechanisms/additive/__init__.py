"""Noise added to a value: scaled to a smooth bound, to a public sensitivity, per coordinate or in a norm."""
