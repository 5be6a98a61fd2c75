/** 1: the command failed; 2: invalid usage; 3: an approval is needed; 4: no server, or not signed in; 130: interrupted. */
export type ExitCode = 1 | 2 | 3 | 4 | 130;

/** A command failed. The message is one line. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  constructor(
    message: string,
    readonly exitCode: ExitCode,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
