import { describe, expect, test } from 'bun:test';
import { PassThrough } from 'node:stream';
import { inputLines, LineOutput, TOO_LONG } from './lines.ts';
import { openServerLink } from './server-link.ts';

async function linesIn(...chunks: string[]): Promise<string[]> {
  async function* source() {
    for (const chunk of chunks) yield Buffer.from(chunk);
  }
  const lines: string[] = [];
  for await (const line of inputLines(source(), 10))
    lines.push(line === TOO_LONG ? 'too long' : String(line));
  return lines;
}

describe('input', () => {
  test('is lines, however it is cut into chunks', async () => {
    expect(await linesIn('{"a', '":1}\n[', ']\r', '\n2')).toEqual(['{"a":1}', '[]\r', '2']);
  });

  test('has no blank lines', async () => {
    expect(await linesIn('\n\n \t\r\n1\n\n')).toEqual(['1']);
  });

  test('reports a line that is too long and continues with the next', async () => {
    expect(await linesIn('123456', '78901\n2\n', '12345678901')).toEqual(['too long', '2', 'too long']);
  });
});

describe('output', () => {
  test('is flushed when it has been taken', async () => {
    const stream = new PassThrough();
    let taken = '';
    stream.on('data', (chunk) => {
      taken += chunk;
    });
    const output = new LineOutput(stream);
    output.write('one');
    output.write('two');
    await output.flushed();
    expect(taken).toBe('one\ntwo\n');
  });

  test('ends when the reader is gone', async () => {
    const stream = new PassThrough();
    const output = new LineOutput(stream);
    stream.destroy(new Error('EPIPE'));
    expect(await output.closed).toBe('standard output was closed');
    output.write('late');
    await output.flushed();
  });
});

describe('the link to a server', () => {
  test.each([
    [['--url', 'localhost:3000'], 'PARLANCE_URL must be an http or https URL, not "localhost:3000"'],
    [['--url'], '--url needs a value'],
    [['--token'], '--token needs a value'],
    [
      ['--url=http://localhost:1', '--model', 'x'],
      '--model is a setting of the server, which is at http://localhost:1',
    ],
  ])('%p is refused', async (argv, message) => {
    await expect(openServerLink(argv, {})).rejects.toThrow(message);
  });

  test('to a URL carries the token, and keeps the path of the URL', async () => {
    const seen: string[] = [];
    using server = Bun.serve({
      port: 0,
      fetch(request) {
        seen.push(`${new URL(request.url).pathname} ${request.headers.get('authorization')}`);
        return new Response('fine');
      },
    });
    const url = `http://localhost:${server.port}/below/`;
    const link = await openServerLink([], { PARLANCE_URL: url, PARLANCE_TOKEN: 'secret' });
    expect(link.embedded).toBeFalse();
    expect(await (await link.fetch('/mcp')).text()).toBe('fine');
    const flags = await openServerLink(['--url', url, '--token=other'], { PARLANCE_TOKEN: 'secret' });
    await flags.fetch('/mcp');
    expect(seen).toEqual(['/below/mcp Bearer secret', '/below/mcp Bearer other']);
  });

  test('a socket to a server that cannot be reached is closed once', async () => {
    const link = await openServerLink(['--url', 'http://127.0.0.1:1'], {});
    const reasons: string[] = [];
    const closed = Promise.withResolvers<void>();
    const socket = link.connect('/acp', {
      message: () => undefined,
      closed(reason) {
        reasons.push(reason);
        closed.resolve();
      },
    });
    socket.send(Buffer.from('{}'));
    await closed.promise;
    socket.send(Buffer.from('{}'));
    socket.close();
    await Bun.sleep(0);
    expect(reasons).toHaveLength(1);
  });
});
