import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import test from 'node:test'
import { generateApiTypes, ROOTS, readSchemas, type Schema } from './generate-api-types.ts'

const file = new URL('../src/cli/client/api-types.ts', import.meta.url)
/** The formatter may break lines elsewhere, and leaves out brackets. */
const bare = (text: string) => text.replaceAll(/[\s|()]+/g, '')

test('the API types of the command line match the published schemas', async () => {
  const current = generateApiTypes(await readSchemas())
  assert.equal(bare(await readFile(file, 'utf8')), bare(current), "run 'npm run api-types'")
})

test('objects, arrays, enums and references become TypeScript types', () => {
  const empty = Object.fromEntries(ROOTS.map((name) => [name, {}]))
  const upload: Schema = {
    properties: {
      size: { type: 'integer', description: 'Bytes' },
      kind: { enum: ['a', 'b'] },
      parts: { items: { anyOf: [{ $ref: '#/components/schemas/Part' }, { type: 'null' }] } },
      places: { items: { items: { type: 'integer' } } },
    },
    required: ['size'],
  }
  const text = generateApiTypes({ ...empty, Upload: upload, Part: { type: 'object' }, Unused: {} })
  const expected = `export type ApiUpload = {
  /** Bytes */
  size: number
  kind?: 'a' | 'b'
  parts?: (ApiPart | null)[]
  places?: number[][]
}
`
  assert.ok(text.includes(expected), text)
  assert.ok(text.includes('export type ApiPart = Record<string, unknown>'))
  assert.ok(!text.includes('Unused'))
  assert.throws(() => generateApiTypes({}), /no schema Upload/)
})
