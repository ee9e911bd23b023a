"""Renders random pieces of music with FluidSynth: chords, bass, melody, drums on any instruments.

Usage: render_music.py FOLDER SOUNDFONT [COUNT]
"""

import random
import subprocess
import sys
from pathlib import Path

import mido

TICKS = 480
SECONDS = 28
DRUMS = 9
SCALES = [
    [0, 2, 4, 5, 7, 9, 11],
    [0, 2, 3, 5, 7, 8, 10],
    [0, 2, 4, 7, 9],
    [0, 3, 5, 7, 10],
    [0, 2, 3, 5, 7, 9, 10],
]
PARTS = ["chords", "bass", "melody", "drums", "arpeggio", "pad"]


class Piece:
    """A piece of MIDI that is written note by note; times are in beats."""

    def __init__(self):
        self.events = []

    def play(self, channel, start, length, pitch, velocity):
        pitch = min(127, max(0, pitch))
        on = mido.Message("note_on", channel=channel, note=pitch, velocity=velocity)
        self.events.append((int(start * TICKS), on))
        off = mido.Message("note_off", channel=channel, note=pitch, velocity=0)
        self.events.append((int((start + length) * TICKS), off))

    def choose(self, channel, instrument):
        message = mido.Message("program_change", channel=channel, program=instrument)
        self.events.append((0, message))

    def write(self, path, beats_per_minute):
        file = mido.MidiFile(ticks_per_beat=TICKS)
        track = mido.MidiTrack()
        file.tracks.append(track)
        track.append(mido.MetaMessage("set_tempo", tempo=mido.bpm2tempo(beats_per_minute)))
        before = 0
        for at, message in sorted(self.events, key=lambda event: event[0]):
            track.append(message.copy(time=at - before))
            before = at
        file.save(path)


def compose(path):
    piece, tempo = Piece(), random.uniform(60, 170)
    scale, root = random.choice(SCALES), random.randint(40, 52)
    parts = random.sample(PARTS, random.randint(1, 5))
    if parts == ["drums"]:
        parts.append("melody")
    channels = {part: DRUMS if part == "drums" else i for i, part in enumerate(parts)}
    loudness = {part: random.randint(45, 110) for part in parts}
    for part in parts:
        if part != "drums":
            piece.choose(channels[part], random.randint(0, 103))
    degrees = [random.randint(0, 6) for _ in range(4)]
    hits = [random.random() < 0.5 for _ in range(8)]

    def pitch(degree):
        return root + 12 * (degree // len(scale)) + scale[degree % len(scale)]

    for beat in range(int(SECONDS * tempo / 60)):
        degree = degrees[(beat // 4) % 4]
        for part in parts:
            channel, velocity = channels[part], loudness[part]
            for start, length, note in notes_of(part, beat, degree, pitch, hits):
                piece.play(channel, beat + start, length, note, velocity)
    piece.write(path, tempo)


def notes_of(part, beat, degree, pitch, hits):
    """The notes of one beat: start in the beat, length, pitch."""
    if part == "chords" and beat % 2 == 0:
        return [(0, 1.8, pitch(degree + k) + 12) for k in (0, 2, 4)]
    if part == "pad" and beat % 4 == 0:
        return [(0, 4, pitch(degree + k) + 12) for k in (0, 2, 4, 6)]
    if part == "bass":
        return [(0, 0.9, pitch(degree) - 12)]
    if part == "arpeggio":
        return [(i / 4, 0.24, pitch(degree + k) + 12) for i, k in enumerate((0, 2, 4, 7))]
    if part == "melody":
        notes, at = [], 0
        while at < 1:
            length = random.choice([0.25, 0.5, 1])
            if random.random() < 0.8:
                notes.append((at, length, pitch(random.randint(7, 16))))
            at += length
        return notes
    if part == "drums":
        hats = [(k / 4, 0.1, 42) for k in range(4) if hits[k]]
        kicks = [(k / 4, 0.1, 36) for k in (0, 2) if hits[4 + k]]
        return hats + kicks + ([(0, 0.1, 38)] if beat % 2 else [])
    return []


if __name__ == "__main__":
    folder, soundfont = Path(sys.argv[1]), sys.argv[2]
    folder.mkdir(parents=True, exist_ok=True)
    random.seed(7)
    for number in range(int(sys.argv[3]) if len(sys.argv) > 3 else 140):
        compose(folder / "piece.mid")
        wav = folder / f"{number}.wav"
        options = ["-ni", "-q", "-r", "16000", "-g", "0.6", "-F", wav, "-T", "wav"]
        subprocess.run(["fluidsynth", *options, soundfont, folder / "piece.mid"], check=True)
    (folder / "piece.mid").unlink()
