import { texts } from '../texts.ts'
import workletUrl from './capture-worklet.js?url'

export type Source = 'microphone' | 'tab'

/** Audio that arrives in chunks of 16-bit samples of one channel. */
export type Capture = {
  sampleRate: number
  onAudio: (bytes: ArrayBuffer) => void
  /** Called when the user ends the capture in the browser, or the device is removed. */
  onEnd: () => void
  /** Resolves when `onAudio` has got the last audio; may be called again. */
  close: () => Promise<void>
}

type AudioInput = { context: AudioContext; source: MediaStreamAudioSourceNode }

/** The sample rates of the API; recognizers use the first one. */
const SAMPLE_RATES = [16_000, 48_000, 44_100, 32_000]

/** The texts for the names of errors with which browsers refuse to open a device. */
const refusals = new Map([
  ['NotAllowedError', texts.live.denied],
  ['NotFoundError', texts.live.noDevice],
  ['NotReadableError', texts.live.unreadable],
  ['AbortError', texts.live.unreadable],
])

/** How long the browser may take to start processing audio. */
const START_MS = 10_000

/** How long the worklet may take to post the rest of the audio. */
const FLUSH_MS = 1000

/** Asks the browser for audio; throws an error with a message for people. */
export async function openCapture(source: Source): Promise<Capture> {
  if (!navigator.mediaDevices) throw new Error(texts.live.insecure)
  if (source === 'tab' && !navigator.mediaDevices.getDisplayMedia) {
    throw new Error(texts.live.noTabs)
  }
  const stream = await openStream(source).catch((error: Error) => {
    throw new Error(refusals.get(error.name) ?? error.message)
  })
  try {
    return await captureStream(stream)
  } catch (error) {
    stopTracks(stream)
    throw error
  }
}

/** Ends the use of a device: the browser shows that it listens until all tracks are stopped. */
function stopTracks(stream: MediaStream): void {
  for (const track of stream.getTracks()) track.stop()
}

async function captureStream(stream: MediaStream): Promise<Capture> {
  const [track] = stream.getAudioTracks()
  if (!track) throw new Error(texts.live.noSound)
  const opened = openContext(new MediaStream([track]))
  if (!opened) throw new Error(texts.live.unreadable)
  const { context } = opened
  const node = await openNode(opened).catch((error: unknown) => {
    void context.close()
    throw error
  })
  const flushed = Promise.withResolvers<void>()
  let closed: Promise<void> | undefined
  const close = async () => {
    if (context.state === 'running') {
      node.port.postMessage(null)
      setTimeout(flushed.resolve, FLUSH_MS)
      await flushed.promise
    }
    stopTracks(stream)
    if (context.state !== 'closed') void context.close()
  }
  const capture: Capture = {
    sampleRate: context.sampleRate,
    onAudio() {},
    onEnd() {},
    close() {
      closed ??= close()
      return closed
    },
  }
  node.port.onmessage = ({ data }) => {
    if (data === null) flushed.resolve()
    else capture.onAudio(data as ArrayBuffer)
  }
  track.addEventListener('ended', () => capture.onEnd())
  return capture
}

/**
 * Opens an audio context at a sample rate that the browser supports: Firefox does not resample
 * microphones.
 */
function openContext(stream: MediaStream): AudioInput | undefined {
  for (const sampleRate of SAMPLE_RATES) {
    const context = new AudioContext({ sampleRate })
    try {
      return { context, source: context.createMediaStreamSource(stream) }
    } catch {
      void context.close()
    }
  }
  return undefined
}

/** Opens the node that posts the audio of a source, and starts its context. */
async function openNode({ context, source }: AudioInput): Promise<AudioWorkletNode> {
  await context.audioWorklet.addModule(workletUrl).catch(() => {
    throw new Error(texts.live.notLoaded)
  })
  const node = new AudioWorkletNode(context, 'capture')
  source.connect(node)
  // Browsers run only nodes that lead to an output, so the worklet is connected to one; it outputs
  // silence.
  node.connect(context.destination)
  // Firefox starts a context only if a device can play its output.
  const { promise: timedOut, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(texts.live.notStarted)), START_MS)
  await Promise.race([context.resume(), timedOut]).finally(() => clearTimeout(timer))
  return node
}

/** Captures the audio of a tab. Browsers share it only with the video, which is not used. */
function openStream(source: Source): Promise<MediaStream> {
  if (source === 'microphone') {
    const audio = { echoCancellation: false, noiseSuppression: false, autoGainControl: true }
    return navigator.mediaDevices.getUserMedia({ audio })
  }
  return navigator.mediaDevices.getDisplayMedia({ audio: true, video: true })
}
