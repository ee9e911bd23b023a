import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import test from 'node:test'
import { readConfig, settingNames } from '../../src/config/config.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

// Comes with a dependency of the server, and declares no types here.
type Yaml = { parseAllDocuments(text: string): { errors: Error[]; toJS(): unknown }[] }
const yaml: Yaml = createRequire(import.meta.url)('yaml')

const files = globSync('deploy/**/*.*', { cwd: root }).concat('deploy/container/Dockerfile')

test('every YAML file except templates parses', () => {
  const all = globSync(['deploy/**/*.yaml', '.github/**/*.yml'], { cwd: root })
  const parsed = all.filter((file) => !file.includes('/templates/'))
  assert.ok(parsed.length >= 9)
  const problems = parsed.flatMap((file) => {
    const documents = yaml.parseAllDocuments(read(file))
    return documents.flatMap(({ errors }) => errors.map((error) => `${file}: ${error.message}`))
  })
  assert.deepEqual(problems, [])
})

test('files in deploy/ name only existing settings', () => {
  const known = new Set(settingNames())
  const named = files.flatMap((file) =>
    [...read(file).matchAll(/\bSTENO_[A-Z_]+\b/g)].map(([name]) => `${file}: ${name}`),
  )
  assert.ok(named.length > 30)
  assert.deepEqual(
    named.filter((line) => !known.has(line.split(': ')[1]!)),
    [],
  )
})

test('settings of the image, service and examples are valid', () => {
  const image = read('deploy/container/Dockerfile')
  const [, block = ''] = /^ENV (NODE_ENV=(?:.*\\\n)*.*)$/m.exec(image) ?? []
  const ofImage = Object.fromEntries(
    [...block.matchAll(/(STENO_\w+)=(\S+)/g)].map(([, name, value]) => [name!, value!]),
  )
  const config = readConfig(ofImage)
  assert.deepEqual([config.http.host, config.storage.folder], ['0.0.0.0', '/data'])
  assert.equal(config.models.folder, '/models')
  const unit = read('deploy/systemd/steno.service') + read('deploy/systemd/steno.env')
  const ofUnit = [...unit.matchAll(/^(?:Environment=)?#?(.*STENO_.*)$/gm)].flatMap(([, line]) => {
    return [...line!.matchAll(/(STENO_\w+)=(\S+)/g)].map(([, name, value]) => [name!, value!])
  })
  assert.equal(readConfig(Object.fromEntries(ofUnit)).storage.folder, '/var/lib/steno')
  const [values] = yaml.parseAllDocuments(read('deploy/helm/steno/values.yaml'))
  const { settings } = values!.toJS() as { settings: Record<string, string> }
  const keys = { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' }
  const database = 'postgres://steno:steno@database:5432/steno'
  const chart = readConfig({ ...settings, ...keys, STENO_DATABASE_URL: database })
  assert.equal(chart.http.trustProxy, true)
})

test('the example roles exist and cover all roles', () => {
  const given = new Set<string>()
  const [document] = yaml.parseAllDocuments(read('deploy/helm/steno/values-roles.yaml'))
  const { sets } = document!.toJS() as { sets: Record<string, { roles: string[] } | null> }
  for (const set of Object.values(sets)) for (const role of set?.roles ?? []) given.add(role)
  const { roles } = readConfig({}).node
  assert.deepEqual([...given].sort(), [...roles].sort())
})

test('the chart scales by metrics that the adapter rules define', () => {
  const chart = read('deploy/helm/steno/templates/deployments.yaml')
  const [document] = yaml.parseAllDocuments(read('deploy/monitoring/prometheus-adapter.yaml'))
  const { rules } = document!.toJS() as { rules: Record<string, { name: { as: string } }[]> }
  const made = ['custom', 'external'].flatMap((kind) => rules[kind]!.map(({ name }) => name.as))
  const scaled = [...chart.matchAll(/metric: \{ name: (\w+) \}/g)].map(([, name]) => name)
  assert.deepEqual(scaled, made)
})

test('the example proxies refuse each path under which the server has its metrics', () => {
  const found = (name: string, pattern: RegExp) =>
    pattern.exec(read(`deploy/${name}`))?.[1] ?? assert.fail(name)
  const nginx = new RegExp(found('proxies/nginx.conf', /location ~ (\S*metrics\S*) \{/))
  const caddy = found('proxies/Caddyfile', /@metrics path (.+)/).split(' ')
  const balancer = found('compose/many.caddyfile', /@metrics path (.+)/).split(' ')
  const traefik = new RegExp(found('proxies/traefik.yaml', /!PathRegexp\(`(.*?)`\)/))
  for (const path of ['/metrics', '/metrics/', '//metrics', '//metrics/']) {
    // nginx and Caddy merge slashes before they compare.
    const merged = path.replace('//', '/')
    assert.ok(nginx.test(merged) && caddy.includes(merged) && balancer.includes(merged), path)
    assert.equal(traefik.test(path), true, path)
  }
  assert.equal(nginx.test('/v2/metrics') || traefik.test('/v2/metrics'), false)
})

test('ports and folders of the image match the deployment files', () => {
  const port = String(readConfig({}).http.port)
  const image = read('deploy/container/Dockerfile')
  assert.match(image, new RegExp(`^EXPOSE ${port}$`, 'm'))
  assert.match(image, new RegExp(`STENO_PORT=${port}\\b`))
  for (const file of ['proxies/nginx.conf', 'proxies/Caddyfile', 'proxies/traefik.yaml']) {
    assert.ok(read(`deploy/${file}`).includes(`127.0.0.1:${port}`), file)
  }
  assert.ok(read('deploy/compose/single.yaml').includes(`127.0.0.1:${port}:${port}`))
  assert.ok(read('deploy/compose/many.caddyfile').includes(`dynamic a steno ${port}`))
  const chart = read('deploy/helm/steno/templates/deployments.yaml')
  assert.ok(chart.includes(`containerPort: ${port}`))
  for (const folder of ['/data', '/models']) assert.ok(chart.includes(`mountPath: ${folder} }`))
  const [, user = ''] = /^USER (\d+):\d+$/m.exec(image) ?? []
  assert.ok(chart.includes(`runAsUser: ${user}`), 'a pod that may not be root needs a number')
})

test('files copied by the image exist and are not ignored', () => {
  const image = read('deploy/container/Dockerfile')
  const copied = [...image.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, names]) => {
    return names!.split(' ').filter((name) => name !== '.')
  })
  assert.ok(copied.length > 5)
  const allowed = [...read('.dockerignore').matchAll(/^!(.+)$/gm)].map(([, name]) => name!)
  for (const name of [...copied, ...allowed]) {
    assert.ok(globSync(name, { cwd: root }).length > 0, name)
  }
  const isAllowed = (name: string) =>
    allowed.some((one) => one === name || one.startsWith(`${name}/`))
  assert.deepEqual(
    copied.filter((name) => !isAllowed(name)),
    [],
  )
})
