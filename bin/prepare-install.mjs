// npm runs this before the install scripts of the packages that an installed Steno needs. One of
// them downloads libraries for CUDA, which Steno does not use, and fails the installation without a
// network. Another one downloads Node 24, which is there already if it runs this; that one is
// skipped in global installations only, elsewhere it runs before. A checkout denies the first in
// package.json, which holds for nobody who installs the package. Where npm runs no install scripts,
// none of this is needed.
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findPackage } from './remove-unused.mjs'

const isCheckout = existsSync(new URL('../src/main.ts', import.meta.url))
if (!isCheckout) {
  if (!process.env.ONNXRUNTIME_NODE_INSTALL) skip('onnxruntime-node', 'script/install.js')
  // Windows would find the command file of the missing program first.
  const [major] = process.versions.node.split('.').map(Number)
  if (major >= 24 && process.platform !== 'win32') skip('node', 'installArchSpecificPackage.js')
}

function skip(name, script) {
  const folder = findPackage(name)
  const file = folder && join(folder, script)
  if (file && existsSync(file)) {
    writeFileSync(file, '// Skipped by steno-server, which does not need it.\n')
  }
}
