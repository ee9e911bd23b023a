"""Turns a clean recording into one as people have it: noise, reverberation, telephone, distance.

All audio is at 16 kHz, floats from -1 to 1. Every call draws new random conditions.
"""

import random

import numpy as np
import pyroomacoustics
import scipy.signal

RATE = 16_000


class Corruption:
    """`voices`: recordings for babble. `music`, `noises`: recordings of these. `clean`: the share of
    recordings that are only made quieter or louder.
    """

    def __init__(self, voices, music, noises, *, clean, rooms=300):
        self.voices, self.music, self.noises, self.clean = voices, music, noises, clean
        self.rooms = [simulate_room() for _ in range(rooms)]

    def __call__(self, clean):
        """Returns a corrupted copy."""
        heard = clean.copy()
        if random.random() > self.clean:
            if random.random() < 0.35:
                heard = self._reverberate(heard)
            if random.random() < 0.94:
                noise, lowest = self._noise(len(heard))
                if random.random() < 0.25:
                    noise = self._reverberate(noise)
                snr = random.uniform(lowest, 16)
                heard = heard + noise * (level(heard) / level(noise) / 10 ** (snr / 20))
        if random.random() < 0.2:
            heard = through_telephone(heard)
        elif random.random() < 0.08:
            edge = random.uniform(2500, 6500)
            heard = scipy.signal.sosfilt(filter_of(6, edge, "lowpass", RATE), heard)
        heard = heard / (np.abs(heard).max() + 1e-9)
        if random.random() < 0.04:
            heard = np.clip(heard * random.uniform(1.5, 4), -1, 1)
        return (heard * 10 ** (random.uniform(-26, 0) / 20)).astype(np.float32)

    def _reverberate(self, sound):
        return scipy.signal.fftconvolve(sound, random.choice(self.rooms))[: len(sound)]

    def _noise(self, length):
        """Returns noise of one kind, and the lowest signal-to-noise ratio in dB for it."""
        kind, lowest = random.random(), -3
        if kind < 0.4:
            noise, voices = self._babble(length)
            lowest = {1: 3, 2: 1}.get(voices, -1)
        elif kind < 0.65:
            noise = excerpt(random.choice(self.music), length)
        elif kind < 0.78:
            noise = colored(length)
        elif kind < 0.88:
            noise = colored(length) * slow_envelope(length)
        elif kind < 0.93 and self.noises:
            noise = excerpt(random.choice(self.noises), length)
        else:
            noise = knocks(length)
        if random.random() < 0.15:
            other = colored(length)
            noise = noise / level(noise) + other / level(other) * random.uniform(0.1, 0.7)
        return noise, lowest

    def _babble(self, length):
        voices = random.choice([1, 2, 3, 4, 5, 6, 8])
        sum_ = np.zeros(length)
        for _ in range(voices):
            voice = excerpt(random.choice(self.voices), length)
            if random.random() < 0.4:
                voice = self._reverberate(voice)
            sum_ += voice / level(voice) * random.uniform(0.5, 1)
        return sum_, voices


def level(sound):
    return float(np.sqrt(np.mean(sound * sound)) + 1e-9)


def excerpt(sound, length):
    """A part that starts anywhere; a short recording repeats."""
    start = random.randrange(len(sound))
    repeated = np.tile(sound, (length + start) // len(sound) + 2)
    return repeated[start : start + length].copy()


def colored(length):
    """Steady noise, from white to darker than pink, half of it with a random shape over bands."""
    spectrum = np.fft.rfft(np.random.randn(length))
    bins = np.arange(len(spectrum)) + 1.0
    spectrum *= bins ** -random.uniform(0, 1.2)
    if random.random() < 0.5:
        places = np.linspace(0, 1, len(spectrum)) ** 0.5
        gains = np.interp(places, np.linspace(0, 1, 8), np.random.uniform(-18, 6, 8))
        spectrum *= 10 ** (gains / 20)
    return np.fft.irfft(spectrum, length)


def slow_envelope(length):
    """Gains that change one to eight times a second."""
    points = max(2, int(length / RATE * random.uniform(1, 8))) + 2
    gains = np.abs(np.random.randn(points)) ** random.uniform(0.5, 1.5)
    return np.interp(np.arange(length), np.linspace(0, length, points), gains)


def knocks(length):
    """Short sounds that fade, sometimes over a hum."""
    sound = np.zeros(length)
    for _ in range(random.randint(2, 14)):
        size = int(random.uniform(0.01, 0.5) * RATE)
        fade = np.exp(-np.arange(size) / (size * random.uniform(0.1, 0.4)))
        knock = colored(size) * fade
        at = random.randrange(max(1, length - size))
        part = knock[: length - at]
        sound[at : at + len(part)] += part / level(knock) * random.uniform(0.3, 1)
    if random.random() < 0.3:
        seconds = np.arange(length) / RATE
        base = random.choice([50, 60, 100, 120, random.uniform(80, 400)])
        waves = [np.sin(2 * np.pi * base * k * seconds + random.uniform(0, 6)) / k for k in range(1, 6)]
        sound += level(sound) * sum(waves)
    return sound


def through_telephone(sound):
    """8 kHz, half of them from 300 to 3,400 Hz or similar, most of them as mu-law bytes."""
    half = scipy.signal.resample_poly(sound, 1, 2)
    if random.random() < 0.5:
        band = [random.uniform(150, 350), 3400]
        half = scipy.signal.sosfilt(filter_of(4, band, "bandpass", RATE // 2), half)
    half = half / (np.abs(half).max() + 1e-9) * random.uniform(0.1, 0.95)
    if random.random() < 0.7:
        half = as_mu_law(half)
    whole = scipy.signal.resample_poly(half, 2, 1)[: len(sound)]
    return np.pad(whole, (0, len(sound) - len(whole)))


def as_mu_law(sound):
    mu = 255.0
    pressed = np.sign(sound) * np.log1p(mu * np.abs(sound)) / np.log1p(mu)
    rounded = np.round(pressed * 127) / 127
    return np.sign(rounded) * ((1 + mu) ** np.abs(rounded) - 1) / mu


def filter_of(order, edges, kind, rate):
    return scipy.signal.butter(order, edges, kind, fs=rate, output="sos")


def simulate_room():
    """The impulse response from a voice to a microphone, 0.3 to 4 m apart, from the direct sound on."""
    while True:
        sizes = [random.uniform(2.5, 9), random.uniform(2.5, 7), random.uniform(2.3, 3.8)]
        try:
            absorption, order = pyroomacoustics.inverse_sabine(random.uniform(0.12, 0.8), sizes)
            break
        except ValueError:
            continue  # No material makes this room so quiet.
    material = pyroomacoustics.Material(absorption)
    room = pyroomacoustics.ShoeBox(sizes, fs=RATE, materials=material, max_order=min(order, 25))
    microphone = [random.uniform(0.3, size - 0.3) for size in sizes]
    direction = np.random.normal(size=3) * [1, 1, 0.3]
    direction /= np.linalg.norm(direction)
    voice = np.array(microphone) + direction * random.uniform(0.3, 4)
    room.add_source(np.clip(voice, 0.2, np.array(sizes) - 0.2))
    room.add_microphone(microphone)
    room.compute_rir()
    response = room.rir[0][0]
    direct = int(np.argmax(np.abs(response)))
    response = response[max(0, direct - 8) : direct + int(0.9 * RATE)]
    return response / np.abs(response).max()
