"""The data sets that benchmarks and experiments read, from their published files."""
