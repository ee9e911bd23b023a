"""OpenAI's Python package: transcription in all forms, errors, realtime. Prints JSON.

Usage: openai_sdk.py URL KEY RECORDING BAD_FILE PCM24_FILE
"""

import asyncio
import base64
import json
import sys

import openai

url, key, recording, bad_file, pcm24_file = sys.argv[1:]
client = openai.OpenAI(api_key=key, base_url=f"{url}/v1", max_retries=0)
seen = {}


def failure(action):
  try:
    action()
  except openai.APIStatusError as error:
    return {"type": type(error).__name__, "status": error.status_code, "code": error.code}
  return None


def transcribe(**options):
  with open(recording, "rb") as file:
    return client.audio.transcriptions.create(**{"model": "whisper-1", "file": file, **options})


seen["json"] = transcribe(language="en").text
verbose = transcribe(
  response_format="verbose_json", timestamp_granularities=["word", "segment"], prompt="Americans"
)
seen["verbose"] = {
  "language": verbose.language,
  "duration": float(verbose.duration),
  "words": len(verbose.words),
  "segments": len(verbose.segments),
}
seen["srt"] = transcribe(response_format="srt")
# As in the guide of OpenAI: a stream of a text is one of events, too.
events = list(transcribe(model="gpt-4o-transcribe", response_format="text", stream=True))
seen["stream"] = {"types": sorted({event.type for event in events}), "text": events[-1].text}
with open(recording, "rb") as file:
  create = client.audio.transcriptions.with_raw_response.create
  raw = create(model="whisper-1", file=file)
seen["raw"] = {"text": raw.parse().text, "id": raw.headers["x-request-id"]}
diarized = transcribe(model="gpt-4o-transcribe-diarize", response_format="diarized_json")
seen["speakers"] = [segment.speaker for segment in diarized.segments][:1]
with open(recording, "rb") as file:
  seen["translation"] = client.audio.translations.create(model="whisper-1", file=file).text
seen["models"] = [model.id for model in client.models.list()]
seen["model"] = client.models.retrieve(seen["models"][0]).object
with open(bad_file, "rb") as file:
  seen["bad_file"] = failure(
    lambda: client.audio.transcriptions.create(model="whisper-1", file=file)
  )
seen["bad_model"] = failure(lambda: transcribe(model="nope"))
seen["no_model"] = failure(lambda: client.models.retrieve("nope"))
wrong = openai.OpenAI(api_key="wrong", base_url=f"{url}/v1", max_retries=0)
seen["bad_key"] = failure(lambda: wrong.models.list())

SESSION = {
  "type": "transcription",
  "audio": {
    "input": {
      "format": {"type": "audio/pcm", "rate": 24000},
      "transcription": {"model": "gpt-4o-transcribe", "language": "en"},
      "turn_detection": {"type": "server_vad", "silence_duration_ms": 500},
    }
  },
}


async def realtime():
  # A page gets a secret in place of the key, and with it the settings.
  secret = client.realtime.client_secrets.create(session=SESSION)
  seen["secret"] = secret.value
  realtime_client = openai.AsyncOpenAI(api_key=secret.value, base_url=f"{url}/v1")
  types, transcripts = set(), []
  connect = realtime_client.realtime.connect
  async with connect(extra_query={"intent": "transcription"}) as connection:
    with open(pcm24_file, "rb") as file:
      while chunk := file.read(48000):
        audio = base64.b64encode(chunk).decode()
        await connection.input_audio_buffer.append(audio=audio)
    await connection.input_audio_buffer.append(audio=base64.b64encode(bytes(48000)).decode())
    async for event in connection:
      types.add(event.type)
      if event.type == "conversation.item.input_audio_transcription.completed":
        transcripts.append(event.transcript)
        break
  return {"types": sorted(types), "transcripts": transcripts}


async def transcribe_asynchronously():
  client = openai.AsyncOpenAI(api_key=key, base_url=f"{url}/v1", max_retries=0)
  with open(recording, "rb") as file:
    stream = await client.audio.transcriptions.create(
      model="gpt-4o-transcribe", file=file, stream=True
    )
    events = [event async for event in stream]
  return events[-1].text


seen["async"] = asyncio.run(transcribe_asynchronously())
seen["realtime"] = asyncio.run(asyncio.wait_for(realtime(), 60))
print(json.dumps(seen))
