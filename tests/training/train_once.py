"""Trains one run in a process of its own, to be killed at any moment: ``train_once.py OUT METHOD [CORPUS]``."""

import sys

from labelspace.training.build import prepare
from labelspace.training.run import train_job
from training.killable import configuration

if __name__ == "__main__":
    out, *asked = sys.argv[1:]
    train_job(prepare(configuration(*asked)), out, checkpoint_seconds=0.0)
    print("finished")
