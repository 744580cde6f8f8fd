"""Points: networks beyond the paper, each with its data, its size and how it is trained, and what others published."""
