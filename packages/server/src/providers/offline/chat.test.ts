import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '@parlance/protocol';
import { ALL_TOOLS, ask, hear, promptOf, user } from './testing/ask.ts';

const added = (path: string, ...lines: readonly string[]): JsonObject => ({
  patch: [
    '*** Begin Patch',
    `*** Add File: ${path}`,
    ...lines.map((line) => `+${line}`),
    '*** End Patch',
  ].join('\n'),
});

const FIRST_CALLS: readonly (readonly [utterance: string, tool: string, input: JsonObject])[] = [
  ['run git status', 'shell', { command: ['git', 'status'] }],
  ['RUN git status', 'shell', { command: ['git', 'status'] }],
  ['Run `ls -la`.', 'shell', { command: ['ls', '-la'] }],
  ['Could you please run git status for me, thanks!', 'shell', { command: ['git', 'status'] }],
  ['hi, can you run git status?', 'shell', { command: ['git', 'status'] }],
  ['execute npm test', 'shell', { command: ['npm', 'test'] }],
  ['run the command ls', 'shell', { command: ['ls'] }],
  ['run the tests', 'shell', { command: ['npm', 'test'] }],
  ['$ ls', 'shell', { command: ['ls'] }],
  ['git status', 'shell', { command: ['git', 'status'] }],
  ['check the git status', 'shell', { command: ['git', 'status'] }],
  ["what's the git status?", 'shell', { command: ['git', 'status'] }],
  ['run git commit -m "one and two"', 'shell', { command: ['git', 'commit', '-m', 'one and two'] }],
  ['run ls | wc -l', 'shell', { command: ['bash', '-lc', 'ls | wc -l'] }],
  ['run ls; pwd', 'shell', { command: ['bash', '-lc', 'ls; pwd'] }],
  ['run echo hi > a.txt', 'shell', { command: ['bash', '-lc', 'echo hi > a.txt'] }],
  ['run ls .', 'shell', { command: ['ls', '.'] }],
  ['run rm -rf node_modules', 'shell', { command: ['rm', '-rf', 'node_modules'] }],
  ['run:\n```sh\nls\npwd\n```', 'shell', { command: ['bash', '-lc', 'ls\npwd'] }],
  ['local shell: ls', 'local_shell', { command: ['ls'] }],
  ['run ls in the local shell', 'local_shell', { command: ['ls'] }],
  ['read README.md', 'read_file', { path: 'README.md' }],
  ['show me package.json', 'read_file', { path: 'package.json' }],
  ['open the file x', 'read_file', { path: 'x' }],
  ['what is in src/main.ts?', 'read_file', { path: 'src/main.ts' }],
  ['summarise README.md', 'read_file', { path: 'README.md' }],
  ['read "my notes.txt"', 'read_file', { path: 'my notes.txt' }],
  ['list files', 'list_files', { path: '.' }],
  ['list the files in src', 'list_files', { path: 'src' }],
  ['list the files in the src folder, please', 'list_files', { path: 'src' }],
  ['list the files in the current directory', 'shell', { command: ['ls'] }],
  ['search for TODO', 'search_files', { query: 'TODO' }],
  ['search for cats and dogs', 'search_files', { query: 'cats and dogs' }],
  ['search the files for foo bar', 'search_files', { query: 'foo bar' }],
  ['find "a b" in the files', 'search_files', { query: 'a b' }],
  ['search the web for bun', 'web_search', { query: 'bun' }],
  ['search for bun online', 'web_search', { query: 'bun' }],
  ['create file notes.txt with hello', 'apply_patch', added('notes.txt', 'hello')],
  [
    'create a file called notes.txt with salt and pepper',
    'apply_patch',
    added('notes.txt', 'salt and pepper'),
  ],
  ['create file a.md with:\n# Title\n\ntext', 'apply_patch', added('a.md', '# Title', '', 'text')],
  ['write hello to notes.txt', 'apply_patch', added('notes.txt', 'hello')],
  ['save hello to notes.txt', 'save_file', { path: 'notes.txt', content: 'hello' }],
  ['save "grüße 👋" to notes.txt', 'save_file', { path: 'notes.txt', content: 'grüße 👋' }],
  ['replace A with B in notes.txt', 'read_file', { path: 'notes.txt' }],
  ['echo Hello, world!', 'echo', { value: 'Hello, world!' }],
  ['echo 你好', 'echo', { value: '你好' }],
  ['open https://example.com/a?b=c', 'open_url', { url: 'https://example.com/a?b=c' }],
  ['go to example.com', 'open_url', { url: 'https://example.com' }],
  ['click the "Sign in" button', 'dom_manipulation', { action: 'click', selector: 'Sign in' }],
  ['click #save', 'dom_manipulation', { action: 'click', selector: '#save' }],
  ['type hello into #q', 'dom_manipulation', { action: 'type', selector: '#q', value: 'hello' }],
  ['summarize this page', 'extract_page_content', {}],
  ['read this page', 'extract_page_content', {}],
  ['extract the page content', 'extract_page_content', {}],
  ['what is the price on this page?', 'extract_page_content', {}],
  ['what is selected?', 'get_selected_text', {}],
  ['scroll to #footer', 'scroll_to_element', { selector: '#footer' }],
  ['list my tabs', 'tab_management', { action: 'list' }],
  ['hand off to the tester', 'handoff', { agent: 'tester', reason: 'The user asked for the tester.' }],
  ['ask the reviewer to look at this', 'handoff', { agent: 'reviewer', reason: 'look at this' }],
  ['let the planner decide', 'handoff', { agent: 'planner', reason: 'decide' }],
];

describe('a request for a tool', () => {
  test.each([...FIRST_CALLS])('%j', async (utterance, tool, input) => {
    const { calls, text } = await ask(utterance);
    expect(calls.map((call) => ({ tool: call.tool, input: call.input }))).toEqual([{ tool, input }]);
    expect(text).not.toBe('');
  });

  test('reports a missing tool, for every request that needs one', async () => {
    for (const [utterance] of FIRST_CALLS) {
      const { calls, text } = await ask(utterance, []);
      expect(calls).toEqual([]);
      expect(text).toContain('is not available here');
    }
  });

  test('only calls offered tools', async () => {
    for (const only of ALL_TOOLS) {
      for (const [utterance] of FIRST_CALLS) {
        for (const { tool } of (await ask(utterance, [only])).calls) expect(tool).toBe(only);
      }
    }
  });

  test('reports that no browser is connected', async () => {
    expect((await ask('open https://example.com and click X', ['shell'])).text).toContain(
      'No browser is connected',
    );
  });

  test('uses another tool with the same effect', async () => {
    expect((await ask('read README.md', ['shell'])).calls[0]?.input).toEqual({
      command: ['cat', 'README.md'],
    });
    expect((await ask('search for bun', ['web_search'])).calls[0]?.input).toEqual({ query: 'bun' });
  });

  test.each([
    'tell the truth',
    'let the games begin',
    'switch to german',
    'set a timer to 5',
    'tap water is good',
  ])('is not found where there is none: %s', async (utterance) => {
    expect((await ask(utterance)).calls).toEqual([]);
  });

  test('lists the existing agents if an unknown one is requested', async () => {
    const parameters = { properties: { agent: { enum: ['coder', 'tester'] } } };
    for (const spec of [
      { name: 'handoff', description: '', parameters },
      { name: 'handoff', description: 'Hands over. Agents: coder, tester.', parameters: {} },
    ]) {
      const { text, calls } = await hear({ ...promptOf([user('hand off to the cook')]), tools: [spec] });
      expect(calls).toEqual([]);
      expect(text).toContain('`coder`, `tester`');
    }
  });
});
