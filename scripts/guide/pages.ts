/** A page of the documentation: its file in the repository, and its title in the navigation. */
export type GuidePage = { file: string; title: string }

/** The pages by section, in the order of the navigation. The first one is the start page. */
export const sections: readonly { title: string; pages: readonly GuidePage[] }[] = [
  {
    title: 'First steps',
    pages: [
      { file: 'README.md', title: 'Start here' },
      { file: 'docs/installation.md', title: 'Installation' },
      { file: 'docs/dashboard.md', title: 'The dashboard' },
      { file: 'docs/troubleshooting.md', title: 'Troubleshooting' },
    ],
  },
  {
    title: 'Guides',
    pages: [
      { file: 'docs/guides/meetings.md', title: 'Meetings' },
      { file: 'docs/guides/call-center.md', title: 'Call centers' },
      { file: 'docs/guides/captions.md', title: 'Captions' },
      { file: 'docs/guides/voice-agents.md', title: 'Voice agents' },
      { file: 'docs/guides/archives.md', title: 'Archives' },
      { file: 'docs/guides/air-gapped.md', title: 'Without a network' },
      { file: 'docs/migration.md', title: 'Moving from another service' },
    ],
  },
  {
    title: 'Using it',
    pages: [
      { file: 'docs/recordings.md', title: 'Recordings' },
      { file: 'docs/add-ons.md', title: 'Add-ons' },
      { file: 'docs/models.md', title: 'Languages and models' },
      { file: 'docs/search.md', title: 'Search' },
      { file: 'docs/corrections.md', title: 'Corrections' },
      { file: 'docs/sharing.md', title: 'Links for others' },
      { file: 'docs/webhooks.md', title: 'Callbacks and webhooks' },
      { file: 'docs/clients.md', title: 'Clients of other services' },
      { file: 'docs/openai.md', title: 'OpenAI’s API' },
      { file: 'docs/errors.md', title: 'Errors' },
      { file: 'docs/known-limits.md', title: 'Known limits' },
    ],
  },
  {
    title: 'Running it',
    pages: [
      { file: 'docs/configuration.md', title: 'Settings' },
      { file: 'docs/deployment.md', title: 'Deployment' },
      { file: 'docs/operations.md', title: 'Backups and upgrades' },
      { file: 'docs/scaling.md', title: 'Several machines' },
      { file: 'docs/monitoring.md', title: 'Monitoring' },
      { file: 'docs/benchmarks.md', title: 'Accuracy and speed' },
      { file: 'docs/data-protection.md', title: 'Data protection' },
      { file: 'docs/security.md', title: 'Security' },
    ],
  },
  {
    title: 'The project',
    pages: [
      { file: 'CHANGELOG.md', title: 'Changes' },
      { file: 'docs/architecture.md', title: 'Architecture' },
      { file: 'docs/releasing.md', title: 'Releases' },
    ],
  },
]

const pages = sections.flatMap((section) => section.pages)

/** Returns the title of a page by its file; undefined if the file is not a page. */
export function titleOf(file: string): string | undefined {
  return pages.find((page) => page.file === file)?.title
}

/** Returns the path of a page on the site; undefined for a file that is none. */
export function addressOf(file: string): string | undefined {
  if (titleOf(file) === undefined) return undefined
  if (file === pages[0]!.file) return 'index.html'
  return file
    .replace(/^docs\//, '')
    .replace(/\.md$/, '.html')
    .toLowerCase()
}
