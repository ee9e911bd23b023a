import assert from 'node:assert/strict'
import fc from 'fast-check'
import { ownHeaders, requestRaw } from '../../../test/support/api/hostile-requests.ts'
import { startServer } from '../../../test/support/server/start-server.ts'
import { mutated } from '../../mutations.ts'
import { fuzz } from '../../run.ts'

const server = await startServer()

const id = '0b8c2c0e-7d1d-4f4e-9a35-0f6d6f1f6b11'
const queries = [
  `offset=6&limit=2&cursor=6.1000.${id}&status=done,error&kind[]=live&results=false`,
  'date=2026-03-04&before_date=2026-03-04T05:06:07.089%2B02:00&after_date=2026-03-04',
  'custom_metadata={"team":"red"}&custom_metadata[a][b][0]=x',
  'q=hello+"two+words"+-without+beg*&language=en&speaker=1',
  'from=2026-01-01&to=2026-02-01&by=day,kind&account=test',
  'action=key.created&subject=x&key=y&endpoint=z&event=job.done&state=failed&job_id=w',
  `wait=0&format=srt&version=1&download=1&after=5&last_event_id=5`,
].map((query) => Buffer.from(query))
const paths = [
  ...['/v2/transcription', '/v2/pre-recorded', '/v2/live', '/v2/search', '/v2/usage', '/v2/audit'],
  ...['/v2/deliveries', '/v2/webhooks', '/v2/models', '/v2/capabilities', '/v2/nodes'],
  ...[`/v2/pre-recorded/${id}`, `/v2/pre-recorded/${id}/transcript`, `/v2/files/${id}`],
  ...[`/v2/pre-recorded/${id}/file`, `/v2/pre-recorded/${id}/progress`, `/v2/live/${id}/file`],
].map((path) => Buffer.from(path))

/** Below `/v1` errors have the form of another API. */
const isOurs = (path: Buffer) => !path.toString('latin1').replace(/^\/+/, '').startsWith('v1')

const asked = fc.record({
  path: fc.oneof(fc.constantFrom(...paths), mutated(paths).filter(isOurs)),
  query: mutated(queries),
})

/** What would end the line or the address: it comes escaped, as clients send it. */
function escaped(bytes: Buffer, kept: RegExp): string {
  return bytes.toString('latin1').replace(/[^!-~]|#/g, (char) => {
    return kept.test(char) ? char : `%${char.charCodeAt(0).toString(16).padStart(2, '0')}`
  })
}

await fuzz('lists', asked, async ({ path, query }) => {
  const target = `/${escaped(path, /[/]/).replace(/^\/+/, '')}?${escaped(query, /[/?]/)}`
  const start = `GET ${target.slice(0, 7000)} HTTP/1.1\r\n${ownHeaders(server)}`
  const { status } = await requestRaw(server, `${start}\r\n`)
  assert.ok([200, 204, 304, 400, 403, 404, 405, 414, 422].includes(status), `answered ${status}`)
})
await server.close()
