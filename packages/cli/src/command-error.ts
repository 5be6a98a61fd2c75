/** A command cannot be done. The message is one clear line. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  constructor(
    message: string,
    /** 1: it was tried and failed; 2: it was asked for in a way that makes no sense */
    readonly exitCode: 1 | 2,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
