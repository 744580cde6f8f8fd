"""Models and circuits in other languages, one file a target."""
