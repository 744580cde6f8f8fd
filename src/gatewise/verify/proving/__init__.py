"""How questions are decided: bounds of regions, search, and a solver, each of which can also do it alone."""
