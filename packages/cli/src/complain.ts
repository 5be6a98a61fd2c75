/** Writes one line to standard error. Not `console.error`, which adds colours on a terminal. */
export function complain(line: string): void {
  process.stderr.write(`${line}\n`);
}
