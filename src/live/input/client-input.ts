import { closeCodes } from '../connection/close-codes.ts'
import type { MessageOutbox } from '../messages/message-outbox.ts'
import type { MessagePublisher } from '../messages/message-publisher.ts'
import type { MessageError, ServerMessage } from '../messages/server-messages.ts'
import type { AudioInput } from './audio-input.ts'
import { readFrame } from './client-frames.ts'
import { UnreadableFrames } from './unreadable-frames.ts'

/** The parts that process what clients send, and answer it. */
export type ClientInputOptions = {
  audioInput: AudioInput
  outbox: MessageOutbox
  publisher: MessagePublisher
}

const alreadyStopped: MessageError = {
  status_code: 409,
  exception: 'RecordingStopped',
  message: 'Recording already stopped',
}
const stopRefused: ServerMessage = {
  type: 'stop_recording',
  acknowledged: false,
  error: alreadyStopped,
  data: null,
}

/** Reads the frames of a session's clients: accepts their audio, and refuses invalid frames. */
export class ClientInput {
  readonly #options: ClientInputOptions
  #unreadable = new UnreadableFrames()

  constructor(options: ClientInputOptions) {
    this.#options = options
  }

  /** Resets the count of unreadable frames, for the next client. */
  restart(): void {
    this.#unreadable = new UnreadableFrames()
  }

  /**
   * Handles a frame. `isOpen` means that the session still accepts audio. Returns what the frame
   * contained: audio, or the request to stop; undefined if the frame needs no further handling.
   */
  receive(
    data: Uint8Array,
    isBinary: boolean,
    { isOpen }: { isOpen: boolean },
  ): 'audio' | 'stop' | undefined {
    const { audioInput, outbox } = this.#options
    const frame = readFrame(data, isBinary)
    if (frame.type !== 'unreadable') this.#unreadable.countReadable()
    switch (frame.type) {
      case 'audio':
        if (!isOpen) return this.#refuse(alreadyStopped)
        audioInput.take(frame.bytes)
        return 'audio'
      case 'refused': {
        const { status, exception, message } = frame
        return this.#refuse({ status_code: status, exception, message })
      }
      case 'stop':
        audioInput.settle()
        if (isOpen) return 'stop'
        outbox.send(stopRefused)
        return undefined
      case 'unreadable':
        return this.#refuseUnreadable(frame.message)
    }
  }

  #refuse(error: MessageError): undefined {
    const { audioInput, outbox } = this.#options
    audioInput.settle()
    outbox.send({ type: 'audio_chunk', acknowledged: false, error, data: null })
  }

  #refuseUnreadable(message: string): undefined {
    if (this.#unreadable.isOver) return // The connection is already ending.
    const { publisher, outbox } = this.#options
    publisher.sendError({ code: 'invalid_message', message })
    this.#unreadable.countUnreadable()
    if (this.#unreadable.isOver) outbox.disconnect(closeCodes.misuse)
  }
}
