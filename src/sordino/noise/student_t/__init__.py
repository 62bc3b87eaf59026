"""StudentT noise: its law, its exact sampler, its certified concentrated price."""

from sordino.noise.student_t.law import StudentT

__all__ = ["StudentT"]
