/**
 * Search without ripgrep, as a separate program, so that a pattern that never terminates blocks only this
 * process. Arguments: query, "regex" or "text", the folder that paths are relative to, and a path in it.
 * Writes `path NUL line:text` for each match; exits with 2 and one error line if the pattern is invalid.
 */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';

const FILE_BYTES = 5_000_000;
const LINE_CHARACTERS = 300;
const CLOSED = new Set(['.git', 'node_modules']);

async function* filesIn(path: string): AsyncGenerator<string> {
  if (!(await stat(path)).isDirectory()) {
    yield path;
    return;
  }
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    if (entry.isDirectory() && !CLOSED.has(entry.name)) yield* filesIn(join(path, entry.name));
    else if (entry.isFile()) yield join(path, entry.name);
  }
}

async function readText(path: string): Promise<string> {
  if ((await stat(path)).size > FILE_BYTES) return '';
  const bytes = await readFile(path);
  return bytes.includes(0) ? '' : bytes.toString('utf8');
}

function matcher(query: string, mode: string): (line: string) => boolean {
  if (mode !== 'regex') return (line) => line.includes(query);
  const pattern = new RegExp(query, 'u');
  return (line) => pattern.test(line);
}

async function search(matches: (line: string) => boolean, folder: string, start: string): Promise<void> {
  for await (const path of filesIn(join(folder, start))) {
    const lines = (await readText(path).catch(() => '')).split('\n');
    for (const [index, line] of lines.entries()) {
      if (!matches(line)) continue;
      const shown = line.trimEnd().slice(0, LINE_CHARACTERS);
      await Bun.write(Bun.stdout, `${relative(folder, path)}\0${index + 1}:${shown}\n`);
    }
  }
}

const [query = '', mode = 'text', folder = '.', start = '.'] = process.argv.slice(2);
try {
  await search(matcher(query, mode), folder, start);
} catch (thrown) {
  console.error(thrown instanceof Error ? thrown.message : thrown);
  process.exit(2);
}
