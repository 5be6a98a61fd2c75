/** Opens a data folder of an older version, created by `make-fixture.ts`. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runParlance } from '../../packages/cli/src/testing/run-parlance.ts';
import { openSqliteStore } from '../../packages/server/src/stores/sqlite/open.ts';
import { type ScriptedModel, scriptedModel } from '../scripted-model.ts';
import { type ServerProcess, startProcess } from '../server-process.ts';
import { type Answers, answersOf, INTERRUPTED } from './answers.ts';
import { ask, events, interact, local, logIn, until, untilCount } from './clients.ts';
import { scripted } from './script.ts';
import { OPEN_TASK } from './sessions.ts';

const FIXTURE = join(import.meta.dir, 'schema-1');
const EXPORTED = readFileSync(join(FIXTURE, 'sessions.jsonl'), 'utf8');
const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '');

let model: ScriptedModel;
const folders: string[] = [];
beforeAll(() => {
  model = scriptedModel(scripted);
});
afterAll(() => {
  model.stop();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'parlance-upgrade-'));
  folders.push(folder);
  return folder;
}

function copied(): string {
  const folder = emptyFolder();
  mkdirSync(join(folder, 'data'));
  const database = Bun.gunzipSync(readFileSync(join(FIXTURE, 'parlance.db.gz')));
  writeFileSync(join(folder, 'data', 'parlance.db'), database);
  return folder;
}

const start = (folder: string): Promise<ServerProcess> =>
  startProcess(folder, { OPENAI_BASE_URL: model.url, MODEL: 'fake', AUTH_USERS: '' });

/** Token counts include the instructions of the agents, which belong to the version of the server. */
const comparable = (line: string): string => line.replace(/"tokenCount":\d+,"usagePercent":[\d.]+/, '');
/** Fields of `native` that the version of the fixture named otherwise, or did not have. */
const withFormerNames = (line: string): string =>
  line.includes('"of":"GET /v1/')
    ? line.replaceAll('"messageCount":', '"said":').replaceAll(/"waitsFor":("\w+"|null),?/g, '')
    : line;

describe('a data folder of schema 1', () => {
  let server: ServerProcess;
  beforeAll(async () => {
    server = await start(copied());
  });
  afterAll(() => server.kill());

  // First: later tests change the responses.
  describe('gives the same responses', () => {
    let answers: Answers[];
    beforeAll(async () => {
      await untilCount(local(server.http), INTERRUPTED, { type: 'turn.ended', count: 2 });
      answers = await answersOf(server.http);
    });

    const recorded = linesOf(readFileSync(join(FIXTURE, 'answers.jsonl'), 'utf8'));
    for (const [index, line] of recorded.entries()) {
      const { session, of } = JSON.parse(line) as Answers;
      test(`${session}: ${of}`, () =>
        expect(comparable(withFormerNames(JSON.stringify(answers[index])))).toBe(comparable(line)));
    }
    test('and no others', () => expect(answers).toHaveLength(recorded.length));
  });

  test('continues the interrupted turn, and does not repeat its command', async () => {
    const all = await untilCount(local(server.http), INTERRUPTED, { type: 'turn.ended', count: 2 });
    const from = all.findIndex(({ type }) => type === 'turn.resumed');
    expect(all.slice(from - 1).map(({ type }) => String(type))).toEqual([
      'tool.started',
      'turn.resumed',
      'tool.ended',
      'text.ended',
      'step.ended',
      'turn.ended',
    ]);
    expect(all[from + 1]).toMatchObject({ outcome: 'unknown' });
    expect(all[from + 2]).toMatchObject({ text: 'I do not know how it ended.' });
  });

  test('has an approval that can be answered', async () => {
    const dev = await logIn(server.http, 'dev');
    const waiting = await until(dev, 'temp-waiting', 'approval.requested');
    const approval = waiting.find((event) => event.type === 'approval.requested')?.approval;
    await ask(dev, `/v1/approvals/${approval}`, { answer: 'once' });
    const all = await untilCount(dev, 'temp-waiting', { type: 'turn.ended', count: 2 });
    expect(all.find((event) => event.type === 'tool.ended')).toMatchObject({ outcome: 'ok' });
    expect(all.findLast((event) => event.type === 'text.ended')?.text).toBe('Now it is made.');
  });

  test('has a browser task that continues', async () => {
    const dev = await logIn(server.http, 'dev');
    const all = await until(dev, OPEN_TASK, 'call.deferred');
    const taskId = all.find((event) => event.type === 'turn.started')?.turn;
    await interact(dev, {
      sessionId: OPEN_TASK,
      taskId,
      query: 'Click and wait',
      lastActionStatus: 'success',
    });
    expect((await until(dev, OPEN_TASK, 'turn.ended')).at(-1)?.type).toBe('turn.ended');
  });

  test('has its users, with their roles', async () => {
    const ada = await logIn(server.http, 'ada');
    const me = await fetch(`${server.http}/v1/auth/me`, { headers: ada.headers });
    expect(await me.json()).toMatchObject({ sub: 'ada', role: 'admin' });
  });
});

test('a revoked token stays revoked', async () => {
  const folder = copied();
  const { id } = JSON.parse(readFileSync(join(FIXTURE, 'revoked.json'), 'utf8'));
  const store = openSqliteStore(join(folder, 'data'));
  expect(await store.revocations.has(id)).toBe(true);
  await store.close();
});

describe('sessions exported with schema 1', () => {
  const run = (folder: string, ...args: string[]) =>
    runParlance(args, { cwd: folder, env: { PARLANCE_DATA: join(folder, 'data') }, input: EXPORTED });

  test('are imported, and equal those of the data folder', async () => {
    const folder = emptyFolder();
    expect(await run(folder, 'import', '--resume')).toMatchObject({ code: 0, stderr: '' });
    const again = await run(folder, 'export', '--all');
    const old = copied();
    expect(again.stdout).toBe((await run(old, 'export', '--all')).stdout);
    const repeated = linesOf((await run(old, 'import', '--resume')).stdout);
    expect(repeated.filter((line) => !line.endsWith('already exists'))).toEqual([]);
  });

  test('continue after the import', async () => {
    const folder = emptyFolder();
    await run(folder, 'import', '--resume');
    await using server = await start(folder);
    const me = local(server.http);
    await untilCount(me, INTERRUPTED, { type: 'turn.ended', count: 2 });
    expect(JSON.stringify(await events(me, 'plain'))).toContain('Danube');
  });
});
