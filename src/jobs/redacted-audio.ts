import { randomUUID } from 'node:crypto'
import type { SampleSpan } from '../audio/beep.ts'
import type { DecodedChannel } from '../audio/media.ts'
import { bytesPerSample, SAMPLE_RATE } from '../audio/pcm.ts'
import { redactedWave } from '../audio/redacted-wave.ts'
import type { Log } from '../log.ts'
import type { Db } from '../storage/db.ts'
import type { ClaimedJob } from '../storage/jobs/queue.ts'
import type { RedactedAudio } from '../storage/jobs/redacted-audio.ts'
import { findFile } from '../storage/objects/files.ts'
import type { Space } from '../storage/space/space.ts'

/** What to silence: seconds on one of the distinct channels. */
export type SilencedSpan = { channel: number; start: number; end: number }

/**
 * A fifth of a second beyond a redacted span on either side, in samples. The times of words are wrong by 45 ms on average and by up
 * to 160 ms, so that the neighbour's border is no more to be trusted than the word's own: rather some of
 * a word too many is lost than a syllable heard.
 */
const MARGIN = 0.2 * SAMPLE_RATE

/** Whether a job is to keep its recording only with the redacted words beeped out. */
export function wantsRedactedAudio(params: Record<string, unknown>): boolean {
  const { pii_redaction, pii_redaction_config } = params as {
    pii_redaction?: boolean
    pii_redaction_config?: { audio?: boolean }
  }
  return pii_redaction === true && pii_redaction_config?.audio === true
}

/** What to silence, for whom. */
type Redaction = { redacted: readonly SilencedSpan[]; signal: AbortSignal; account: string }

/**
 * Stores a WAVE file of the decoded channels with a tone in place of what `redacted` names; a span counts
 * for every channel that sounds like its own. Whoever calls it has the object referred to or deleted.
 */
export async function storeRedactedAudio(
  { db, space }: { db: Db; space: Pick<Space, 'checkShare' | 'plan'> },
  channels: readonly DecodedChannel[],
  { redacted, signal, account }: Redaction,
): Promise<RedactedAudio> {
  const samples = channels[0]!.samples
  // It may be many times as large as the recording, which was compressed.
  const planned = samples * bytesPerSample('s16') * channels.length
  await space.checkShare(account, planned)
  using _ = await space.plan(planned)
  const stretches = stretchesByChannel(channels, redacted)
  const sources = channels.map((channel) => {
    const { channel: number, path } = heardAs(channels, channel)
    return { path, stretches: stretches.get(number)! }
  })
  const object = randomUUID()
  const wave = redactedWave(sources, { samples })
  // As long as the recording, which was short enough.
  const maxBytes = Number.POSITIVE_INFINITY
  const { size } = await db.objects.write(object, wave, { maxBytes, signal })
  return { object, size }
}

type DropTools = { db: Db; log: Log }

/** Deletes what was stored for a job that then did not take it. What cannot be deleted now goes at the next start. */
export async function deleteRedactedAudio(
  { db, log }: DropTools,
  { object }: RedactedAudio,
): Promise<void> {
  await db.objects.delete(object).catch((error) => {
    log.warn({ err: error }, 'redacted recording not deleted')
  })
}

/** Deletes the original of a job that has ended without it, unless another job uses it, likewise. */
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

/** The channel that was recognised in the place of another: one that sounds the same may do so by way of a third. */
function heardAs(channels: readonly DecodedChannel[], channel: DecodedChannel): DecodedChannel {
  return channel.sameAs === null ? channel : heardAs(channels, channels[channel.sameAs]!)
}

/** By channel, in order and apart from each other; spans of a channel that nobody heard are a mistake of ours. */
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
