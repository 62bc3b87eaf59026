"""Where a caller's own function runs: one block of rows at a time, apart from everything else.

A block value may depend on its own block and on public things only; then one person moves one value
(docs/proofs/mechanism_blocks.md). So blocks are plain copies (`block`), each is answered by a fresh process that knows
nothing but the function and the block (`zygote`, `confine`), and nothing comes back but numbers (`pool`).
"""
