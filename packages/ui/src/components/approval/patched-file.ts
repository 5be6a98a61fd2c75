/** A file of a patch with what is known about it from before the patch. Pure. */
import type { Ask, Json, JsonObject } from '@parlance/protocol';
import { heightOf, type PatchedFile, type Run } from './patch-rows.ts';

export type KnownFile = {
  readonly file: PatchedFile;
  /** the line at which each hunk begins; empty if it is not known */
  readonly hunks: readonly number[];
};

/** A patch may name a file twice: what is known is matched in its order. */
export function withContent(files: readonly PatchedFile[], known: Ask['files'] = []): KnownFile[] {
  const left = [...known];
  return files.map((file) => {
    const index = left.findIndex(({ path }) => path === file.path);
    const [found] = index < 0 ? [] : left.splice(index, 1);
    if (file.change !== 'delete') return { file, hunks: found?.hunks ?? [] };
    return { file: found?.content ? deleted(file, found.content) : file, hunks: [] };
  });
}

function deleted(file: PatchedFile, content: string): PatchedFile {
  const lines = content.replace(/\r?\n$/, '').split(/\r?\n/);
  const removed = lines.map((text) => ({ text, mark: null }));
  return { ...file, runs: [{ kind: 'change', removed, added: [] }, ...file.runs], removed: lines.length };
}

/** Files in the result of a patch that ran without approval. The result of a tool can be anything. */
export function reportedFiles(data: JsonObject | undefined): Ask['files'] {
  return Array.isArray(data?.files) ? data.files.flatMap(reportedFile) : undefined;
}

function reportedFile(value: Json): NonNullable<Ask['files']> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  const { path, hunks, content } = value;
  if (typeof path !== 'string') return [];
  if (typeof content === 'string') return [{ path, content }];
  if (!Array.isArray(hunks)) return [];
  return [{ path, hunks: hunks.filter((line) => typeof line === 'number') }];
}

const BY_NAME: Readonly<Record<string, string>> = { dockerfile: 'dockerfile', makefile: 'makefile' };

/** A name that the highlighter may know, such as `ts`; '' if the path has no ending. */
export function languageOf(path: string): string {
  const name = path.split('/').at(-1)?.toLowerCase() ?? '';
  return BY_NAME[name] ?? /[^.]\.([a-z\d]{1,8})$/.exec(name)?.[1] ?? '';
}

export function firstRows(runs: readonly Run[], most: number): Run[] {
  const first: Run[] = [];
  let left = most;
  for (const run of runs) {
    if (left <= 0) break;
    first.push(cut(run, left));
    left -= heightOf(run);
  }
  return first;
}

function cut(run: Run, most: number): Run {
  switch (run.kind) {
    case 'hunk':
    case 'note':
      return run;
    case 'keep':
      return { ...run, lines: run.lines.slice(0, most) };
    case 'change':
      return { ...run, removed: run.removed.slice(0, most), added: run.added.slice(0, most) };
  }
}
