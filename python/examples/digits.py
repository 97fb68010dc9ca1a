"""The 2,000 real digits of the repository (MNIST), for the examples beside this file. Needs numpy."""

import gzip
import pathlib

import numpy as np

FILE = pathlib.Path(__file__).resolve().parents[2] / "lab" / "votes" / "testdata" / "digits-images.gz"


def load():
    """Pictures and labels to train with, then those to test with.

    A picture is 7 × 7 means of mean 0 and norm 2, and a constant.
    """
    with gzip.open(FILE, "rt", encoding="ascii") as file:
        lines = [line.rstrip("\n") for line in file if not line.startswith("#")]
    labels = np.array([int(line[0]) for line in lines], np.int32)
    pixels = np.array([[(ord(c) - ord("P")) / 16 for c in line[2:]] for line in lines], np.float32)
    pictures = np.hstack([pixels, np.full((len(pixels), 1), 0.1, np.float32)])
    return pictures[400:], labels[400:], pictures[:400], labels[:400]
