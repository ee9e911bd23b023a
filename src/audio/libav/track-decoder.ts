import { checkAudioFormat } from '../audio-limits.ts'
import { type PlanarSamples, SAMPLE_RATE } from '../pcm.ts'
import { silentPlanes } from '../silence.ts'
import { createGapDetector } from './gap-detector.ts'
import type { Libav } from './libav.ts'
import type { MediaInput, Track } from './media-input.ts'

/** How to decode a track. */
export type TrackDecoderOptions = {
  /** The length of the recording in seconds. */
  duration: number
  /** The number of channels to return; by default those of the first frame. */
  channels?: number | undefined
  /** The exact seconds of audio that the track declares: what follows is padding. */
  end?: number | undefined
}

/** Decodes a track to blocks of about a second at 16 kHz. */
export class TrackDecoder {
  readonly #libav: Libav
  readonly #input: MediaInput
  readonly #address: number
  readonly #missingBefore: ReturnType<typeof createGapDetector>
  readonly #endSample: number
  #channels: number | undefined
  /** The samples per channel returned so far. */
  #returned = 0
  /** The length of the last frame, in seconds. */
  #frameSeconds = 0
  #isOpen = false
  #firstRate: number | undefined

  constructor(input: MediaInput, track: Track, { duration, channels, end }: TrackDecoderOptions) {
    this.#libav = input.libav
    this.#input = input
    this.#channels = channels
    this.#endSample = Math.round((end ?? Number.POSITIVE_INFINITY) * SAMPLE_RATE)
    this.#missingBefore = createGapDetector(duration)
    this.#address = this.#libav.require(this.#libav.calls.decoder_open(input.address, track.index))
  }

  /** Decodes the packet that `input` has read last; yields when there is a second of audio. */
  *decode(): Generator<PlanarSamples> {
    yield* this.#send(this.#input.address)
  }

  /** Yields what the decoder still holds. */
  *finish(): Generator<PlanarSamples> {
    yield* this.#send(0)
    if (this.#isOpen) yield this.#withoutPadding(this.#flush())
  }

  /** Whether a second is collected; two if they may be the last, so that padding can be cut off. */
  #isBlockReady(): boolean {
    const count = this.#libav.calls.decoder_samples(this.#address)
    const isLast = this.#returned + count > this.#endSample
    return count >= (isLast ? 2 : 1) * SAMPLE_RATE
  }

  /** Cuts off what the last block contains beyond the end of the track, at most two frames. */
  #withoutPadding(last: PlanarSamples): PlanarSamples {
    const padding = this.#returned - this.#endSample
    if (padding <= 0 || padding > 2 * this.#frameSeconds * SAMPLE_RATE) return last
    return last.map((plane) => plane.subarray(0, Math.max(0, plane.length - padding)))
  }

  /** Frees what libav holds of the decoder. */
  close(): void {
    this.#libav.calls.decoder_close(this.#address)
  }

  *#send(input: number): Generator<PlanarSamples> {
    const { calls } = this.#libav
    calls.decoder_send(this.#address, input) // a damaged packet is skipped
    while (calls.decoder_receive(this.#address) >= 0) {
      const [samples, sampleRate, channels, start] = this.#libav.numbers(4) as unknown as number[]
      yield* this.#take({
        samples: samples!,
        sampleRate: sampleRate!,
        channels: channels!,
        start: start!,
      })
    }
  }

  *#take({ samples, sampleRate, channels, start }: Frame): Generator<PlanarSamples> {
    const { calls } = this.#libav
    if (!this.#isOpen) {
      checkAudioFormat({ sampleRate, channels }) // the header may have declared another format
      this.#libav.require(calls.decoder_set_channels(this.#address, this.#channels ?? 0))
      this.#channels ??= channels
      this.#isOpen = true
    }
    this.#firstRate ??= sampleRate
    this.#frameSeconds = samples / sampleRate
    // The time stamps of bare streams count samples of the first rate, so they are wrong after a
    // change.
    const isKnown = this.#input.hasTimes && sampleRate === this.#firstRate && !Number.isNaN(start)
    const stamp = isKnown ? start : undefined
    const missing = this.#missingBefore(stamp, samples / sampleRate)
    if (missing > 0) {
      yield this.#flush()
      yield* silentPlanes(missing * SAMPLE_RATE, this.#channels!)
      this.#returned += Math.round(missing * SAMPLE_RATE)
    }
    this.#libav.require(calls.decoder_resample(this.#address, SAMPLE_RATE))
    if (this.#isBlockReady()) yield this.#collected()
  }

  #flush(): PlanarSamples {
    this.#libav.require(this.#libav.calls.decoder_flush(this.#address))
    return this.#collected()
  }

  /** Returns a copy of what is collected: libav reuses the memory for what follows. */
  #collected(): PlanarSamples {
    const { calls } = this.#libav
    const count = calls.decoder_samples(this.#address)
    const planes = Array.from({ length: this.#channels! }, (_, channel) => {
      return this.#libav.samples(calls.decoder_plane(this.#address, channel), count)
    })
    calls.decoder_clear(this.#address)
    this.#returned += count
    return planes
  }
}

/** A decoded frame, without its samples; `start` in seconds, NaN if unknown. */
type Frame = { samples: number; sampleRate: number; channels: number; start: number }
