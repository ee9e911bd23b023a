import { texts } from '../texts.ts'
import workletUrl from './capture-worklet.js?url'

export type Source = 'microphone' | 'tab'

/** Sound that arrives in pieces of 16-bit samples, one channel. */
export type Capture = {
  sampleRate: number
  onAudio: (bytes: ArrayBuffer) => void
  /** The user ended it in the browser's own controls, or the device is gone. */
  onEnd: () => void
  close: () => void
}

/** What the API takes; the first is that of the recognizers. */
const SAMPLE_RATES = [16_000, 48_000, 44_100, 32_000]

/** Asks the browser for sound; throws with a text for people. */
export async function openCapture(source: Source): Promise<Capture> {
  if (!navigator.mediaDevices) throw new Error(texts.live.insecure)
  const stream = await openStream(source).catch((error: Error) => {
    if (error.name === 'NotAllowedError') throw new Error(texts.live.denied)
    throw error
  })
  const [track] = stream.getAudioTracks()
  if (!track) {
    for (const other of stream.getTracks()) other.stop()
    throw new Error(texts.live.noSound)
  }
  const sound = openSound(new MediaStream([track]))
  if (!sound) {
    for (const one of stream.getTracks()) one.stop()
    throw new Error(texts.live.unreadable)
  }
  const { context, source: input } = sound
  await context.audioWorklet.addModule(workletUrl)
  const node = new AudioWorkletNode(context, 'capture')
  input.connect(node)
  // Browsers run only what leads to an output; the worklet yields silence.
  node.connect(context.destination)
  const capture: Capture = {
    sampleRate: context.sampleRate,
    onAudio() {},
    onEnd() {},
    close() {
      for (const one of stream.getTracks()) one.stop()
      if (context.state !== 'closed') void context.close()
    },
  }
  node.port.onmessage = ({ data }) => capture.onAudio(data as ArrayBuffer)
  track.addEventListener('ended', () => capture.onEnd())
  return capture
}

/** Opens sound at a rate that the browser can: Firefox resamples no microphone. */
function openSound(stream: MediaStream) {
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

/** Browsers share the sound of a tab only together with its picture, which is not used. */
function openStream(source: Source): Promise<MediaStream> {
  if (source === 'microphone') {
    const audio = { echoCancellation: false, noiseSuppression: false, autoGainControl: true }
    return navigator.mediaDevices.getUserMedia({ audio })
  }
  return navigator.mediaDevices.getDisplayMedia({ audio: true, video: true })
}
