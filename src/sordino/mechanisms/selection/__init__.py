"""A key chosen from a public list by its count."""
