"""pipecat's services in a pipeline: partials, finals, speech events, a wrong key. Prints JSON.

Usage: pipecat_stt.py URL KEY PCM_FILE
"""

import asyncio
import json
import sys

from pipecat.frames.frames import (
  EndFrame,
  Frame,
  InputAudioRawFrame,
  InterimTranscriptionFrame,
  TranscriptionFrame,
  VADUserStartedSpeakingFrame,
  VADUserStoppedSpeakingFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.runner import PipelineRunner
from pipecat.pipeline.task import PipelineParams, PipelineTask
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.services.gladia.config import (
  CustomVocabularyConfig,
  LanguageConfig,
  MessagesConfig,
  RealtimeProcessingConfig,
)
from pipecat.services.gladia.stt import GladiaSTTService
from pipecat.services.openai.stt import OpenAIRealtimeSTTService, OpenAISTTService

url, key, pcm_file = sys.argv[1:]
# Bytes of the recording up to a moment at which somebody speaks.
WHILE_SPEAKING = 51200


class Collector(FrameProcessor):
  def __init__(self):
    super().__init__()
    self.partials, self.finals = 0, []
    self.began, self.heard = asyncio.Event(), asyncio.Event()

  async def process_frame(self, frame: Frame, direction: FrameDirection):
    await super().process_frame(frame, direction)
    if isinstance(frame, InterimTranscriptionFrame):
      self.partials += 1
      self.began.set()
    elif isinstance(frame, TranscriptionFrame):
      self.finals.append(frame.text)
      self.heard.set()
    await self.push_frame(frame, direction)


async def run(api_key):
  service = GladiaSTTService(
    api_key=api_key,
    url=f"{url}/v2/live",
    settings=GladiaSTTService.Settings(
      language_config=LanguageConfig(languages=["en"]),
      realtime_processing=RealtimeProcessingConfig(
        words_accurate_timestamps=True,
        custom_vocabulary=True,
        custom_vocabulary_config=CustomVocabularyConfig(vocabulary=["fellow Americans"]),
      ),
      messages_config=MessagesConfig(
        receive_partial_transcripts=True,
        receive_speech_events=True,
        receive_acknowledgments=True,
      ),
    ),
  )
  collector = Collector()
  task = PipelineTask(
    Pipeline([service, collector]),
    params=PipelineParams(audio_in_sample_rate=16000),
    idle_timeout_secs=None,
  )
  errors = []

  @task.event_handler("on_pipeline_error")
  async def on_pipeline_error(_task, frame):
    errors.append(frame.error)

  runner = asyncio.create_task(PipelineRunner(handle_sigint=False).run(task))
  with open(pcm_file, "rb") as file:
    while chunk := file.read(3200):
      if file.tell() > WHILE_SPEAKING and not errors:
        await asyncio.wait_for(collector.began.wait(), 30)
      await task.queue_frame(InputAudioRawFrame(chunk, 16000, 1))
      # The service drops what it gets before its session is open.
      await asyncio.sleep(0.02)
  if not errors:
    await asyncio.wait_for(collector.heard.wait(), 30)
  await task.queue_frame(EndFrame())
  await asyncio.wait_for(runner, 30)
  return {"partials": collector.partials, "finals": collector.finals, "errors": errors}


async def run_openai(service):
  collector = Collector()
  task = PipelineTask(
    Pipeline([service, collector]),
    params=PipelineParams(audio_in_sample_rate=16000),
    idle_timeout_secs=None,
  )
  runner = asyncio.create_task(PipelineRunner(handle_sigint=False).run(task))
  await task.queue_frame(VADUserStartedSpeakingFrame())
  with open(pcm_file, "rb") as file:
    while chunk := file.read(3200):
      await task.queue_frame(InputAudioRawFrame(chunk, 16000, 1))
      await asyncio.sleep(0.02)
  await task.queue_frame(VADUserStoppedSpeakingFrame())
  await asyncio.wait_for(collector.heard.wait(), 30)
  await task.queue_frame(EndFrame())
  await asyncio.wait_for(runner, 30)
  return {"partials": collector.partials, "finals": collector.finals}


async def main():
  rest = OpenAISTTService(api_key=key, base_url=f"{url}/v1")
  realtime = OpenAIRealtimeSTTService(
    api_key=key, base_url=f"{url.replace('http', 'ws')}/v1/realtime"
  )
  seen = {
    "session": await run(key),
    "bad_key": await run("wrong"),
    "openai": await run_openai(rest),
    "openai_realtime": await run_openai(realtime),
  }
  print(json.dumps(seen))


asyncio.run(main())
