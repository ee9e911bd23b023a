import { randomUUID } from 'node:crypto'
import type { ChannelToRecognize } from '../../asr/speech-engine.ts'
import type { DecodedChannel } from '../../audio/channels/channel-files.ts'
import { bytesPerSample, SAMPLE_RATE } from '../../audio/pcm.ts'
import type { SampleSpan } from '../../audio/redaction/beep.ts'
import { redactedWave } from '../../audio/redaction/redacted-wave.ts'
import type { DiskSpace } from '../../storage/data-folder/disk-space.ts'
import type { Db } from '../../storage/database/db.ts'
import type { RedactedAudio } from '../../storage/jobs/redacted-audio.ts'
import type { RedactedSpan } from '../../text/redaction/redacted-spans.ts'

/**
 * A margin of 0.2 seconds on either side of a redacted span, in samples. Word times are off by 45
 * ms on average and by up to 160 ms, so the boundary of the neighboring word is no more reliable
 * than the word's own. Masking part of a neighbor is better than leaving a syllable audible.
 */
const MARGIN = 0.2 * SAMPLE_RATE

/**
 * Returns whether the recording of a job is replaced by one with tones in place of the redacted
 * words.
 */
export function wantsRedactedAudio(params: Record<string, unknown>): boolean {
  const { pii_redaction, pii_redaction_config } = params as {
    pii_redaction?: boolean
    pii_redaction_config?: { audio?: boolean }
  }
  return pii_redaction === true && pii_redaction_config?.audio === true
}

/**
 * The spans to mask, the recognized channels that they refer to, and the account that owns the
 * recording.
 */
type Redaction = {
  redacted: readonly RedactedSpan[]
  recognized: readonly Pick<ChannelToRecognize, 'channel' | 'sourceChannels'>[]
  signal: AbortSignal
  account: string
}

/**
 * Stores a WAV file of the decoded channels with a tone in place of the `redacted` spans. A span
 * applies to every channel that carries the same speech. The caller must store a reference to the
 * returned object, or delete it.
 */
export async function storeRedactedAudio(
  { db, space }: { db: Db; space: Pick<DiskSpace, 'checkQuota' | 'reserveBytes'> },
  channels: readonly DecodedChannel[],
  { redacted, recognized, signal, account }: Redaction,
): Promise<RedactedAudio> {
  const samples = channels[0]!.samples
  // The WAV file may be many times larger than a compressed recording.
  const planned = samples * bytesPerSample('s16') * channels.length
  await space.checkQuota(account, planned)
  using _ = await space.reserveBytes(planned)
  const sources = channels.map((channel) => {
    const { path } = withOwnAudio(channels, channel)
    return { path, spans: mergeSpans(spansOn(channel), samples) }
  })
  const object = randomUUID()
  const wave = redactedWave(sources, { samples })
  // The file needs no limit: its audio is as long as the recording, which was within the limit.
  const maxBytes = Number.POSITIVE_INFINITY
  const { size } = await db.objects.write(object, wave, { maxBytes, signal })
  return { object, size }

  function spansOn(channel: DecodedChannel): RedactedSpan[] {
    const source = withOwnAudio(channels, channel).channel
    return redacted.filter((span) => sourceChannelsOf(span).includes(source))
  }

  function sourceChannelsOf({ channel, start, end }: RedactedSpan): readonly number[] {
    const source = recognized.find((other) => other.channel === channel)
    if (!source || !(start <= end)) {
      throw new RangeError(`${start} to ${end} on channel ${channel}`)
    }
    return source.sourceChannels
  }
}

/** Deletes the redacted recording of a job that did not end with it. */
export function deleteRedactedAudio({ db }: { db: Db }, { object }: RedactedAudio): Promise<void> {
  return db.deletions.delete([object])
}

/**
 * Returns the channel that holds the audio of `channel`, following `sameAs`, which may point to a
 * channel that has a `sameAs` itself.
 */
function withOwnAudio(
  channels: readonly DecodedChannel[],
  channel: DecodedChannel,
): DecodedChannel {
  return channel.sameAs === null ? channel : withOwnAudio(channels, channels[channel.sameAs]!)
}

/** Converts spans to samples with a margin, sorted and merged. */
function mergeSpans(spans: readonly RedactedSpan[], samples: number): SampleSpan[] {
  const merged: SampleSpan[] = []
  for (const { start, end } of spans.toSorted((a, b) => a.start - b.start)) {
    const from = Math.max(0, Math.floor(start * SAMPLE_RATE) - MARGIN)
    const to = Math.min(samples, Math.ceil(end * SAMPLE_RATE) + MARGIN)
    const last = merged.at(-1)
    if (last && from <= last.end) last.end = Math.max(last.end, to)
    else merged.push({ start: from, end: to })
  }
  return merged
}
