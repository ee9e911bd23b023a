import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { completeSbom } from './sbom.ts'

const buildScript = join(import.meta.dirname, '../../src/audio/libav/wasm/build-libav.sh')

test('the bill of materials lists shipped packages, reviewed licenses and models', () => {
  const component = (name: string) => ({ name, version: '1.0.0', 'bom-ref': `${name}@1.0.0` })
  const sbom = completeSbom(
    {
      bomFormat: 'CycloneDX',
      metadata: { component: { name: 'checkout', type: 'library' } },
      components: [component('fastify'), component('noise'), component('vite')],
      dependencies: [
        { ref: 'steno-server@1.0.0', dependsOn: ['fastify@1.0.0', 'vite@1.0.0'] },
        { ref: 'vite@1.0.0' },
      ],
    },
    {
      name: 'steno-server',
      shipped: [
        { name: 'fastify', version: '1.0.0', license: 'MIT' },
        { name: 'noise', version: '1.0.0', license: 'Apache-2.0', reason: 'declares none' },
      ],
      buildScript: readFileSync(buildScript, 'utf8'),
      models: [{ name: '@a/model', version: '2.0.0', integrity: 'sha512-AAE=' }],
    },
  )
  assert.equal(sbom.metadata.component.name, 'steno-server')
  assert.deepEqual(
    sbom.components.map(({ name }) => name),
    ['fastify', 'noise', 'ffmpeg', 'zlib', '@a/model'],
  )
  assert.deepEqual(sbom.components[1]?.licenses, [{ license: { id: 'Apache-2.0' } }])
  for (const { name, version } of sbom.components.slice(2, 4))
    assert.match(version, /^\d+(\.\d+)+$/, name)
  assert.deepEqual(sbom.components[4]?.hashes, [{ alg: 'SHA-512', content: '0001' }])
  assert.deepEqual(sbom.dependencies, [{ ref: 'steno-server@1.0.0', dependsOn: ['fastify@1.0.0'] }])
})
