import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import type { App } from '../../../app/app-type.ts'
import { AppError } from '../../../errors.ts'
import type { ListedModel } from '../../../models/model-admin.ts'
import type { PullState } from '../../../models/pull-queue.ts'
import { type AuditAction, recordAudit } from '../../../storage/accounts/audit-log.ts'
import { clientAddressOf } from '../../auth/client-address.ts'
import { errorResponses } from '../../schemas/common/error.ts'
import { Type } from '../../schemas/common/type.ts'
import { StoredModel, StoredModelList } from '../../schemas/models/stored-model.ts'

const Params = Type.Object({ name: Type.String({ maxLength: 255, examples: ['whisper-base'] }) })
const ADMIN = 'Needs a key with the scope `admin`.'

const listing = {
  tags: ['Server'],
  operationId: 'listStoredModels',
  summary: 'List the models of this machine',
  description: `Lists installed models and those that the catalog offers, on the node that handles the request. ${ADMIN}`,
  response: { 200: StoredModelList },
}
const pull = {
  tags: ['Server'],
  operationId: 'pullModel',
  summary: 'Install a model of the catalog',
  description:
    'Downloads, checks and converts it on the node that handles the request, in the background: `pull` in the list and ' +
    `events of the type \`model\` report its progress. Running servers use it at once. ${ADMIN}`,
  params: Params,
  response: { 202: StoredModel, ...errorResponses(404) },
}
const remove = {
  tags: ['Server'],
  operationId: 'removeModel',
  summary: 'Remove an installed model',
  description: `Running work finishes with the model. Models that come with the server cannot be removed. ${ADMIN}`,
  params: Params,
  response: { 204: Type.Null(), ...errorResponses(403, 404, 409) },
}

/** Lists, pulls and removes the models of this machine. An extension of the API. */
export function modelAdminRoutes({
  config,
  models,
  storage: { db },
}: Pick<App, 'config' | 'models' | 'storage'>): FastifyPluginAsyncTypebox {
  const audit = (action: AuditAction, { account, keyId, raw }: FastifyRequest, subject: string) => {
    return recordAudit(
      db,
      { action, account, subject },
      { source: 'api', keyId, address: clientAddressOf(raw, config.http) },
    )
  }

  async function list(): Promise<StoredModel[]> {
    const pulls = new Map(models.pulls().map((pull) => [pull.name, pull]))
    return (await models.list()).map((model) => toView(model, pulls.get(model.name)))
  }

  return async (http) => {
    http.get('/v2/models', { schema: listing }, async () => ({ items: await list() }))

    http.post('/v2/models/:name/pull', { schema: pull }, async (request, reply) => {
      const { name } = request.params
      models.pull(name)
      await audit('model.pulled', request, name)
      const model = (await list()).find((listedModel) => listedModel.name === name)
      if (!model) throw new AppError('model_not_found', name)
      return reply.code(202).send(model)
    })

    http.delete('/v2/models/:name', { schema: remove }, async (request, reply) => {
      const { name } = request.params
      await models.remove(name)
      await audit('model.removed', request, name)
      return reply.code(204).send(null)
    })
  }
}

function toView(model: ListedModel, pull: PullState | undefined): StoredModel {
  const { name, kind, engine, languages, license, credit, bytes, memoryBytes, state } = model
  const running = pull && 'progress' in pull ? pull.progress : undefined
  return {
    name,
    kind,
    bytes,
    state,
    engine: engine ?? null,
    languages: [...languages],
    license: license ?? null,
    credit: credit ?? null,
    memory_bytes: memoryBytes ?? null,
    is_removable: model.origin === 'store' || model.origin === 'file',
    pull: running ? { fraction: running.fraction, seconds_left: running.secondsLeft } : null,
    failure: pull && 'failure' in pull ? pull.failure : null,
  }
}
