import { expect, test } from 'bun:test';
import { McpServers } from './servers.ts';

test('both kinds of server are parsed, with their defaults', () => {
  expect(
    McpServers.parse({
      files: { command: 'files', args: ['/srv'] },
      web: { url: 'https://example.org/mcp', trusted: true },
    }),
  ).toEqual({
    files: { command: 'files', args: ['/srv'], env: {}, trusted: false, timeoutMs: 60_000 },
    web: { url: 'https://example.org/mcp', headers: {}, trusted: true, timeoutMs: 60_000, signIn: 'server' },
  });
});

test.each<[string, unknown]>([
  ['a list', []],
  ['a server that is text', { a: 'npx server' }],
  ['neither command nor url', { a: {} }],
  ['both command and url', { a: { command: 'x', url: 'https://example.org' } }],
  ['an empty command', { a: { command: '' } }],
  ['arguments that are text', { a: { command: 'x', args: '--y' } }],
  ['a variable that is a number', { a: { command: 'x', env: { TOKEN: 12_345_678 } } }],
  ['an address that is no web address', { a: { url: 'file:///etc/passwd' } }],
  ['a header that is a list', { a: { url: 'https://example.org', headers: { authorization: ['secret'] } } }],
  ['a word that is not known', { a: { command: 'x', enviroment: {} } }],
  ['a name with a blank', { 'a b': { command: 'x' } }],
  ['a name that is too long', { ['a'.repeat(33)]: { command: 'x' } }],
  ['no time at all', { a: { command: 'x', timeoutMs: 0 } }],
])('%s is refused, without a value in the message', (_name, servers) => {
  const { error } = McpServers.safeParse(servers);
  expect(error?.issues[0]?.message).toBeString();
  expect(JSON.stringify(error?.issues)).not.toMatch(/secret|12345678/);
});
