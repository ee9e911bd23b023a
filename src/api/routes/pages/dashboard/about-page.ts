import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../../../../config/config.ts'
import { commandName, isPackage } from '../../../../config/installation.ts'
import { baseUrlOf } from '../../../responses/urls.ts'

const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'"

/**
 * Sends a page that introduces the server, with links and a first request. It needs no key. If the
 * dashboard is not built, the page replaces it and says so.
 */
export function sendAboutPage(
  request: FastifyRequest,
  reply: FastifyReply,
  { http, isBuilt }: Pick<Config, 'http'> & { isBuilt: boolean },
): FastifyReply {
  const header = http.authHeaderNames[0]!
  const page = aboutPage({ base: baseUrlOf(request.raw, http), header, isBuilt })
  return reply
    .type('text/html; charset=utf-8')
    .header('cache-control', 'no-cache')
    .header('content-security-policy', POLICY)
    .header('referrer-policy', 'no-referrer')
    .header('vary', 'accept')
    .header('x-content-type-options', 'nosniff')
    .send(page)
}

const NOT_BUILT = `<p><strong>The dashboard is not built.</strong> Run <code>npm ci --include=dev</code>
      and <code>npm run build</code> in the folder of Steno, then load this page again.</p>`
const DASHBOARD_LINK =
  '      <li><a href="./">Dashboard</a>: recordings and their transcripts</li>\n'
const GUIDE_LINK =
  '      <li><a href="guide">Documentation</a>: first steps, guides, settings, operations</li>\n'

type AboutOptions = { base: string; header: string; isBuilt: boolean }

/**
 * Returns the page, as HTML. Its links are relative, so that they work behind a proxy under any
 * path.
 */
function aboutPage({ base, header, isBuilt }: AboutOptions): string {
  const request = `KEY=...   # ${commandName} keys create
curl -H "${header}: $KEY" -F audio=@talk.mp3 ${base}/v2/upload
curl -H "${header}: $KEY" -H 'content-type: application/json' \\
  -d '{"audio_url": "..."}' ${base}/v2/pre-recorded
curl -H "${header}: $KEY" ${base}/v2/pre-recorded/ID
curl -H "${header}: $KEY" ${base}/v2/pre-recorded/ID/transcript`
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Steno</title>
    <link rel="icon" href="data:,">
    <style>
      :root { color-scheme: light dark }
      body { font: 1rem/1.5 system-ui, sans-serif; max-width: 46rem; margin: 3rem auto; padding: 0 1rem }
      pre { overflow-x: auto; padding: 1rem; border: 1px solid; border-radius: .4rem }
    </style>
  </head>
  <body>
    <h1>Steno</h1>
    <p>This server turns speech into text. It answers programs over HTTP and WebSocket.</p>
    ${isBuilt ? '' : NOT_BUILT}
    <ul>
${isBuilt ? DASHBOARD_LINK + GUIDE_LINK : ''}      <li><a href="docs">Reference</a>: every route, with requests to try</li>
      <li><a href="openapi.json">openapi.json</a>: the same for programs</li>
      <li><a href="ready">Ready?</a> whether this server can take work</li>
    </ul>
    <h2>A first request</h2>
    <pre>${escapeHtml(request)}</pre>
    <p>The first response holds the <code>audio_url</code> for the second request, the second the
      <code>id</code> for the others. Without programming:
      <code>${commandName} transcribe talk.mp3</code>${isPackage ? '' : ' in the folder of Steno'}.</p>
  </body>
</html>
`
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
