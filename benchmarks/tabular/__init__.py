"""Tables: accuracy, size and speed, beside the models that one would pick otherwise."""
