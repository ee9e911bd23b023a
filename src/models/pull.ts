import { stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { type ModelSources, resolveAddress } from './addresses.ts'
import { type CatalogModel, downloadBytes } from './catalog.ts'
import {
  createDownloadClient,
  DOWNLOAD_LIMITS,
  type DownloadLimits,
  downloadFile,
} from './download.ts'
import { DownloadError } from './download-error.ts'
import { type InstallOptions, installModel } from './install.ts'

export type PullOptions = InstallOptions & {
  sources: ModelSources
  limits?: DownloadLimits
  /** Called before a download is tried again, with what stood in the way. */
  onRetry(problem: string): void
}

/** What stays free beside a model that is installed. */
const SPARE_BYTES = 100_000_000

/**
 * Downloads and installs a model: see `installModel`. Rejects with an `Error` that names the file,
 * the server, and what to do.
 */
export async function pullModel(
  modelsFolder: string,
  model: CatalogModel,
  options: PullOptions,
): Promise<boolean> {
  const obtain = (downloads: string) => fetchFiles(downloads, model, options)
  return installModel(modelsFolder, { model, obtain }, options)
}

async function fetchFiles(
  downloads: string,
  model: CatalogModel,
  { sources, limits = DOWNLOAD_LIMITS, signal, onStep, onRetry }: PullOptions,
): Promise<void> {
  await requireSpace(downloads, model)
  const total = downloadBytes(model)
  let before = 0
  const client = await createDownloadClient(limits)
  try {
    for (const { url, bytes, sha256 } of model.files) {
      const path = join(downloads, sha256)
      const onBytes = (arrived: number) => {
        onStep({ stage: 'fetching', bytes: before + arrived, total })
      }
      // A file gets this name once its hash is checked.
      if ((await sizeOf(path)) !== bytes) {
        const address = resolveAddress(url, sources)
        const file = { ...address, bytes, sha256, path }
        await downloadFile(file, { client, limits, signal, onBytes, onRetry }).catch((error) => {
          throw error instanceof DownloadError ? failure(error, { model, url: address.url }) : error
        })
      }
      before += bytes
    }
  } finally {
    await client.destroy()
  }
}

function failure(
  cause: DownloadError,
  { model, url }: { model: CatalogModel; url: string },
): Error {
  const { host, pathname } = new URL(url)
  const name = pathname.split('/').at(-1)
  const problem = `Cannot fetch ${name} of ${model.id} from ${host}: ${cause.message}`
  const again = cause.isPassing
    ? `; 'steno models pull ${model.id}' goes on from where it ended, 'steno models import' takes the files from a folder`
    : ''
  return new Error(`${problem}${again}`, { cause })
}

/** Rejects when the disk has no space for the downloads, and what is made of them. */
async function requireSpace(downloads: string, model: CatalogModel): Promise<void> {
  const total = downloadBytes(model)
  let present = 0
  for (const { sha256 } of model.files) {
    const path = join(downloads, sha256)
    present += (await sizeOf(path)) ?? (await sizeOf(`${path}.part`)) ?? 0
  }
  const isRewritten = model.conversion !== undefined || model.files.some((file) => file.members)
  const needed = total - present + (isRewritten ? 2 * total : 0) + SPARE_BYTES
  const disk = await statfs(downloads)
  // Some network and user-space file systems report only zeros.
  const free = disk.blocks === 0 ? Number.POSITIVE_INFINITY : disk.bavail * disk.bsize
  if (free >= needed) return
  throw new Error(
    `Cannot install ${model.id}: it needs ${inGigabytes(needed)} of disk space for a while, ` +
      `${inGigabytes(free)} are free; free some, or set STENO_MODELS_DIR to another disk`,
  )
}

function inGigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(1)} GB`
}

async function sizeOf(path: string): Promise<number | undefined> {
  return (await stat(path).catch(() => undefined))?.size
}
