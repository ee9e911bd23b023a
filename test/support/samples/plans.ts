import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { clientFolder, whyNoClients } from '../../../scripts/tests/test-tools/test-clients.ts'
import { TEST_CREDENTIALS } from '../../../scripts/tests/test-tools/test-s3.ts'
import { findTestWeights } from '../../../scripts/tests/test-tools/test-weights.ts'
import { noPostgres } from '../storage/databases/test-postgres.ts'
import { noS3 } from '../storage/objects/test-s3.ts'
import { root, type Sample } from './samples.ts'

/** How a test runs a sample of the documentation, where this differs from its text. */
type Plan = {
  page: string
  /** What is in the sample, and in no other of the page that has another plan. */
  has: string | RegExp
  /** Shell commands that a reader has run before, in one way or another. */
  before?: string
  /** What a reader replaces, and by what. `$NAME` is of the shell. */
  replace?: readonly (readonly [string | RegExp, string])[]
  /** Why the sample cannot run on this machine. */
  missing?: string | false | undefined
  /** Why the sample runs on no machine of the tests, or where it runs instead. */
  notRun?: string
  /** It answers what looks like an error. */
  mayFail?: boolean
}

const weights = findTestWeights('whisper-base')
const chatWeights = findTestWeights('smollm2-135m')
const noClients = whyNoClients('npm-newest') ?? whyNoClients('python-newest')
const noProgram = (name: string) => spawnSync('which', [name]).status !== 0 && `needs ${name}`

/** Makes a job that is done, and puts its id into a variable. */
const job = (fields = '{}') => `
audio=$(curl -sf -H "x-service-key: $STENO_KEY" -F audio=@talk.mp3 "$STENO_URL/v2/upload" | jq .audio_url)
ID=$(echo '${fields}' | jq ".audio_url = $audio" | curl -sf -H "x-service-key: $STENO_KEY" \\
  -H 'content-type: application/json' -d @- "$STENO_URL/v2/pre-recorded" | jq -r .id)
until curl -sf -H "x-service-key: $STENO_KEY" "$STENO_URL/v2/pre-recorded/$ID/progress?wait=10" |
  grep -Eq '"(done|error)"'; do :; done`

const modelFolder = `[ -e "$PWD/models" ] || cp -r '${join(root, 'models')}' "$PWD/models"
STENO_MODELS_DIR="$PWD/models"`

/** The samples that need a plan; all others run as they are. */
export const plans: readonly Plan[] = [
  {
    page: 'README.md',
    has: 'keys revoke',
    replace: [[' ID', ' "$(steno keys | awk \'/backup/ { print $1 }\')"']],
  },
  { page: 'docs/add-ons.md', has: 'apertium', missing: noProgram('apertium') },
  {
    page: 'docs/add-ons.md',
    has: 'embedded:',
    replace: [
      ['npx steno models pull smollm2-135m', ':'],
      ['embedded:smollm2-135m', `embedded:${join(chatWeights.folder ?? '', 'model.gguf')}`],
    ],
    missing:
      chatWeights.missing ??
      (!existsSync(join(root, 'node_modules/node-llama-cpp')) && 'needs node-llama-cpp'),
  },
  {
    page: 'docs/add-ons.md',
    has: 'FILE.onnx',
    before: `${modelFolder}
node -e "import('${root}/test/support/asr/models/stand-in-speaker-models.ts').then((made) => made.writeBandEnergyModel('FILE.onnx'))"`,
  },
  {
    page: 'docs/add-ons.md',
    has: 'pull whisper-small',
    before: modelFolder,
    replace: [
      [
        'models pull whisper-small',
        `models import '${weights.folder}' --as whisper-clinic --languages de,en`,
      ],
    ],
    missing: weights.missing,
  },
  {
    page: 'docs/data-protection.md',
    has: 'vacuum full',
    replace: [['$STENO_DATABASE_URL', '$TEST_DATABASE_0']],
    missing: noPostgres,
  },
  {
    page: 'docs/corrections.md',
    has: 'PATCH',
    replace: [['"utterance": 0,', '"utterance": 0, "from": 0, "to": 3,']],
  },
  ...['js', 'python'].map((language) => ({
    page: 'docs/clients.md',
    has: language === 'js' ? /from '(?:@|openai)/ : /import|OpenAI/,
    before: language === 'js' ? `ln -sfn '${clientFolder('npm-newest')}/node_modules' .` : '',
    missing: noClients,
  })),
  { page: 'docs/deployment.md', has: 'systemctl', notRun: 'needs systemd' },
  { page: 'docs/deployment.md', has: 'systemd-run', notRun: 'needs systemd' },
  { page: 'docs/deployment.md', has: 'docker', notRun: 'needs a container engine' },
  { page: 'docs/deployment.md', has: 'kubectl', notRun: 'needs Kubernetes' },
  {
    page: 'docs/guides/air-gapped.md',
    has: 'npm install -g --prefix',
    before: `mkdir -p local/bin ~/.cache/steno && cp .programs/steno local/bin/
${modelFolder} && cp -rl models ~/.cache/steno/
# Hundreds of megabytes, whose size does not matter here.
export GZIP=-1`,
    replace: [['./local/bin/steno models pull whisper-small', ':']],
  },
  {
    page: 'docs/guides/air-gapped.md',
    has: 'unshare',
    replace: [['steno transcribe', 'env -u STENO_URL steno transcribe']],
    missing: process.getuid?.() !== 0 && 'needs root',
  },
  {
    page: 'docs/models.md',
    has: 'models pull',
    before: modelFolder,
    replace: [
      [
        'models pull whisper-small',
        `models import '${weights.folder}' --as whisper-clinic --languages de`,
      ],
      ['remove whisper-small', 'remove whisper-clinic'],
    ],
    missing: weights.missing,
  },
  {
    page: 'docs/migration.md',
    has: /import requests|from transcribe import/,
    missing: whyNoClients('python-newest'),
  },
  {
    page: 'docs/migration.md',
    has: 'microphone.mjs',
    notRun: 'test/long/browser/live/microphone-sample.test.ts runs it in a browser',
  },
  { page: 'docs/models.md', has: '/v2/models', mayFail: true },
  {
    page: 'docs/models.md',
    has: '/media/stick',
    notRun: 'the files cannot be had: src/models/install/install.test.ts imports such ones',
  },
  {
    page: 'docs/models.md',
    has: './my-checkpoint',
    before: `${modelFolder}; ln -s '${weights.folder}' my-checkpoint`,
    missing: weights.missing,
  },
  {
    page: 'docs/models.md',
    has: 'zipformer-ru',
    notRun: 'the weights cannot be had: test/long/models',
  },
  { page: 'docs/openai.md', has: 'from openai', missing: whyNoClients('python-newest') },
  ...[
    { has: 'createdb', url: 'postgres://me@localhost/steno' },
    {
      has: 's3://recordings',
      url: 'postgres://me@db.example/steno',
      before: 'STENO_DATA_DIR="$SAMPLES_FOLDER/srv/second"',
    },
    {
      has: 'store migrate',
      url: '…',
      before: `STENO_DATABASE_URL= STENO_OBJECT_STORE= STENO_DATA_DIR="$SAMPLES_FOLDER/srv/first" steno serve
mv srv/steno srv/other; mv srv/first srv/steno; mkdir -p srv/steno/objects`,
    },
    { has: 'STENO_ROLES', url: '-' },
  ].map(({ has, url, before = '' }, n) => ({
    page: 'docs/scaling.md',
    has,
    before,
    replace: [
      [`STENO_DATABASE_URL=${url}`, `STENO_DATABASE_URL=$TEST_DATABASE_${n}`],
      [
        /STENO_OBJECT_STORE=(?:'.*'|…)/g,
        `STENO_OBJECT_STORE="$TEST_OBJECT_STORE/${n}?endpoint=$TEST_ENDPOINT"`,
      ],
      ['AWS_ACCESS_KEY_ID=…', `AWS_ACCESS_KEY_ID=${TEST_CREDENTIALS.AWS_ACCESS_KEY_ID}`],
      [
        'AWS_SECRET_ACCESS_KEY=…',
        `AWS_SECRET_ACCESS_KEY=${TEST_CREDENTIALS.AWS_SECRET_ACCESS_KEY}`,
      ],
    ] as const,
    missing: noPostgres || noS3,
  })),
  {
    page: 'docs/operations.md',
    has: 'steno backup',
    before: `STENO_DATA_DIR="$SAMPLES_FOLDER/srv/speech" steno serve
openssl rand -out etc/steno-backup.key 32`,
  },
  {
    page: 'docs/search.md',
    has: 'v2/search',
    before: `${job()}
until steno search delivery date >/dev/null; do :; done`,
  },
  {
    page: 'docs/webhooks.md',
    has: /WEBHOOK_SECRET|timingSafeEqual/,
    notRun: 'test/docs/webhooks-guide.test.ts runs it',
  },
  {
    page: 'docs/webhooks.md',
    has: /(?:test|show|enable|resend) ID/,
    before: `endpoint=$(steno webhooks | awk '/hook/ { print $1 }')
${job()}
until delivery=$(curl -sf -H "x-service-key: $STENO_KEY" "$STENO_URL/v2/deliveries" | jq -er ".items[0].id"); do :; done`,
    replace: [
      ['webhooks test ID', 'webhooks test "$endpoint"'],
      ['webhooks enable ID', 'webhooks enable "$endpoint"'],
      ['--endpoint ID', '--endpoint "$endpoint"'],
      [/(show|resend) ID/g, '$1 "$delivery"'],
    ],
  },
]

/** Returns the plan of a sample. */
export function planOf({ page, code }: Sample): Plan | undefined {
  return plans.find((plan) => {
    const isIn = typeof plan.has === 'string' ? code.includes(plan.has) : plan.has.test(code)
    return plan.page === page && isIn
  })
}

export { job as makeJob }
