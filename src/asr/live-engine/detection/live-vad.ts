import { toInt16 } from '../../../audio/pcm.ts'
import { LEVEL_FRAMES, liveGain } from '../../segmentation/gain.ts'
import type { Vad, VadStream } from '../../segmentation/vad.ts'
import { CONTEXT_SAMPLES, VAD_FRAME, WARM_UP_FRAMES } from '../../segmentation/vad-frames.ts'
import {
  type DetectRequest,
  type LiveAudio,
  MAX_DETECT_FRAMES,
  type SpeechFrames,
} from '../live-engine.ts'
import { decibels, rmsOf, writeChannel } from './audio-conversion.ts'
import { type CleanSamples, openCleanSamples } from './clean-samples.ts'
import { crosstalkStart } from './live-crosstalk.ts'
import { openSamples } from './open-samples.ts'

/**
 * The detector resets at every multiple of this many frames (16 s) and reads `WARM_UP_FRAMES` of
 * lead-in: its output depends on audio and position alone, so a restart in between changes nothing.
 */
const RESET_INTERVAL_FRAMES = 500
/** Frames of each channel per request at least: the resampler reads a margin around them. */
const MIN_DETECT_FRAMES = 8
/**
 * Number of audio streams whose state is kept; one that returns after eviction is processed again
 * from its grid point.
 */
const MAX_KEPT = 128

/**
 * Detects speech in many audio streams in turn, each from where it stopped or from any other
 * position.
 */
export type LiveVad = {
  detect(audio: LiveAudio, request: DetectRequest): Promise<SpeechFrames>
}

/** The state of an audio stream between two requests. */
type StreamState = {
  frame: number
  samples: CleanSamples
  channels: Channel[]
}

type Channel = {
  stream: VadStream
  /** Samples before the next frame, which the detector gets with it. */
  context: Float32Array
  /** The detector's input for the last `WARM_UP_FRAMES`. */
  inputs: Float32Array[]
  /** Peaks of the last `LEVEL_FRAMES` frames. */
  peaks: number[]
}

/** Creates a live VAD; its state is lost with the process, which affects only speed. */
export function createLiveVad(detector: Pick<Vad, 'stream'>): LiveVad {
  const keptStreams = new Map<string, StreamState>()
  return {
    async detect(audio, request) {
      const key = JSON.stringify(audio)
      const keptStream = keptStreams.get(key)
      // Not in the map while in use: a request that fails must not leave a half-finished step
      // behind.
      keptStreams.delete(key)
      const isNext = keptStream?.frame === request.from
      if (!isNext) keptStream?.samples.close()
      const state = isNext ? keptStream : await start(audio, request)
      try {
        if (!isNext) await rebuild(detector, { audio, request, state })
        const speech = await advanceDetector(detector, { audio, request, state })
        const isOver = request.isEnd && speech.probabilities[0]!.length === 0
        if (isOver) state.samples.close()
        else keptStreams.set(key, state)
        dropOldest(keptStreams)
        return speech
      } catch (error) {
        state.samples.close()
        throw error
      }
    },
  }

  async function start(audio: LiveAudio, request: DetectRequest): Promise<StreamState> {
    const levelsFrom = firstWritten(request.from)
    const first = audio.channels.length === 1 ? levelsFrom : crosstalkStart(levelsFrom)
    const channels = audio.channels.map(() => newChannel(detector))
    const source = await openSamples(audio, first * VAD_FRAME)
    const samples = openCleanSamples(source, { channels: channels.length, first })
    return { frame: first, samples, channels }
  }
}

function dropOldest(keptStreams: Map<string, StreamState>): void {
  for (const [oldest, { samples }] of keptStreams) {
    if (keptStreams.size <= MAX_KEPT) return
    samples.close()
    keptStreams.delete(oldest)
  }
}

function newChannel(detector: Pick<Vad, 'stream'>): Channel {
  return {
    stream: detector.stream(),
    context: new Float32Array(CONTEXT_SAMPLES),
    inputs: Array.from(
      { length: WARM_UP_FRAMES },
      () => new Float32Array(CONTEXT_SAMPLES + VAD_FRAME),
    ),
    peaks: [],
  }
}

function gridBefore(frame: number): number {
  return frame - (frame % RESET_INTERVAL_FRAMES)
}

/** Returns the first frame that a fresh state writes again, and whose level it needs. */
function firstWritten(from: number): number {
  return Math.max(0, gridBefore(from) - WARM_UP_FRAMES - LEVEL_FRAMES)
}

/**
 * Brings a fresh state to `request.from`, as if all frames had been processed in order. It reads
 * what precedes the grid point (the warm-up, the levels before that, and with several channels the
 * audio that determines their gains), and writes the samples again from the first frame of the
 * levels on.
 */
async function rebuild(detector: Pick<Vad, 'stream'>, step: DetectionStep): Promise<void> {
  const { request, state } = step
  const detectFrom = gridBefore(request.from)
  const writeFrom = firstWritten(request.from)
  while (state.frame < request.from) {
    const before = state.frame
    const isWritten = before >= writeFrom
    const limit = (isWritten ? request.from : writeFrom) - before
    await advanceDetector(detector, { ...step, limit, detectFrom, isWritten })
    if (state.frame === before) return
  }
}

type DetectionStep = {
  audio: LiveAudio
  request: DetectRequest
  state: StreamState
  limit?: number
  /** Frames before this one are prepared for the detector, but not run through it. */
  detectFrom?: number
  isWritten?: boolean
}

/**
 * Processes up to `limit` further frames of all channels, divided by the number of channels: eight
 * channels take eight times as long per frame, and other sessions wait meanwhile.
 */
async function advanceDetector(
  detector: Pick<Vad, 'stream'>,
  {
    audio,
    request,
    state,
    limit = MAX_DETECT_FRAMES,
    detectFrom = 0,
    isWritten = true,
  }: DetectionStep,
): Promise<SpeechFrames> {
  const start = state.frame * VAD_FRAME
  const perChannel = Math.floor(MAX_DETECT_FRAMES / audio.channels.length)
  const count = Math.min(limit, Math.max(MIN_DETECT_FRAMES, perChannel))
  const frames = state.samples.read(request, count)
  const speech: SpeechFrames = { probabilities: [], levels: [] }
  for (const [i, path] of audio.channels.entries()) {
    const samples = new Int16Array(frames.length * VAD_FRAME)
    for (const [n, { planes }] of frames.entries()) samples.set(toInt16(planes[i]!), n * VAD_FRAME)
    if (isWritten) writeChannel(path, start, samples)
    const channel = state.channels[i]!
    const levels = new Float32Array(frames.length)
    const inputs = Array.from(levels, (_, n) => {
      const frame = samples.subarray(n * VAD_FRAME, (n + 1) * VAD_FRAME)
      levels[n] = decibels(rmsOf(frame))
      return toDetectorSamples(channel, frame)
    })
    const run = { first: state.frame, inputs, detectFrom }
    const probabilities = await detectFrames(detector, channel, run)
    for (const [n, { isCrosstalk }] of frames.entries()) if (isCrosstalk[i]) probabilities[n] = 0
    speech.probabilities.push(probabilities)
    speech.levels.push(levels)
  }
  // Finals are recognized from the files: crosstalk that passed as speech must not become words.
  for (const { correction } of isWritten ? frames : []) {
    for (const [i, plane] of (correction?.planes ?? []).entries()) {
      writeChannel(audio.channels[i]!, correction!.frame * VAD_FRAME, toInt16(plane))
    }
  }
  state.frame += frames.length
  return speech
}

/**
 * Builds the detector's input for a frame: the samples before it and its own, amplified when the
 * audio is quiet.
 */
function toDetectorSamples(channel: Channel, samples: Int16Array): Float32Array {
  const { context, peaks } = channel
  let peak = 0
  const input = new Float32Array(CONTEXT_SAMPLES + VAD_FRAME)
  input.set(context)
  for (let i = 0; i < samples.length; i++) {
    const sample = samples[i]! / 32_768
    input[CONTEXT_SAMPLES + i] = sample
    peak = Math.max(peak, Math.abs(sample))
  }
  channel.context = input.slice(-CONTEXT_SAMPLES)
  peaks.push(peak)
  if (peaks.length > LEVEL_FRAMES) peaks.shift()
  const gain = liveGain(peaks)
  if (gain > 1) {
    for (let i = 0; i < input.length; i++) input[i] = Math.max(-1, Math.min(1, input[i]! * gain))
  }
  return input
}

type FrameRun = { first: number; inputs: readonly Float32Array[]; detectFrom: number }

/** Detects speech in frames of a channel, all up to the next grid point in one call. */
async function detectFrames(
  detector: Pick<Vad, 'stream'>,
  channel: Channel,
  { first, inputs, detectFrom }: FrameRun,
): Promise<Float32Array> {
  const probabilities = new Float32Array(inputs.length)
  for (let n = 0; n < inputs.length; ) {
    const frame = first + n
    const end = frame < detectFrom ? detectFrom : gridBefore(frame) + RESET_INTERVAL_FRAMES
    const part = inputs.slice(n, end - first)
    if (frame >= detectFrom) {
      if (frame % RESET_INTERVAL_FRAMES === 0) {
        channel.stream = detector.stream()
        await channel.stream(channel.inputs)
      }
      probabilities.set(await channel.stream(part), n)
    }
    channel.inputs = [...channel.inputs, ...part].slice(-WARM_UP_FRAMES)
    n += part.length
  }
  return probabilities
}
