/** A platform that the documentation has a column for. */
export type Platform = { title: string; os: string; cpu: string }

export const platforms: readonly Platform[] = [
  { title: 'Linux x64', os: 'linux', cpu: 'x64' },
  { title: 'Linux arm64', os: 'linux', cpu: 'arm64' },
  { title: 'macOS arm64', os: 'darwin', cpu: 'arm64' },
  { title: 'macOS x64', os: 'darwin', cpu: 'x64' },
  { title: 'Windows x64', os: 'win32', cpu: 'x64' },
  { title: 'Windows arm64', os: 'win32', cpu: 'arm64' },
]

/** The fields of a lock file about the platforms of a package. */
export type LockedPackage = {
  version?: string
  dev?: boolean
  os?: string[]
  cpu?: string[]
  hasInstallScript?: boolean
  optionalDependencies?: Record<string, string>
}

/** A package with native code: `builds` are the platforms that it has a package for. */
export type NativePart = { name: string; version: string; builds: Platform[] | undefined }

/**
 * Returns the packages with native code that users install. `builds` is undefined where the lock
 * file does not tell: the parts are in the package itself, or an install script fetches them.
 */
export function findNativeParts(packages: Record<string, LockedPackage>): NativePart[] {
  const parts: NativePart[] = []
  for (const [path, one] of Object.entries(packages)) {
    if (path === '' || one.dev || one.cpu) continue
    const name = path.replace(/^.*node_modules\//, '')
    const variants = Object.keys(one.optionalDependencies ?? {})
      .map((variant) => packages[`node_modules/${variant}`])
      .filter((variant) => variant?.os && variant.cpu)
    const version = one.version ?? ''
    if (variants.length > 0) {
      const builds = platforms.filter(({ os, cpu }) =>
        variants.some((variant) => variant!.os!.includes(os) && variant!.cpu!.includes(cpu)),
      )
      parts.push({ name, version, builds })
    } else if (one.hasInstallScript) parts.push({ name, version, builds: undefined })
  }
  return parts
}

/** Returns what the table of parts in docs/installation.md says: the platforms with a build. */
export function readPartsTable(page: string): NativePart[] {
  const [, head = '', rows = ''] = /^\| part (\|.*)\n\|[-|]+\n((?:\|.*\n)+)/m.exec(page) ?? []
  const titles = cells(head)
  return rows
    .trim()
    .split('\n')
    .map((row) => {
      const [, name = '', version = ''] = /^\| `([^`]+)` (\S+)/.exec(row) ?? []
      const builds = cells(row).slice(1)
      return {
        name,
        version,
        builds: platforms.filter(({ title }) => builds[titles.indexOf(title)] === 'yes'),
      }
    })
}

function cells(row: string): string[] {
  return row
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())
}

/** Returns the package that the install script of `node` fetches on a platform. */
export function nodePackage({ os, cpu }: Platform): string {
  const prefix = os === 'darwin' && cpu === 'arm64' ? 'node-bin' : 'node'
  return `${prefix}-${os === 'win32' ? 'win' : os}-${cpu}`
}

/** Returns the platforms of which ONNX Runtime has libraries among the paths of its package. */
export function runtimePlatforms(paths: readonly string[]): Platform[] {
  return platforms.filter(({ os, cpu }) =>
    paths.some((path) => path.includes(`bin/napi-v6/${os}/${cpu}/`)),
  )
}
