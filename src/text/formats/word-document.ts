import { strToU8, zipSync } from 'fflate'

/** A paragraph: the words of one utterance. */
export type Paragraph = {
  /** Start in seconds. */
  start: number
  /** The speaker of the words; undefined if there is only one. */
  voice?: string | undefined
  text: string
  /** ISO 639-1, such as `en`. */
  language: string
}

/**
 * The time in the ZIP headers, which cannot be before 1980. It is fixed, so that the same
 * transcript gives the same bytes.
 */
const MODIFIED = new Date(1980, 0, 2)

const RIGHT_TO_LEFT = new Set(['ar', 'fa', 'he', 'ps', 'sd', 'ur', 'yi'])

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
const OFFICE = 'http://schemas.openxmlformats.org'
const TYPES = 'application/vnd.openxmlformats-'

const CONTENT_TYPES = `${XML}
<Types xmlns="${OFFICE}/package/2006/content-types">
<Default Extension="rels" ContentType="${TYPES}package.relationships+xml"/>
<Override PartName="/word/document.xml" ContentType="${TYPES}officedocument.wordprocessingml.document.main+xml"/>
</Types>`

const RELATIONSHIPS = `${XML}
<Relationships xmlns="${OFFICE}/package/2006/relationships">
<Relationship Id="rId1" Type="${OFFICE}/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/>
</Relationships>`

/**
 * Writes paragraphs as a Word document (Office Open XML, ECMA-376). Before each paragraph stand its
 * time, in gray, and its speaker, in bold.
 */
export function formatWordDocument(paragraphs: readonly Paragraph[]): Uint8Array {
  const body = paragraphs.map(writeParagraph).join('\n')
  const document = `${XML}
<w:document xmlns:w="${OFFICE}/wordprocessingml/2006/main"><w:body>
${body}
<w:sectPr/></w:body></w:document>`
  const parts = {
    '[Content_Types].xml': CONTENT_TYPES,
    '_rels/.rels': RELATIONSHIPS,
    'word/document.xml': document,
  }
  const files = Object.entries(parts).map(([name, text]) => [name, strToU8(text)])
  return zipSync(Object.fromEntries(files), { mtime: MODIFIED })
}

function writeParagraph({ start, voice, text, language }: Paragraph): string {
  const isRightToLeft = RIGHT_TO_LEFT.has(language)
  const direction = isRightToLeft ? '<w:bidi/>' : ''
  const head = textRun(`${formatTime(start)} `, '<w:color w:val="808080"/>')
  const name = voice === undefined ? '' : textRun(`${voice}: `, '<w:b/>')
  const words = textRun(text, isRightToLeft ? '<w:rtl/>' : '')
  return `<w:p><w:pPr>${direction}<w:spacing w:after="160"/></w:pPr>${head}${name}${words}</w:p>`
}

function textRun(text: string, properties: string): string {
  return `<w:r><w:rPr>${properties}</w:rPr><w:t xml:space="preserve">${escapeXml(text)}</w:t></w:r>`
}

/** Escapes markup, and leaves out what XML 1.0 does not allow. */
function escapeXml(text: string): string {
  return text
    .toWellFormed()
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '')
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
}

/** Formats seconds as `0:07`, `12:30` or `1:02:03`. */
function formatTime(seconds: number): string {
  const all = Math.floor(seconds)
  const [hours, minutes] = [Math.floor(all / 3600), Math.floor(all / 60) % 60]
  const secondsText = String(all % 60).padStart(2, '0')
  return hours > 0
    ? `${hours}:${String(minutes).padStart(2, '0')}:${secondsText}`
    : `${minutes}:${secondsText}`
}
