"""Certified concentrated prices: a proved bracket for the Renyi cost of smooth-sensitivity noise."""
