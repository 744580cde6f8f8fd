"""Trainable networks of relaxed gates; the only part of the package, with what stands on it, that imports torch."""
