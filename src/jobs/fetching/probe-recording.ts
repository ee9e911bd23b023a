import { wallNow } from '../../clock.ts'
import type { Config } from '../../config/config.ts'
import type { Db } from '../../storage/database/db.ts'
import type { StoredRecording } from '../../storage/recordings/recordings.ts'
import { roundTo } from '../../transcript/rounding.ts'
import type { MediaDeps } from '../pipeline/pipeline-deps.ts'

/** A recording whose bytes are stored as an object, and not examined yet. */
export type ReceivedRecording = Pick<
  StoredRecording,
  'id' | 'account' | 'filename' | 'source' | 'size'
>

type ProbeDeps = { db: Db; media: Pick<MediaDeps, 'probe'>; config: Pick<Config, 'media'> }

/**
 * Probes the stored bytes of a recording, and returns its row. Rejects as `probeMedia` does, to
 * which `failsWhenBusy` is passed.
 */
export async function probeRecording(
  { db, media, config }: ProbeDeps,
  received: ReceivedRecording,
  options: { signal: AbortSignal; failsWhenBusy?: boolean },
): Promise<StoredRecording> {
  const { id, account, filename } = received
  await using local = await db.objects.openLocalCopy(id, options)
  const { extension, channels, duration } = await media.probe(local.path, {
    ...options,
    nameHint: filename ?? undefined,
    account,
    maxSeconds: config.media.maxAudio,
  })
  const createdAt = wallNow()
  return { ...received, extension, duration: roundTo(duration, 6), channels, createdAt }
}
