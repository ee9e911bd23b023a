import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { App } from '../../app.ts'
import { AppError } from '../../errors.ts'
import { findFile } from '../../storage/files.ts'
import { mediaTypeOf } from '../media-types.ts'
import { IdParams } from '../schemas/job.ts'
import { sendFile } from '../send-file.ts'

/** Gives an upload back (contract 2.2). */
export function fileRoutes({ storage }: Pick<App, 'storage'>): FastifyPluginAsyncTypebox {
  return async (http) => {
    http.get('/file/:id', { schema: { params: IdParams } }, async (request, reply) => {
      const { account, params } = request
      const file = await findFile(storage.db, { id: params.id, account })
      if (!file) throw new AppError('file_not_found', params.id)
      const contentType = mediaTypeOf(file.extension)
      return sendFile(request, reply, { file, contentType, objects: storage.objects })
    })
  }
}
