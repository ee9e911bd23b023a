import assert from 'node:assert/strict'
import test from 'node:test'
import { completeSbom } from './sbom.ts'

test('the bill of materials lists shipped packages, reviewed licenses and models', () => {
  const component = (name: string) => ({ name, version: '1.0.0', 'bom-ref': `${name}@1.0.0` })
  const sbom = completeSbom(
    {
      bomFormat: 'CycloneDX',
      metadata: { component: { name: 'checkout', type: 'library' } },
      components: [component('fastify'), component('decoder'), component('vite')],
      dependencies: [
        { ref: 'steno-server@1.0.0', dependsOn: ['fastify@1.0.0', 'vite@1.0.0'] },
        { ref: 'vite@1.0.0' },
      ],
    },
    {
      name: 'steno-server',
      shipped: [
        { name: 'fastify', version: '1.0.0', license: 'MIT' },
        { name: 'decoder', version: '1.0.0', license: 'GPL-3.0-or-later', reason: 'a program' },
      ],
      models: [{ name: '@a/model', version: '2.0.0', integrity: 'sha512-AAE=' }],
    },
  )
  assert.equal(sbom.metadata.component.name, 'steno-server')
  assert.deepEqual(
    sbom.components.map(({ name }) => name),
    ['fastify', 'decoder', '@a/model'],
  )
  assert.deepEqual(sbom.components[1]?.licenses, [{ license: { id: 'GPL-3.0-or-later' } }])
  assert.deepEqual(sbom.components[2]?.hashes, [{ alg: 'SHA-512', content: '0001' }])
  assert.deepEqual(sbom.dependencies, [{ ref: 'steno-server@1.0.0', dependsOn: ['fastify@1.0.0'] }])
})
