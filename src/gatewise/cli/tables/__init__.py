"""Tables in files and pipes: read in batches, and written, by pyarrow."""
