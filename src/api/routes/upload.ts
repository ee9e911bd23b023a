import multipart from '@fastify/multipart'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import type { App } from '../../app.ts'
import { AppError } from '../../errors.ts'
import type { StoredFile } from '../../storage/files.ts'
import { MAX_PARTS, readAudioPart } from '../multipart-audio.ts'
import { UploadView } from '../schemas/upload.ts'
import { fileNameOf } from '../send-file.ts'
import { baseUrlOf, fileUrl } from '../urls.ts'

/** Stores a recording before a job names it (contract 2.1). */
export function uploadRoutes({
  config,
  jobs,
}: Pick<App, 'config' | 'jobs'>): FastifyPluginAsyncTypebox {
  return async (http) => {
    await http.register(multipart, {
      // The store counts the bytes of the file; whatever else is in the form is read as a file too.
      limits: { fileSize: Number.POSITIVE_INFINITY, parts: MAX_PARTS },
      isPartAFile: () => true,
    })

    http.post(
      '/v2/upload',
      { schema: { response: { 200: UploadView } } },
      async (request, reply) => {
        if (!request.isMultipart()) {
          if (request.body === undefined) throw new AppError('content_type_unsupported')
          const validationErrors = ['audio_url must be uploaded as multipart/form-data']
          throw new AppError('request_invalid', undefined, { validationErrors })
        }
        const part = await readAudioPart(request.files())
        const file = await jobs.upload(request.account, { ...part, signal: leaving(reply) })
        return toUploadView(file, baseUrlOf(request.raw, config.http))
      },
    )
  }
}

/** Aborts when the client is gone before it was answered. */
function leaving({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController()
  raw.once('close', () => {
    if (raw.writableFinished) return
    controller.abort(new AppError('upload_invalid', 'the client is gone'))
  })
  return controller.signal
}

function toUploadView(file: StoredFile, base: string) {
  return {
    audio_url: fileUrl(base, file.id),
    audio_metadata: {
      id: file.id,
      filename: fileNameOf(file),
      extension: file.extension,
      size: file.size,
      audio_duration: file.duration ?? 0,
      number_of_channels: file.channels ?? 1,
      ...(file.source !== null && { source: file.source }),
    },
  }
}
