/** The URLs that the page loads. */
export type PageAddresses = { document: string; script: string }

/**
 * The viewer shows the document and sends requests to its server. Everything in it that would
 * contact its vendor or any other party is off: fonts, proxy, accounts, assistants, telemetry.
 */
const options = {
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
  persistAuth: false,
  documentDownloadType: 'json',
  defaultOpenAllTags: true,
  orderSchemaPropertiesBy: 'preserve',
}

/**
 * Returns the reference page, as HTML. Its script reads the attributes of the element
 * `api-reference`.
 */
export function referencePage({ document, script }: PageAddresses): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Steno API</title>
    <link rel="icon" href="data:,">
  </head>
  <body>
    <noscript>This page needs JavaScript. The description itself: <a href="${escapeAttribute(document)}">openapi.json</a></noscript>
    <script id="api-reference" type="application/json" data-configuration="${escapeAttribute(JSON.stringify({ url: document, ...options }))}"></script>
    <script src="${escapeAttribute(script)}"></script>
  </body>
</html>
`
}

/**
 * Returns the policy for what the page may load: only content of this server. Its script writes
 * styles into the page, which no policy can distinguish from others.
 */
export function pagePolicy(publicBaseUrl: string | undefined): string {
  const api = publicBaseUrl === undefined ? '' : ` ${new URL(publicBaseUrl).origin}`
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    `connect-src 'self'${api}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

function escapeAttribute(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/"/g, '&quot;').replace(/</g, '&lt;')
}
