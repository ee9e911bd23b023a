import type { ApiSearchHit } from '../client/api-types.ts'
import { createClient } from '../client/client.ts'
import { readServer, serverHelp, serverOptions } from '../client/server-url.ts'
import { parseArguments, parseNumberOption, readChoice, UsageError } from '../terminal/arguments.ts'
import { formatClock } from '../terminal/format-clock.ts'
import { sanitize, sanitizeJson } from '../terminal/sanitize.ts'
import type { Command, Terminal } from '../terminal/terminal.ts'

const help = `Usage: steno search [options] WORDS...

Finds what was said in the finished recordings and sessions of a server: utterances that have all the words, in any
form of the word, the latest first. Prints the job, the time, and what was said.

  "two words"      in quotes that reach the server ('"two words"'): in this order
  -- -word         not this word; everything after -- is part of the query
  word*            the beginning of a word

  --language CODE  only utterances in this language, such as de
  --speaker N      only this speaker, as numbered in its job
  --speaker-name N only the speaker with this name, as set by a correction
  --kind KIND      only in pre-recorded or live jobs
  --after DATE     only in jobs created after this date or time
  --before DATE    only in jobs created before this date or time
  --metadata JSON  only in jobs with these keys in their custom_metadata, such as '{"team":"red"}'
  --limit N        utterances per page; default 20
  --offset N       utterances to skip; default 0
  --json           prints the response of the server
${serverHelp}
The exit code is 1 if nothing is found.
`

/** `steno search`: finds utterances in the jobs of a running server. */
export const searchCommand: Command = {
  help,
  async run(args, terminal) {
    const { values, positionals } = parseArguments(args, {
      language: { type: 'string' },
      speaker: { type: 'string' },
      'speaker-name': { type: 'string' },
      kind: { type: 'string' },
      after: { type: 'string' },
      before: { type: 'string' },
      metadata: { type: 'string' },
      limit: { type: 'string' },
      offset: { type: 'string' },
      json: { type: 'boolean' },
      ...serverOptions,
    })
    const q = positionals.join(' ').trim()
    if (q === '') throw new UsageError('name at least one word to search for')
    const { language, speaker, kind, after, before, metadata } = values
    const kinds = ['pre-recorded', 'live'] as const
    const offset = parseNumberOption(values.offset, { name: 'offset', fallback: 0, min: 0 })
    const searchResult = await createClient(readServer(values, terminal), terminal.signal).search({
      q,
      offset,
      limit: parseNumberOption(values.limit, { name: 'limit', fallback: 20, min: 1 }),
      ...(language && { language }),
      ...(speaker && {
        speaker: parseNumberOption(speaker, { name: 'speaker', fallback: 0, min: 0 }),
      }),
      ...(values['speaker-name'] && { speaker_name: values['speaker-name'] }),
      ...(kind && { kind: readChoice(kind, { name: 'kind', choices: kinds }) }),
      ...(after && { after_date: after }),
      ...(before && { before_date: before }),
      ...(metadata && { custom_metadata: metadata }),
    })
    if (values.json) terminal.stdout.write(`${sanitizeJson(searchResult)}\n`)
    else printHits(searchResult.items, terminal)
    if (searchResult.next !== null) {
      terminal.stderr.write(
        `More results: repeat the command with --offset ${offset + searchResult.items.length}\n`,
      )
    }
    return searchResult.items.length > 0 ? 0 : 1
  },
}

function printHits(hits: readonly ApiSearchHit[], { stdout, stderr }: Terminal): void {
  if (hits.length === 0) stderr.write('Nothing found.\n')
  for (const { job, start, speaker, speaker_name, text } of hits) {
    const name = job.filename ?? (job.kind === 'live' ? 'live session' : 'recording')
    const speakerLabel = speaker_name ?? (speaker === null ? undefined : `speaker ${speaker}`)
    const labeledText = speakerLabel === undefined ? text : `${speakerLabel}: ${text}`
    stdout.write(`${sanitize(`${job.id} ${formatClock(start)} ${name}: ${labeledText}`)}\n`)
  }
}
