import type { EngineName, ModelKind } from './catalog.ts'

/** A model that comes with the program. */
export type EmbeddedModel = {
  id: string
  kind: ModelKind
  /** What a person reads instead of the kind. */
  purpose: string
  engine: EngineName | undefined
  /** Empty when it works on any. */
  languages: readonly string[]
  licence: string
}

/** The models that `npm ci` installs, and the one of the repository. */
export const embeddedModelList: readonly EmbeddedModel[] = [
  {
    id: 'moonshine-base',
    kind: 'recognition',
    purpose: 'recognition of files and of finals',
    engine: 'moonshine',
    languages: ['en'],
    licence: 'MIT',
  },
  {
    id: 'moonshine-tiny',
    kind: 'recognition',
    purpose: 'recognition of partials',
    engine: 'moonshine',
    languages: ['en'],
    licence: 'MIT',
  },
  {
    id: 'silero-vad',
    kind: 'voice-detection',
    purpose: 'voice detection',
    engine: undefined,
    languages: [],
    licence: 'MIT',
  },
  {
    id: 'xvector-8k',
    kind: 'speaker-embedding',
    purpose: 'speaker-embedding, built in',
    engine: undefined,
    languages: [],
    licence: 'Apache-2.0',
  },
]
