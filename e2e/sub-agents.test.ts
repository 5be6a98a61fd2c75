/**
 * Sub-agents as users meet them: started from the terminal, one answered in the console, one cancelled from an editor, on a
 * server that is killed twice meanwhile.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type Session } from '@parlance/sdk';
import type { Browser } from 'playwright-core';
import { hasTmux, openTerminal } from '../packages/cli/src/testing/tmux.ts';
import { freePort } from '../packages/server/src/testing/free-port.ts';
import { until } from '../packages/server/src/testing/until.ts';
import { Editor } from './acp/editor.ts';
import { buildConsole, launchBrowser, NO_BROWSER } from './console/chromium.ts';
import { visible } from './console/console.ts';
import { type Step, scriptedConversations, spawn } from './conversations.ts';
import type { ChatRequest, ScriptedModel } from './scripted-model.ts';
import { durableOf, type ServerProcess, startProcess } from './server-process.ts';

const results = ({ messages }: ChatRequest): string =>
  messages.flatMap(({ role, content }) => (role === 'tool' ? [String(content)] : [])).join(' | ');

describe.skipIf(NO_BROWSER || !hasTmux)('three sub-agents', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parlance-sub-agents-'));
  const settings = { PORT: String(freePort()) };
  const tested = Promise.withResolvers<void>();
  const never = Promise.withResolvers<never>();
  const reached = new Set<string>();
  let model: ScriptedModel;
  let server: ServerProcess;
  let browser: Browser;

  const reach =
    (name: string, then: Promise<void>, say: string): Step =>
    async () => {
      reached.add(name);
      await then;
      return { say };
    };

  const start = async () => {
    server = await startProcess(folder, { ...settings, ...model.settings });
  };

  beforeAll(async () => {
    model = scriptedConversations({
      'Prepare the release': [
        {
          calls: [
            spawn('notes', 'Write the release notes'),
            spawn('tests', 'Run all the tests'),
            spawn('updates', 'Look for newer dependencies'),
          ],
        },
        (request) => ({ say: `Outcomes: ${results(request)}` }),
      ],
      'Write the release notes': [{ say: 'The notes are written.' }],
      'Run all the tests': [
        { call: 'shell', input: { command: ['sh', '-c', 'echo tested >> effects.txt'] } },
        reach('tests', tested.promise, 'All tests pass.'),
      ],
      'Look for newer dependencies': [reach('updates', never.promise, '')],
    });
    await buildConsole();
    await start();
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await server?.kill();
    model?.stop();
    rmSync(folder, { recursive: true });
  });

  test('each have their outcome in the answer, and no effect twice', async () => {
    const effects = join(folder, 'effects.txt');
    await using terminal = await openTerminal({
      args: ['chat'],
      cwd: folder,
      env: { PARLANCE_URL: server.http },
      rows: 40,
    });
    await terminal.shows(/Send a message/);
    await terminal.type('Prepare the release');
    await terminal.press('Enter');
    await terminal.shows(/Coder › tests: Runs .*sh -c/);
    await terminal.shows(/Coder › notes .*Done/);
    await until(() => reached.has('updates'));

    reached.clear();
    await server.kill();
    await start();
    await until(() => reached.has('updates'));

    const page = await (await browser.newContext({ serviceWorkers: 'block' })).newPage();
    await page.goto(`${server.http}/#/approvals`);
    const card = page.getByRole('article', { name: /^Approval for/ });
    await visible(card.first());
    expect(await card.count()).toBe(1);
    await card.getByRole('button', { name: /^Allow once/ }).click();
    await until(() => reached.has('tests'));
    expect(existsSync(effects)).toBe(true);

    reached.clear();
    await server.kill();
    await start();
    await until(() => reached.has('tests') && reached.has('updates'));
    tested.resolve();
    await terminal.shows(/Coder › tests .*Done/);

    const { sessions } = connect({ url: server.http });
    const parent = (await sessions.list({})).sessions[0] as Session;
    const children = (await sessions.list({ parent: parent.id })).sessions;
    const updates = children.find(({ title }) => title === 'updates') as Session;
    await using editor = new Editor({ env: { PARLANCE_URL: server.http }, cwd: folder });
    await editor.initialize();
    await editor.load(updates.id, folder);
    await editor.cancel(updates.id);

    const answer = await terminal.shows(/Outcomes: [\s\S]*Send a message/);
    const said = answer.slice(answer.indexOf('Outcomes: ')).replaceAll(/\s+/g, ' ');
    expect(said).toStartWith(
      'Outcomes: The notes are written. | All tests pass. | The sub-agent was cancelled.',
    );
    await visible(page.getByText('No approvals waiting').first());
    expect(readFileSync(effects, 'utf8')).toBe('tested\n');
    const events = await durableOf(server, parent.id);
    expect(events.filter(({ type }) => type === 'turn.ended')).toHaveLength(1);
    expect(events.filter(({ type }) => type === 'approval.answered')).toHaveLength(1);
    expect(children).toHaveLength(3);
    for (const { id } of children) {
      const types = (await durableOf(server, id)).map(({ type }) => type);
      expect(types.filter((type) => type === 'session.created' || type === 'input.accepted')).toHaveLength(2);
    }
  });
});
