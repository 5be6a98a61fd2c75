/** OAuth of MCP servers, against a real authorization server, and against hostile ones. */
import { describe, expect, test } from 'bun:test';
import { PrincipalId, textOf } from '@parlance/protocol';
import { vaultOf } from '../../accounts/seal.ts';
import { eventually, opened, settingsInMemory } from '../../testing/tools/mcp.ts';
import { type OAuthBehaviour, oauthServer } from '../../testing/tools/oauth-server.ts';
import { contextIn, faultOf, use } from '../../testing/tools/tool-context.ts';
import { McpServers } from './servers.ts';
import { EVERYBODY, type HttpServer, SignIn } from './sign-in.ts';

const ORIGIN = 'http://127.0.0.1:3000';
const ADMIN = { user: 'local', mayShare: true };
const ADA = { user: 'ada', mayShare: false };
const EVE = { user: 'eve', mayShare: false };
const as = (owner: string, answer: object | null = null) =>
  contextIn('/', { owner: PrincipalId.parse(owner), ...(answer && { answer: answer as never }) });

type Opened = Awaited<ReturnType<typeof opened>>;

async function openedWith(
  behaviour: OAuthBehaviour = {},
  settings: object = {},
  stored = settingsInMemory(),
) {
  const server = oauthServer(behaviour);
  const mcp = await opened({ tickets: { url: server.url, ...settings } }, 20, stored);
  return {
    ...{ server, mcp, stored },
    async signIn(user = ADMIN, account = 'ada') {
      const back = await server.approve(await mcp.signIn.begin('tickets', user, ORIGIN), account);
      return mcp.signIn.finish(user, back.searchParams);
    },
    async [Symbol.asyncDispose]() {
      await mcp.close();
      server[Symbol.dispose]();
    },
  };
}

const whoami = async (mcp: Opened, owner = 'local') =>
  textOf((await use(mcp.named('mcp_tickets_whoami'), {}, as(owner))).parts);

test('a link leads back to the public address of the operator, also if nobody has opened the console', async () => {
  using server = oauthServer();
  const settings = McpServers.parse({ tickets: { url: server.url } }).tickets as HttpServer;
  const parts = { settings: settingsInMemory(), vault: vaultOf(new Uint8Array(32)) };
  const unknown = new SignIn('tickets', settings, parts);
  await expect(unknown.begin(EVERYBODY, null)).rejects.toMatchObject({ code: 'invalid' });
  const known = new SignIn('tickets', settings, { ...parts, publicUrl: 'https://chat.example.com' });
  const link = new URL(await known.begin(EVERYBODY, null));
  expect(link.searchParams.get('redirect_uri')).toBe('https://chat.example.com/v1/mcp/signed-in');
});

describe('one sign-in for all users', () => {
  test('is waited for without contacting the authorization server, and then used by everybody', async () => {
    await using place = await openedWith();
    const { mcp, server } = place;
    expect(mcp.servers()).toMatchObject([
      { state: 'sign-in', signIn: { who: 'server', signedIn: 0 }, tools: [] },
    ]);
    expect(server.registrations).toEqual([]);
    expect(await place.signIn()).toBe('tickets');
    expect(mcp.servers()).toMatchObject([{ state: 'ready', signIn: { signedIn: 1 } }]);
    expect(await whoami(mcp)).toBe('ada');
    expect(await whoami(mcp, 'eve')).toBe('ada');
    // Resource indicators, PKCE, the redirect address of this server, and only the scope that was asked for.
    const [form] = server.forms;
    expect(form).toMatchObject({ resource: server.url, redirect_uri: `${ORIGIN}/v1/mcp/signed-in` });
    expect(form?.code_verifier?.length).toBeGreaterThan(40);
    expect(server.registrations).toMatchObject([
      { client_name: 'Parlance', grant_types: ['authorization_code', 'refresh_token'] },
    ]);
    expect(server.tokens).toMatchObject([{ scope: 'read' }]);
  });

  test('is only for those who set up the server', async () => {
    await using place = await openedWith();
    await expect(place.mcp.signIn.begin('tickets', EVE, ORIGIN)).rejects.toMatchObject({ code: 'not_found' });
    const back = await place.server.approve(await place.mcp.signIn.begin('tickets', ADMIN, ORIGIN));
    await expect(place.mcp.signIn.finish(EVE, back.searchParams)).rejects.toMatchObject({
      code: 'not_found',
    });
    expect(place.server.forms).toEqual([]);
  });

  test('survives a restart, encrypted; a server of another address gets nothing of it', async () => {
    await using place = await openedWith();
    await place.signIn();
    const stored = JSON.stringify(await place.stored.read('mcp-sign-in:tickets'));
    const [token] = place.server.tokens;
    expect(stored).not.toContain(token?.access);
    expect(stored).not.toContain(place.server.issuer);
    {
      await using again = await opened({ tickets: { url: place.server.url } }, 20, place.stored);
      expect(again.servers()).toMatchObject([{ state: 'ready' }]);
    }
    using other = oauthServer();
    await using moved = await opened({ tickets: { url: other.url } }, 20, place.stored);
    expect(moved.servers()).toMatchObject([{ state: 'sign-in' }]);
    expect(other.authorizations.filter((given) => given !== null)).toEqual([]);
  });

  test('is renewed when it has expired, once for calls that run at the same time', async () => {
    await using place = await openedWith();
    await place.signIn();
    const [token] = place.server.tokens;
    if (token) place.server.tokens.splice(0, 1, { ...token, access: 'expired' });
    expect(await Promise.all([whoami(place.mcp), whoami(place.mcp), whoami(place.mcp)])).toEqual([
      'ada',
      'ada',
      'ada',
    ]);
    expect(place.server.forms.filter(({ grant_type }) => grant_type === 'refresh_token')).toHaveLength(1);
  });

  test('is asked for again if it cannot be renewed: of a local user as a question, of others in words', async () => {
    await using place = await openedWith();
    await place.signIn();
    place.server.tokens.splice(0);
    const tool = place.mcp.named('mcp_tickets_whoami');
    expect((await faultOf(use(tool, {}, as('eve')))).message).toContain('An admin can sign in');
    const { asks } = await use(tool, {}, as('local'));
    expect(asks?.question).toMatchObject({ purpose: 'elicitation', title: 'Sign in to tickets' });
    const [item] = asks?.question.questions ?? [];
    const link = item?.link ?? '';
    expect(item?.text).toContain(link);
    expect(link).toStartWith(`${place.server.issuer}/authorize?`);
    const back = await place.server.approve(link);
    await place.mcp.signIn.finish(ADMIN, back.searchParams);
    // The question is withdrawn by itself.
    await asks?.until;
    const answer = { resume: asks?.resume, answers: null };
    expect(textOf((await use(tool, {}, as('local', answer))).parts)).toBe('ada');
  });

  test('is asked for with more scopes if a call needs them, once', async () => {
    await using place = await openedWith({ writeScope: 'write' });
    await place.signIn();
    const tool = place.mcp.named('mcp_tickets_write');
    const { asks } = await use(tool, {}, as('local'));
    const link = asks?.question.questions[0]?.link ?? '';
    expect(new URL(link).searchParams.get('scope')).toBe('read write');
    await place.mcp.signIn.finish(ADMIN, (await place.server.approve(link)).searchParams);
    const answer = { resume: asks?.resume, answers: { accept: ['Done'] } };
    expect(textOf((await use(tool, {}, as('local', answer))).parts)).toBe('ada');
    // The tokens are of less than what was asked for: no second question.
    const last = place.server.tokens.at(-1);
    if (last) place.server.tokens.splice(-1, 1, { ...last, scope: 'read' });
    expect((await faultOf(use(tool, {}, as('local')))).message).toContain('refuses this with the scopes');
  });

  test('ends with a sign-out, and with the removal of the server', async () => {
    await using place = await openedWith();
    await place.signIn();
    await place.mcp.signIn.end('tickets', ADMIN);
    expect(place.mcp.servers()).toMatchObject([{ state: 'sign-in', signIn: { signedIn: 0 }, tools: [] }]);
    await place.signIn();
    await place.mcp.configure({});
    await using again = await opened({ tickets: { url: place.server.url } }, 20, place.stored);
    expect(again.servers()).toMatchObject([{ state: 'sign-in' }]);
  });

  test('reaches other nodes', async () => {
    await using place = await openedWith();
    await using other = await opened({ tickets: { url: place.server.url } }, 20, place.stored);
    await place.signIn();
    await other.reload();
    expect(other.servers()).toMatchObject([{ state: 'ready' }]);
  });

  test('is not offered if the settings have credentials', async () => {
    await using place = await openedWith({}, { headers: { Authorization: 'Bearer own' } });
    expect(place.mcp.servers()).toMatchObject([{ signIn: null }]);
    expect(place.server.authorizations).toContain('Bearer own');
    expect(place.server.requests.filter((line) => line.includes('well-known'))).toEqual([]);
  });
});

describe('a sign-in of each user', () => {
  const settings = { signIn: 'user' };

  test('gives each user an account of their own, and tools only to those who have one', async () => {
    await using place = await openedWith({}, settings);
    const { mcp } = place;
    await place.signIn(ADA, 'ada');
    expect(mcp.named('mcp_tickets_whoami').available?.(PrincipalId.parse('eve'))).toBe(false);
    await place.signIn(EVE, 'mallory');
    expect([await whoami(mcp, 'ada'), await whoami(mcp, 'eve')]).toEqual(['ada', 'mallory']);
    expect(mcp.servers()).toMatchObject([{ signIn: { who: 'user', signedIn: 2 } }]);
    await mcp.signIn.end('tickets', EVE);
    expect((await faultOf(whoami(mcp, 'eve'))).code).toBe('tool_failed');
    expect(await whoami(mcp, 'ada')).toBe('ada');
    expect(await mcp.signIn.of('eve')).toEqual([{ name: 'tickets', signedIn: false }]);
  });

  test('cannot be ended by another user, also not by one who follows the link', async () => {
    await using place = await openedWith({}, settings);
    const back = await place.server.approve(await place.mcp.signIn.begin('tickets', EVE, ORIGIN), 'victim');
    for (const other of [ADA, ADMIN])
      await expect(place.mcp.signIn.finish(other, back.searchParams)).rejects.toMatchObject({
        code: 'not_found',
      });
    expect(place.server.forms).toEqual([]);
  });
});

describe('an answer of the browser', () => {
  test('counts once, and only with a state that was given out', async () => {
    await using place = await openedWith();
    const back = await place.server.approve(await place.mcp.signIn.begin('tickets', ADMIN, ORIGIN));
    const forged = new URLSearchParams(back.search);
    forged.set('state', 'forged');
    await expect(place.mcp.signIn.finish(ADMIN, forged)).rejects.toMatchObject({ code: 'not_found' });
    await place.mcp.signIn.finish(ADMIN, back.searchParams);
    await expect(place.mcp.signIn.finish(ADMIN, back.searchParams)).rejects.toMatchObject({
      code: 'not_found',
    });
    expect(place.server.forms).toHaveLength(1);
  });

  test.each([
    ['of another issuer', 'https://evil.example'],
    ['without an issuer, which was announced', null],
  ])('%s sends no code anywhere', async (_, iss) => {
    await using place = await openedWith({ iss });
    await expect(place.signIn()).rejects.toMatchObject({ code: 'invalid' });
    expect(place.server.forms).toEqual([]);
  });

  test('that refuses is told in words', async () => {
    await using place = await openedWith();
    const back = await place.server.approve(await place.mcp.signIn.begin('tickets', ADMIN, ORIGIN));
    const state = back.searchParams.get('state') ?? '';
    const refused = new URLSearchParams({ state, iss: place.server.issuer, error: 'access_denied' });
    await expect(place.mcp.signIn.finish(ADMIN, refused)).rejects.toThrow(
      'The sign-in was refused: access_denied',
    );
  });
});

describe('a hostile server', () => {
  const private_ = 'http://169.254.169.254/latest';
  test.each<[string, OAuthBehaviour]>([
    ['a private address as its authorization server', { resource: { authorization_servers: [private_] } }],
    ['one without TLS', { resource: { authorization_servers: ['http://example.com'] } }],
    ['the resource of another server', { resource: { resource: 'https://bank.example/mcp' } }],
    ['metadata of another issuer', { metadata: { issuer: 'https://bank.example' } }],
    ['a script as its page', { metadata: { authorization_endpoint: 'javascript:alert(1)' } }],
    ['a private address for registration', { metadata: { registration_endpoint: private_ } }],
  ])('that names %s gets no sign-in', async (_, behaviour) => {
    await using place = await openedWith(behaviour);
    await expect(place.mcp.signIn.begin('tickets', ADMIN, ORIGIN)).rejects.toMatchObject({ code: 'invalid' });
    expect(place.mcp.servers()).toMatchObject([{ state: 'sign-in' }]);
  });

  test('does not get the secret of a client that belongs to another issuer', async () => {
    const oauth = { clientId: 'mine', clientSecret: 'my-client-secret', issuer: 'https://login.example' };
    await using place = await openedWith({}, { oauth });
    await expect(place.mcp.signIn.begin('tickets', ADMIN, ORIGIN)).rejects.toMatchObject({ code: 'invalid' });
    expect(JSON.stringify([place.server.forms, place.server.registrations, place.mcp.lines])).not.toContain(
      'my-client',
    );
  });

  test('that answers every token with a refusal is not asked without end', async () => {
    await using place = await openedWith();
    await place.signIn();
    const { server, mcp } = place;
    const before = server.requests.length;
    server.tokens.splice(0);
    const tool = mcp.named('mcp_tickets_whoami');
    const { asks } = await use(tool, {}, as('local'));
    const answer = { resume: asks?.resume, answers: { accept: ['Done'] } };
    expect((await faultOf(use(tool, {}, as('local', answer)))).message).toContain('refuses the sign-in');
    expect(server.requests.length - before).toBeLessThan(15);
    await eventually(() => mcp.servers()[0]?.state === 'ready');
  });
});
