"""Fine-tunes Moonshine's encoder for speech in noise, as a small change.

The encoder learns to give the decoder of a corrupted recording what it gives it of the clean one:
the same text with the same probabilities (distillation), so no transcripts are needed. Only
low-rank changes of its matrices and changes of its gains and biases are trained.

Usage: train.py --package DIST_MODEL --speech DIR... --music DIR --noise DIR --out FILE.safetensors
"""

import argparse
import math
import random
import time
from pathlib import Path

import numpy as np
import scipy.signal
import soundfile
import torch
from corrupt import RATE, Corruption
from moonshine import load_moonshine, published_name
from safetensors.torch import load_file, save_file
from torch import nn
from torch.nn import functional
from torch.nn.utils import parametrize

MAX_SECONDS = 16.5
# Too short to be a voice of babble.
MIN_VOICE_SECONDS = 3
# How much slower or faster, and with that lower or higher, a variant of a recording is.
SPEEDS = 0.86, 1.16
# Variants are as long as segments are; many are shorter than their recording.
VARIANT_SECONDS = 2.5, 2 * MAX_SECONDS
# A teacher's text with fewer tokens is the start, the end and next to nothing.
MIN_TOKENS = 4
# The likeliest tokens of the teacher hold nearly all of its probability.
TEACHER_TOKENS = 24
BATCH = 16


def main():
    options = parse_options()
    random.seed(options.seed)
    np.random.seed(options.seed)
    torch.manual_seed(options.seed)
    model = load_moonshine(options.package, options.size)
    for weight in model.parameters():
        weight.requires_grad_(False)
    recordings = [audio for folder in options.speech for audio in read_folder(folder)]
    variants = [vary(audio) for audio in recordings for _ in range(options.variants)]
    examples = teach(model, recordings + variants)
    seconds = sum(len(example["audio"]) for example in examples) / RATE
    print(f"{len(examples)} recordings, {seconds / 60:.0f} minutes", flush=True)
    voices = [e["audio"] for e in examples if len(e["audio"]) > MIN_VOICE_SECONDS * RATE]
    music, noises = read_folder(options.music), read_folder(options.noise)
    corrupt = Corruption(voices, music, noises, clean=options.clean)
    before = {name: weight.clone() for name, weight in model.model.encoder.state_dict().items()}
    train(model, examples, corrupt, options)
    save_file(change_of(model.model.encoder, before), options.out)


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--package", required=True)
    parser.add_argument("--size", default="base")
    parser.add_argument("--speech", nargs="+", required=True)
    parser.add_argument("--music", required=True)
    parser.add_argument("--noise", required=True)
    parser.add_argument("--variants", type=int, default=3, help="of each recording, beside it")
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--rate", type=float, default=1.2e-3)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--clean", type=float, default=0.08, help="share without corruption")
    parser.add_argument("--start", help="an adaptation to begin with")
    parser.add_argument("--out", required=True)
    return parser.parse_args()


def read_folder(folder):
    """Returns the first channel of every recording below a folder, at 16 kHz."""
    sounds = []
    for path in sorted(Path(folder).rglob("*")):
        if path.suffix.lower() not in (".wav", ".flac", ".mp3", ".ogg"):
            continue
        audio, rate = soundfile.read(path, dtype="float32", always_2d=True)
        audio = audio[:, 0]
        if rate != RATE:
            common = math.gcd(rate, RATE)
            audio = scipy.signal.resample_poly(audio, RATE // common, rate // common)
        sounds.append(audio.astype(np.float32))
    return sounds


def vary(audio):
    """Returns a part of a recording, at another speed."""
    resampled = scipy.signal.resample(audio, int(len(audio) / random.uniform(*SPEEDS)))
    length = min(len(resampled), int(random.uniform(*VARIANT_SECONDS) * RATE))
    start = random.randint(0, len(resampled) - length)
    return resampled[start : start + length].astype(np.float32)


@torch.no_grad()
def teach(model, recordings):
    """Returns what the published model hears in clean recordings: states, text, probabilities."""
    clips = sorted((audio[: int(MAX_SECONDS * RATE)] for audio in recordings), key=len)
    examples = []
    for start in range(0, len(clips), BATCH):
        batch = clips[start : start + BATCH]
        longest = max(map(len, batch))
        audio = torch.stack([torch.tensor(np.pad(clip, (0, longest - len(clip)))) for clip in batch])
        mask = torch.stack([(torch.arange(longest) < len(clip)).long() for clip in batch])
        most = int(longest / RATE * 6.5) + 8
        for clip, tokens in zip(batch, model.generate(audio, attention_mask=mask, max_new_tokens=most)):
            end = (tokens == model.config.eos_token_id).nonzero()
            if len(end) == 0 or end[0] + 1 < MIN_TOKENS:
                continue  # The text loops, or there is none.
            text = tokens[None, : end[0] + 1]
            states = model.model.encoder(torch.tensor(clip)[None]).last_hidden_state
            likely = logits(model, states, text).softmax(-1).topk(TEACHER_TOKENS)
            examples.append(
                {
                    "audio": clip,
                    "states": states.half().clone(),
                    "text": text.clone(),
                    "probabilities": likely.values.clone(),
                    "tokens": likely.indices.clone(),
                }
            )
    return examples


def logits(model, states, text):
    """The scores [tokens, vocabulary] of each next token after the text before it."""
    decoded = model.model.decoder(
        input_ids=text[:, :-1], encoder_hidden_states=states, use_cache=False
    )
    return model.proj_out(decoded.last_hidden_state)[0]


class LowRank(nn.Module):
    """A weight plus the product of two small matrices; at first their product is 0."""

    def __init__(self, weight, rank):
        super().__init__()
        inner = weight[0].numel()
        self.lora_A = nn.Parameter(torch.randn(rank, inner) / math.sqrt(inner))
        self.lora_B = nn.Parameter(torch.zeros(weight.shape[0], rank))

    def forward(self, weight):
        return weight + (self.lora_B @ self.lora_A).view_as(weight)


def prepare(encoder, rank):
    """Makes the weights of the encoder trainable; returns the low-rank and the other ones."""
    modules = [encoder.conv1, encoder.conv2, encoder.conv3]
    for layer in encoder.layers:
        attention = layer.self_attn
        modules += [attention.q_proj, attention.k_proj, attention.v_proj, attention.o_proj]
        modules += [layer.mlp.fc1, layer.mlp.fc2]
    for module in modules:
        parametrize.register_parametrization(module, "weight", LowRank(module.weight, rank))
    named = dict(encoder.named_parameters())
    low_rank = [weight for name, weight in named.items() if "lora" in name]
    others = [weight for name, weight in named.items() if name.endswith("bias") or "norm" in name]
    for weight in low_rank + others:
        weight.requires_grad_(True)
    return low_rank, others


def train(model, examples, corrupt, options):
    encoder = model.model.encoder
    low_rank, others = prepare(encoder, options.rank)
    if options.start:
        apply(encoder, load_file(options.start))
    groups = [
        {"params": low_rank, "lr": options.rate, "weight_decay": 0.01},
        {"params": others, "lr": options.rate / 5, "weight_decay": 0},
    ]
    optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.98))
    rates = [group["lr"] for group in groups]
    order, losses, started = [], [], time.time()
    for step in range(1, options.steps + 1):
        order = order or random.sample(examples, len(examples))
        example = order.pop()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            heard = torch.tensor(corrupt(example["audio"]))[None]
            states = encoder(heard).last_hidden_state
            scores = logits(model, states, example["text"]).float().log_softmax(-1)
        wanted = example["states"].float()
        difference = functional.mse_loss(states.float(), wanted) / wanted.var()
        likely = example["probabilities"]
        surprise = likely.clamp_min(1e-8).log() - scores.gather(1, example["tokens"])
        divergence = (likely * surprise).sum(-1).mean()
        ((divergence + difference) / options.batch).backward()
        losses.append([divergence.item(), difference.item()])
        if step % options.batch == 0:
            warm = min(1, step / (60 * options.batch))
            cosine = 0.5 * (1 + math.cos(math.pi * step / options.steps))
            for group, rate in zip(optimizer.param_groups, rates):
                group["lr"] = rate * warm * (0.03 + 0.97 * cosine)
            nn.utils.clip_grad_norm_(low_rank + others, 1.0)
            optimizer.step()
            optimizer.zero_grad()
        if step % 100 == 0:
            means = np.mean(losses[-300:], axis=0)
            print(step, *(f"{mean:.4f}" for mean in means), f"{time.time() - started:.0f} s", flush=True)


def array_names(encoder):
    """The trained weights, with their names in the file of an adaptation."""
    for name, value in encoder.named_parameters():
        weight, _, part = name.partition(".parametrizations.weight.0.")
        if value.requires_grad:
            suffix = f"weight.{part}" if part else "change"
            yield f"{published_name(weight)}.{suffix}", value, name


@torch.no_grad()
def apply(encoder, changes):
    """Begins with the changes of an earlier training."""
    for array, value, _ in array_names(encoder):
        change = changes[array].float()
        if array.endswith(".change"):
            value.add_(change)
        elif array.endswith("lora_A"):
            value[: len(change)] = change  # It may have a lower rank.
        else:
            value[:, : change.shape[1]] = change


def change_of(encoder, before):
    """Returns what training changed, under the names of the published graph, as 16-bit floats."""
    changes = {}
    for array, value, name in array_names(encoder):
        changes[array] = value - before[name] if array.endswith(".change") else value
    return {name: value.detach().half().contiguous() for name, value in changes.items()}


if __name__ == "__main__":
    main()
