/**
 * Variables that programs need to start: the paths of shared libraries, Windows' own folder, and
 * the folder of compiled modules, without which a start takes three times as long.
 */
const KEPT_VARIABLES = ['LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH', 'SystemRoot', 'NODE_COMPILE_CACHE']

/** Returns the environment of processes that handle user data: no settings, keys or secrets. */
export function bareEnvironment(): Record<string, string> {
  return Object.fromEntries(
    KEPT_VARIABLES.flatMap((name) => {
      const value = process.env[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )
}
