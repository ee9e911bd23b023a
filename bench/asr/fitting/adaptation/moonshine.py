"""Moonshine in PyTorch, with the weights of the npm package that Steno installs.

The package has quantized graphs only. Their weights are taken back to floats, which the code of
Transformers computes with; both give the same text.
"""

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from transformers import MoonshineConfig, MoonshineForConditionalGeneration

# How much of each head turns with the position (config.json of the published models).
ROTARY = {"base": 0.62, "tiny": 0.9}


def load_moonshine(folder, size):
    """Returns the model of `size` ("base" or "tiny") from `folder`, dist/model of the package."""
    encoder = Graph(f"{folder}/{size}/quantized/encoder_model.onnx")
    decoder = Graph(f"{folder}/{size}/quantized/decoder_model_merged.onnx")
    hidden = encoder.constants["conv3.bias"].shape[0]
    layers = sum("mlp/fc1" in name for name in encoder.products)
    rope = {"partial_rotary_factor": ROTARY[size], "rope_theta": 10000.0, "rope_type": "default"}
    model = MoonshineForConditionalGeneration(
        MoonshineConfig(
            hidden_size=hidden,
            intermediate_size=4 * hidden,
            encoder_num_hidden_layers=layers,
            decoder_num_hidden_layers=layers,
            rope_parameters=rope,
            max_position_embeddings=2048,
        )
    )
    weights = {}
    for name, before in model.state_dict().items():
        if "inv_freq" in name:
            weights[name] = before
            continue
        value = weight_of(encoder, decoder, name)
        weights[name] = torch.tensor(np.ascontiguousarray(value), dtype=torch.float32)
    model.load_state_dict(weights)
    return model.eval()


class Graph:
    """The constants of a graph and of its branches, and the weights that its products use."""

    def __init__(self, path):
        self.constants = {}
        self.products = {}
        self.nodes = []
        self._read(onnx.load(path).graph)

    def _read(self, graph):
        for constant in graph.initializer:
            self.constants.setdefault(constant.name, numpy_helper.to_array(constant))
        for node in graph.node:
            self.nodes.append(node)
            if node.op_type == "MatMulInteger":
                self.products.setdefault(node.name, node.input[1])
            for attribute in node.attribute:
                if attribute.g.node:
                    self._read(attribute.g)

    def product(self, path):
        """The matrix [outer, inner] of the product whose name contains `path`."""
        return self.floats(next(name for key, name in self.products.items() if path in key)).T

    def floats(self, name):
        stem = name.removesuffix("_quantized")
        bytes_, zero = self.constants[name], self.constants[f"{stem}_zero_point"]
        return (bytes_.astype(np.float32) - zero.astype(np.float32)) * self.constants[f"{stem}_scale"]

    def operand(self, output):
        """The constant that the operation with this output uses."""
        node = next(node for node in self.nodes if node.output[0] == output)
        return next(self.constants[i] for i in node.input if i in self.constants).reshape(-1)


def weight_of(encoder, decoder, name):
    """Returns a weight by its name in Transformers."""
    if name.endswith("groupnorm.weight"):
        return encoder.operand("/groupnorm/Mul_output_0")
    if name.endswith("groupnorm.bias"):
        return encoder.operand("/groupnorm/Add_output_0")
    if name in ("model.decoder.embed_tokens.weight", "proj_out.weight"):
        return decoder.floats("model.decoder.embed_tokens.weight_merged_0_quantized")
    if name == "model.decoder.norm.weight":
        key = "model.decoder.norm.weight"
        return next(value for name, value in decoder.constants.items() if name.startswith(key))
    if name.startswith("model.encoder."):
        part = published_name(name)
        if part.startswith("conv") and part.endswith("weight"):
            c = encoder.constants
            values = c[f"{part}_quantized"].astype(np.float32)
            return values * c[f"{part}_scale"] + c[f"{part}_zero_point"]
        if is_product(part):
            return encoder.product(f"/{path_of(part)}/")
        return encoder.constants[part]
    part = published_name(name).replace("fc1", "up_proj").replace("fc2", "down_proj")
    if is_product(part):
        return decoder.product(f"/model/decoder/{path_of(part)}/")
    return decoder.constants[f"model.decoder.{part}_merged_0"]


def published_name(name):
    """The name of a weight in the published graph."""
    part = name.removeprefix("model.encoder.").removeprefix("model.decoder.")
    return part.replace("o_proj", "dense")


def is_product(part):
    return part.endswith(("proj.weight", "dense.weight", "fc1.weight", "fc2.weight"))


def path_of(part):
    """layers.0.mlp.fc1.weight -> layers.0/mlp/fc1"""
    layers, number, *names = part.removesuffix(".weight").split(".")
    return "/".join([f"{layers}.{number}", *names])
