import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import test from 'node:test'

const root = join(import.meta.dirname, '../..')

/**
 * Which modules a module may import. `main`, `cli` and `app` build and start, so they may import
 * everything.
 */
const allowed: Record<string, readonly string[]> = {
  api: [
    'jobs',
    'live',
    'delivery',
    'storage',
    'transcript',
    'audio (types)',
    'text (types)',
    'workers',
    'models',
  ],
  delivery: ['storage', 'net'],
  jobs: ['asr', 'text', 'storage', 'audio', 'transcript', 'net', 'workers'],
  live: ['asr', 'text', 'storage', 'audio', 'transcript'],
  asr: ['audio', 'transcript', 'workers', 'models'],
  text: ['audio', 'transcript', 'workers'],
  storage: ['audio', 'transcript'],
  audio: ['workers'],
  transcript: [],
  net: [],
  models: ['net'],
  'language-services': ['net', 'workers'],
  workers: [],
}
const builders = ['main', 'cli', 'app']
const shared = [
  ...['clock', 'config', 'errors', 'is-object', 'numbers', 'observability'],
  'web-assembly',
  'app (types)',
]

type Import = { file: string; module: string; target: string }

/**
 * Every import of another module; type-only ones are marked. A file directly below `src/` is a
 * module of its own.
 */
function readImports(): Import[] {
  const files = globSync('src/**/*.ts', { cwd: root }).filter((file) => !file.endsWith('.test.ts'))
  return files.flatMap((file) => {
    const code = readFileSync(join(root, file), 'utf8')
    const found = code.matchAll(
      /\b(import|export)( type)?\b(?:[^'"`;]*?from)?\s*\(?\s*'(\.[^']+)'/g,
    )
    return [...found].map(([, , type, path]) => {
      const target = moduleOf(join(dirname(file), path!)) + (type ? ' (types)' : '')
      return { file, module: moduleOf(file), target }
    })
  })
}

function moduleOf(path: string): string {
  return path.split(/[/\\]/)[1]!.replace(/\.ts$/, '')
}

test('modules import only what the layer table allows', () => {
  const wrong = readImports().filter(({ module, target }) => {
    const targetFile = target.replace(' (types)', '')
    const may = [...(allowed[module] ?? []), ...shared, module]
    return !builders.includes(module) && !may.includes(target) && !may.includes(targetFile)
  })
  assert.deepEqual(wrong, [])
})

test('the table lists every module below src/', () => {
  const modules = new Set(readImports().map(({ module }) => module))
  const known = new Set([...Object.keys(allowed), ...builders, ...shared])
  assert.deepEqual(
    [...modules].filter((module) => !known.has(module)),
    [],
  )
  assert.ok(modules.size > 8, 'imports are found at all')
})

test('docs/architecture.md shows the same modules', () => {
  const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8')
  const drawn = [...page.matchAll(/^([a-z-]+(?: · [a-z-]+)*) +→ +(.+)$/gm)].flatMap(
    ([, modules, may]) => {
      return modules!.split(' · ').map((module) => [module, may!.trim()])
    },
  )
  const everything = builders.map((module) => [module, 'everything'])
  const table = Object.entries(allowed).map(([module, may]) => [
    module,
    may.join(' · ') || 'nothing',
  ])
  assert.deepEqual(Object.fromEntries(drawn), Object.fromEntries([...everything, ...table]))
})

/** Words that once named parts of this project and that no reader from outside would know. */
const retired =
  /^(ears|teller|courier|lookout|insist|insisting|inhand|patience|upkeep|verdict|keeptidy|diarise|diarised|recognise|recognised|normalise|labelled|neighbour|touching|unheard|onemore|rehearse|stubborn|restless|heard|told|hearing|likeness|crammed|unfetched|ledger|manner|announce|speaking|thinks|judge|judged|judgment|stretch|stretches|admit|admitted)$/i

test('no file or exported name uses a retired word', () => {
  const files = globSync('{src,test,bench,fuzz,examples}/**/*.ts', { cwd: root })
  const names = files.flatMap((file) => {
    const code = readFileSync(join(root, file), 'utf8')
    const declared = code.matchAll(/^export (?:async )?(?:function\*?|class|const|type) (\w+)/gm)
    return [file, ...[...declared].map(([, name]) => name!)].map((name) => `${file}: ${name}`)
  })
  const wordsOf = (name: string) => name.split(/[^a-zA-Z]|(?<=[a-z])(?=[A-Z])/)
  assert.deepEqual(
    names.filter((name) => wordsOf(name).some((word) => retired.test(word))),
    [],
  )
})

test('no file has more than 400 lines except the generated one', () => {
  const files = globSync('{src,examples,scripts}/**/*.ts', { cwd: root })
  const long = files.filter((file) => {
    return readFileSync(join(root, file), 'utf8').split('\n').length - 1 > 400
  })
  assert.deepEqual(long, ['src/cli/client/api-types.ts'])
})

/**
 * Folders with more names than a newcomer takes in: `src` has one per module, which
 * docs/architecture.md lists, and `test/support` follows it; the others are numbered or data.
 */
const longFolders =
  /^(src|test\/support|docs(\/decisions)?|test\/fixtures(\/.+)?|src\/storage\/database\/migrations)$/

test('a folder has at most a dozen names; a file, its test and its folder share one', () => {
  const files = globSync(
    '{src,test,bench,fuzz,soak,scripts,examples,docs,dashboard/src,deploy}/**/*.*',
    { cwd: root },
  )
  const folders = new Map<string, Set<string>>()
  for (const file of files) {
    const parts = file.split(/[/\\]/)
    for (const [i, part] of parts.entries()) {
      const folder = parts.slice(0, i).join('/')
      const name = part.replace(/(\.long)?(\.test)?\.(tsx?|mjs)$/, '')
      folders.set(folder, (folders.get(folder) ?? new Set()).add(name))
    }
  }
  const long = [...folders].filter(([folder, names]) => {
    return names.size > 12 && !longFolders.test(folder)
  })
  assert.deepEqual(long, [])
  assert.ok(folders.size > 100, 'folders are found at all')
})

test('comments end at column 100', () => {
  const files = globSync(
    '{src,test,bench,fuzz,soak,scripts,examples,dashboard/src}/**/*.{ts,tsx}',
    {
      cwd: root,
    },
  )
  const long = files.flatMap((file) => {
    const lines = readFileSync(join(root, file), 'utf8').split('\n')
    return lines.flatMap((line, i) => {
      const isComment = /^\s*(?:\/\/|\/\*\*|\*) (?!biome-ignore)/.test(line)
      return isComment && line.length > 100 ? [`${file}:${i + 1}`] : []
    })
  })
  assert.deepEqual(long, [])
})

/** Functions that read best in one piece, however long they are. */
const longFunctions = {
  'src/api/schemas/jobs/add-on-configs.ts: addOnConfigs': 'one schema, a property per add-on',
}

test('no function has more than 70 lines except the listed ones', () => {
  const files = globSync('src/**/*.ts', { cwd: root }).filter((file) => !file.endsWith('.test.ts'))
  const long = files.flatMap((file) => {
    const lines = readFileSync(join(root, file), 'utf8').split('\n')
    return lines.flatMap((line, i) => {
      const [, indent, name] =
        /^()(?:export )?(?:async )?function\*? ?(\w+)/.exec(line) ??
        /^( {2})(?:(?:static|async|get|set) )*\*?([#\w]+)[(<][^;]*[{(]$/.exec(line) ??
        []
      const closing = new RegExp(`^${indent}\\}(?:,|\\).*[^{])?$`)
      const end = name ? lines.findIndex((line, at) => at > i && closing.test(line)) : i
      return end - i + 1 > 70 ? [`${file}: ${name}`] : []
    })
  })
  assert.deepEqual(long.sort(), Object.keys(longFunctions).sort())
})

test('there are no circular imports, including types', () => {
  const files = globSync('src/**/*.ts', { cwd: root }).filter((file) => !file.endsWith('.test.ts'))
  const imports = new Map(files.map((file) => [file, importsOf(file)]))
  const done = new Set<string>()
  const circles: string[] = []
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' → '))
    if (done.has(file) || path.includes(file)) return
    for (const target of imports.get(file) ?? []) visit(target, [...path, file])
    done.add(file)
  }
  for (const file of files) visit(file, [])
  assert.deepEqual(circles, [])
})

/** The files that a file imports or re-exports from. */
function importsOf(file: string): string[] {
  const code = readFileSync(join(root, file), 'utf8')
  const found = code.matchAll(/^(?:import|export) [^'"`;]*?from '(\.[^']+)'/gm)
  return [...found].map(([, path]) => join(dirname(file), path!))
}

test('every exported function, class and constant is imported somewhere', () => {
  const used = new Set<string>()
  const exported: { file: string; name: string }[] = []
  const folders = '{src,test,bench,fuzz,soak,scripts,examples,dashboard/src}'
  for (const file of globSync(`${folders}/**/*.{ts,tsx}`, { cwd: root })) {
    const code = readFileSync(join(root, file), 'utf8')
    for (const [, names, path] of code.matchAll(
      /^(?:import|export) ([^'"`;]*?)from '(\.[^']+)'/gm,
    )) {
      const target = join(dirname(file), path!)
      if (names!.startsWith('*')) used.add(target)
      for (const [, name] of names!.matchAll(/(\w+)(?: as \w+)?\s*[,}]/g))
        used.add(`${target} ${name}`)
    }
    for (const [, path] of code.matchAll(/\bimport\(\s*'(\.[^']+)'/g))
      used.add(join(dirname(file), path!))
    // It replaces a package, whose names it has.
    if (file === 'test/support/llm/fake-llama.ts') continue
    const declared = code.matchAll(/^export (?:async )?(?:function\*?|class|const) (\w+)/gm)
    for (const [, name] of declared) exported.push({ file, name: name! })
  }
  const unused = exported.filter(
    ({ file, name }) => !used.has(file) && !used.has(`${file} ${name}`),
  )
  assert.deepEqual(unused, [])
})

test('src/ contains no module used only by tests', () => {
  const files = globSync('src/**/*.ts', { cwd: root }).filter((file) => !file.endsWith('.test.ts'))
  const used = files.flatMap((file) => {
    const paths = readFileSync(join(root, file), 'utf8').matchAll(/'([^'\s]+\.ts)'/g)
    return [...paths].map(([, path]) => join(dirname(file), path!))
  })
  const unused = new Set(files).difference(new Set(used))
  const others = ['src/asr/engines/sherpa/sherpa-onnx-node.d.ts', 'src/main.ts']
  assert.deepEqual([...unused].sort(), others)
})

test('only types are imported from typebox, which would slow every start', () => {
  const files = globSync('src/**/*.ts', { cwd: root }).filter((file) => !file.endsWith('.test.ts'))
  const loading = files.filter((file) => {
    const code = readFileSync(join(root, file), 'utf8')
    return /^import (?!type )[^'"`;]*?from '(?:@fastify\/type-provider-)?typebox/m.test(code)
  })
  assert.deepEqual(loading, [])
})
