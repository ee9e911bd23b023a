import { Type } from '../common/type.ts'
import { FreeObject, Nullable, OneOf } from '../common/values.ts'
import { piiSingleTypes } from '../jobs/pii-types.ts'

const Languages = Type.Array(Type.String({ description: 'A language code, such as `en`' }))
const ModelNames = Type.Array(Type.String({ description: 'A name that requests may use' }))
const EntityType = OneOf(...piiSingleTypes)

const AddOn = Type.Object(
  {
    name: Type.String({ description: 'The switch that requests it' }),
    kind: OneOf('transform', 'add-on'),
    is_configured: Type.Boolean({
      description: 'Whether this server has it; without it, the add-on fails with `NotConfigured`',
    }),
    is_repeatable: Type.Boolean({ description: 'Whether it can be retried after a failure' }),
    languages: Type.Union([Languages, Type.Null()], { description: 'Null when it supports all' }),
    config_schema: Nullable(
      FreeObject('JSON Schema of its `…_config`, with the limits and defaults of this server'),
    ),
  },
  { title: 'AddOnCapability', description: 'An add-on, or a transform, which changes the words' },
)

const EntityTypeView = Type.Object(
  {
    type: EntityType,
    support: OneOf('strong', 'cue', 'list', 'none'),
    languages: Languages,
  },
  {
    title: 'EntityCapability',
    description:
      'How a type is found: by checksum or shape (`strong`), only near words that announce it (`cue`), as far ' +
      'as word lists go (`list`), or not at all (`none`)',
  },
)

const modelFields = {
  name: Type.String({ description: 'The name that `steno models` uses' }),
  kind: Type.String({ description: 'What it is for, such as `recognition`' }),
  engine: Nullable(Type.String({ description: 'What runs it, such as `whisper`' })),
  languages: Type.Array(Type.String(), {
    description: 'Its languages, best first; empty when it works on any language',
  }),
  license: Type.String({ description: 'SPDX id' }),
}

const InstalledModel = Type.Object(
  {
    ...modelFields,
    version: Nullable(Type.String({ description: 'The commit or version of its source' })),
    credit: Nullable(Type.String({ description: 'The credit that the license requires' })),
    word_times: Nullable(
      Type.Boolean({ description: 'Whether it measures word times; null when it has no words' }),
    ),
  },
  { title: 'InstalledModel' },
)

const AvailableModel = Type.Object(
  {
    ...modelFields,
    download_bytes: Type.Integer(),
    memory_bytes: Type.Integer({ description: 'Bytes of memory that it takes when loaded' }),
    accuracy_measured: Nullable(
      Type.Unsafe<'itself' | 'family'>({
        type: 'string',
        enum: ['itself', 'family'],
        description:
          'Whether its accuracy in Steno was measured, or only that of another size of the model',
      }),
    ),
  },
  { title: 'AvailableModel' },
)

const Translator = Type.Object(
  {
    provider: OneOf('language model', 'whisper', 'apertium'),
    model: Nullable(Type.String({ description: 'The configured language model' })),
    pairs: Type.Union([Type.Array(Type.String()), Type.Null()], {
      description: 'The language pairs, such as `es-en`; null for all',
    }),
    sessions: Type.Boolean({ description: 'Whether it translates live sessions, too' }),
  },
  { title: 'TranslatorCapability' },
)

/** The capabilities of a server. */
export const Capabilities = Type.Object(
  {
    recognition: Type.Object({
      languages: Type.Array(Type.String(), { description: 'Best first' }),
      models: ModelNames,
      live_models: Type.Array(Type.String(), {
        description:
          'Models that live sessions may name; empty when the server offers no live sessions',
      }),
    }),
    models: Type.Object(
      { installed: Type.Array(InstalledModel), available: Type.Array(AvailableModel) },
      { description: '`steno models pull` installs an available one on the machine' },
    ),
    limits: Type.Object(
      { max_file_bytes: Type.Integer(), max_audio_seconds: Type.Integer() },
      { description: 'The limits of one recording' },
    ),
    add_ons: Type.Array(AddOn),
    translators: Type.Array(Translator, {
      description:
        'The translators, in the order in which the server tries them; empty if there are none',
    }),
    entity_types: Type.Array(EntityTypeView),
    entity_groups: Type.Record(Type.String(), Type.Array(EntityType), {
      description: 'What each name of several types stands for in `entity_types` of a request',
    }),
  },
  { title: 'Capabilities' },
)
