/** Setting up the server in the console, without a restart. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Page } from 'playwright-core';
import type { Json } from '../../packages/protocol/src/index.ts';
import { connect, type McpServer } from '../../packages/sdk/src/index.ts';
import { startTestServer } from '../../packages/server/src/testing/server.ts';
import { accessibilityProblems, prepare } from './axe.ts';
import { NO_BROWSER } from './chromium.ts';
import { type Console, chooseOption, openConsole, removed, validationMessageOf, visible } from './console.ts';
import { everyScreen } from './every-screen.ts';

const TEST_SERVER = join(import.meta.dir, '../../packages/server/src/testing/tools/mcp-server.ts');

const COMPATIBLE = 'Ollama, vLLM or OpenAI-compatible server';

let app: Console;
let vendor: ReturnType<typeof Bun.serve>;

type Asked = {
  readonly model: string;
  readonly messages: unknown;
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
};
/** requests to the model */
const asked: Asked[] = [];

/** Lists two models and answers in the format of Chat Completions. */
function vendorServer() {
  const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`;
  return Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (request.headers.get('authorization') === 'Bearer wrong') return refusal(401, 'Wrong key.');
      if (pathname === '/v1/models') return Response.json({ data: [{ id: 'tiny-1' }, { id: 'tiny-2' }] });
      if (pathname !== '/v1/chat/completions') return refusal(404, 'Not found.');
      const body = (await request.json()) as Asked;
      asked.push(body);
      const { model } = body;
      if (!model.match(/^tiny-[12]$/)) return refusal(404, 'No such model.');
      const choice = { index: 0, delta: { content: `Hello, I am ${model}.` }, finish_reason: null };
      const end = { index: 0, delta: {}, finish_reason: 'stop' };
      const answer = [event({ choices: [choice] }), event({ choices: [end] }), 'data: [DONE]\n\n'].join('');
      return new Response(answer, { headers: { 'content-type': 'text/event-stream' } });
    },
  });
}

const refusal = (status: number, message: string): Response =>
  Response.json({ error: { message } }, { status });

async function problemsOn(page: Page): Promise<string[]> {
  await prepare(page);
  return accessibilityProblems(page, 'all');
}

async function adminApi() {
  const token = await app.server.login('ada', 'ada-password');
  return connect({ url: app.server.http, token }).admin;
}

/** Changes settings as an admin would elsewhere. */
async function change(values: Readonly<Record<string, Json>>): Promise<void> {
  const { settings } = await adminApi();
  const { version } = await settings.read();
  await settings.change({ version, values });
}

async function instructionsOf(agent: string): Promise<string | undefined> {
  const { agents } = await (await adminApi()).agents();
  return agents.find(({ id }) => id === agent)?.instructions;
}

async function mcpServerOf(name: string): Promise<McpServer | undefined> {
  const servers = await (await adminApi()).mcp();
  return servers.find((server) => server.name === name);
}

const provider = (page: Page, name: string) => page.getByRole('radio', { name, exact: true });

async function signedIn(path: string, at = app.server.http): Promise<Page> {
  const page = await app.open('/login', { at });
  await page.getByLabel('Name').fill('ada');
  await page.getByLabel('Password').fill('ada-password');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await removed(page.getByRole('heading', { name: 'Sign in to Parlance' }));
  await page.goto(`${at}/#${path}`);
  return page;
}

describe.skipIf(NO_BROWSER)('setup', () => {
  beforeAll(async () => {
    vendor = vendorServer();
    app = await openConsole();
  });
  afterAll(async () => {
    await app?.stop();
    await vendor?.stop(true);
  });
  afterEach(() => expect(app.problems()).toEqual([]));

  test('a local model is set up from the first page, without a login or a restart', async () => {
    const page = await app.open('/');
    await page.getByRole('link', { name: 'Connect a model' }).click();
    const providers = page.getByRole('group', { name: 'Provider' }).getByRole('radio');
    await visible(providers.last());
    expect(await Promise.all((await providers.all()).map((one) => one.isChecked()))).not.toContain(true);
    expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0);
    await providers.and(page.getByLabel('Anthropic')).check();
    await visible(page.getByLabel('API key', { exact: true }));
    expect(await page.getByLabel('Address').count()).toBe(0);
    expect(await problemsOn(page)).toEqual([]);
    await provider(page, COMPATIBLE).check();
    expect(await problemsOn(page)).toEqual([]);
    await page.getByLabel('Address').fill(`http://127.0.0.1:${vendor.port}/v1`);
    await page.getByRole('button', { name: 'Test connection' }).click();
    await visible(page.getByText('Connected. 2 models:'));
    await page.getByRole('button', { name: 'tiny-2' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await visible(page.getByText(`tiny-2 at http://127.0.0.1:${vendor.port}/v1 is in use.`));
    expect(await problemsOn(page)).toEqual([]);
    await page.goto(`${app.server.http}/#/`);
    await visible(page.getByText('Model: tiny-2.'));
    await page.getByRole('textbox', { name: /message/i }).fill('hello');
    await page.keyboard.press('Enter');
    await visible(page.locator('.transcript').getByText('Hello, I am tiny-2.', { exact: true }));
    await page.context().close();
  });

  test('mistakes are explained before anything is saved', async () => {
    const page = await app.open('/admin?section=model');
    const { port } = vendor;
    const notice = page.locator('.admin-form [role=alert]');
    const [address, key, model] = [
      page.getByLabel('Address'),
      page.getByLabel('API key'),
      page.getByRole('combobox', { name: 'Model' }),
    ];
    const save = () => page.getByRole('button', { name: 'Save', exact: true }).click();
    const explained = async (text: string | RegExp) => {
      await save();
      await visible(notice.filter({ hasText: text }));
    };
    await provider(page, COMPATIBLE).check();
    await address.fill(`http://127.0.0.1:${port}/v1`);
    await model.fill('');
    await key.fill('wrong');
    await explained(`127.0.0.1:${port} refused the API key (401).`);
    expect(await page.getByRole('button', { name: 'Save anyway' }).count()).toBe(0);
    await key.fill('sk-1 sk-2');
    await explained('The API key contains spaces. Copy it again.');
    await key.fill('');
    await address.fill('');
    await explained('Enter the address of the server');
    await address.fill(`https://127.0.0.1:${port}/v1`);
    await explained(`does not use https. Try http://127.0.0.1:${port}/v1.`);
    await address.fill('http://127.0.0.1:9/v1');
    await explained(
      'Nothing listens at 127.0.0.1:9. Start the model server, or check the address and its port.',
    );
    await address.fill(`127.0.0.1:${port}`);
    await model.fill('tiny-9');
    await explained('does not list a model named tiny-9. Choose one from the list.');
    expect(await address.inputValue()).toBe(`http://127.0.0.1:${port}/v1`);
    await page.getByRole('button', { name: 'Save anyway' }).click();
    await visible(page.getByText(`tiny-9 at http://127.0.0.1:${port}/v1 is in use.`));
    app.problems(); // the browser reports refused requests

    await page.goto(`${app.server.http}/#/`);
    await page.getByRole('textbox', { name: /message/i }).fill('hello');
    await page.keyboard.press('Enter');
    await visible(page.locator('.turn-end').getByText(`127.0.0.1:${port} does not know the model tiny-9`));
    await page.getByRole('link', { name: 'Model settings' }).click();
    await model.fill('');
    await explained('Choose a model.');
    await page.getByRole('button', { name: 'tiny-1' }).click();
    await key.fill('  sk-right  ');
    await save();
    await visible(page.getByText(`tiny-1 at http://127.0.0.1:${port}/v1 is in use.`));
    const keys = page.getByRole('list', { name: 'Stored API keys' });
    await keys.getByRole('button', { name: 'Remove' }).click();
    expect(await problemsOn(page)).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await removed(keys);
    await provider(page, 'Offline demo model').check();
    await save();
    await visible(page.getByText(/^The offline demo model is in use/));
    await page.context().close();
  });

  test('what the environment sets is shown, and cannot be changed', async () => {
    const started = await startTestServer({
      OPENAI_BASE_URL: `http://127.0.0.1:${vendor.port}/v1`,
      OPENAI_API_KEY: 'sk-environment',
      MODEL: 'tiny-2',
    });
    const page = await app.open('/admin?section=model', { at: started.http });
    await visible(page.getByText('are set at startup and take precedence over what you enter here.'));
    for (const name of ['OPENAI_BASE_URL', 'OPENAI_API_KEY', 'MODEL'])
      await visible(page.getByText(name, { exact: true }));
    const [address, key, model] = [
      page.getByLabel('Address'),
      page.getByLabel('API key'),
      page.getByRole('combobox', { name: 'Model' }),
    ];
    for (const field of [address, key, model]) expect(await field.isDisabled()).toBe(true);
    expect(await address.inputValue()).toBe(`http://127.0.0.1:${vendor.port}/v1`);
    expect(await key.getAttribute('placeholder')).toBe('set by OPENAI_API_KEY');
    expect(await page.content()).not.toContain('sk-environment');
    await page.getByRole('button', { name: 'Test connection' }).click();
    await visible(page.getByText('Connected. 2 models:'));
    expect(await problemsOn(page)).toEqual([]);
    await page.context().close();
    await started.stop();
  });

  test('a key that was entered for another address is reported, and is entered again', async () => {
    const data = mkdtempSync(join(tmpdir(), 'parlance-setup-'));
    const before = await startTestServer({ PARLANCE_DATA: data, OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' });
    const { settings } = connect({ url: before.http }).admin;
    await settings.change({ version: 0, values: { provider: 'openai', openaiKey: 'sk-1', model: 'tiny-1' } });
    await before.stop();
    const started = await startTestServer({
      PARLANCE_DATA: data,
      OPENAI_BASE_URL: `http://127.0.0.1:${vendor.port}/v1`,
    });
    const page = await app.open('/admin?section=model', { at: started.http });
    const problem = page.getByText('was entered for http://127.0.0.1:9/v1 and is not sent to');
    await visible(problem);
    await visible(page.getByText('Not in use: it was entered for another address.'));
    const key = page.getByLabel('API key (if the server needs one)');
    expect(await key.getAttribute('placeholder')).toBe('stored for another address: enter it again');
    expect(await problemsOn(page)).toEqual([]);
    await key.fill('sk-2');
    await page.getByRole('button', { name: 'Save' }).click();
    await removed(problem);
    await page.context().close();
    await started.stop();
    rmSync(data, { recursive: true });
  });

  test('an agent with its own tools and a domain are added, used and removed', async () => {
    await change({
      provider: 'openai',
      openaiBaseUrl: `http://127.0.0.1:${vendor.port}/v1`,
      model: 'tiny-1',
    });
    const page = await app.open('/admin?section=agents');
    await page.getByRole('button', { name: 'New agent' }).click();
    const dialog = page.getByRole('dialog', { name: 'New agent' });
    await dialog.getByLabel('Name', { exact: true }).fill('Pirate');
    await dialog.getByLabel('Id').fill('pirate');
    await dialog.getByLabel('Instructions').fill('Talk like a pirate.');
    await dialog.getByRole('button', { name: /^Model:/ }).click();
    await dialog.getByRole('option', { name: 'tiny-2' }).click();
    await chooseOption(dialog.getByRole('combobox', { name: 'Tools', exact: true }), 'Only selected tools');
    await dialog.getByRole('checkbox', { name: 'read_file' }).check();
    expect(await problemsOn(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await visible(page.getByRole('list', { name: 'Agents' }).getByText('Pirate', { exact: true }));

    await page.getByRole('button', { name: 'New agent' }).click();
    await dialog.getByLabel('Name', { exact: true }).fill('Émile’s agent');
    expect(await dialog.getByLabel('Id').inputValue()).toBe('emile-s-agent');
    await dialog.getByLabel('Instructions').fill('Be another.');
    await dialog.getByLabel('Id').fill('pirate');
    await dialog.getByRole('button', { name: 'Save' }).click();
    expect(await validationMessageOf(dialog.getByLabel('Id'))).toBe('Pirate already exists.');
    await dialog.getByRole('button', { name: 'Cancel' }).click();

    await page.getByRole('button', { name: 'New domain' }).click();
    const domain = page.getByRole('dialog', { name: 'New domain' });
    await domain.getByLabel('Name', { exact: true }).fill('High seas');
    expect(await domain.getByLabel('Id').inputValue()).toBe('high-seas');
    await chooseOption(domain.getByLabel('Default agent'), 'Pirate');
    await domain.getByRole('checkbox', { name: 'Comedian' }).check();
    expect(await problemsOn(page)).toEqual([]);
    await domain.getByRole('button', { name: 'Save' }).click();
    const row = page
      .getByRole('list', { name: 'Domains' })
      .getByRole('listitem')
      .filter({ hasText: 'High seas' });
    await visible(row.getByText('Pirate (default), Comedian'));

    await page.goto(`${app.server.http}/#/`);
    await page.getByRole('button', { name: /^Agent:/ }).click();
    await page
      .getByRole('group', { name: 'High seas' })
      .getByRole('menuitemradio', { name: /^Pirate/ })
      .click();
    await page.waitForURL(/domain=high-seas/);
    await page.getByRole('textbox', { name: /message/i }).fill('hello');
    await page.keyboard.press('Enter');
    await visible(page.locator('.transcript').getByText('Hello, I am tiny-2.', { exact: true }));
    const request = asked.findLast(({ tools = [] }) => tools.length > 0);
    expect(JSON.stringify(request?.messages)).toContain('Talk like a pirate.');
    expect(request?.tools?.map((tool) => tool.function.name)).toEqual(['read_file']);

    await page.goto(`${app.server.http}/#/admin?section=agents`);
    await row.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await removed(row);
    const agent = page
      .getByRole('list', { name: 'Agents' })
      .getByRole('listitem')
      .filter({ hasText: 'Pirate' });
    await agent.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await removed(agent);
    await page.context().close();
  });

  test('what the config file defines is shown as such, and cannot be edited', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'parlance-setup-')), 'config.json');
    const agents = [{ id: 'cook', name: 'Cook', instructions: 'Cook.' }];
    const domains = [{ id: 'kitchen', name: 'Kitchen', defaultAgent: 'cook', agents: ['cook'] }];
    const mcpServers = { tools: { command: process.execPath, args: [TEST_SERVER] } };
    writeFileSync(file, JSON.stringify({ agents, domains, mcpServers }));
    const started = await startTestServer({ PARLANCE_CONFIG: file });
    const page = await app.open('/admin?section=agents', { at: started.http });
    for (const name of ['Agents', 'Domains']) {
      const rows = page.getByRole('list', { name, exact: true }).getByRole('listitem');
      const fixed = rows.filter({ hasText: 'config file' });
      await visible(fixed);
      expect(await fixed.getByRole('button').count()).toBe(0);
      expect(await rows.filter({ hasText: 'built in' }).count()).toBe((await rows.count()) - 1);
    }
    await page.getByRole('button', { name: 'New agent' }).click();
    const options = page.getByRole('dialog').getByLabel('Domain').getByRole('option');
    expect(await options.allTextContents()).not.toContain('Kitchen');
    expect(await problemsOn(page)).toEqual([]);
    await page.context().close();
    const admin = await signedIn('/admin?section=mcp', started.http);
    const server = admin.getByRole('listitem').filter({ hasText: 'config file' });
    await visible(server);
    expect(await server.getByRole('button').allInnerTexts()).toEqual(['Restart']);
    await admin.context().close();
    await started.stop();
    rmSync(dirname(file), { recursive: true });
  });

  test('a built-in agent is changed; a refused change keeps what was typed', async () => {
    const page = await app.open('/admin?section=agents');
    const agent = page
      .getByRole('list', { name: 'Agents' })
      .getByRole('listitem')
      .filter({ hasText: 'Reviewer' });
    await agent.getByRole('button', { name: 'Edit Reviewer' }).click();
    const dialog = page.getByRole('dialog', { name: 'Edit Reviewer' });
    expect(await dialog.getByLabel('Instructions').inputValue()).toStartWith('You review changes.');
    await dialog.getByLabel('Instructions').fill('Review like a pirate.');
    await dialog.getByRole('button', { name: /^Model:/ }).click();
    await dialog.getByRole('combobox', { name: 'Search models' }).fill('anthropic:no-key');
    await page.keyboard.press('Enter');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await visible(dialog.getByRole('alert'));
    expect(app.problems()).toEqual([expect.stringContaining('400 (Bad Request)')]);
    expect(await dialog.getByLabel('Instructions').inputValue()).toBe('Review like a pirate.');
    expect(await problemsOn(page)).toEqual([]);

    await dialog.getByRole('button', { name: /^Model:/ }).click();
    await dialog.getByRole('option', { name: /default/ }).click();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await removed(dialog);
    expect(await instructionsOf('reviewer')).toBe('Review like a pirate.');
    await agent.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await visible(agent.getByText('built in'));
    expect(await instructionsOf('reviewer')).toStartWith('You review changes.');
    await page.context().close();
  });

  test('an admin adds, edits, restarts and removes an MCP server', async () => {
    const page = await signedIn('/admin?section=mcp');
    await page.getByRole('button', { name: 'Add server' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add MCP server' });
    await dialog.getByLabel('Name', { exact: true }).fill('files');
    await dialog.getByLabel('Command').fill(process.execPath);
    await dialog.getByLabel('Arguments, one per line').fill(TEST_SERVER);
    await dialog.getByLabel(/^Environment/).fill('SERVER_TOKEN=hunter2');
    await dialog.getByRole('button', { name: 'Add' }).click();
    const row = page.getByRole('listitem').filter({ hasText: 'files' });
    await visible(row.getByText('ready', { exact: true }));
    await row.getByRole('button', { name: 'Restart' }).click();
    await visible(page.getByText('files was restarted.'));
    await visible(row.getByText('ready', { exact: true }));
    await row.getByText('Log', { exact: true }).click();
    await visible(row.getByText('the token is'));
    expect(await problemsOn(page)).toEqual([]);

    await page.getByRole('button', { name: 'Add server' }).click();
    await dialog.getByLabel('Command').fill('other');
    await dialog.getByLabel('Name', { exact: true }).fill('files');
    await dialog.getByRole('button', { name: 'Add' }).click();
    expect(await validationMessageOf(dialog.getByLabel('Name', { exact: true }))).toBe(
      'files already exists.',
    );
    await dialog.getByRole('button', { name: 'Cancel' }).click();

    await row.getByRole('button', { name: 'Edit' }).click();
    const edit = page.getByRole('dialog', { name: 'Edit files' });
    expect(await edit.getByLabel('Arguments, one per line').inputValue()).toBe(TEST_SERVER);
    expect(await edit.getByLabel(/^Environment/).inputValue()).toBe('SERVER_TOKEN=');
    await edit.getByLabel('Trust the results of its tools').check();
    expect(await problemsOn(page)).toEqual([]);
    await edit.getByRole('button', { name: 'Save' }).click();
    await visible(row.getByText('trusted', { exact: true }));
    await visible(row.getByText('ready', { exact: true }));
    // Only the stored value is a secret, which the log hides. The log is closed if the server was not listed meanwhile.
    await row.getByText('the token is [secret]').waitFor({ state: 'attached' });

    await row.getByRole('button', { name: 'Remove' }).click();
    const removal = page.getByRole('dialog', { name: 'Remove files?' });
    expect(await problemsOn(page)).toEqual([]);
    await removal.getByRole('button', { name: 'Remove' }).click();
    await removed(row);
    await page.context().close();
  });

  test('servers of another program are pasted, and tools are turned off and on', async () => {
    const page = await signedIn('/admin?section=mcp');
    await page.getByRole('button', { name: 'Paste JSON' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add servers of another program' });
    const json = {
      mcpServers: {
        pasted: { command: process.execPath, args: [TEST_SERVER], env: { SERVER_TOKEN: 'hunter2' } },
        'left open': { url: 'https://open.example/mcp', headers: { Authorization: '<token>' } },
        old: { type: 'sse', url: 'https://old.example/sse' },
      },
    };
    await dialog.getByRole('textbox').fill('{ no');
    await visible(dialog.getByText('This is not valid JSON.'));
    await dialog.getByRole('textbox').fill(JSON.stringify(json, null, 2));
    await visible(dialog.getByText('To fill in afterwards with Edit: Authorization'));
    await visible(dialog.getByText('“old” is left out'));
    await everyScreen(page, 'mcp-paste');
    await dialog.getByRole('button', { name: 'Add 2 servers' }).click();
    const card = page.getByRole('listitem').filter({ hasText: 'pasted' });
    await visible(card.getByText('ready', { exact: true }));
    await card.getByText('12 tools', { exact: true }).click();
    await card.getByRole('checkbox', { name: 'say', exact: true }).click();
    await visible(card.getByText('12 tools, 1 off'));
    await everyScreen(page, 'mcp-tools');
    expect((await mcpServerOf('pasted'))?.tools).not.toContain('mcp_pasted_say');
    await card.getByRole('checkbox', { name: 'say', exact: true }).click();
    await visible(card.getByText('12 tools', { exact: true }));
    expect((await mcpServerOf('pasted'))?.tools).toContain('mcp_pasted_say');
    for (const name of ['pasted', 'left-open']) {
      const one = page.getByRole('listitem').filter({ has: page.getByText(name, { exact: true }) });
      await one.getByRole('button', { name: 'Remove' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
      await removed(one);
    }
    await page.context().close();
  });

  test('a well-known server fills in the dialog', async () => {
    const page = await signedIn('/admin?section=mcp');
    await page.getByRole('button', { name: 'Well-known servers' }).click();
    await everyScreen(page, 'mcp-gallery');
    await page.getByRole('button', { name: 'Set up Filesystem' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add MCP server' });
    expect(await dialog.getByLabel('Name', { exact: true }).inputValue()).toBe('files');
    expect(await dialog.getByLabel('Command').inputValue()).toBe('npx');
    expect(await dialog.getByLabel('Arguments, one per line').inputValue()).toContain('server-filesystem');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.context().close();
  });

  test('in open mode an MCP server is added without a login, and shows why it does not start', async () => {
    const page = await app.open('/admin?section=mcp');
    await page.getByRole('button', { name: 'Add server' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add MCP server' });
    await dialog.getByLabel('Name', { exact: true }).fill('broken');
    await dialog.getByLabel('Command').fill('sh');
    await dialog
      .getByLabel('Arguments, one per line')
      .fill('-c\necho "npm error 404 Not Found - missing" >&2; exit 4');
    await dialog.getByRole('button', { name: 'Add' }).click();
    const row = page.getByRole('listitem').filter({ hasText: 'broken' });
    await visible(row.getByText('the program ended with exit code 4: npm error 404 Not Found - missing'));
    expect(await problemsOn(page)).toEqual([]);
    await row.getByRole('button', { name: 'Remove' }).click();
    await page
      .getByRole('dialog', { name: 'Remove broken?' })
      .getByRole('button', { name: 'Remove' })
      .click();
    await removed(row);
    await page.context().close();
  });

  test('a refused origin is allowed with a click', async () => {
    const origin = 'https://chat.example.com';
    const visit = () => fetch(`${app.server.http}/v1/server`, { headers: { origin } });
    expect((await visit()).status).toBe(403);
    const page = await signedIn('/admin?section=origins');
    const refused = page.getByRole('list', { name: 'Refused origins' });
    await refused.getByRole('button', { name: 'Allow' }).click();
    await visible(page.getByRole('list', { name: 'Allowed origins' }).getByText(origin));
    expect((await visit()).status).toBe(200);
    await removed(refused);
    const other = page.getByLabel('Allow an origin');
    const form = page.locator('form').filter({ has: other });
    await other.fill('app.example.com');
    await form.getByRole('button', { name: 'Allow' }).click();
    expect(await validationMessageOf(other)).toContain('such as https://chat.example.com');
    await other.fill('https://app.example.com/chat/');
    await form.getByRole('button', { name: 'Allow' }).click();
    await visible(page.getByText('https://app.example.com is now allowed.'));
    expect(await problemsOn(page)).toEqual([]);
    await page.context().close();
  });

  test('a listener is opened and closed', async () => {
    const taken = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() });
    const { port = 0 } = taken;
    const page = await signedIn('/admin?section=listeners');
    const listener = page.getByRole('listitem').filter({ hasText: `:${port}` });
    const add = async () => {
      await chooseOption(page.getByLabel('Dialect'), 'agentloop');
      await page.getByLabel('Port', { exact: true }).fill(String(port));
      await page.getByRole('button', { name: 'Add listener' }).click();
    };
    await add();
    await visible(listener.getByText('The port is in use.'));
    expect(await problemsOn(page)).toEqual([]);
    await add();
    expect(await validationMessageOf(page.getByLabel('Port', { exact: true }))).toBe(
      `A listener on port ${port} already exists.`,
    );
    await listener.getByRole('button', { name: 'Remove' }).click();
    await removed(listener);
    await taken.stop(true);
    await add();
    await visible(listener.getByText('agentloop only'));
    expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200);
    await listener.getByRole('button', { name: 'Remove' }).click();
    await removed(listener);
  });
});
