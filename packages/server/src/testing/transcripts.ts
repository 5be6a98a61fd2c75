/** Transcripts and golden files on disk: one event or frame per line, so that diffs are readable. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { LOCAL, type SessionEvent, type SessionId } from '@parlance/protocol';
import type { SessionSnapshot } from '../core/index.ts';
import type { ProjectedDialect } from '../dialects/kit/dialect.ts';

const SOURCE = join(import.meta.dir, '..');

export const transcriptPath = (name: string): string => join(SOURCE, 'testing/transcripts', `${name}.jsonl`);
export const goldenFolder = (dialect: string): string => join(SOURCE, 'dialects', dialect, 'golden');
export const goldenPath = (dialect: string, name: string): string =>
  join(goldenFolder(dialect), `${name}.jsonl`);

export const toLines = (values: readonly unknown[]): string =>
  values.map((value) => `${JSON.stringify(value)}\n`).join('');

export const readTranscript = (name: string): SessionEvent[] =>
  readFileSync(transcriptPath(name), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

export const readText = (path: string): string | null =>
  existsSync(path) ? readFileSync(path, 'utf8') : null;

export function writeText(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

export const goldenNames = (dialect: string): string[] =>
  existsSync(goldenFolder(dialect))
    ? readdirSync(goldenFolder(dialect)).map((file) => file.replace(/\.jsonl$/, ''))
    : [];

/** An empty session. */
export const NEW_SESSION: SessionSnapshot = {
  ref: { owner: LOCAL.id, id: 'session-1' as SessionId },
  seq: 0,
  created: null,
  questions: [],
  agent: { id: 'coder', name: 'Coder' },
  turn: null,
  began: null,
  finished: [],
  model: null,
  approvalMode: null,
  title: '',
  renamed: false,
  firstInput: '',
  archived: false,
  labels: {},
  messageCount: 0,
  messageCountAtIdle: 0,
  queued: 0,
  grants: [],
  approval: null,
  approvals: [],
  approvalRequestedAt: null,
  deferred: [],
  open: null,
  openArguments: [],
  terms: null,
};

/** The frames that a socket of the dialect receives, one per line; frames that some sockets do not receive are marked. */
export function projected(dialect: ProjectedDialect, events: readonly SessionEvent[]): string {
  let state = dialect.projection.start(NEW_SESSION);
  const lines: unknown[] = [];
  for (const event of events) {
    const [next, frames] = dialect.projection.step(state, event);
    state = next;
    lines.push(
      ...frames.map(({ body, except, otherwise }) =>
        except || otherwise ? { except, body, otherwise } : body,
      ),
    );
  }
  return toLines(lines);
}
