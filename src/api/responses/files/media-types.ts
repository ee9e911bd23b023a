const types: Record<string, string> = {
  '3g2': 'video/3gpp2',
  '3gp': 'video/3gpp',
  aac: 'audio/aac',
  ac3: 'audio/ac3',
  avi: 'video/x-msvideo',
  eac3: 'audio/eac3',
  flac: 'audio/flac',
  flv: 'video/x-flv',
  m2ts: 'video/mp2t',
  m4a: 'audio/mp4',
  m4v: 'video/x-m4v',
  mkv: 'video/x-matroska',
  mov: 'video/quicktime',
  mp2: 'audio/mpeg',
  mp3: 'audio/mpeg',
  mp4: 'video/mp4',
  mpg: 'video/mpeg',
  mxf: 'application/mxf',
  ogg: 'audio/ogg',
  opus: 'audio/ogg',
  ts: 'video/mp2t',
  wav: 'audio/wav',
  webm: 'video/webm',
  wmv: 'video/x-ms-wmv',
}

/** Returns the content type of a detected container; never one that a browser would execute. */
export function mediaTypeOf(extension: string): string {
  return types[extension] ?? 'application/octet-stream'
}
