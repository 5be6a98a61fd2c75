/** One line to standard error. Not `console.error`, which colours its text at a terminal. */
export function complain(line: string): void {
  process.stderr.write(`${line}\n`);
}
