/** Editors and servers that are closed or killed, and lost connections. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ScriptedModel, scriptedModel } from '../scripted-model.ts';
import { followed, type ServerProcess, startProcess } from '../server-process.ts';
import { Editor } from './editor.ts';

const base = realpathSync(mkdtempSync(join(tmpdir(), 'parlance-acp-gone-')));
let model: ScriptedModel;
/** The model stops after some words until this is set. */
let speaks = false;

beforeAll(() => {
  model = scriptedModel(({ messages }) =>
    JSON.stringify(messages.at(-1)?.content).includes('slow') && !speaks
      ? { say: 'Some words ', after: 'silence' }
      : { say: 'The whole answer.' },
  );
});
afterAll(() => {
  model.stop();
  rmSync(base, { recursive: true, force: true });
});

const started = (folder: string, settings: Record<string, string> = {}): Promise<ServerProcess> =>
  startProcess(folder, { ...model.settings, ...settings });

const editorAt = (http: string) => new Editor({ env: { PARLANCE_URL: http }, cwd: base });

test('after a kill and restart of the server, the prompt of the same editor is answered without repeated text', async () => {
  speaks = false;
  const folder = mkdtempSync(join(base, 'killed-'));
  const first = await started(folder);
  await using editor = editorAt(first.http);
  const session = await editor.newSession(folder);
  const prompted = editor.prompt(session, 'slow');
  await editor.until(() => editor.text(session).includes('words'));
  await first.kill();
  speaks = true;
  await using second = await started(folder, { PORT: new URL(first.http).port });
  expect(await prompted).toEqual({ stopReason: 'end_turn' });
  expect(editor.text(session)).toBe('Some words The whole answer.');
  expect(editor.text(session, 'user_message_chunk')).toBe('');
  const events = await followed(second, session, (so) => so.some(({ type }) => type === 'turn.ended'));
  expect(events.filter(({ type }) => type === 'input.accepted')).toHaveLength(1);
  await using later = editorAt(second.http);
  await later.resume(session);
  expect(later.updates).toEqual([]);
  expect(await later.prompt(session, 'next')).toEqual({ stopReason: 'end_turn' });
});

test('the turn continues after its editor is closed, and another editor loads it', async () => {
  speaks = false;
  const folder = mkdtempSync(join(base, 'closed-'));
  await using server = await started(folder);
  const editor = editorAt(server.http);
  const session = await editor.newSession(folder);
  editor.prompt(session, 'slow').catch(() => undefined);
  await editor.until(() => editor.text(session).includes('words'));
  expect((await editor.end()).code).toBe(0);
  await using other = editorAt(server.http);
  await other.load(session);
  expect(other.text(session)).toBe('Some words ');
  await other.cancel(session);
  await followed(server, session, (so) => so.some(({ type }) => type === 'turn.cancelled'));
});

test('alone, a turn interrupted by the end of the input continues at the next start', async () => {
  speaks = false;
  const cwd = mkdtempSync(join(base, 'alone-'));
  const env = {
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: 'key',
    MODEL: 'fake',
    PARLANCE_DATA: join(cwd, '.data'),
  };
  const editor = new Editor({ env, cwd });
  const session = await editor.newSession(cwd);
  editor.prompt(session, 'slow').catch(() => undefined);
  await editor.until(() => editor.text(session).includes('words'));
  expect((await editor.end()).code).toBe(0);
  speaks = true;
  await using next = new Editor({ env, cwd });
  await next.load(session);
  await next.until(() => next.text(session).includes('The whole answer.'));
});
