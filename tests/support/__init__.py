"""What tests of several files share: brute-force worlds, reference vectors, servers. Imported as `tests.support`."""
