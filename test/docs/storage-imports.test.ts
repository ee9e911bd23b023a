import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'

const root = join(import.meta.dirname, '../../src')

const files = globSync('**/*.ts', { cwd: root }).filter((file) => !/\.(test|fixture)\./.test(file))

/** Returns the files outside of a folder that load a module at their start. */
function filesThatLoad(modules: RegExp, { outside }: { outside: string }): string[] {
  return files.filter((file) => {
    const code = readFileSync(join(root, file), 'utf8')
    const loaded = [...code.matchAll(/^import (?!type ).*from '([^']+)'/gm)]
    return !file.startsWith(outside) && loaded.some(([, module]) => modules.test(module!))
  })
}

test('the PostgreSQL driver is loaded only when configured', () => {
  const outside = join('storage', 'database', 'postgres')
  assert.deepEqual(filesThatLoad(/^pg$|\/postgres\//, { outside }), [])
})

test('the S3 client is loaded only when configured', () => {
  assert.deepEqual(filesThatLoad(/\/s3\//, { outside: join('storage', 'objects', 's3') }), [])
  assert.deepEqual(filesThatLoad(/^@aws-sdk\//, { outside: 'none' }), [])
})
