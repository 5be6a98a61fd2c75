/** Writes one line to standard error. Not `console.error`, which adds colours on a terminal. */
export function printStderr(line: string): void {
  process.stderr.write(`${line}\n`);
}
