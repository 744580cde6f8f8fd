"""Settings for all tests."""

import hypothesis

# Deadlines would be timing tests; derandomizing makes every run the same.
hypothesis.settings.register_profile("gatewise", deadline=None, derandomize=True)
hypothesis.settings.load_profile("gatewise")
