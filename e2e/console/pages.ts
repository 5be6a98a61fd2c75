/** Every page of the console with real content: for axe, for the policy, and for the screenshots in the README. */
import { Database } from 'bun:sqlite';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CommandInput, connect } from '@parlance/sdk';
import type { Page } from 'playwright-core';
import type { TestServer } from '../../packages/server/src/testing/server.ts';
import { postJson } from '../server-process.ts';
import { type Console, chooseOption, removed, submitInput, visible } from './console.ts';

export type Shown = {
  readonly name: string;
  readonly path: string;
  /** Resolves when the page shows its content. */
  readonly ready: (page: Page, app: Console) => Promise<unknown>;
};

export const PAGES: readonly Shown[] = [
  {
    name: 'new',
    path: '/',
    ready: (page) => visible(page.getByRole('heading', { name: 'What can I do for you?' })),
  },
  {
    name: 'chat',
    path: '/sessions/notes',
    ready: (page) => visible(page.locator('.approval[data-state="pending"] .patch')),
  },
  {
    name: 'reasoning',
    path: '/sessions/rebase',
    async ready(page) {
      await page.getByRole('button', { name: /^Thought/ }).click();
      await visible(page.locator('.turn-end'));
    },
  },
  {
    name: 'rewind',
    path: '/sessions/rewind',
    async ready(page) {
      // Only the rows in view are in the document.
      await visible(page.getByText('Saved CHANGES.md'));
      await page.evaluate("document.querySelector('.transcript').scrollTop = 0");
      await page.locator('[data-index="0"]').getByRole('button', { name: 'Rewind' }).click();
      await page.locator('.rewind-files summary', { hasText: 'greeting.ts' }).click();
      await visible(page.locator('.rewind-files details[open] .patch'));
    },
  },
  {
    name: 'question',
    path: '/sessions/question',
    ready: (page) =>
      visible(page.getByRole('article', { name: /^Question/ }).getByRole('button', { name: 'Answer' })),
  },
  {
    name: 'approvals',
    path: '/approvals',
    async ready(page) {
      await visible(page.locator('.approval').nth(1));
      await page.getByRole('button', { name: 'Explain' }).last().click();
      await visible(page.locator('.approval-explained .markdown'));
    },
  },
  {
    name: 'timeline',
    path: '/timeline/rebase',
    async ready(page, { server }) {
      await visible(page.getByRole('article', { name: /turn.ended$/ }).first());
      const client = await server.connect('/agentloop?session=rebase');
      await visible(page.getByText(/agentloop/).first());
      const content = [{ type: 'input_text', text: 'list files' }];
      client.send({
        id: 'm',
        type: 'user_input',
        payload: { input: [{ type: 'message', role: 'user', content }] },
      });
      await visible(page.getByRole('article', { name: /to agentloop: agent_finished$/ }).last());
      client.close();
    },
  },
  {
    name: 'playground',
    path: '/playground?session=played&left=agentloop&right=broadcast',
    async ready(page) {
      const [left, right] = [page.locator('.pane').first(), page.locator('.pane').last()];
      for (const pane of [left, right]) {
        await pane.getByRole('button', { name: 'Connect', exact: true }).click();
        await visible(pane.getByText(/^connected as/));
      }
      await left.getByRole('button', { name: 'Send' }).click();
      await visible(left.getByRole('article', { name: /received: agent_finished$/ }).last());
      await visible(right.getByRole('article', { name: /received: agent_message$/ }).last());
    },
  },
  {
    name: 'admin',
    path: '/admin?section=metrics',
    async ready(page) {
      await visible(page.getByRole('heading', { name: 'Admin', exact: true }));
      // A rate needs two measurements.
      await removed(page.locator('#main').filter({ hasText: '…' }));
    },
  },
  {
    name: 'usage',
    path: '/admin?section=usage',
    async ready(page, { server }) {
      addUsage(server);
      await page.reload();
      await chooseOption(page.getByLabel('Period'), 'quarter');
      await visible(page.getByRole('region', { name: 'By model' }));
    },
  },
  {
    name: 'keys',
    path: '/login',
    async ready(page) {
      await page.getByLabel('Name').fill('ada');
      await page.getByLabel('Password').fill('ada-password');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await removed(page.getByRole('heading', { name: 'Sign in to Parlance' }));
      await page.goto(`${new URL(page.url()).origin}/#/admin?section=keys`);
      for (const name of ['laptop', 'build server']) {
        await page.getByRole('button', { name: 'New key' }).click();
        await page.getByLabel('Name').fill(name);
        if (name === 'laptop') await page.getByRole('checkbox', { name: 'native' }).check();
        await page.getByRole('button', { name: 'Create key' }).click();
        await visible(page.getByRole('listitem').filter({ hasText: name }));
      }
      await visible(page.getByText('Copy the key for build server now.'));
    },
  },
  {
    name: 'settings',
    path: '/settings',
    ready: (page) => visible(page.getByRole('heading', { name: 'Theme' })),
  },
  {
    name: 'pair',
    path: '/pair',
    async ready(page, { server }) {
      const origin = `chrome-extension://${'a'.repeat(32)}`;
      const { body } = await postJson(`${server.http}/v1/pairings`, { name: 'My browser' }, { origin });
      await page.getByLabel('Code').fill(String(body.code));
      await page.getByRole('button', { name: 'Continue' }).click();
      await visible(page.getByRole('button', { name: 'Allow' }));
    },
  },
  {
    name: 'palette',
    path: '/approvals',
    async ready(page) {
      await visible(page.getByRole('heading', { name: 'Approvals' }));
      await page.keyboard.press('Control+k');
      await visible(page.getByRole('option').nth(1));
    },
  },
  { name: 'guide', path: '/welcome', ready: (page) => visible(page.getByRole('heading', { name: 'Guide' })) },
  {
    name: 'login',
    path: '/login',
    ready: (page) => visible(page.getByRole('heading', { name: 'Sign in to Parlance' })),
  },
  {
    name: 'skills',
    path: '/admin?section=skills',
    async ready(page, { server }) {
      const skills = {
        release: 'Prepares a release: runs the tests, writes the changelog, sets the version.',
        'code-review': 'Reviews a change for correctness, tests and style.',
      };
      for (const [name, description] of Object.entries(skills)) {
        const folder = join(server.data, 'skills', name);
        mkdirSync(folder, { recursive: true });
        writeFileSync(
          join(folder, 'SKILL.md'),
          `---\nname: ${name}\ndescription: ${description}\n---\n1. Run the tests.\n`,
        );
      }
      await page.reload();
      await visible(page.getByRole('list', { name: 'Skills' }).getByText('release', { exact: true }));
    },
  },
  // The last one: from here on, the working folder has instructions.
  {
    name: 'instructions',
    path: '/',
    async ready(page, { server }) {
      writeFileSync(join(server.root, 'AGENTS.md'), INSTRUCTIONS);
      await page.getByRole('textbox', { name: 'Message' }).fill('Add a test for the settings');
      await page.keyboard.press('Enter');
      await visible(page.getByRole('article', { name: 'Use AGENTS.md of this folder as instructions?' }));
    },
  },
];

const INSTRUCTIONS = `# Working in this repository

- Run \`bun test\` before you say that something works.
- Settings are in \`settings.ts\`; each has a test.
- Never change files in \`generated/\`.
`;

const SETTINGS = `export const settings = {
  host: '127.0.0.1',
  port: 3000,
  retries: 2,
};
`;

/** Conversations with the offline model, as content. */
export async function createContent(server: TestServer): Promise<void> {
  await Bun.write(join(server.root, 'src/settings.ts'), SETTINGS);
  await Bun.write(join(server.root, 'README.md'), '# A small project\n\nIt has one setting too many.\n');
  const settled = async (session: string, text: string) => {
    const client = await server.connect(`/broadcast?session=${session}`);
    await submitInput(server, session, text);
    await client.next(({ type }) => type === 'agent_message' || type === 'error');
    client.close();
  };
  await settled('help', 'What can you do?');
  await settled('rebase', 'explain `git rebase --onto main topic`');
  await settled('failed', 'simulate an error');
  await settled('notes', 'list files, then read README.md');
  await changeFiles(server);
  await waitsAfter(server, 'notes', 'replace 3000 with 8080 in src/settings.ts');
  await waitsAfter(server, 'push', 'run git push --force origin main');
  await waitsAfter(server, 'deleted', 'delete file src/settings.ts');
  await askUser(server, 'question');
}

/** A month of model calls, in the database of the server. */
export function addUsage(server: TestServer): void {
  using database = new Database(join(server.data, 'parlance.db'));
  const insert = database.prepare(`
    INSERT INTO usage (owner, day, agent, model, api_key, task, calls, input_tokens, cached_tokens, output_tokens,
      reasoning_tokens, cost, unpriced, estimated)
    VALUES (?, ?, ?, ?, '', ?, ?, ?, ?, ?, 0, ?, ?, 1)`);
  const models = [
    ['claude-opus-4-7', 26],
    ['gpt-5.5', 9],
    ['qwen3-local', 0],
  ] as const;
  const owners = ['local', 'ada', 'grace'];
  for (let back = 0; back < 60; back++) {
    const date = new Date(Date.now() - back * 86_400_000);
    if (date.getUTCDay() % 6 === 0) continue;
    const day = date.toISOString().slice(0, 10);
    for (const [index, [model, price]] of models.entries())
      for (const [place, owner] of owners.entries()) {
        const calls = 4 + ((back * 7 + index * 5 + place * 3) % 17);
        const agent = place === 1 ? 'researcher' : 'coder';
        const input = calls * 9_000;
        insert.run(
          owner,
          day,
          agent,
          model,
          'chat',
          calls,
          input,
          input / 2,
          calls * 700,
          calls * price * 4_000,
          price === 0 ? calls : 0,
        );
      }
    insert.run('local', day, 'coder', 'gpt-5.5', 'title', 3, 900, 0, 60, 2_000, 0);
  }
}

/** A session that has saved three files, one of which somebody else has changed since. */
async function changeFiles(server: TestServer): Promise<void> {
  const session = connect({ url: server.http }).session('rewind');
  await Bun.write(join(server.root, 'src/greeting.ts'), "export const greeting = 'Hello';\n");
  for (const [path, content] of [
    ['src/greeting.ts', "export const greeting = 'Good morning';\n"],
    ['src/farewell.ts', "export const farewell = 'Good night';\n"],
    ['CHANGES.md', '# Changes\n'],
  ]) {
    const parts = [{ type: 'text' as const, text: `Write ${path}` }];
    const call = { tool: 'save_file', input: { path, content } };
    await session.send({ type: 'input.submit', parts, call } as CommandInput);
    await session.resume({ onApproval: () => 'once' as const });
  }
  await Bun.write(join(server.root, 'CHANGES.md'), '# Changes\n\nBy hand.\n');
}

/** A session whose agent asks its user. */
async function askUser(server: TestServer, name: string): Promise<void> {
  const session = connect({ url: server.http }).session(name);
  const parts = [{ type: 'text' as const, text: 'Add a database to the service' }];
  const call = { tool: 'ask_user', input: { questions: QUESTIONS } };
  await session.send({ type: 'input.submit', parts, call } as CommandInput);
  for await (const { type } of session.events()) if (type === 'question.asked') return;
}

const QUESTIONS = [
  {
    header: 'Database',
    question: 'Which database should the service use?',
    options: [
      { label: 'PostgreSQL', description: 'Runs beside the service; several instances can share it.' },
      { label: 'SQLite', description: 'A file in the data folder; nothing to install.' },
    ],
  },
  {
    header: 'Tables',
    question: 'What should be stored from the beginning?',
    options: [{ label: 'Users' }, { label: 'Sessions' }, { label: 'Audit log' }],
    multiple: true,
  },
];

async function waitsAfter(server: TestServer, session: string, text: string): Promise<void> {
  const client = await server.connect(`/agentloop?session=${session}`);
  await submitInput(server, session, text);
  await client.next('approval_request');
  client.close();
}
