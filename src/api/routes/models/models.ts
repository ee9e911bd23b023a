import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { App } from '../../../app/app-type.ts'
import { AppError } from '../../../errors.ts'
import { isOpenAiModel, openAiModels } from '../../openai/request.ts'
import { errorResponses } from '../../schemas/common/error.ts'
import { Type } from '../../schemas/common/type.ts'
import { Model, ModelList } from '../../schemas/models/model-list.ts'
import { modelNames } from '../../schemas/models/model-names.ts'

/** Lists the names of models that requests may give. An extension of the API. */
export function modelRoutes({
  config,
  speech,
}: Pick<App, 'config' | 'speech'>): FastifyPluginAsyncTypebox {
  const models = () => {
    return [...modelNames(config.models), ...openAiModels].map((id) => {
      const fields = { id, object: 'model' as const, created: 0, owned_by: 'steno' }
      const remoteLanguages = id === 'remote' ? speech.remote?.capabilities.languages : undefined
      return { ...fields, languages: [...(remoteLanguages ?? speech.languages)] }
    })
  }

  return async (http) => {
    http.get(
      '/v1/models',
      {
        schema: {
          tags: ['OpenAI-compatible'],
          operationId: 'listModels',
          summary: 'List the models that requests may name',
          description:
            'Lists them in the form of OpenAI’s API, with the installed languages. `GET /v2/capabilities` shows which ' +
            'models they stand for.',
          response: { 200: ModelList },
        },
      },
      async () => ({ object: 'list' as const, data: models() }),
    )

    http.get(
      '/v1/models/:id',
      {
        schema: {
          tags: ['OpenAI-compatible'],
          operationId: 'getModel',
          summary: 'Get a model that requests may name',
          description: 'Returns the model in the form of OpenAI’s API.',
          params: Type.Object({ id: Type.String() }),
          response: { 200: Model, ...errorResponses(404) },
        },
      },
      async ({ params: { id } }) => {
        const found = models().find((model) => model.id === id)
        if (found) return found
        if (!isOpenAiModel(id)) throw new AppError('model_not_found', id)
        return { ...models()[0]!, id }
      },
    )
  }
}
