"""The papers' experiments, run by the product's own public functions; one file per paper."""
