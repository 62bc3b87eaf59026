"""Means, sums, variances: a search for where to clip, then noise for the clipped sum."""
