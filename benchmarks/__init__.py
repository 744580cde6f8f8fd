"""Speed, size and accuracy on tables, side by side with the peers; every number of the documentation comes from here.

python -m benchmarks.infer --record         one benchmark; --record writes benchmarks/results/infer.json
python -m benchmarks.all                    all of them, one after the other; goes on where it was stopped
python -m benchmarks.numbers --write        the records' numbers into README.md and docs/
"""
