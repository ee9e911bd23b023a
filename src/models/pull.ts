import { join } from 'node:path'
import { type CatalogModel, downloadBytes } from './catalog.ts'
import { type ModelSources, resolveAddress } from './download/addresses.ts'
import {
  createDownloadClient,
  DOWNLOAD_LIMITS,
  type DownloadLimits,
  downloadFile,
} from './download/download.ts'
import { DownloadError } from './download/download-error.ts'
import { type InstallOptions, installModel } from './install/install.ts'
import { requireSpace, sizeOnDisk } from './install/require-space.ts'

export type PullOptions = InstallOptions & {
  sources: ModelSources
  limits?: DownloadLimits
  /** Called before a download is retried, with the problem. */
  onRetry(problem: string): void
}

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
      if ((await sizeOnDisk(path)) !== bytes) {
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
  const again = cause.isTransient
    ? `; 'steno models pull ${model.id}' continues where it ended, 'steno models import' takes the files from a folder`
    : ''
  return new Error(`${problem}${again}`, { cause })
}
