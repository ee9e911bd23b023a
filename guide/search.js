// The search of the documentation: the parts of all pages are fetched when somebody begins to type.
import MiniSearch from './minisearch.js'

const root = document.querySelector('script[data-root]').dataset.root
const input = document.querySelector('input[type=search]')
const found = document.querySelector('#found')
const MOST = 12

let loading

/** Loads the index once; after a failure, again. */
function load() {
  loading ??= fetch(`${root}search.json`)
    .then(async (response) => {
      if (!response.ok) throw new Error(`${response.status}`)
      const index = new MiniSearch({
        fields: ['heading', 'page', 'text'],
        storeFields: ['heading', 'page', 'text'],
        searchOptions: {
          prefix: true,
          fuzzy: 0.15,
          combineWith: 'AND',
          boost: { heading: 4, page: 2 },
        },
      })
      index.addAll(await response.json())
      return index
    })
    .catch((error) => {
      loading = undefined
      throw error
    })
  return loading
}

/** Returns the words around the first match. */
function excerpt({ text, terms }) {
  const at = Math.max(0, text.toLowerCase().search(terms[0] ?? '') - 60)
  return `${at > 0 ? '…' : ''}${text.slice(at, at + 160)}…`
}

function show(results) {
  found.replaceChildren()
  found.hidden = results === undefined
  if (!results) return
  if (results.length === 0) found.append('Nothing is found.')
  for (const result of results) {
    const link = document.createElement('a')
    link.href = root + result.id
    const title = document.createElement('strong')
    title.textContent =
      result.page === result.heading ? result.page : `${result.page}: ${result.heading}`
    const text = document.createElement('span')
    text.textContent = excerpt(result)
    link.append(title, text)
    found.append(link)
  }
}

async function search() {
  const query = input.value.trim()
  if (query === '') return show(undefined)
  try {
    const index = await load()
    // What was typed meanwhile has its own search.
    if (input.value.trim() === query) show(index.search(query).slice(0, MOST))
  } catch (error) {
    found.hidden = false
    found.textContent = `The search does not work: ${error.message}`
  }
}

input.addEventListener('input', search)
input.form.addEventListener('submit', (event) => {
  event.preventDefault()
  found.querySelector('a')?.click()
})
found.addEventListener('click', () => show(undefined))
document.addEventListener('keydown', (event) => {
  if (event.key === '/' && document.activeElement !== input) {
    event.preventDefault()
    input.focus()
  }
  if (event.key === 'Escape') {
    input.value = ''
    show(undefined)
  }
})

// On wide screens the navigation is always open.
const pages = document.querySelector('details.pages')
const wide = matchMedia('(min-width: 60rem)')
const follow = () => {
  pages.open = wide.matches
}
wide.addEventListener('change', follow)
follow()
