/**
 * Creates a data folder with an older version, with the responses and exports of that version:
 *
 *   git worktree add ../past <commit> && (cd ../past && npm ci)
 *   bun e2e/upgrade/make-fixture.ts ../past e2e/upgrade/schema-1
 *
 * The server of the checkout runs as a process and is killed twice in the middle of its work.
 */
import { Database } from 'bun:sqlite';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { scriptedModel } from '../scripted-model.ts';
import { answersOf, INTERRUPTED } from './answers.ts';
import { local, untilCount } from './clients.ts';
import { type PastServer, runPast, startPast } from './past-server.ts';
import { scripted } from './script.ts';
import { beforeTheFirstKill, beforeTheSecondKill } from './sessions.ts';

const [checkout = '', target = ''] = process.argv.slice(2).map((path) => resolve(path));
if (target === '') throw new Error('usage: make-fixture.ts CHECKOUT TARGET');

const folder = mkdtempSync(join(tmpdir(), 'parlance-fixture-'));
let hangs = true;
const model = scriptedModel((request) => {
  const answer = scripted(request);
  return 'after' in answer && answer.after === 'silence' && !hangs ? { say: 'It ends after all.' } : answer;
});
const settings = {
  OPENAI_BASE_URL: model.url,
  MODEL: 'fake',
  AUTH_USERS: 'ada:ada-password:admin;dev:dev-password:developer',
};

async function killedAfter(work: (http: string) => Promise<void>): Promise<void> {
  const server: PastServer = await startPast(checkout, folder, settings);
  try {
    await work(server.http);
  } finally {
    await server.kill();
  }
}

try {
  await killedAfter(beforeTheFirstKill);
  hangs = false;
  await killedAfter(beforeTheSecondKill);
  mkdirSync(target, { recursive: true });
  await Bun.write(join(target, 'parlance.db.gz'), Bun.gzipSync(vacuumed()));
  await Bun.write(join(target, 'sessions.jsonl'), await runPast(checkout, folder, 'export', '--all'));
  await killedAfter(async (http) => {
    await untilCount(local(http), INTERRUPTED, { type: 'turn.ended', count: 2 });
    const answers = await answersOf(http);
    await Bun.write(
      join(target, 'answers.jsonl'),
      answers.map((line) => `${JSON.stringify(line)}\n`).join(''),
    );
  });
} finally {
  model.stop();
  rmSync(folder, { recursive: true, force: true });
}

function vacuumed(): Uint8Array<ArrayBuffer> {
  const path = join(folder, 'copy.db');
  // The killed server has left a write-ahead log beside its database: both are copied and merged.
  rmSync(join(folder, 'data', 'parlance.sock'), { force: true });
  cpSync(join(folder, 'data'), join(folder, 'folded'), { recursive: true });
  using database = new Database(join(folder, 'folded', 'parlance.db'));
  database.run('VACUUM INTO ?', [path]);
  using copy = new Database(path, { readonly: true });
  const revoked = copy.query('SELECT id FROM revocations').get();
  writeFileSync(join(target, 'revoked.json'), `${JSON.stringify(revoked)}\n`);
  return new Uint8Array(copy.serialize());
}
