import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { App } from '../../../app/app-type.ts'
import { bundledModelList } from '../../../models/bundled-models.ts'
import { downloadBytes, readCatalog } from '../../../models/catalog.ts'
import { readStoredModels, readStoredRecord } from '../../../models/install/installed-models.ts'
import { readSpeakerModels } from '../../../models/speaker-models.ts'
import { publishSchema } from '../../openapi/publish-schema.ts'
import { preRecordedRequest } from '../../schemas/jobs/pre-recorded-request.ts'
import { Capabilities } from '../../schemas/models/capabilities.ts'
import { liveModelNames, modelNames } from '../../schemas/models/model-names.ts'

/** Reports the capabilities of this server, as its modules state them. An extension of the API. */
export function capabilityRoutes({
  config,
  speech,
  jobs,
}: Pick<App, 'config' | 'speech' | 'jobs'>): FastifyPluginAsyncTypebox {
  const schemaOf = configSchemas(config)
  return async (http) => {
    http.get(
      '/v2/capabilities',
      {
        schema: {
          tags: ['Server'],
          operationId: 'getCapabilities',
          summary: 'Get the capabilities of the server',
          description:
            'Returns the languages and models of recognition, and the models that could be installed; the limits of one ' +
            'recording; the languages and the configuration of each add-on, and whether this server has it; the ' +
            'translators; how each type of entity is found, and what the groups of types stand for.',
          response: { 200: Capabilities },
        },
      },
      async () => {
        const { addOns, entityTypes, entityGroups, translators } = await jobs.service.capabilities()
        return {
          recognition: {
            languages: [...speech.languages],
            models: modelNames(config.models),
            live_models: speech.live ? liveModelNames(config.models) : [],
          },
          models: describeModels(config.models.folder, speech.remote),
          limits: {
            max_file_bytes: config.storage.maxFileBytes,
            max_audio_seconds: config.media.maxAudio,
          },
          add_ons: addOns.map(({ name, kind, isConfigured, isRepeatable, languages }) => ({
            name,
            kind,
            is_configured: isConfigured,
            is_repeatable: isRepeatable,
            languages: languages === 'all' ? null : [...languages],
            config_schema: schemaOf(name),
          })),
          translators: translators.map(({ pairs, ...translator }) => {
            return { ...translator, pairs: pairs && [...pairs].sort() }
          }),
          entity_types: entityTypes.map((type) => ({ ...type, languages: [...type.languages] })),
          entity_groups: entityGroups as Record<string, string[]>,
        }
      },
    )
  }
}

/**
 * Describes the installed models. It reads them at each request, because they change while the
 * server runs.
 */
function describeModels(folder: string, remote: App['speech']['remote']) {
  const stored = readStoredModels(folder)
  const bundled = bundledModelList.map(
    ({ id, kind, engine = null, languages, license, credit }) => {
      const languageCodes = [...languages]
      const fields = { name: id, kind, engine, languages: languageCodes, license }
      return { ...fields, version: null, credit, ...wordTimesOf({ kind }) }
    },
  )
  const installed = stored.map(({ id, kind, engine, languages, revision, folder: modelFolder }) => {
    const { license = '', credit } = readStoredRecord(modelFolder) ?? {}
    const fields = { name: id, kind, engine, languages: [...languages], license }
    return { ...fields, version: revision, credit: credit ?? null, ...wordTimesOf({ kind }) }
  })
  const notInstalled = readCatalog().filter(({ id }) => !stored.some((model) => model.id === id))
  const available = notInstalled.map((model) => {
    const { id, kind, engine, languages, license, memoryBytes, measured = null } = model
    const fields = { name: id, kind, engine, languages: [...languages], license }
    const sizes = { download_bytes: downloadBytes(model), memory_bytes: memoryBytes }
    return { ...fields, ...sizes, accuracy_measured: measured }
  })
  const speakers = describeSpeakerModels(folder)
  return {
    installed: [...bundled, ...speakers, ...installed, ...describeRemote(remote)],
    available,
  }
}

function wordTimesOf({ kind }: { kind: string }) {
  return { word_times: kind.endsWith('recognition') ? true : null }
}

/** Describes the models that the operator added from files; their license is not known. */
function describeSpeakerModels(folder: string) {
  return readSpeakerModels(folder).map(({ kind, name, sha256: version }) => {
    const fields = { name, kind, engine: null, languages: [], license: 'unknown', credit: null }
    return { ...fields, version, word_times: null }
  })
}

/** Describes the remote engine, which counts as an installed model. */
function describeRemote(remote: App['speech']['remote']) {
  if (!remote) return []
  const { id: name, revision: version = null, capabilities } = remote
  const fields = { name, kind: 'recognition', engine: 'remote', license: 'unknown', credit: null }
  const { languages, wordTimes } = capabilities
  return [{ ...fields, version, languages: [...languages], word_times: wordTimes }]
}

/**
 * Returns a function that returns the published schema of an add-on's configuration, or null if the
 * add-on has no options.
 */
function configSchemas({ requests, models }: App['config']) {
  const fields: Record<string, object> = preRecordedRequest({ requests, models }).properties
  return (name: string) => {
    const schema = fields[`${name}_config`]
    return schema ? publishSchema(schema, { closed: requests.unknownFields === 'reject' }) : null
  }
}
