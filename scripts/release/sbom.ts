import type { ModelPackage } from '../../src/asr/model-files/bundled-packages.ts'
import type { LicensedPackage } from './licenses.ts'

/** The part of a CycloneDX document that is read and changed here. */
export type Sbom = {
  bomFormat: string
  metadata: { component: { name: string; type: string } }
  components: { name: string; version: string; 'bom-ref': string; [field: string]: unknown }[]
  dependencies: { ref: string; dependsOn?: string[] }[]
}

/** What a bill of materials is made of, beside the list of npm. */
type Parts = {
  name: string
  shipped: LicensedPackage[]
  models: ModelPackage[]
  /** The script that builds libav, with the versions of its sources. */
  buildScript: string
}

/**
 * Returns the bill of materials of a release: of all packages that npm lists, those that are
 * shipped, with the licenses that hold for them, what libav.wasm is built of, and the models that
 * the first use fetches.
 */
export function completeSbom(sbom: Sbom, { name, shipped, models, buildScript }: Parts): Sbom {
  const licenses = new Map(shipped.map((one) => [`${one.name}@${one.version}`, one]))
  const components = sbom.components
    .filter((component) => licenses.has(`${component.name}@${component.version}`))
    .map((component) => {
      const { license, reason } = licenses.get(`${component.name}@${component.version}`)!
      return reason ? { ...component, licenses: [{ license: { id: license } }] } : component
    })
  const knownRefs = new Set([...components.map((one) => one['bom-ref']), sbom.dependencies[0]?.ref])
  const dependencies = sbom.dependencies
    .filter(({ ref }) => knownRefs.has(ref))
    .map(({ ref, dependsOn = [] }) => ({
      ref,
      dependsOn: dependsOn.filter((one) => knownRefs.has(one)),
    }))
  return {
    ...sbom,
    metadata: {
      ...sbom.metadata,
      component: { ...sbom.metadata.component, name, type: 'application' },
    },
    components: [...components, ...describeSources(buildScript), ...models.map(describeModel)],
    dependencies,
  }
}

/** Returns the libraries whose versions the script that builds libav states. */
function describeSources(buildScript: string): Sbom['components'] {
  const describe = (name: string, license: string): Sbom['components'][number] => {
    const [, version = ''] = new RegExp(`^${name.toUpperCase()}=(.+)$`, 'm').exec(buildScript) ?? []
    return {
      'bom-ref': `${name}@${version}`,
      type: 'library',
      name,
      version,
      cpe: `cpe:2.3:a:${name}:${name}:${version}:*:*:*:*:*:*:*`,
      licenses: [{ license: { id: license } }],
    }
  }
  return [describe('ffmpeg', 'LGPL-2.1-or-later'), describe('zlib', 'Zlib')]
}

function describeModel({ name, version, integrity }: ModelPackage): Sbom['components'][number] {
  const [, hash = ''] = integrity.split('-')
  return {
    'bom-ref': `${name}@${version}`,
    type: 'machine-learning-model',
    name,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    hashes: [{ alg: 'SHA-512', content: Buffer.from(hash, 'base64').toString('hex') }],
    licenses: [{ license: { id: 'MIT' } }],
  }
}
