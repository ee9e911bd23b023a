import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { App } from '../../server-parts.ts'
import { ModelList } from '../schemas/model-list.ts'
import { modelNames } from '../schemas/model-names.ts'

/** Lists the names of models that requests may give. Our extension of the API. */
export function modelRoutes({
  config,
  speech,
}: Pick<App, 'config' | 'speech'>): FastifyPluginAsyncTypebox {
  return async (http) => {
    http.get(
      '/v1/models',
      {
        schema: {
          tags: ['Server'],
          operationId: 'listModels',
          summary: 'The models that requests may name',
          description:
            'In the form of OpenAI’s API, with the languages that are installed. `GET /v2/capabilities` tells which ' +
            'models stand behind them.',
          response: { 200: ModelList },
        },
      },
      async () => {
        const data = modelNames(config.models).map((id) => {
          const fields = { id, object: 'model' as const, created: 0, owned_by: 'steno' }
          const own = id === 'remote' ? speech.remote?.capabilities.languages : undefined
          return { ...fields, languages: [...(own ?? speech.languages)] }
        })
        return { object: 'list' as const, data }
      },
    )
  }
}
