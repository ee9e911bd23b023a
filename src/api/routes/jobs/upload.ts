import multipart from '@fastify/multipart'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import type { App } from '../../../app/app-type.ts'
import { AppError } from '../../../errors.ts'
import type { StoredRecording } from '../../../storage/recordings/recordings.ts'
import type { BodyReader } from '../../bodies/body-reader.ts'
import { MAX_IGNORED_BYTES, readAudioPart } from '../../bodies/receiving/multipart/audio-part.ts'
import { formOptions } from '../../bodies/receiving/multipart/form-stream.ts'
import { toSourceFieldError } from '../../bodies/submission/source-field-error.ts'
import { findUpload } from '../../bodies/submission/to-submission.ts'
import { validationError } from '../../bodies/validation/validate-fields.ts'
import { disconnectSignal } from '../../middleware/disconnect-signal.ts'
import { downloadName } from '../../responses/files/send-file.ts'
import { baseUrlOf, fileUrl, originOf } from '../../responses/urls.ts'
import { errorResponses } from '../../schemas/common/error.ts'
import { UploadForm, UploadRequest, UploadView } from '../../schemas/jobs/upload.ts'

/** Stores a recording before a job names it. */
export function uploadRoutes({
  config,
  jobs,
  storage,
  bodies,
}: Pick<App, 'config' | 'jobs' | 'storage'> & { bodies: BodyReader }): FastifyPluginAsyncTypebox {
  const findOwnUpload = createUploadFinder({ config, storage })
  return async (http) => {
    await http.register(multipart, formOptions)

    http.post(
      '/v2/upload',
      {
        schema: {
          tags: ['Upload'],
          operationId: 'upload',
          summary: 'Upload a recording',
          description:
            'Stores a recording, sent as a form or fetched from an address, and returns the `audio_url` with which to create jobs. ' +
            'The server keeps it while a job uses it, and otherwise for the configured time.',
          body: {
            content: {
              'multipart/form-data': { schema: UploadForm },
              'application/json': { schema: UploadRequest },
            },
          },
          response: { 200: UploadView, ...errorResponses(402, 413, 415) },
        },
      },
      async (request, reply) => {
        const signal = disconnectSignal(reply)
        const file = request.isMultipart()
          ? await receiveFormUpload(request, signal)
          : await fetchUrlUpload(request, signal)
        return toUploadView(file, baseUrlOf(request.raw, config.http))
      },
    )
  }

  async function receiveFormUpload(request: FastifyRequest, signal: AbortSignal) {
    const encoding = request.headers['content-encoding'] ?? 'identity'
    if (encoding !== 'identity') {
      throw new AppError('content_type_unsupported', `content-encoding ${encoding}`)
    }
    const max = config.storage.maxFileBytes + MAX_IGNORED_BYTES
    if (Number(request.headers['content-length'] ?? 0) > max) {
      throw new AppError(
        'media_too_large',
        `more than ${config.storage.maxFileBytes} bytes (STENO_MAX_FILE_BYTES)`,
      )
    }
    const part = await readAudioPart(request)
    return jobs.service.upload(request.account, { ...part, signal })
  }

  async function fetchUrlUpload(request: FastifyRequest, signal: AbortSignal) {
    const { account, raw } = request
    const { audio_url: source } = await bodies.read('upload-address', request)
    const upload = await findOwnUpload(source, request)
    if (upload) return upload
    // The connection has no traffic during the download, which has limits of its own.
    raw.socket.setTimeout(0)
    try {
      return await jobs.service.uploadFromUrl(account, { source, signal })
    } catch (error) {
      throw toSourceFieldError(error)
    }
  }
}

/**
 * Returns the function that finds the upload of this server that a URL names: the server has it
 * already, and would refuse a request of its own, which has no key.
 */
function createUploadFinder({ config, storage }: Pick<App, 'config' | 'storage'>) {
  return async (source: string, { account, raw }: FastifyRequest) => {
    const bases = [baseUrlOf(raw, config.http), originOf(raw, config.http)]
    const { upload, problem } = await findUpload(source, { account, bases }, storage)
    if (problem) throw validationError([problem])
    return upload
  }
}

function toUploadView(file: StoredRecording, base: string) {
  return {
    audio_url: fileUrl(base, file.id),
    audio_metadata: {
      id: file.id,
      filename: downloadName(file),
      extension: file.extension,
      size: file.size,
      audio_duration: file.duration ?? 0,
      number_of_channels: file.channels ?? 1,
      ...(file.source !== null && { source: file.source }),
    },
  }
}
