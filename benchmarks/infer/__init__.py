"""Inference: nanoseconds per row, beside the compiled nets of difflogic and torchlogix."""
