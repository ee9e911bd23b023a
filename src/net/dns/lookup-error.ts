/**
 * Why a name has no addresses, with the codes of the system: `ENOTFOUND` when the servers report
 * that there are none, `EAI_AGAIN` when no server gave a response.
 */
export class LookupError extends Error {
  override readonly name = 'LookupError'
  readonly code: 'ENOTFOUND' | 'EAI_AGAIN'

  constructor(code: LookupError['code'], options?: ErrorOptions) {
    super(code === 'ENOTFOUND' ? 'the name has no address' : 'the name was not looked up', options)
    this.code = code
  }
}
