"""LiveKit agents' plugin of OpenAI: one recognition, and a stream with changed options. Prints JSON.

Usage: livekit_openai.py URL KEY PCM_FILE
"""

import asyncio
import json
import sys

from livekit import rtc
from livekit.agents import APIConnectOptions, stt
from livekit.agents.utils import http_context
from livekit.plugins import openai

url, key, pcm_file = sys.argv[1:]
RATE = 16000
ONCE = APIConnectOptions(max_retry=0)


def frame_of(chunk):
  return rtc.AudioFrame(chunk, RATE, 1, len(chunk) // 2)


def frames():
  with open(pcm_file, "rb") as file:
    while chunk := file.read(3200):
      yield frame_of(chunk)


async def recognize():
  plugin = openai.STT(api_key=key, base_url=f"{url}/v1")
  event = await plugin.recognize(list(frames()), conn_options=ONCE)
  return {"text": event.alternatives[0].text, "language": str(event.alternatives[0].language)}


async def transcribe():
  plugin = openai.STT(
    api_key=key, base_url=f"{url}/v1", model="gpt-4o-transcribe", use_realtime=True
  )
  stream = plugin.stream(conn_options=ONCE)
  audio = list(frames())
  for frame in audio[:16]:
    stream.push_frame(frame)
  events, finals = [], []
  async for event in stream:
    events.append(event.type.value)
    if event.type == stt.SpeechEventType.START_OF_SPEECH and audio:
      # The plugin sends the options again, although the session has received audio.
      stream.update_options(language="en")
      for frame in [*audio[16:], *[frame_of(bytes(3200))] * 10]:
        stream.push_frame(frame)
      audio = []
    if event.type == stt.SpeechEventType.FINAL_TRANSCRIPT:
      finals.append(event.alternatives[0])
      break
  await stream.aclose()
  return {"types": sorted(set(events)), "text": finals[0].text, "language": str(finals[0].language)}


async def main():
  async with http_context.open():
    print(json.dumps({"recognized": await recognize(), "stream": await transcribe()}))


asyncio.run(main())
