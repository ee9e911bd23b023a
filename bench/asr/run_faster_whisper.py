"""Recognizes recordings with faster-whisper, for languages.bench.ts.

Arguments: folder of the CTranslate2 model, compute type. Standard input: lines of tab-separated
file (16-bit mono samples at 16 kHz) and language (may be empty). Prints one JSON line for each:
text, language, words as [start, text], processor seconds.
"""

import json
import sys
import time

import numpy as np
from faster_whisper import WhisperModel

model = WhisperModel(sys.argv[1], device="cpu", compute_type=sys.argv[2], cpu_threads=1)
for line in sys.stdin:
    path, language = line.rstrip("\n").split("\t")
    audio = np.fromfile(path, dtype=np.int16).astype(np.float32) / 32768
    started = time.process_time()
    segments, info = model.transcribe(
        audio, language=language or None, vad_filter=True, word_timestamps=True
    )
    words = [[word.start, word.word] for segment in segments for word in segment.words]
    print(
        json.dumps(
            {
                "text": "".join(text for _, text in words),
                "language": info.language,
                "words": words,
                "seconds": time.process_time() - started,
            }
        ),
        flush=True,
    )
