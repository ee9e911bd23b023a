import type { EngineName, ModelKind } from './catalog.ts'

/** A model that comes with the program. */
export type BundledModel = {
  id: string
  kind: ModelKind
  /** The text shown to users instead of the kind. */
  purpose: string
  engine: EngineName | undefined
  /** Empty when it works with any language. */
  languages: readonly string[]
  license: string
  /** The authors of the model. */
  credit: string
}

/**
 * The models that `npm ci` or the first use of a package installs, and the one of the repository.
 */
export const bundledModelList: readonly BundledModel[] = [
  {
    id: 'moonshine-base',
    kind: 'recognition',
    purpose: 'recognition of files and of finals',
    engine: 'moonshine',
    languages: ['en'],
    license: 'MIT',
    credit: 'Copyright (c) Useful Sensors; the graphs are changed when they are installed',
  },
  {
    id: 'moonshine-tiny',
    kind: 'recognition',
    purpose: 'recognition of partials',
    engine: 'moonshine',
    languages: ['en'],
    license: 'MIT',
    credit: 'Copyright (c) Useful Sensors; the graphs are changed when they are installed',
  },
  {
    id: 'silero-vad',
    kind: 'voice-detection',
    purpose: 'voice detection',
    engine: undefined,
    languages: [],
    license: 'MIT',
    credit: 'Copyright (c) Silero Team',
  },
  {
    id: 'xvector-8k',
    kind: 'speaker-embedding',
    purpose: 'speaker-embedding, built in',
    engine: undefined,
    languages: [],
    license: 'Apache-2.0',
    credit: 'Trained by David Snyder with Kaldi, from vosk-model-spk-0.4; converted to ONNX',
  },
]
