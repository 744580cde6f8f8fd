"""A training script as a user writes it, to be started by torchrun with a folder for the checkpoint."""

import sys
from pathlib import Path

import numpy as np
from support.training.runs import RECIPE, make_data, make_network

from gatewise import train

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    everything = make_data()
    mine = everything.take(np.arange(len(everything))[train.shard(len(everything))])
    result = train.fit(make_network(), train.Classification(3), mine, recipe=RECIPE, checkpoint=folder)
    print(f"{len(mine)} rows, accuracy {result.history[-1].score:.6f}")
