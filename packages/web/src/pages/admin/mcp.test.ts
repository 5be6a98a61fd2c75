import { expect, test } from 'bun:test';
import { fieldsOf, NEW_SERVER, serverFrom } from './mcp-fields.ts';

const files = {
  command: 'npx',
  args: ['-y', 'server'],
  env: { TOKEN: null },
  trusted: true,
  timeoutMs: 5_000,
};

test('a new server is made of the lines of its fields', () => {
  const fields = { ...NEW_SERVER, command: ' npx ', args: '-y\n\n server \n', pairs: 'TOKEN=a=b\nEMPTY' };
  expect(serverFrom(fields)).toEqual({
    command: 'npx',
    args: ['-y', 'server'],
    env: { TOKEN: 'a=b', EMPTY: '' },
    trusted: false,
  });
});

test('an unchanged server keeps its values, and what the dialog does not show', () => {
  expect(fieldsOf(files)).toMatchObject({ args: '-y\nserver', pairs: 'TOKEN=', trusted: true });
  expect(serverFrom(fieldsOf(files), files)).toEqual(files);
});

test('variables are replaced, added and removed by their lines', () => {
  const env = (pairs: string) => serverFrom({ ...fieldsOf(files), pairs }, files).env;
  expect(env('TOKEN=new\nOTHER=1')).toEqual({ TOKEN: 'new', OTHER: '1' });
  expect(env('')).toEqual({});
});

test('a program that becomes a URL keeps nothing of the program', () => {
  const fields = {
    ...fieldsOf(files),
    kind: 'url',
    url: 'https://example.com/mcp',
    pairs: 'TOKEN=',
  } as const;
  expect(serverFrom(fields, files)).toEqual({
    url: 'https://example.com/mcp',
    headers: { TOKEN: '' },
    trusted: true,
  });
});

test('each user signs in if that is chosen, and one person again if it is chosen no more', () => {
  const server = { url: 'https://example.com/mcp', headers: {} };
  const perUser = serverFrom({ ...fieldsOf(server), perUser: true }, server);
  expect(perUser).toMatchObject({ signIn: 'user' });
  expect(serverFrom({ ...fieldsOf(perUser), perUser: false }, perUser)).toMatchObject({ signIn: 'server' });
  expect(serverFrom(fieldsOf(server), server)).not.toHaveProperty('signIn');
});
