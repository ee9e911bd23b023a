"""The Python package of the Wyoming protocol, as Home Assistant uses it. Prints JSON.

Usage: wyoming_stt.py PORT PCM_FILE
"""

import asyncio
import json
import sys

from wyoming.asr import Transcribe, Transcript, TranscriptChunk, TranscriptStart, TranscriptStop
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.client import AsyncTcpClient
from wyoming.error import Error
from wyoming.info import Describe, Info

port, pcm_file = sys.argv[1:]
FORMAT = {"rate": 16000, "width": 2, "channels": 1}


def connect():
  return AsyncTcpClient("127.0.0.1", int(port))


async def describe():
  async with connect() as client:
    await client.write_event(Describe().event())
    info = Info.from_event(await client.read_event())
  program = info.asr[0]
  return {
    "program": program.name,
    "streaming": program.supports_transcript_streaming,
    "models": {model.name: model.languages for model in program.models},
  }


async def transcribe():
  seen = {"types": [], "chunks": []}
  async with connect() as client:
    await client.write_event(Transcribe(language="en").event())
    await client.write_event(AudioStart(**FORMAT).event())
    with open(pcm_file, "rb") as file:
      while audio := file.read(2048):
        await client.write_event(AudioChunk(audio=audio, **FORMAT).event())
    await client.write_event(AudioStop().event())
    while event := await client.read_event():
      seen["types"].append(event.type)
      if TranscriptChunk.is_type(event.type):
        seen["chunks"].append(TranscriptChunk.from_event(event).text)
      elif Transcript.is_type(event.type):
        seen["text"] = Transcript.from_event(event).text
      elif TranscriptStart.is_type(event.type):
        seen["language"] = TranscriptStart.from_event(event).language
      elif TranscriptStop.is_type(event.type):
        return seen
  return seen


async def fail():
  async with connect() as client:
    await client.write_event(AudioStart(rate=22050, width=2, channels=1).event())
    error = Error.from_event(await client.read_event())
    return {"text": error.text, "ended": await client.read_event() is None}


async def main():
  return {"info": await describe(), "heard": await transcribe(), "failure": await fail()}


print(json.dumps(asyncio.run(asyncio.wait_for(main(), 60))))
