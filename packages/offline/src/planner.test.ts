import { describe, expect, test } from 'bun:test';
import { ask, assistant, callAndResult, play, respond, user } from './testing/ask.ts';

const ok = () => ({ text: 'fine' });
const tools = (calls: readonly { tool: string }[]) => calls.map(({ tool }) => tool);

describe('a result is described', () => {
  const cases: [title: string, result: string, failed: boolean, expected: RegExp][] = [
    ['one line', 'On branch main', false, /`git status` gave: `On branch main`/],
    ['several lines', 'On branch main\nclean', false, /gave:\n\n```\nOn branch main\nclean\n```$/],
    ['no output', '(no output, exit code 0)', false, /exit code 0 and printed nothing/],
    [
      'with its exit code',
      '{"output":"a","metadata":{"exit_code":0}}',
      false,
      /exit code 0 and printed: `a`/,
    ],
    ['a failure', 'fatal: not a repository', true, /failed:.*fatal: not a repository/],
    ['a silent failure', '(no output, exit code 3)', true, /failed with exit code 3/],
    ['a denial', 'The user denied this call.', true, /was denied.*No reason was given/],
    ['a denial with a reason', 'The user denied this call: too risky', true, /denied.*“too risky”/],
    ['an abort', 'aborted', true, /was aborted/],
    ['an unknown outcome', 'The outcome is unknown: it may …', true, /outcome of `git status` is unknown/],
  ];
  for (const [title, result, failed, expected] of cases) {
    test(title, () => {
      const input = { command: ['git', 'status'] };
      const items = [
        user('run git status'),
        assistant('…'),
        ...callAndResult(result, { tool: 'shell', input, failed }),
      ];
      const { text, calls } = respond(items);
      expect(calls).toEqual([]);
      expect(text).toMatch(expected);
    });
  }

  test('long output is cut and the rest counted', () => {
    const lines = Array.from({ length: 500 }, (_, index) => `line ${index}`).join('\n');
    const { text } = play('run git status', () => ({ text: lines }));
    expect(text).toContain('more lines.');
    expect(text.length).toBeLessThan(2_500);
  });

  test('output with fences stays inside its own fence', () => {
    const { text } = play('read a.md', () => ({ text: '```\ncode\n```\n' }));
    expect(text).toContain('````\n```\ncode\n```\n````');
  });

  test('output that looks like a failure is not a failure', () => {
    const { text } = play('read log.txt', () => ({ text: 'The user denied this call.\nexit code 1' }));
    expect(text).toContain('`log.txt` reads:');
  });

  test('a page is summarised', () => {
    const page = JSON.stringify({ title: 'Tea', content: 'Tea is a drink. Tea is made from leaves.' });
    const { text } = play('summarize this page', () => ({ text: page }));
    expect(text).toBe('The page “Tea”, in short: Tea is a drink. Tea is made from leaves.');
  });

  test('a direct call of a user is only reported', () => {
    const items = [
      user('/tool echo {"value":"x"}'),
      ...callAndResult('x', { tool: 'echo', input: { value: 'x' } }),
    ];
    expect(respond(items).text).toBe('`echo` gave: `x`');
  });
});

describe('a request of several steps', () => {
  test('begins with reasoning', () => {
    expect(ask('list files, then read README.md').reasoning).toContain('several steps: (1) list');
  });

  test.each([
    ['list files, then read README.md', ['list_files', 'read_file']],
    ['read a.txt, then run ls and then echo done', ['read_file', 'shell', 'echo']],
    ['open https://example.com and click Sign in', ['open_url', 'dom_manipulation']],
    ['create file a.txt with hello and read a.txt', ['apply_patch', 'read_file']],
    ['run echo "a and b" and list files', ['shell', 'list_files']],
    ['run `ls` and then run touch b.txt', ['shell', 'shell']],
    ['run ls and run ls and run ls', ['shell', 'shell', 'shell']],
  ])('%s', (message, expected) => {
    expect(tools(play(message, ok).calls)).toEqual(expected);
  });

  test('makes both calls in one answer', () => {
    const message = 'run git status and at the same time list files';
    expect(tools(ask(message).calls)).toEqual(['shell', 'list_files']);
    expect(play(message, ok).calls).toHaveLength(2);
  });

  test('continues after a failed or denied step that the next does not need', () => {
    const denied = () => ({ text: 'The user denied this call: no', failed: true });
    expect(tools(play('run rm x and list files', denied).calls)).toEqual(['shell', 'list_files']);
  });

  test('stops if the next step needs the failed one', () => {
    const { calls, text } = play('run npm test then run git push', () => ({ text: 'broken', failed: true }));
    expect(calls).toHaveLength(1);
    expect(text).toContain('I left this out: run `git push`');
  });

  test('does what it can if a tool is missing', () => {
    const { calls, text } = play('open https://example.com and run ls', ok, ['shell']);
    expect(tools(calls)).toEqual(['shell']);
    expect(text).toContain('fine');
  });

  test('reports the part that it did not understand', () => {
    const { calls, text } = play('run npm test then deploy', ok);
    expect(calls).toHaveLength(1);
    expect(text).toContain('“deploy”');
  });

  test('of many connectors is made or refused quickly', () => {
    expect(ask('run a and '.repeat(150)).text).not.toBe('');
  });
});

describe('replacing text in a file', () => {
  const request = 'replace red with blue in colours.txt';

  test('reads the file, then changes the lines with the text', () => {
    const { calls, text } = play(request, (tool) => ({
      text: tool === 'read_file' ? 'red\ngreen\nred, red\n' : 'ok',
    }));
    const hunks = ['@@', '-red', '+blue', '@@', '-red, red', '+blue, blue'];
    const patch = ['*** Begin Patch', '*** Update File: colours.txt', ...hunks, '*** End Patch'].join('\n');
    expect(calls[1]).toEqual({ tool: 'apply_patch', input: { patch } });
    expect(text).toBe('`colours.txt` is changed.');
  });

  test('changes nothing if the text is missing', () => {
    const { calls, text } = play(request, () => ({ text: 'green\n' }));
    expect(calls).toHaveLength(1);
    expect(text).toContain('There is no `red`');
  });

  test('stops if the file cannot be read', () => {
    const { calls, text } = play(request, () => ({ text: 'There is no file colours.txt.', failed: true }));
    expect(calls).toHaveLength(1);
    expect(text).toContain('There is no file');
  });
});
