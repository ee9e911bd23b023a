import assert from 'node:assert/strict'
import test from 'node:test'
import { shownSettings } from './shown-settings.ts'

test('settings are shown without secrets', () => {
  const env = {
    STENO_PORT: '7070',
    STENO_API_KEYS: 'a:secret',
    STENO_METRICS_TOKEN: 'secret',
    STENO_WEBHOOKS: 'a=https://example.com/secret',
    STENO_DATABASE_URL: 'postgres://user:secret@db.example:5432/steno?sslkey=secret',
    STENO_OBJECT_STORE: 's3://bucket/prefix?endpoint=https://secret@s3.example',
    STENO_CORS_ORIGINS: 'https://a:secret@x,https://b',
    STENO_MODELS_MIRROR: 'https://b/path,secret',
    STENO_HOST: '',
    OTHER: 'secret',
  }
  const names = Object.keys(env).filter((name) => name !== 'OTHER')
  assert.deepEqual(shownSettings(env, names), {
    STENO_PORT: '7070',
    STENO_API_KEYS: '(hidden)',
    STENO_METRICS_TOKEN: '(hidden)',
    STENO_WEBHOOKS: '(hidden)',
    STENO_MODELS_MIRROR: 'https://b,(hidden)',
    STENO_DATABASE_URL: 'postgres://db.example:5432',
    STENO_OBJECT_STORE: 's3://bucket',
    STENO_CORS_ORIGINS: 'https://x,https://b',
  })
})
