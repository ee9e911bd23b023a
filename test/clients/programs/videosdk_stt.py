"""VideoSDK agents' plugin: a live session, a wrong key. Prints JSON.

Usage: videosdk_stt.py URL KEY PCM_FILE
"""

import array
import asyncio
import json
import sys

from videosdk.plugins.gladia import GladiaSTT, stt

url, key, pcm_file = sys.argv[1:]
# Bytes of the recording up to a moment at which somebody speaks.
WHILE_SPEAKING = 51200
# The plugin has no option for the address.
stt.GLADIA_API_URL = f"{url}/v2/live"


def plugin(api_key):
  return GladiaSTT(
    api_key=api_key,
    languages=["en"],
    input_sample_rate=16000,
    receive_partial_transcripts=True,
  )


async def main():
  seen = {"partials": 0, "finals": [], "errors": []}
  client = plugin(key)
  heard = asyncio.Event()

  async def on_transcript(response):
    if response.event_type.value == "final_transcript":
      seen["finals"].append(response.data.text)
    else:
      seen["partials"] += 1
      heard.set()

  client.on_stt_transcript(on_transcript)
  client.on("error", lambda error: seen["errors"].append(str(error)))
  with open(pcm_file, "rb") as file:
    while chunk := file.read(3200):
      if file.tell() > WHILE_SPEAKING:
        await asyncio.wait_for(heard.wait(), 30)
      # Rooms have two channels unless the framework detects otherwise.
      samples = array.array("h", chunk)
      await client.process_audio(array.array("h", [s for s in samples for _ in "LR"]).tobytes())
  await client.stop_stream()
  await asyncio.wait_for(client._ws_task, 60)
  seen["close_code"] = client._ws.close_code
  await client.aclose()

  wrong = plugin("wrong")
  refused = []
  wrong.on("error", lambda error: refused.append(str(error)))
  await wrong.process_audio(bytes(3200))
  seen["bad_key"] = refused
  await wrong.aclose()
  print(json.dumps(seen))


asyncio.run(main())
