"""One quantile, several at once, and intervals of orders: scores by rank on the lattice of rows."""
