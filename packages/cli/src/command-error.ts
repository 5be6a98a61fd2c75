/** A command failed. The message is one line. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  constructor(
    message: string,
    /** 1: the command failed; 2: invalid usage */
    readonly exitCode: 1 | 2,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
