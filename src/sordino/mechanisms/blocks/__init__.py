"""Any function of a table, by blocks: how many (`plan`), who is in which (`dealing`), what they say together (`blocks`).

Theorems: docs/proofs/mechanism_blocks.md.
"""
