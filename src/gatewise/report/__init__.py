"""A page about a model that people look at: one HTML file with all facts, and the model itself, live.

In: a model, and optionally a table with true answers. Out: a `Report`, which becomes a page that asks for nothing from
the network. Invariant: names, labels and commands that users gave stand in JSON only, never in markup.
"""

from gatewise.report.facts import Report

__all__ = ["Report"]
