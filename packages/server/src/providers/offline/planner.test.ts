import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '@parlance/protocol';
import { ask, did, hear, play, promptOf, said, user } from './testing/ask.ts';

const ok = () => ({ text: 'fine' });
const tools = (calls: readonly { tool: string }[]) => calls.map(({ tool }) => tool);

describe('a result is described', () => {
  const git = { command: ['git', 'status'] };

  test.each([
    ['one line', 'shell', git, 'On branch main', false, /`git status` gave: `On branch main`/],
    [
      'several lines',
      'shell',
      git,
      'On branch main\nclean',
      false,
      /gave:\n\n```\nOn branch main\nclean\n```$/,
    ],
    ['no output', 'shell', git, '(no output, exit code 0)', false, /exit code 0 and printed nothing/],
    [
      'as on the wire',
      'shell',
      git,
      '{"output":"a","metadata":{"exit_code":0}}',
      false,
      /exit code 0 and printed: `a`/,
    ],
    ['a failure', 'shell', git, 'fatal: not a repository', true, /failed:.*fatal: not a repository/],
    ['a silent failure', 'shell', git, '(no output, exit code 3)', true, /failed with exit code 3/],
    ['no rights', 'shell', git, 'cat: x: Permission denied', true, /failed:.*Permission denied/],
    ['a denial', 'shell', git, 'The user denied this call.', true, /was denied.*No reason was given/],
    [
      'a denial with a reason',
      'shell',
      git,
      'The user denied this call: too risky',
      true,
      /denied.*“too risky”/,
    ],
    ['an abort', 'shell', git, 'aborted', true, /was aborted/],
    [
      'an unknown outcome',
      'shell',
      git,
      'The server was restarted while this ran. The outcome is unknown: it may …',
      true,
      /outcome of `git status` is unknown.*did not repeat/,
    ],
    ['a tool by name', 'storage_access', {}, 'value', false, /`storage_access` gave: `value`/],
  ])('%s', async (_, tool, input, result, failed, expected) => {
    const items = [user('run git status'), said('…'), ...did('c', tool, input as JsonObject, result, failed)];
    const { text, calls } = await hear(promptOf(items));
    expect(calls).toEqual([]);
    expect(text).toMatch(expected);
  });

  test('long output is cut and the rest counted', async () => {
    const lines = Array.from({ length: 500 }, (_, index) => `line ${index}`).join('\n');
    const { text } = await play('run git status', () => ({ text: lines }));
    expect(text).toContain('more lines.');
    expect(text.length).toBeLessThan(2_500);
  });

  test('output with fences stays inside its own fence', async () => {
    const { text } = await play('read a.md', () => ({ text: '```\ncode\n```\n' }));
    expect(text).toContain('````\n```\ncode\n```\n````');
  });

  test('output that looks like a failure is not a failure', async () => {
    const { text } = await play('read log.txt', () => ({ text: 'The user denied this call.\nexit code 1' }));
    expect(text).toContain('`log.txt` reads:');
  });

  test('a page is summarised', async () => {
    const page = {
      title: 'Tea',
      content: 'Tea is a drink. Tea is made from leaves. Hats are worn. Tea is hot.',
    };
    const { text } = await play('summarize this page', () => ({ text: JSON.stringify(page) }));
    expect(text).toMatch(/^The page “Tea”, in short: .*Tea is/);
    expect(text).not.toContain('Hats');
  });

  test('a direct call of a user is only reported', async () => {
    const items = [user('/tool echo {"value":"x"}'), ...did('c', 'echo', { value: 'x' }, 'x')];
    expect((await hear(promptOf(items))).text).toBe('`echo` gave: `x`');
  });
});

describe('a request of several steps', () => {
  test('is executed step by step, with reasoning first', async () => {
    const first = await ask('check the git status and list the files in the current directory');
    expect(first.reasoning).toContain('2 steps');
    const { calls, items, text } = await play(
      'check the git status and list the files in the current directory',
      ok,
    );
    expect(calls.map(({ input }) => input)).toEqual([{ command: ['git', 'status'] }, { command: ['ls'] }]);
    expect(items.filter(({ kind }) => kind === 'reasoning')).toHaveLength(1);
    expect(text).toContain('These are the files');
  });

  test.each([
    ['read a.txt, then run ls and then echo done', ['read_file', 'shell', 'echo']],
    ['open https://example.com and click Sign in', ['open_url', 'dom_manipulation']],
    ['open https://example.com and summarise the page', ['open_url', 'extract_page_content']],
    ['create file a.txt with hello and read a.txt', ['apply_patch', 'read_file']],
    ['run echo "a and b" and list files', ['shell', 'list_files']],
    ['git add . and git commit -m "x then y" and git push', ['shell', 'shell', 'shell']],
    ['run ls and run ls and run ls', ['shell', 'shell', 'shell']],
  ])('%s', async (utterance, expected) => {
    expect(tools((await play(utterance, ok)).calls)).toEqual(expected);
  });

  test.each([
    'run git status and at the same time list files',
    'run git status and list files at the same time',
  ])('makes both calls at once: %s', async (utterance) => {
    expect(tools((await ask(utterance)).calls)).toEqual(['shell', 'list_files']);
    expect((await play(utterance, ok)).calls).toHaveLength(2);
  });

  test('continues after a failed or denied step that the next does not need', async () => {
    const denied = () => ({ text: 'The user denied this call: no', failed: true });
    expect(tools((await play('run rm x and list files', denied)).calls)).toEqual(['shell', 'list_files']);
  });

  test('stops if the next step needs the failed one', async () => {
    const { calls, text } = await play('run npm test then run git push', () => ({
      text: 'broken',
      failed: true,
    }));
    expect(calls).toHaveLength(1);
    expect(text).toContain('I left this out: run `git push`');
  });

  test('does what it can if a tool is missing', async () => {
    const { calls, text } = await play('open https://example.com and run ls', ok, ['shell']);
    expect(tools(calls)).toEqual(['shell']);
    expect(text).toContain('fine');
  });

  test('reports the part that it did not understand', async () => {
    const { calls, text } = await play('run npm test then deploy', ok);
    expect(calls).toHaveLength(1);
    expect(text).toContain('“deploy”');
  });

  test('does not repeat a step if a missing tool appears later', async () => {
    const items = [
      user('open https://example.com and run ls'),
      ...did('c', 'shell', { command: ['ls'] }, 'a'),
    ];
    expect((await hear(promptOf(items))).calls).toEqual([]);
  });

  test('summarises what it has read', async () => {
    const file = 'Tea is a drink. Tea is made from leaves. Hats are worn. Tea is hot.';
    const { calls, text } = await play('read a.txt and summarise it', () => ({ text: file }));
    expect(tools(calls)).toEqual(['read_file']);
    expect(text).toContain('In short: Tea');
  });
});

describe('replacing text in a file', () => {
  const request = 'replace red with blue in colours.txt';

  test('reads the file, then changes the lines with the text', async () => {
    const { calls, text } = await play(request, (tool) => ({
      text: tool === 'read_file' ? 'red\ngreen\nred, red\n' : 'ok',
    }));
    expect(calls[1]).toMatchObject({
      tool: 'apply_patch',
      input: {
        patch: [
          '*** Begin Patch',
          '*** Update File: colours.txt',
          '@@',
          '-red',
          '+blue',
          '@@',
          '-red, red',
          '+blue, blue',
          '*** End Patch',
        ].join('\n'),
      },
    });
    expect(text).toBe('`colours.txt` is changed in 2 lines.');
  });

  test('changes nothing if the text is missing', async () => {
    const { calls, text } = await play(request, () => ({ text: 'green\n' }));
    expect(calls).toHaveLength(1);
    expect(text).toContain('There is no `red`');
  });

  test('stops if the file cannot be read', async () => {
    const { calls, text } = await play(request, () => ({
      text: 'There is no file colours.txt.',
      failed: true,
    }));
    expect(calls).toHaveLength(1);
    expect(text).toContain('There is no file');
  });
});
