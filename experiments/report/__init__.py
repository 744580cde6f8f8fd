"""What comes of experiments: records, and the table and the figures that are made of them."""
