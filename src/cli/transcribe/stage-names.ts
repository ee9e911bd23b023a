/** The displayed names of the stages of a job. */
const STAGE_NAMES: Readonly<Record<string, string>> = {
  upload: 'uploading',
  queued: 'waiting',
  wait: 'waiting',
  processing: 'starting',
  fetch: 'getting the file',
  'pull model': 'installing a model',
  decode: 'reading the audio',
  'detect speech': 'finding speech',
  'identify languages': 'identifying languages',
  recognize: 'transcribing',
  diarize: 'telling speakers apart',
  'build result': 'finishing',
  'call services': 'waiting for language models and translators',
  'redact audio': 'redacting the audio',
}

/** Returns the displayed name of a stage; unknown ones of newer servers are unchanged. */
export function stageName(stage: string): string {
  return STAGE_NAMES[stage] ?? stage
}
