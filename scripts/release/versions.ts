/** The versions in the files of a release. */
export type VersionFiles = {
  manifest: { name: string; version: string; repository?: string | { url?: string } }
  lock: { name: string; version: string; packages: Record<string, { version?: string }> }
  changelog: string
  /** The tags of the repository. */
  tags: readonly string[]
  /** The tag that is being released, where there is one already. */
  tag?: string | undefined
}

/** Returns the problems that prevent a release of the version of `manifest`. */
export function findVersionErrors(files: VersionFiles): string[] {
  const { manifest, lock, changelog, tags, tag } = files
  const { name, version } = manifest
  const problems: string[] = []
  if (!/^\d+\.\d+\.\d+(-[a-z]+\.\d+)?$/.test(version)) {
    problems.push(`package.json: ${version} is no version such as 1.2.3 or 1.2.3-rc.1`)
  }
  const locked = [lock.version, lock.packages['']?.version]
  if (lock.name !== name || locked.some((one) => one !== version)) {
    problems.push("package-lock.json names another version: run 'npm install --package-lock-only'")
  }
  const entry = /^## (\S+) \(([^)]*)\)$/m.exec(changelog)
  if (entry?.[1] !== version) {
    problems.push(`CHANGELOG.md: its first entry is ${entry?.[1] ?? 'missing'}, not ${version}`)
  } else if (!/^\d{4}-\d{2}-\d{2}$/.test(entry[2]!)) {
    problems.push(`CHANGELOG.md: the entry of ${version} needs its date, such as (2026-03-04)`)
  }
  const { repository } = manifest
  if (!(typeof repository === 'string' ? repository : repository?.url)) {
    problems.push('package.json: no repository: the provenance of a package names it')
  }
  if (tag !== undefined && tag !== `v${version}`) {
    problems.push(`the tag ${tag} is not v${version}, which package.json says`)
  }
  if (tag === undefined && tags.includes(`v${version}`))
    problems.push(`the tag v${version} exists: raise the version`)
  return problems
}

/** Returns the section of the newest version in the changelog, for the page of the release. */
export function releaseNotes(changelog: string): string {
  const [, entry = ''] = changelog.split(/^## .*$/m)
  return `${entry.trim()}\n`
}
