/**
 * acpx, a terminal client of the Agent Client Protocol, used like an editor: it starts `parlance acp` for each
 * command and continues the session of the previous one.
 */
import { deepStrictEqual, match, strictEqual } from 'node:assert';
import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Answer, type ChatRequest, scriptedModel } from '../../scripted-model.ts';
import { durableOf, followed, startProcess, submit } from '../../server-process.ts';
import { installed } from '../install.ts';

const VERSION = '0.19.1';
const PARLANCE = join(import.meta.dir, '../../../packages/cli/bin/parlance');

function answerTo({ messages }: ChatRequest): Answer {
  const last = messages.at(-1);
  const text = String(last?.content ?? '');
  if (last?.role === 'tool') return { say: 'The tool has ended.' };
  const [, file] = /touch (\w+)/.exec(text) ?? [];
  if (file) return { call: 'shell', input: { command: ['touch', `${file}.txt`] } };
  if (text.includes('endless')) return { say: 'It goes on ', after: 'silence' };
  return { say: `You said ${text}.` };
}

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'parlance-acpx-')));
const home = mkdtempSync(join(tmpdir(), 'parlance-acpx-home-'));
const packages = await installed('acpx', [`acpx@${VERSION}`]);
const model = scriptedModel(answerTo);
const server = await startProcess(folder, {
  OPENAI_BASE_URL: model.url,
  OPENAI_API_KEY: 'key',
  MODEL: 'fake',
});

function acpx(...args: string[]) {
  const agent = ['--agent', `sh ${PARLANCE} acp`, '--ttl', '30'];
  return Bun.spawn(['node', join(packages, 'node_modules/acpx/dist/cli.js'), ...agent, ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: home, PARLANCE_URL: server.http },
    stdin: 'ignore',
    stderr: 'pipe',
    timeout: 120_000,
  });
}

/** The output of a command that must succeed. */
async function run(...args: string[]): Promise<string> {
  const child = acpx(...args);
  const [output, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  strictEqual(await child.exited, 0, `acpx ${args.join(' ')}: ${output}${errors}`);
  return output;
}

const prompt = (text: string, ...flags: string[]) => run('--format', 'quiet', ...flags, 'prompt', text);

try {
  const session = (await run('--format', 'quiet', 'sessions', 'new')).trim();
  match(await prompt('the first words'), /You said the first words\./);
  // Ends the process that holds the session: the next command starts another, which resumes it.
  await run('sessions', 'close');
  await run('sessions', 'new', '--resume-session', session);
  match(await prompt('the second words'), /You said the second words\./);
  await submit(server, session, 'words from elsewhere');
  const turnsEnded = (count: number) => (events: readonly { readonly type: string }[]) =>
    events.filter(({ type }) => type === 'turn.ended').length >= count;
  await followed(server, session, turnsEnded(3));
  await prompt('the fourth words');
  const said = JSON.stringify(model.requests.at(-1)?.messages);
  for (const words of ['first', 'second', 'from elsewhere', 'fourth']) match(said, new RegExp(words));

  await prompt('touch allowed', '--approve-all');
  strictEqual(existsSync(join(folder, 'allowed.txt')), true);
  await prompt('touch denied', '--deny-all');
  strictEqual(existsSync(join(folder, 'denied.txt')), false);

  const endless = acpx('--format', 'quiet', 'prompt', 'endless');
  await followed(
    server,
    session,
    (events) => events.filter(({ type }) => type === 'turn.started').length === 7,
  );
  await run('cancel');
  await endless.exited;
  await model.aborted;
  await followed(server, session, (events) => events.some(({ type }) => type === 'turn.cancelled'));

  match(await run('sessions', 'list'), new RegExp(session));
  await run('set-mode', 'auto-edit');
  const events = await durableOf(server, session);
  const dialects = events.flatMap((event) => (event.type === 'input.accepted' ? [event.dialect] : []));
  deepStrictEqual(dialects, ['acp', 'acp', 'native', 'acp', 'acp', 'acp', 'acp']);
  strictEqual(events.filter(({ type }) => type === 'session.configured').length, 1);
  await run('sessions', 'close');
  console.log(
    'text, resume, another dialect in between, permissions, cancel, list, mode: one session with seven turns',
  );
} finally {
  await server.kill();
  model.stop();
  rmSync(folder, { recursive: true, force: true });
  rmSync(home, { recursive: true, force: true });
}
