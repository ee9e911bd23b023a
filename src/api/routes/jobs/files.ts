import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { App } from '../../../app/app-type.ts'
import { AppError } from '../../../errors.ts'
import { findRecording } from '../../../storage/recordings/recordings.ts'
import { mediaTypeOf } from '../../responses/files/media-types.ts'
import { sendFile } from '../../responses/files/send-file.ts'
import { downloadResponses, RangeHeaders } from '../../schemas/common/operations.ts'
import { IdParams } from '../../schemas/jobs/job.ts'

/** Returns an uploaded file. */
export function fileRoutes({ storage }: Pick<App, 'storage'>): FastifyPluginAsyncTypebox {
  return async (http) => {
    const schema = {
      tags: ['Upload'],
      operationId: 'getFile',
      summary: 'Download an upload',
      description: 'Returns the bytes of an upload, at its `audio_url`. Supports one byte range.',
      params: IdParams,
      headers: RangeHeaders,
      response: downloadResponses(['audio/*', 'video/*', 'application/octet-stream']),
    }
    http.get('/file/:id', { schema }, async (request, reply) => {
      const { account, params } = request
      const file = await findRecording(storage.db, { id: params.id, account })
      if (!file) throw new AppError('file_not_found', params.id)
      const contentType = mediaTypeOf(file.extension)
      return sendFile(request, reply, { file, contentType, objects: storage.objects })
    })
  }
}
