/** Checks the licenses of the packages of a release. */

/** The entry of a package in `package-lock.json`. */
export type LockedPackage = { version?: string; license?: string; dev?: boolean; link?: boolean }

/** A package of the release with its license; `reason` says why a license was accepted by hand. */
export type LicensedPackage = {
  name: string
  version: string
  license: string
  reason?: string
}

export type LicenseReport = { accepted: LicensedPackage[]; refused: LicensedPackage[] }

/** Terms that allow linking into an Apache-2.0 program, with notices at most. */
const permissive = new Set([
  ...['0BSD', 'Apache-2.0', 'BlueOak-1.0.0', 'BSD-2-Clause', 'BSD-3-Clause', 'CC0-1.0'],
  ...['ISC', 'MIT', 'MIT-0', 'Python-2.0', 'Unlicense', 'Zlib'],
])

/** Development packages whose code is in the built dashboard, documentation and reference page. */
const bundled = [
  ...['preact', '@preact/signals', '@preact/signals-core', 'wavesurfer.js', 'minisearch'],
  '@scalar/fastify-api-reference',
]

type Review = {
  name: RegExp
  /** The license that applies, whatever the package declares. */
  license: string
  /** The declared license at the time of the review; another one needs a new review. */
  declared: string | undefined
  reason: string
}

/** Packages that a person has looked at. Add one with its reason, never to make a check pass. */
const reviews: readonly Review[] = [
  {
    name: /^@jitsi\/rnnoise-wasm$/,
    license: 'Apache-2.0',
    declared: undefined,
    reason:
      'declares none; its LICENSE file is Apache-2.0, and RNNoise itself BSD-3-Clause (NOTICE)',
  },
]

/**
 * Sorts the packages of a release, which are those of the lock file that are no development
 * packages and those in the built pages.
 */
export function reportLicenses(packages: Record<string, LockedPackage>): LicenseReport {
  const report: LicenseReport = { accepted: [], refused: [] }
  for (const [path, locked] of Object.entries(packages)) {
    const name = path.split('node_modules/').at(-1)!
    const isShipped = !locked.dev || bundled.includes(name)
    if (path === '' || locked.link || !isShipped) continue
    const found = review(name, locked)
    const list = found.reason || allowsLinking(found.license) ? report.accepted : report.refused
    list.push(found)
  }
  return report
}

function review(name: string, { version = '?', license }: LockedPackage): LicensedPackage {
  const known = reviews.find((one) => one.name.test(name) && one.declared === license)
  if (!known) return { name, version, license: license ?? 'unknown' }
  return { name, version, license: known.license, reason: known.reason }
}

/** Whether an SPDX expression offers terms that allow linking: `(MIT OR GPL-3.0-only)` does. */
function allowsLinking(expression: string): boolean {
  const flat = expression.replace(/^\((.*)\)$/, '$1')
  if (/[()]/.test(flat)) return false // Nested: a person has to look.
  const allows = (terms: string) => terms.split(/ AND /i).every((id) => permissive.has(id.trim()))
  return flat.split(/ OR /i).some(allows)
}

/** Writes the report as a table for people. */
export function describeLicenses({ accepted, refused }: LicenseReport): string {
  const lines = ['# Licenses of the packages in this release', '']
  const row = ({ name, version, license }: LicensedPackage) => `${name} ${version}: ${license}`
  const byName = (one: LicensedPackage, other: LicensedPackage) =>
    one.name.localeCompare(other.name)
  for (const one of refused.sort(byName)) lines.push(`REFUSED ${row(one)}`)
  for (const one of accepted.sort(byName)) {
    lines.push(`${row(one)}${one.reason ? `\n  reviewed: ${one.reason}` : ''}`)
  }
  return `${lines.join('\n')}\n`
}
