"""LiveKit agents' plugin: a stream with partials, one recognition, a wrong key. Prints JSON.

Usage: livekit_stt.py URL KEY PCM_FILE
"""

import asyncio
import json
import sys

import aiohttp
from livekit import rtc
from livekit.agents import APIConnectOptions, stt
from livekit.plugins import gladia

url, key, pcm_file = sys.argv[1:]
RATE = 16000
# Frames of the recording up to a moment at which somebody speaks.
WHILE_SPEAKING = 16


def frames():
  with open(pcm_file, "rb") as file:
    while chunk := file.read(3200):
      yield rtc.AudioFrame(chunk, RATE, 1, len(chunk) // 2)


async def main():
  seen = {}
  async with aiohttp.ClientSession() as http:

    def plugin(api_key):
      return gladia.STT(
        api_key=api_key,
        base_url=f"{url}/v2/live",
        http_session=http,
        languages=["en"],
        custom_vocabulary=["fellow Americans"],
      )

    stream = plugin(key).stream()
    audio = list(frames())
    for frame in audio[:WHILE_SPEAKING]:
      stream.push_frame(frame)
    # The plugin reads nothing any more once its input has ended.
    events, finals = [], []
    async for event in stream:
      events.append(event)
      if event.type == stt.SpeechEventType.INTERIM_TRANSCRIPT:
        for frame in audio[WHILE_SPEAKING:]:
          stream.push_frame(frame)
        audio = []
      if event.type == stt.SpeechEventType.FINAL_TRANSCRIPT:
        finals.append(event.alternatives[0])
        if len(finals) == 1:
          stream.end_input()
    seen["stream"] = {
      "types": sorted({event.type.value for event in events}),
      "text": " ".join(final.text for final in finals),
      "language": str(finals[0].language) if finals else None,
      "words": len(finals[0].words or []) if finals else 0,
    }
    event = await plugin(key).recognize(list(frames()))
    seen["recognized"] = " ".join(one.text for one in event.alternatives)
    try:
      await plugin("wrong").recognize(list(frames()), conn_options=APIConnectOptions(max_retry=0))
    except Exception as error:
      seen["bad_key"] = {"type": type(error).__name__, "message": str(error)}
  print(json.dumps(seen))


asyncio.run(main())
