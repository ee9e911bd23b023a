import type { AudioFormat } from '../../audio/audio-format.ts'
import { wavHeader } from '../../audio/containers/wav-header.ts'
import { type DiskSessionStore, storeRecording } from '../../storage/live/disk-session-store.ts'
import type { LiveJob, RecordedAudio } from '../../storage/live/live-jobs.ts'
import type { Storage } from '../../storage/storage.ts'

/** The audio that a session has recorded, and its job. */
type RecordingToKeep = {
  job: LiveJob
  store: DiskSessionStore
  epoch: number | undefined
  format: AudioFormat
  audioBytes: number
  duration: number
}

/**
 * Stores the audio as the file of its job, unless the account keeps no data; undefined when there
 * is no audio.
 */
export async function keepAudio(
  objects: Storage['objects'],
  { job, store, epoch, format, audioBytes, duration }: RecordingToKeep,
): Promise<RecordedAudio | undefined> {
  if (audioBytes === 0) return undefined
  const { channels } = format
  // Recognized audio counts as used, even if it is not kept.
  if (job.zeroRetention) return { size: 0, duration, channels }
  const header = wavHeader(format, audioBytes)
  const { size } = await storeRecording(store, objects, { id: job.fileId, epoch, header })
  return { size, duration, channels }
}
