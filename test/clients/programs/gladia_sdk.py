"""The vendor's Python SDK: recordings, errors and a live session. Prints what it saw as JSON.

Usage: gladia_sdk.py URL KEY RECORDING RECORDING_URL BAD_FILE PCM_FILE CALLBACK_URL
"""

import json
import sys
import time

from gladiaio_sdk import (
  GladiaClient,
  LiveV2InitRequest,
  LiveV2LanguageConfig,
  LiveV2MessagesConfig,
)

url, key, recording, recording_url, bad_file, pcm_file, callback_url = sys.argv[1:]
# Bytes of the recording up to a moment at which somebody speaks.
WHILE_SPEAKING = 51200
# Jobs of two versions are listed apart.
team = callback_url.rsplit("-", 1)[-1]
gladia = GladiaClient(api_key=key, api_url=url)
seen = {}


def failure(action):
  try:
    action()
  except Exception as error:
    return {
      "type": type(error).__name__,
      "status": getattr(error, "status", None),
      "message": str(error),
      "request_id": getattr(error, "request_id", None),
    }
  return None


if hasattr(gladia, "prerecorded"):
  jobs = gladia.prerecorded()
  options = {
    "language_config": {"languages": ["en"]},
    "diarization": True,
    "custom_vocabulary": True,
    "custom_vocabulary_config": {"vocabulary": ["fellow Americans"]},
    "callback": True,
    "callback_config": {"url": callback_url},
    "custom_metadata": {"team": team},
  }
  done = jobs.transcribe(recording, options, interval=0.2)
  seen["file"] = {
    "status": done.status,
    "text": done.result.transcription.full_transcript,
    "speaker": done.result.transcription.utterances[0].speaker,
    "words": len(done.result.transcription.utterances[0].words),
    "metadata": done.custom_metadata,
  }
  from_url = jobs.transcribe(recording_url, {}, interval=0.2)
  seen["url"] = from_url.result.transcription.full_transcript
  seen["download"] = len(jobs.get_file(done.id))
  if hasattr(jobs, "list"):
    seen["listed"] = [job.id == done.id for job in jobs.list({"custom_metadata": {"team": team}}).items]
  seen["deleted"] = jobs.delete(done.id)
  seen["missing"] = failure(lambda: jobs.get(done.id))
  seen["bad_file"] = failure(lambda: jobs.upload_file(bad_file))
  wrong = GladiaClient(api_key="wrong", api_url=url).prerecorded()
  seen["bad_key"] = failure(lambda: wrong.get(done.id))

messages, events = [], []
session = gladia.live_v2().start_session(
  LiveV2InitRequest(
    encoding="wav/pcm",
    sample_rate=16000,
    bit_depth=16,
    channels=1,
    language_config=LiveV2LanguageConfig(languages=["en"]),
    messages_config=LiveV2MessagesConfig(
      receive_partial_transcripts=True,
      receive_final_transcripts=True,
      receive_speech_events=True,
      receive_acknowledgments=True,
      receive_lifecycle_events=True,
    ),
  )
)
session.on("message", messages.append)
session.on("error", lambda error: events.append(["error", str(error)]))
session.on("ended", lambda ended: events.append(["ended", ended.code]))


def wait_for(happened):
  deadline = time.monotonic() + 30
  while not happened() and time.monotonic() < deadline:
    time.sleep(0.02)


with open(pcm_file, "rb") as file:
  session.send_audio(file.read(WHILE_SPEAKING))
  wait_for(lambda: any(message.type == "transcript" for message in messages))
  while chunk := file.read(3200):
    session.send_audio(chunk)
session.stop_recording()
wait_for(lambda: any(kind == "ended" for kind, _ in events))
transcripts = [message for message in messages if message.type == "transcript"]
seen["live"] = {
  "partials": sum(1 for message in transcripts if not message.data.is_final),
  "text": "".join(m.data.utterance.text for m in transcripts if m.data.is_final),
  "types": sorted({message.type for message in messages}),
  "acknowledged": max(
    (m.data.byte_range[1] for m in messages if m.type == "audio_chunk" and m.data), default=0
  ),
  "events": events,
}
print(json.dumps(seen))
