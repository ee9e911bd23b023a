import { wallNow } from '../../clock.ts'
import { AppError } from '../../errors.ts'
import type { JobRef } from '../../storage/jobs/jobs.ts'
import { readResult } from '../../storage/jobs/results.ts'
import {
  findEditedSize,
  insertTranscriptVersion,
  listTranscriptVersions,
  type NewTranscriptVersion,
  readTranscriptChanges,
  type TranscriptVersion,
} from '../../storage/jobs/transcript-edits.ts'
import type { EditResult } from '../../text/edits/edit-task.ts'
import type { EditOperation } from '../../text/edits/plan-edits.ts'
import type { PipelineDeps } from '../pipeline/pipeline-deps.ts'
import { type DoneJob, findDoneJob } from './done-job.ts'

/** Limits of the corrections of one transcript, which are weeks of work. */
const MAX_VERSIONS = 10_000
const MAX_BYTES = 8 * 1024 * 1024

const NO_EDITS = '{"words":[],"speakers":[],"joined":[],"names":[],"ignored":false}'

type Deps = Pick<PipelineDeps, 'db' | 'resultBuilder'>

/** A correction of a transcript: operations, or a version to restore. */
export type Correction = {
  /** The version that the client has read. */
  baseVersion: number
  keyName: string | null
} & ({ operations: readonly EditOperation[] } | { restore: number })

/** The corrections of a transcript. */
export type TranscriptEdits = {
  version: number
  /** Newest first. */
  versions: TranscriptVersion[]
  /** The effect of all corrections together, as JSON text. */
  effective: string
}

/** Returns the corrections of a finished job's transcript, with its last `limit` versions. */
export async function readTranscriptEdits(
  deps: Deps,
  ref: JobRef,
  { limit, signal }: { limit: number; signal: AbortSignal },
): Promise<TranscriptEdits> {
  const { db } = deps
  const job = await findDoneJob(db, ref)
  const versions = await listTranscriptVersions(db, job.id, { limit })
  const version = versions[0]?.version ?? 0
  if (version === 0) return { version, versions, effective: NO_EDITS }
  const edited = await edit(deps, job, { version, signal })
  if ('problem' in edited) throw new AppError('internal', 'corrections cannot be read')
  return { version, versions, effective: edited.effective }
}

/**
 * Stores a new version of a finished job's transcript, and returns it. Fails with `edits_outdated`
 * if the client has not read the current version, and with `words_changed`, `edit_refused` or
 * `edits_full`.
 */
export async function correctTranscript(
  deps: Deps,
  ref: JobRef,
  { baseVersion, keyName, signal, ...correction }: Correction & { signal: AbortSignal },
): Promise<TranscriptVersion> {
  const { db } = deps
  const job = await findDoneJob(db, ref)
  const { version, bytes } = await findEditedSize(db, job.id)
  if (version !== baseVersion) throw outdated(version)
  if (version >= MAX_VERSIONS) throw new AppError('edits_full', `it has ${version} versions`)
  const newVersion: NewTranscriptVersion = {
    version: version + 1,
    createdAt: wallNow(),
    keyName,
    restored: null,
    operations: 0,
    changes: '',
  }
  if ('restore' in correction) {
    const { restore } = correction
    if (restore > version)
      throw new AppError('edit_refused', `the transcript has no version ${restore}`)
    newVersion.restored = restore
  } else {
    const { operations } = correction
    const edited = await edit(deps, job, { version, operations, signal })
    if ('problem' in edited) throw new AppError(edited.problem.code, edited.problem.detail)
    newVersion.operations = operations.length
    newVersion.changes = edited.changes!
    if (bytes + Buffer.byteLength(newVersion.changes) > MAX_BYTES) {
      throw new AppError('edits_full', `they would take more than ${MAX_BYTES} bytes`)
    }
  }
  const { account } = ref
  if (!(await insertTranscriptVersion(db, { jobId: job.id, account }, newVersion))) {
    await findDoneJob(db, ref)
    throw outdated((await findEditedSize(db, job.id)).version)
  }
  const { changes: _, ...stored } = newVersion
  return stored
}

type EditOptions = {
  version: number
  operations?: readonly EditOperation[]
  signal: AbortSignal
}

async function edit(
  { db, resultBuilder }: Deps,
  job: DoneJob,
  { version, operations, signal }: EditOptions,
): Promise<EditResult> {
  const stored = await readTranscriptChanges(db, job.id, version)
  const result = await readResult(db, job.result)
  if (stored === undefined || result === undefined) throw new AppError('job_not_found', job.id)
  const task = { result, stored, ...(operations && { operations }) }
  return resultBuilder.edit(task, { account: job.account, signal })
}

function outdated(version: number): AppError {
  return new AppError('edits_outdated', `the current version is ${version}`)
}
