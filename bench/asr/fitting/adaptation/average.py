"""Averages adaptations of one model: the mean change of each weight, in low rank again.

The mean of trainings that begin with one another makes fewer errors than each (model soups,
Wortsman et al. 2022, https://arxiv.org/abs/2203.05482).

Usage: average.py FILE.safetensors... --out FILE.safetensors
"""

import argparse

import torch
from safetensors.torch import load_file, save_file


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    adaptations = [load_file(file) for file in options.files]
    average = {}
    for name in adaptations[0]:
        if name.endswith(".lora_A"):
            weight = name.removesuffix(".lora_A")
            products = [a[f"{weight}.lora_B"].double() @ a[name].double() for a in adaptations]
            outer, inner = factors(mean(products), options.rank)
            average |= {f"{weight}.lora_B": outer, name: inner}
        elif name.endswith(".change"):
            average[name] = mean([a[name].double() for a in adaptations])
    save_file({name: value.half().contiguous() for name, value in average.items()}, options.out)


def mean(tensors):
    return torch.stack(tensors).mean(0)


def factors(matrix, rank):
    """The best [outer, rank] and [rank, inner] whose product is near a matrix (truncated SVD)."""
    left, values, right = torch.linalg.svd(matrix, full_matrices=False)
    roots = values[:rank].sqrt()
    return left[:, :rank] * roots, roots[:, None] * right[:rank]


if __name__ == "__main__":
    main()
