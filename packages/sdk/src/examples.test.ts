import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@parlance/protocol';
import { outputOf } from '../../../e2e/output.ts';
import { scriptedModel } from '../../../e2e/scripted-model.ts';
import { buildLibrary } from '../../../scripts/packages/build.ts';
import { startTestServer, type TestServer } from '../../server/src/testing/server.ts';
import { connect } from './connect.ts';

const PACKAGE = join(import.meta.dir, '..');
const EXAMPLES = join(PACKAGE, 'examples');

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

/** Standard output of the program; throws if it fails. */
async function run(program: string[], url = server.http): Promise<string> {
  const child = Bun.spawn(program, {
    cwd: PACKAGE,
    env: { ...process.env, PARLANCE_URL: url },
    stderr: 'pipe',
  });
  const [said, complained] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  expect(complained).toBe('');
  expect(await child.exited).toBe(0);
  return said;
}

const example = (name: string, ...given: string[]) =>
  run([process.execPath, join(EXAMPLES, `${name}.ts`), ...given]);

/** The terminal example, with a person who types. */
function chat(session: string) {
  const child = Bun.spawn([process.execPath, join(EXAMPLES, 'terminal.ts'), session], {
    cwd: PACKAGE,
    env: { ...process.env, PARLANCE_URL: server.http },
    stdin: 'pipe',
    stdout: 'pipe',
  });
  const output = outputOf(child.stdout);
  return {
    shown: output.written,
    exited: child.exited,
    type(line: string) {
      child.stdin.write(`${line}\n`);
      child.stdin.flush();
    },
    async kill() {
      child.kill('SIGKILL');
      await child.exited;
    },
  };
}

/** How to run each example; an example without an entry fails. */
const RUNS: Record<string, () => Promise<void>> = {
  async 'ask.ts'() {
    expect(await example('ask', 'count to 5')).toContain('5');
  },
  async 'follow.ts'() {
    expect(await example('follow', 'count to 5')).toContain('5');
  },
  async 'sub-agents.ts'() {
    expect(await example('sub-agents')).toBe('Coder › counter done counter true\n');
  },
  async 'terminal.ts'() {
    const first = chat('kept');
    await first.shown('\n> ');
    first.type('run touch kept.txt');
    await first.shown('Allow touch kept.txt? (y/n) ');
    // The program dies while it waits for an answer, and is started again.
    await first.kill();
    const second = chat('kept');
    await second.shown('Allow touch kept.txt? (y/n) ');
    second.type('y');
    await second.shown('\n> ');
    expect(existsSync(join(server.root, 'kept.txt'))).toBe(true);
    second.type('count to 3');
    await second.shown('3');
    await second.shown('\n> ', 2);
    second.type('');
    expect(await second.exited).toBe(0);
    const third = chat('kept');
    await third.shown('> count to 3');
    await third.kill();
  },
  async 'approve.ts'() {
    const session = connect({ url: server.http }).session('asks');
    await session.submit('run touch examples.txt');
    for await (const { type } of session.events()) if (type === 'approval.requested') break;
    expect(await example('approve')).toBe('asks: touch examples.txt: denied\n');
    expect(await connect({ url: server.http }).approvals.list()).toEqual([]);
  },
  async 'question.ts'() {
    expect(await example('question')).toStartWith('answered {');
  },
  async 'steer.ts'() {
    expect(await example('steer')).toContain('The message has joined the turn.\n');
  },
  async 'rewind.ts'() {
    expect(await example('rewind')).toBe('rewound.txt: deleted\nRestored 1 files.\n');
  },
  async 'fallback.ts'() {
    const model = scriptedModel(({ model: name }) =>
      name === 'large' ? { status: 429, headers: { 'retry-after': '120' } } : { say: 'Hello from here.' },
    );
    const other = await startTestServer({ ...model.settings, MODEL: 'large,small' });
    try {
      const said = await run([process.execPath, join(EXAMPLES, 'fallback.ts')], other.http);
      expect(said).toMatch(
        /^large was passed over: failed\nsmall answers instead: .*\nsmall: Hello from here\.\n$/,
      );
    } finally {
      await other.stop();
      model.stop();
    }
  },
  async 'usage.ts'() {
    const said = await example('usage');
    expect(said).toMatch(/^The limit of 1 tokens of this session is used up \(\d+ tokens\)\. Continue\?\n/);
    expect(said).toMatch(/\noffline: \d+ calls, \d+ tokens, \$0\n/);
  },
  async 'chat.ts'() {
    const said = await example('chat', 'shown', 'count to 3');
    expect(said).toStartWith('count to 3 (idle)\n> count to 3\n');
    expect(said).toContain('3');
  },
  async 'custom-tools.ts'() {
    const file = join(EXAMPLES, 'custom-tools.ts');
    const other = await startTestServer({ PARLANCE_TOOLS: file });
    const session = connect({ url: other.http }).session('expenses');
    const asked: string[] = [];
    const call = async (tool: string, input: JsonObject) => {
      const { seq } = await session.send({ type: 'input.submit', parts: [], call: { tool, input } });
      await session.resume({
        onApproval: ({ ask }) => {
          asked.push(ask.description);
          return 'once';
        },
      });
      // The turn may have ended before it could be resumed.
      return JSON.stringify(await Array.fromAsync(session.history({ after: seq })));
    };
    await call('add_expense', { amount: 4, purpose: 'coffee' });
    await call('add_expense', { amount: 120, purpose: 'hotel' });
    expect(asked).toEqual(['Records 120 € for hotel.']);
    expect(await call('add_expense', { amount: 20_000, purpose: 'car' })).toContain('need a signed form');
    expect(await call('list_expenses', {})).toContain('coffee');
    await other.stop();
  },
  async 'node.mjs'() {
    // Node resolves the package as it is published.
    await buildLibrary('sdk');
    await connect({ url: server.http }).session('counted').create({ title: 'Counted' });
    expect(await run(['node', join(EXAMPLES, 'node.mjs')])).toContain('Counted: 0 tokens');
  },
};

describe('each example', () => {
  const readme = readFileSync(join(PACKAGE, 'README.md'), 'utf8');
  for (const name of readdirSync(EXAMPLES)) {
    // `e2e/react` runs the page in a browser.
    if (name !== 'react.tsx') {
      test(`${name} runs`, async () => {
        const how = RUNS[name];
        if (!how) throw new Error(`it is not said how ${name} is run`);
        await how();
      });
    }

    test(`${name} is in the README as it is`, () => {
      expect(readme.includes(readFileSync(join(EXAMPLES, name), 'utf8').trim())).toBe(true);
    });
  }
});

test.each([
  ['custom-tools.ts', 'custom-tools.md'],
  ['ask.ts', 'sdk.md'],
  ['follow.ts', 'sdk.md'],
  ['steer.ts', 'sdk.md'],
  ['question.ts', 'questions.md'],
  ['rewind.ts', 'rewind.md'],
  ['usage.ts', 'spend-limits.md'],
  ['fallback.ts', 'fallback.md'],
])('%s is in the guide %s as it is', (name, page) => {
  const guide = readFileSync(join(PACKAGE, '../../docs/guides', page), 'utf8');
  expect(guide.includes(readFileSync(join(EXAMPLES, name), 'utf8').trim())).toBe(true);
});
