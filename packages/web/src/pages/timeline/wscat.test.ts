import { describe, expect, test } from 'bun:test';
import { routeOf } from '../../../../server/src/dialects/shared/routes.ts';
import { type Command, shellWord, wscatCommand } from './wscat.ts';

const base: Command = {
  origin: 'http://127.0.0.1:3000',
  dialect: 'agentloop',
  session: 'demo',
  text: '{"id":"1","type":"get_context_info"}',
  tokenRequired: false,
};

/** The words that a real shell makes of a command, whose program is replaced by one that prints them. */
async function words(command: string, token = ''): Promise<string[]> {
  const script = `npx() { for word in "$@"; do printf '%s\\0' "$word"; done; }\n${command}`;
  const shell = Bun.spawn(['sh', '-c', script], { env: { PARLANCE_TOKEN: token } });
  const [, ...printed] = (await new Response(shell.stdout).text()).split('\0').slice(0, -1);
  return printed;
}

const command = (part: Partial<Command> = {}): string => wscatCommand({ ...base, ...part }) ?? 'none';

describe('a frame as a wscat command', () => {
  test('goes to the path of its dialect and names the session', async () => {
    expect(command()).toBe(
      `npx wscat -c 'ws://127.0.0.1:3000/agentloop?session=demo' -x '{"id":"1","type":"get_context_info"}' -w -1`,
    );
    const [, url = ''] = await words(command({ session: 'a b&c/ü', origin: 'https://agents.example' }));
    expect(new URL(url).searchParams.get('session')).toBe('a b&c/ü');
    expect(url).toStartWith('wss://agents.example/agentloop?');
  });

  test('goes to a path at which the server speaks that dialect', () => {
    for (const dialect of ['extension', 'broadcast', 'agentloop', 'conversations']) {
      const path = /ws:\/\/[^/]+(\/\w+)\?/.exec(command({ dialect }))?.[1] ?? '';
      let spoken = '';
      routeOf(path, false, (name) => {
        spoken = name;
        return {} as never;
      })?.({} as never);
      expect(spoken).toBe(dialect);
    }
  });

  test('sends exactly the frame, whatever is in it', async () => {
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

  test('of the extension registers first, but for a registration and a ping', async () => {
    const sent = async (text: string) =>
      (await words(command({ dialect: 'extension', text }))).filter((_, at, all) => all[at - 1] === '-x');
    const chat = '{"type":"chat_message","content":"hi"}';
    expect(await sent(chat)).toEqual(['{"type":"client_registration","capabilities":[]}', chat]);
    expect(await sent('{"type":"ping"}')).toEqual(['{"type":"ping"}']);
    expect(await sent('null')).toHaveLength(2);
  });

  test('takes the token from the shell where one is needed, and never carries it', async () => {
    for (const part of [{ dialect: 'conversations' }, { tokenRequired: true }])
      expect(await words(command(part), 'se"cr\'et')).toContain(`Authorization: Bearer se"cr'et`);
    expect(command()).not.toContain('Authorization');
  });

  test('puts the token of the shell where the server has hidden one', async () => {
    const text = '{"type":"client_registration","capabilities":[],"sessionToken": "…"}';
    const sent = await words(command({ dialect: 'extension', text }), 'secret');
    expect(sent).toContain(text.replace('…', 'secret'));
  });

  test('of what a client was sent connects and listens', () => {
    expect(command({ text: null })).toBe(`npx wscat -c 'ws://127.0.0.1:3000/agentloop?session=demo'`);
  });

  test('is none for what has no socket, and for what no command line can carry', () => {
    expect(wscatCommand({ ...base, dialect: 'native' })).toBeNull();
    expect(wscatCommand({ ...base, dialect: 'constructor' })).toBeNull();
    expect(wscatCommand({ ...base, text: 'a\0b' })).toBeNull();
  });
});

test('a shell word is quoted even where it is empty', () => {
  expect(shellWord('')).toBe("''");
  expect(shellWord("a'b")).toBe(`'a'\\''b'`);
});
