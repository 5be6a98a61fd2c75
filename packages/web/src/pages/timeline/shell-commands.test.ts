import { describe, expect, test } from 'bun:test';
import type { Dialect, DialectList } from '@parlance/sdk';
import { listedDialects } from '../../../../server/src/testing/listed-dialects.ts';
import { socketDialect } from '../../../../server/src/testing/socket-dialect.ts';
import { type Command, shellWord, wscatCommand } from './shell-commands.ts';

const list: DialectList = await listedDialects();
const named = (name: string): Dialect | undefined => list.dialects.find((dialect) => dialect.name === name);

const base: Command = {
  origin: 'http://127.0.0.1:3000',
  dialect: named('agentloop'),
  session: 'demo',
  text: '{"id":"1","type":"get_context_info"}',
  tokenRequired: false,
};

/** Arguments of a command as a real shell splits them; `npx` is replaced by a function that prints them. */
async function words(command: string, token = ''): Promise<string[]> {
  const script = `npx() { for word in "$@"; do printf '%s\\0' "$word"; done; }\n${command}`;
  const shell = Bun.spawn(['sh', '-c', script], { env: { PARLANCE_TOKEN: token } });
  const [, ...printed] = (await new Response(shell.stdout).text()).split('\0').slice(0, -1);
  return printed;
}

const command = (part: Partial<Command> = {}): string => wscatCommand({ ...base, ...part }) ?? 'none';

describe('a frame as a wscat command', () => {
  test('connects to the path of its dialect and names the session', async () => {
    expect(command()).toBe(
      `npx wscat -c 'ws://127.0.0.1:3000/agentloop?session=demo' -x '{"id":"1","type":"get_context_info"}' -w -1`,
    );
    const [, url = ''] = await words(command({ session: 'a b&c/ü', origin: 'https://agents.example' }));
    expect(new URL(url).searchParams.get('session')).toBe('a b&c/ü');
    expect(url).toStartWith('wss://agents.example/agentloop?');
  });

  test('connects to a path at which the server speaks that dialect', () => {
    for (const dialect of ['extension', 'broadcast', 'agentloop', 'conversations']) {
      const path = /ws:\/\/[^/]+(\/\w+)\?/.exec(command({ dialect: named(dialect) }))?.[1] ?? '';
      expect(socketDialect(path, false)).toBe(dialect);
    }
  });

  test('sends exactly the frame, whatever it contains', async () => {
    const texts = [
      `it's`,
      `'; rm -rf / #`,
      '$(id) `id` $HOME \\ " !! *',
      '{\n  "text": "two\\nlines"\n}',
      '',
      '-x',
      'ü 漢 🙂 \u202e',
    ];
    for (const text of texts)
      expect(await words(command({ text }))).toEqual([
        '-c',
        'ws://127.0.0.1:3000/agentloop?session=demo',
        '-x',
        text,
        '-w',
        '-1',
      ]);
  });

  test('sends the greeting of the dialect first, unless the frame is one', async () => {
    const sent = async (text: string) =>
      (await words(command({ dialect: named('extension'), text }))).filter(
        (_, at, all) => all[at - 1] === '-x',
      );
    const chat = '{"type":"chat_message","content":"hi"}';
    expect(await sent(chat)).toEqual([expect.stringContaining('"type":"client_registration"'), chat]);
    const registration = '{"type":"client_registration","capabilities":[]}';
    expect(await sent(registration)).toEqual([registration]);
    expect(await sent('null')).toHaveLength(2);
  });

  test('takes the token from the shell if one is needed, and never contains it', async () => {
    for (const part of [{ dialect: named('conversations') }, { tokenRequired: true }])
      expect(await words(command(part), 'se"cr\'et')).toContain(`Authorization: Bearer se"cr'et`);
    expect(command()).not.toContain('Authorization');
  });

  test('uses the shell token where the server redacted one', async () => {
    const text = '{"type":"client_registration","capabilities":[],"sessionToken": "…"}';
    const sent = await words(command({ dialect: named('extension'), text }), 'secret');
    expect(sent).toContain(text.replace('…', 'secret'));
  });

  test('for an outbound frame, connects and listens', () => {
    expect(command({ text: null })).toBe(`npx wscat -c 'ws://127.0.0.1:3000/agentloop?session=demo'`);
  });

  test('is null without a socket, or if no command line can carry the text', () => {
    expect(wscatCommand({ ...base, dialect: named('native') })).toBeNull();
    expect(wscatCommand({ ...base, dialect: undefined })).toBeNull();
    expect(wscatCommand({ ...base, text: 'a\0b' })).toBeNull();
  });
});

test('quotes an empty shell word', () => {
  expect(shellWord('')).toBe("''");
  expect(shellWord("a'b")).toBe(`'a'\\''b'`);
});
