import { randomUUID } from 'node:crypto'
import type { SampleSpan } from '../audio/beep.ts'
import type { DecodedChannel } from '../audio/channel-files.ts'
import { bytesPerSample, SAMPLE_RATE } from '../audio/pcm.ts'
import { redactedWave } from '../audio/redacted-wave.ts'
import type { Log } from '../log.ts'
import type { Db } from '../storage/db.ts'
import type { ClaimedJob } from '../storage/jobs/queue.ts'
import type { RedactedAudio } from '../storage/jobs/redacted-audio.ts'
import { findFile } from '../storage/objects/files.ts'
import type { Space } from '../storage/space/space.ts'

/** A span to mask: seconds on one of the distinct channels. */
export type SilencedSpan = { channel: number; start: number; end: number }

/**
 * A margin of 0.2 seconds on either side of a redacted span, in samples. Word times are off by 45
 * ms on average and by up to 160 ms, so a neighbor's boundary is no more reliable than the word's
 * own. Losing part of an extra word is better than leaving a syllable audible.
 */
const MARGIN = 0.2 * SAMPLE_RATE

/** Returns whether a job keeps its recording only with the redacted words beeped out. */
export function wantsRedactedAudio(params: Record<string, unknown>): boolean {
  const { pii_redaction, pii_redaction_config } = params as {
    pii_redaction?: boolean
    pii_redaction_config?: { audio?: boolean }
  }
  return pii_redaction === true && pii_redaction_config?.audio === true
}

/** What to mask, and for which account. */
type Redaction = { redacted: readonly SilencedSpan[]; signal: AbortSignal; account: string }

/**
 * Stores a WAV file of the decoded channels with a tone in place of the `redacted` spans. A span
 * applies to every channel with the same audio. The caller has to get the object referenced or
 * deleted.
 */
export async function storeRedactedAudio(
  { db, space }: { db: Db; space: Pick<Space, 'checkShare' | 'plan'> },
  channels: readonly DecodedChannel[],
  { redacted, signal, account }: Redaction,
): Promise<RedactedAudio> {
  const samples = channels[0]!.samples
  // It may be many times larger than the recording, which was compressed.
  const planned = samples * bytesPerSample('s16') * channels.length
  await space.checkShare(account, planned)
  using _ = await space.plan(planned)
  const stretches = stretchesByChannel(channels, redacted)
  const sources = channels.map((channel) => {
    const { channel: number, path } = recognizedAs(channels, channel)
    return { path, stretches: stretches.get(number)! }
  })
  const object = randomUUID()
  const wave = redactedWave(sources, { samples })
  // As long as the recording, which was within the limit.
  const maxBytes = Number.POSITIVE_INFINITY
  const { size } = await db.objects.write(object, wave, { maxBytes, signal })
  return { object, size }
}

type DropTools = { db: Db; log: Log }

/**
 * Deletes the redacted recording stored for a job that then did not take it. What cannot be deleted
 * now is deleted at the next start.
 */
export async function deleteRedactedAudio(
  { db, log }: DropTools,
  { object }: RedactedAudio,
): Promise<void> {
  await db.objects.delete(object).catch((error) => {
    log.warn({ err: error }, 'redacted recording not deleted')
  })
}

/**
 * Deletes the original of a job that ended with a redacted recording, unless another job uses it.
 * What cannot be deleted now is deleted at the next start.
 */
export async function deleteOriginal(
  { db, log }: DropTools,
  { account, file: { id } }: ClaimedJob,
): Promise<void> {
  try {
    if (!(await findFile(db, { id, account }))) await db.objects.delete(id)
  } catch (error) {
    log.error({ err: error }, 'original recording not deleted')
  }
}

/**
 * Returns the channel that was recognized in place of `channel`. One with the same audio may point
 * to it through a third.
 */
function recognizedAs(
  channels: readonly DecodedChannel[],
  channel: DecodedChannel,
): DecodedChannel {
  return channel.sameAs === null ? channel : recognizedAs(channels, channels[channel.sameAs]!)
}

/**
 * Returns the spans by channel, sorted and merged. A span on a channel that was not recognized is a
 * bug.
 */
function stretchesByChannel(
  channels: readonly DecodedChannel[],
  redacted: readonly SilencedSpan[],
): Map<number, SampleSpan[]> {
  const distinct = channels.filter(({ sameAs }) => sameAs === null)
  const byChannel = new Map(distinct.map(({ channel }) => [channel, [] as SampleSpan[]]))
  for (const { channel, start, end } of redacted.toSorted((a, b) => a.start - b.start)) {
    const own = byChannel.get(channel)
    if (!own || !(start <= end)) throw new RangeError(`${start} to ${end} on channel ${channel}`)
    const { samples } = channels[channel]!
    const from = Math.max(0, Math.floor(start * SAMPLE_RATE) - MARGIN)
    const to = Math.min(samples, Math.ceil(end * SAMPLE_RATE) + MARGIN)
    const last = own.at(-1)
    if (last && from <= last.end) last.end = Math.max(last.end, to)
    else own.push({ start: from, end: to })
  }
  return byChannel
}
