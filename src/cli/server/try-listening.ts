import { createServer } from 'node:net'

const listenErrors: Record<string, string> = {
  EADDRINUSE: 'the port is in use; stop the program that has it, or set STENO_PORT',
  EACCES: 'ports below 1024 need root privileges; set STENO_PORT',
  EADDRNOTAVAIL: 'this machine has no such address; set STENO_HOST',
  EINVAL: 'the address needs the name of a network interface, as in fe80::1%eth0; set STENO_HOST',
  ENOTFOUND: 'this machine has no such address; set STENO_HOST',
}

/** Explains why the server cannot listen, and names the setting that avoids the problem. */
export function explainListenError(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException
  return listenErrors[code] ?? message
}

/** Rejects if no process can listen at this address now; keeps nothing open. */
export async function tryListening(address: { host: string; port: number }): Promise<void> {
  const probe = createServer()
  try {
    await new Promise<void>((resolve, reject) => {
      probe.once('error', reject).listen(address, resolve)
    })
  } finally {
    probe.close()
  }
}
