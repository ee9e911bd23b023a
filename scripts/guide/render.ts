import { dirname, join, relative } from 'node:path/posix'
import { Marked, type Tokens } from 'marked'
import { addressOf, type GuidePage, sections, titleOf } from './pages.ts'

/** A part of a page under one heading, for the search. */
export type SearchEntry = {
  /** The address with its anchor, from the root of the site. */
  id: string
  page: string
  heading: string
  text: string
}

/** A rendered page, and its parts for the search. */
export type RenderedPage = { address: string; html: string; entries: SearchEntry[] }

/** Renders a page of the site. Links to files that are no pages become plain text. */
export function renderPage(page: GuidePage, markdown: string, version: string): RenderedPage {
  const address = addressOf(page.file)!
  const anchors = new Map<string, number>()
  const entries: SearchEntry[] = []
  const marked = new Marked({
    gfm: true,
    renderer: {
      heading({ tokens, depth, text }) {
        const anchor = anchorOf(text, anchors)
        const content = this.parser.parseInline(tokens)
        return `<h${depth} id="${anchor}">${content} <a class="anchor" href="#${anchor}" aria-hidden="true" tabindex="-1">#</a></h${depth}>\n`
      },
      link({ href, text, tokens }) {
        const title = text.endsWith('.md') && titleOf(resolve(href, page.file).file)
        const content = title ? escapeHtml(title) : this.parser.parseInline(tokens)
        const target = linkTarget(href, page.file)
        return target === undefined ? content : `<a href="${escapeHtml(target)}">${content}</a>`
      },
      table(token: Tokens.Table) {
        const cells = (row: Tokens.TableCell[], tag: string) => {
          return row
            .map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`)
            .join('')
        }
        const rows = token.rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('\n')
        const head = `<thead><tr>${cells(token.header, 'th')}</tr></thead>`
        return `<div class="table" tabindex="0" role="region" aria-label="Table"><table>${head}<tbody>\n${rows}</tbody></table></div>\n`
      },
      code({ text, lang }) {
        return `<pre tabindex="0"><code class="${escapeHtml(lang ?? '')}">${escapeHtml(text)}</code></pre>\n`
      },
    },
  })
  const tokens = marked.lexer(markdown)
  const found = new Map<string, number>()
  for (const token of tokens) {
    if (token.type === 'heading') {
      const id = `${address}#${anchorOf(token.text, found)}`
      entries.push({ id, page: page.title, heading: plain(token.text), text: '' })
    } else if (entries.length > 0 && 'raw' in token) {
      const entry = entries.at(-1)!
      entry.text = `${entry.text} ${plain(token.raw)}`.trim()
    }
  }
  const content = marked.parser(tokens)
  return { address, html: layout({ page, address, content, version }), entries }
}

/** Returns the anchor of a heading as GitHub makes it, so that links work in both places. */
function anchorOf(text: string, used: Map<string, number>): string {
  const anchor = text
    .replace(/`/g, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-')
  const before = used.get(anchor) ?? 0
  used.set(anchor, before + 1)
  return before === 0 ? anchor : `${anchor}-${before}`
}

/** Returns the target of a link on the site; undefined for links to other sites. */
function linkTarget(href: string, from: string): string | undefined {
  if (/^(?:https?:|mailto:|#)/.test(href)) return href
  const { file, anchor } = resolve(href, from)
  const target = addressOf(file)
  if (target === undefined) return undefined
  const link = relative(dirname(addressOf(from)!), target) || target
  return anchor === undefined ? link : `${link}#${anchor}`
}

/** Returns the file in the repository that a relative link of a page names. */
function resolve(href: string, from: string): { file: string; anchor: string | undefined } {
  const [path, anchor] = href.split('#', 2) as [string, string | undefined]
  return { file: join(dirname(from), path), anchor }
}

/** Removes the marks of Markdown. */
function plain(markdown: string): string {
  return markdown
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[`*|#>]+|^[-:| ]+$|```\w*/gm, ' ')
    .replace(/\s+/g, ' ')
    .trim()
}

function escapeHtml(text: string): string {
  return text
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/"/g, '&quot;')
}

type Layout = { page: GuidePage; address: string; content: string; version: string }

/** Links are relative, so that they work behind a proxy under any path. */
function layout({ page, address, content, version }: Layout): string {
  const root = '../'.repeat(address.split('/').length - 1) || './'
  const navigation = sections
    .map(({ title, pages }) => {
      const links = pages.map((linked) => {
        const current = linked === page ? ' aria-current="page"' : ''
        return `<li><a href="${root}${addressOf(linked.file)}"${current}>${escapeHtml(linked.title)}</a></li>`
      })
      return `<h2>${escapeHtml(title)}</h2>\n<ul>\n${links.join('\n')}\n</ul>`
    })
    .join('\n')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(page.title)} – Steno</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${root}guide.css">
<script type="module" src="${root}search.js" data-root="${root}"></script>
</head>
<body>
<a class="skip" href="#content">To the text</a>
<header>
<a class="home" href="${root}index.html">Steno</a>
<form role="search"><label><span>Search</span> <input type="search" placeholder="Search" autocomplete="off" aria-controls="found"></label></form>
<nav aria-label="Site"><a href="${root}../">Dashboard</a> <a href="${root}../docs">API reference</a></nav>
</header>
<div id="found" role="region" aria-live="polite" aria-label="Search results" hidden></div>
<div class="columns">
<details class="pages"><summary>Pages</summary>
<nav aria-label="Pages">
${navigation}
</nav>
</details>
<main id="content" tabindex="-1">
${content}
</main>
</div>
<footer>Steno ${escapeHtml(version)}. This documentation belongs to this version.</footer>
</body>
</html>
`
}
