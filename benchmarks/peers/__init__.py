"""The peers, each installed in an environment of its own and run in a process of its own."""
