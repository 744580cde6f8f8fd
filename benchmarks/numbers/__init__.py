"""Numbers in README.md and docs/: each comes from a record and stands between two markers that name it.

    Two threads are <!--infer/two-threads-->1.84×<!--end--> as fast as one.

Tables are marked in the same way. Both markers are HTML comments, so readers see only what is between them.
"""
