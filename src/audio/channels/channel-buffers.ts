import type { DecodedSamples } from '../decoder/decoder-messages.ts'
import { toInt16 } from '../pcm.ts'
import type { ChannelOutput } from './channel-files.ts'
import { createChannelComparison } from './duplicate-channels.ts'

/** Creates an output that keeps the channels of a short recording in memory. */
export function createChannelBuffers(
  channels: number,
): ChannelOutput<DecodedSamples['channels'][number]> {
  const comparison = createChannelComparison(channels)
  const blocks: Buffer[][] = Array.from({ length: channels }, () => [])
  let samples = 0
  return {
    get samples() {
      return samples
    },
    write(planes) {
      comparison.write(planes)
      samples += planes[0]!.length
      for (const [channel, plane] of planes.entries()) {
        const { buffer, byteOffset, byteLength } = toInt16(plane)
        blocks[channel]!.push(Buffer.from(buffer, byteOffset, byteLength))
      }
    },
    finish() {
      const duplicates = comparison.result()
      return blocks.map((parts, channel) => {
        return { pcm: Buffer.concat(parts).toString('base64'), sameAs: duplicates[channel]! }
      })
    },
    close() {},
  }
}
