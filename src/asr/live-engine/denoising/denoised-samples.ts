import { type PlanarSamples, SAMPLE_RATE } from '../../../audio/pcm.ts'
import { convertAudio } from '../detection/audio-conversion.ts'
import type { SampleSource } from '../detection/sample-source.ts'
import type { DetectRequest, LiveAudio } from '../live-engine.ts'
import { createDenoiser, type Denoiser } from './denoiser.ts'
import { loadFrameDenoiser } from './rnnoise.ts'

/**
 * The filter adapts to its input. It restarts every 16 s and gets two seconds of lead-in before its
 * output counts, so that the output depends on audio and position alone.
 */
const BLOCK = 16 * SAMPLE_RATE
const LEAD = 2 * SAMPLE_RATE
/** Samples that are denoised at a time. */
const CHUNK = 4000

/** The denoisers of all channels in one pass through one block. */
type DenoiserPass = {
  block: number
  denoisers: Denoiser[]
  /** The next sample to read, and the next one to come out. */
  input: number
  output: number
  isFlushed: boolean
}

/** Opens the denoised samples of a session's audio, starting at `from`. */
export async function openDenoisedSamples(audio: LiveAudio, from: number): Promise<SampleSource> {
  const openFilter = loadFrameDenoiser()
  const ready: number[][] = audio.channels.map(() => [])
  let readyFrom = from
  let pass: DenoiserPass | undefined

  function passFor(block: number): DenoiserPass {
    if (pass?.block === block) return pass
    closePass()
    const denoisers = audio.channels.map(() => createDenoiser(openFilter()))
    const input = Math.max(0, block * BLOCK - LEAD)
    pass = { block, denoisers, input, output: input, isFlushed: false }
    return pass
  }

  function closePass(): void {
    for (const denoiser of pass?.denoisers ?? []) denoiser.close()
    pass = undefined
  }

  /** Denoises one more chunk; returns false when there is no more audio yet. */
  function extend(request: DetectRequest): boolean {
    const next = readyFrom + ready[0]!.length
    const current = passFor(Math.floor(next / BLOCK))
    const denoised = denoiseChunk(audio, request, current)
    if (!denoised) return false
    const end = (current.block + 1) * BLOCK
    const sampleRange = { from: next - current.output, to: end - current.output }
    for (const [channel, samples] of denoised.entries()) {
      const used = samples.subarray(Math.max(0, sampleRange.from), sampleRange.to)
      for (const sample of used) ready[channel]!.push(sample)
    }
    current.output += denoised[0]!.length
    return true
  }

  return {
    read(request, { from: start, to }) {
      for (const samples of ready) samples.splice(0, start - readyFrom)
      readyFrom = start
      while (readyFrom + ready[0]!.length < to && extend(request));
      return ready.map((samples) => Float32Array.from(samples.slice(0, to - start)))
    },
    close: closePass,
  }
}

/** Returns the denoisers' output for the next chunk of audio; undefined when no input is left. */
function denoiseChunk(
  audio: LiveAudio,
  request: DetectRequest,
  pass: DenoiserPass,
): PlanarSamples | undefined {
  const chunk = { from: pass.input, to: pass.input + CHUNK }
  const planes = convertAudio({ ...audio, ...request }, chunk)
  const length = planes[0]!.length
  pass.input += length
  if (length > 0) return pass.denoisers.map((denoiser, i) => denoiser.write(planes[i]!))
  if (!request.isEnd || pass.isFlushed) return undefined
  pass.isFlushed = true
  return pass.denoisers.map((denoiser) => denoiser.flush())
}
