"""From random bits to exactly rounded draws: the numerics policy lives here and nowhere else."""
