"""Any function of a table by blocks: how many (`plan`), who is in which (`dealing`), what they say together.

Theorems: docs/proofs/mechanism_blocks.md.
"""
