type ServiceFailureOptions = { status?: number; exception?: string; cause?: unknown }

/** Why a language service gave no response; the message may reach the user. */
export class ServiceFailure extends Error {
  readonly status: number
  readonly exception: string

  constructor(
    message: string,
    { status = 502, exception = 'ServiceFailed', cause }: ServiceFailureOptions = {},
  ) {
    super(message, { cause })
    this.status = status
    this.exception = exception
  }
}
