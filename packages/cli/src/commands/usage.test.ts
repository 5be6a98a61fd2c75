import { afterAll, beforeAll, expect, test } from 'bun:test';
import { connect } from '@parlance/sdk';
import { type ScriptedModel, scriptedModel } from '../../../../e2e/scripted-model.ts';
import { startTestServer, type TestServer } from '../../../server/src/testing/server.ts';
import { runParlance } from '../testing/run-parlance.ts';

let model: ScriptedModel;
let server: TestServer;

const run = (...flags: string[]) =>
  runParlance(['usage', '--url', server.http, ...flags], { cwd: server.root });

beforeAll(async () => {
  model = scriptedModel(() => ({ say: 'Done.' }));
  server = await startTestServer({ ...model.settings, MODEL: 'gpt-5.5' });
  const parlance = connect({ url: server.http });
  const spendLimits = [{ per: 'user', in: 'month', tokens: 1_000 }];
  await parlance.admin.settings.change({ version: 0, values: { spendLimits } });
  await parlance.session('one').ask('Hello');
  await parlance.session('two').ask('Hello');
});
afterAll(async () => {
  await server?.stop();
  model?.stop();
});

test('is a table with a total, and how much of the limits is used', async () => {
  const { stdout, code } = await run('--by', 'model,task');
  expect(code).toBe(0);
  const [period, head, ...rows] = stdout.trimEnd().split('\n');
  expect(period).toMatch(/^\d{4}-\d\d-01 to \d{4}-\d\d-\d\d \(UTC\)$/);
  expect(head).toMatch(/^MODEL +TASK +CALLS +INPUT +OUTPUT +COST$/);
  expect(rows.find((row) => row.includes('chat'))).toMatch(/^gpt-5.5 +chat +2 +200 +10 +\$0\.00$/);
  expect(rows.find((row) => row.startsWith('total'))).toMatch(/^total/);
  expect(rows).toContainEqual(
    expect.stringMatching(/^\d+ tokens of the limit of 1,000 tokens per month of the user local$/),
  );
});

test('is JSON or CSV for programs', async () => {
  const { stdout } = await run('--by', 'user', '--task', 'chat', '--json');
  expect(JSON.parse(stdout)).toMatchObject({
    rows: [{ user: 'local', calls: 2, inputTokens: 200 }],
    more: false,
  });
  const csv = await run('--by', 'user', '--task', 'chat', '--csv');
  expect(csv.stdout).toStartWith('user,calls,inputTokens,');
  expect(csv.stdout).toContain('\r\nlocal,2,200,');
});

test('of days without any says so, and a wrong label is refused before anything is asked', async () => {
  const none = await run('--from', '2020-01-01', '--to', '2020-01-31');
  expect(none.stdout).toContain('no model was called from 2020-01-01 to 2020-01-31 (UTC)');
  const wrong = await run('--by', 'colour');
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('not "colour"') });
});
