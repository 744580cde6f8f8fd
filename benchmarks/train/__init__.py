"""Training: milliseconds per step beside difflogic and torchlogix, the loop beside the step, accuracy against time."""
