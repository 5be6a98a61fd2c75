import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cuttingProxy } from '../../../../e2e/console/cutting-proxy.ts';
import { scriptedConversations, spawn } from '../../../../e2e/conversations.ts';
import { type DictatedModel, dictatedModel, scriptedModel } from '../../../../e2e/scripted-model.ts';
import { durableOf, startProcess } from '../../../../e2e/server-process.ts';
import { startTestServer, type TestServer } from '../../../server/src/testing/server.ts';
import { until } from '../../../server/src/testing/until.ts';
import { hasTmux, openTerminal } from '../testing/tmux.ts';

let model: DictatedModel;
let server: TestServer;
let home: string;

beforeAll(async () => {
  model = dictatedModel();
  server = await startTestServer(model.settings);
  home = mkdtempSync(join(tmpdir(), 'parlance-chat-'));
});
afterAll(async () => {
  await server.stop();
  model.stop();
  rmSync(home, { recursive: true });
});

type Size = { readonly columns?: number; readonly rows?: number };

const chat = (args: readonly string[] = [], size: Size = {}) =>
  openTerminal({
    args: ['chat', ...args],
    cwd: server.root,
    env: { HOME: home, PARLANCE_URL: server.http },
    ...size,
  });

const READY = /Send a message/;

describe.skipIf(!hasTmux)('a conversation in the terminal', () => {
  test('completes the names of skills after a slash, and limits the session', async () => {
    const folder = join(server.data, 'skills/code-review');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'SKILL.md'), '---\nname: code-review\ndescription: Reviews code.\n---\nLook.');
    await using terminal = await chat();
    await terminal.shows(READY);
    await terminal.type('/code');
    await terminal.shows(/\/code-review +Reviews code\./);
    await terminal.press('Enter');
    await terminal.type('all of it');
    await terminal.press('Enter');
    await terminal.shows(/❯ \/code-review all of it/);
    model.say('Reviewed.');
    model.end();
    await terminal.shows(/Reviewed\./);
    await terminal.shows(READY);
    await terminal.type('/limit 1.50');
    await terminal.press('Enter');
    await terminal.shows(/This session asks above \$1\.50\./);
    rmSync(folder, { recursive: true });
  });

  test('streams Markdown, and shows outcome and model', async () => {
    await using terminal = await chat();
    await terminal.shows(READY);
    await terminal.type('hello there');
    await terminal.press('Enter');
    await terminal.shows(/❯ hello there/);
    model.think('Let me see.');
    await terminal.shows(/✻ Thinking … Let me see\./);
    model.say('# Title\n\nSome **bold** text and 安宁 👩‍👩‍👧.\n\n```ts\nconst x = "a";\n```\n\n- one\n');
    await terminal.shows(/Esc interrupts/);
    model.say('- two\n\nThe end');
    await terminal.shows(/The end/);
    model.end();
    const screen = await terminal.shows(READY);
    expect(screen).toMatch(
      /✻ Thought for .*\n\nTitle\n\nSome bold text and 安宁 👩‍👩‍👧\.\n\n {2}const x = "a";\n\n• one\n• two\n\nThe end\n/,
    );
    expect(screen).toContain('fake · suggest');
    const colours = await terminal.screen(true);
    expect(colours).toContain('\x1b[35mconst');
    expect(colours).toContain('\x1b[32m"a"');
  });

  test('another model of the chain is named in the conversation, below the turn and in the status line', async () => {
    const chain = scriptedModel(({ model: name }) =>
      name === 'large'
        ? { status: 429, headers: { 'retry-after': '120' }, message: 'Slow down.' }
        : { say: 'Hello.' },
    );
    const other = await startTestServer({ ...chain.settings, MODEL: 'large,small' });
    try {
      await using terminal = await openTerminal({
        args: ['chat'],
        cwd: other.root,
        env: { HOME: home, PARLANCE_URL: other.http },
      });
      await terminal.shows(READY);
      await terminal.type('hello');
      await terminal.press('Enter');
      await terminal.shows(/small instead of large/);
      const screen = await terminal.shows(/answered by small · /);
      expect(screen).toMatch(/Slow down\. small answers\s+instead\./);
    } finally {
      await other.stop();
      chain.stop();
    }
  });

  test('sub-agents are lines with what they do; what one asks is answered with a letter', async () => {
    const slow = Promise.withResolvers<void>();
    const agents = scriptedConversations({
      Release: [
        {
          calls: [
            spawn('tests', 'Run all the tests'),
            spawn('notes', 'Write the notes'),
            spawn('updates', 'Look for updates', { background: true }),
          ],
        },
        { say: 'All is ready.' },
        { say: 'And up to date.' },
      ],
      'Run all the tests': [
        { call: 'shell', input: { command: ['touch', 'tested'] } },
        { say: 'They pass.' },
      ],
      'Write the notes': [{ say: 'Written.' }],
      'Look for updates': [
        async () => {
          await slow.promise;
          return { say: 'There are none.' };
        },
      ],
    });
    const other = await startTestServer(agents.settings);
    try {
      await using terminal = await openTerminal({
        args: ['chat'],
        cwd: other.root,
        env: { HOME: home, PARLANCE_URL: other.http },
      });
      await terminal.shows(READY);
      await terminal.type('Release');
      await terminal.press('Enter');
      await terminal.shows(/Coder › tests: Runs touch tested\./);
      await terminal.shows(/● Coder › notes {2}Write the notes .*tokens · Done/);
      await terminal.shows(/Coder › updates {2}Look for updates .*Started/);
      await terminal.shows(/Coder › updates works in the background/);
      await terminal.press('y');
      await terminal.shows(/● Coder › tests {2}Run all the tests .*tokens · Done/);
      await terminal.shows(/All is ready\.[\s\S]*works in the background/);
      slow.resolve();
      const screen = await terminal.shows(/And up to date\./);
      expect(screen).toContain('❯ Result of the sub-agent updates:');
      expect(screen).not.toMatch(/works in the background\n/);
    } finally {
      await other.stop();
      agents.stop();
    }
  });

  test('retries of the model are one line with the text of the model API', async () => {
    await using terminal = await chat();
    await terminal.shows(READY);
    await terminal.type('try hard');
    await terminal.press('Enter');
    await terminal.shows(/❯ try hard/);
    const line = (attempt: number) =>
      `› ${new URL(model.settings.OPENAI_BASE_URL ?? '').host} answered with error 503: The engine is cold. Trying again, attempt ${attempt}.`;
    for (const attempt of [2, 3]) {
      model.fail('The engine is cold');
      const screen = await terminal.shows(new RegExp(`attempt ${attempt}\\.`));
      expect(screen.match(/Trying again/g)).toHaveLength(1);
      expect(screen.replace(/\n {2}/g, ' ')).toContain(line(attempt));
    }
    model.say('Now it runs.');
    model.end();
    const screen = await terminal.shows(/Now it runs\.[\s\S]*Send a message/);
    expect(screen.match(/Trying again/g)).toHaveLength(1);
    expect(screen.replace(/\n {2}/g, ' ')).toContain(line(3));
  });

  test('a turn that reaches the limit of steps says so, and a message continues it', async () => {
    const limited = await startTestServer({ ...model.settings, MAX_ITERATIONS: '1' });
    try {
      await using terminal = await openTerminal({
        args: ['chat'],
        cwd: limited.root,
        env: { HOME: home, PARLANCE_URL: limited.http },
      });
      await terminal.shows(READY);
      await terminal.type('plan');
      await terminal.press('Enter');
      model.call('update_plan', { steps: [{ step: 'Look around', status: 'completed' }] });
      const screen = await terminal.shows(/Paused after 1 step,[\s\S]*Send a message/);
      expect(screen.replace(/\n/g, ' ')).toContain('MAX_ITERATIONS');
      expect(screen).not.toContain('✗');
      await terminal.type('go on');
      await terminal.press('Enter');
      model.say('All done.');
      model.end();
      await terminal.shows(/❯ go on\n\nAll done\./);
    } finally {
      await limited.stop();
    }
  });

  test('a run of calls becomes one line, with failures in place and what the turn changed', async () => {
    await using terminal = await chat();
    await terminal.shows(READY);
    await terminal.type('/approval auto-edit');
    await terminal.press('Enter');
    await terminal.shows(/fake · auto-edit/);
    await terminal.type('look around');
    await terminal.press('Enter');
    for (let count = 1; count <= 4; count++) model.call('list_files', { path: '.' });
    await terminal.shows(/● 4 searches\s*\n\n● list_files {2}\./);
    model.call('read_file', { path: 'missing.txt' });
    await terminal.shows(/● 4 searches +Ctrl-O shows them\n\n● read_file {2}missing\.txt +Failed/);
    for (const name of ['one', 'two', 'three'])
      model.call('apply_patch', {
        patch: `*** Begin Patch\n*** Add File: run-${name}.txt\n+${name}\n*** End Patch`,
      });
    model.say('Looked around.');
    model.end();
    const screen = await terminal.shows(/3 files changed\n[\s\S]*Send a message/);
    expect(screen).toMatch(
      /● 3 files changed +Ctrl-O shows them\n\nLooked around\.\n\n3 files changed\n {2}run-one\.txt +\+1\n/,
    );
    expect(screen).not.toContain('list_files');
    await terminal.press('C-o');
    await terminal.shows(/apply_patch[\s\S]*run-three\.txt/);
  });

  test('works in the folder in which it is started, beside a running server that allows it', async () => {
    const counted = scriptedModel(() => ({ say: 'Hi.' }));
    const work = join(home, 'projects');
    mkdirSync(join(work, 'shop'), { recursive: true });
    const other = await startTestServer({ ...counted.settings, PARLANCE_WORK_FOLDERS: work });
    const startIn = (cwd: string) =>
      openTerminal({ args: ['chat'], cwd, env: { HOME: home, PARLANCE_URL: other.http } });
    const say = async (terminal: Awaited<ReturnType<typeof startIn>>, text: string) => {
      await terminal.shows(READY);
      await terminal.type(text);
      await terminal.press('Enter');
      return terminal.shows(/Hi\.[\s\S]*Send a message/);
    };
    {
      await using inside = await startIn(join(work, 'shop'));
      expect(await say(inside, 'hello')).not.toContain('does not work in');
    }
    {
      await using outside = await startIn(home);
      expect(await say(outside, 'hello')).toContain('The server does not work in');
    }
    const list = (await (await fetch(`${other.http}/v1/sessions`)).json()) as { sessions: { id: string }[] };
    const folders = await Promise.all(
      list.sessions.map(async ({ id }) => {
        const [first] = await durableOf(other, id);
        return first?.type === 'session.created' ? (first.cwd ?? null) : first;
      }),
    );
    expect(folders).toEqual([null, realpathSync(join(work, 'shop'))]);
    await other.stop();
    counted.stop();
  });

  test('/cost sums tokens and cost, /agents lists agents, and /model completes every known model', async () => {
    const counted = scriptedModel(() => ({ say: 'Hi.' }));
    const other = await startTestServer(counted.settings);
    await using terminal = await openTerminal({
      args: ['chat'],
      cwd: other.root,
      env: { HOME: home, PARLANCE_URL: other.http },
    });
    const run = async (command: string) => {
      await terminal.type(command);
      await terminal.press('Enter');
    };
    await terminal.shows(READY);
    await run('/cost');
    await terminal.shows(/This session has used no tokens\.\nToday \(UTC\): no calls of models\./);
    await run('hello');
    await terminal.shows(/Hi\.[\s\S]*Send a message/);
    await run('/cost');
    await terminal.shows(
      /This session: 100 tokens in, 5 out · no price is known\.\nToday \(UTC\): 100 tokens in, 5 out · no price is known\./,
    );
    await run('/agents');
    await terminal.shows(/Agents\n[\s\S]*❯ coder +\S[\s\S]*\/agent NAME chooses one\./);
    await terminal.type('/model fa');
    await terminal.shows(/^ {2}fake +\S/m);
    await other.stop();
    counted.stop();
  });

  test.each([
    ['white', '', '38;5;28'],
    ['black', '', '32'],
    [null, '0;15', '38;5;28'],
    [null, '15;0', '32'],
  ])('on a terminal with background %p and COLORFGBG %p, green is %s', async (background, colours, green) => {
    const env = { HOME: home, PARLANCE_URL: server.http, COLORFGBG: colours };
    await using terminal = await openTerminal({
      args: ['chat'],
      cwd: server.root,
      env,
      ...(background !== null && { background }),
    });
    await terminal.shows(READY);
    await terminal.type('show a string');
    await terminal.press('Enter');
    model.say('```ts\nconst x = "a";\n```\n');
    model.end();
    await terminal.shows(/const x = "a";[\s\S]*Send a message/);
    expect(await terminal.screen(true)).toContain(`\x1b[${green}m"a"`);
    // What the terminal has answered is no text.
    expect(await terminal.screen()).not.toContain('rgb:');
  });

  test('asks for approval: explain, deny with a reason, allow', async () => {
    await using terminal = await chat();
    await terminal.shows(READY);
    await terminal.type('write a file');
    await terminal.press('Enter');
    const patch = '*** Begin Patch\n*** Add File: notes.txt\n+hello\n*** End Patch';
    model.call('apply_patch', { patch });
    await terminal.shows(
      /Needs approval {2}apply_patch[\s\S]*Add notes\.txt {2}\+1 -0\n {2}\+ hello[\s\S]*y Allow once/,
    );
    expect(await terminal.screen(true)).toContain('\x1b[32m+ hello');
    await terminal.type('e');
    model.say('It adds a file.');
    model.end();
    await terminal.shows(/│ It adds a file\./);
    await terminal.type('n');
    await terminal.shows(/Reason \(optional\)/);
    await terminal.type('another name');
    await terminal.press('Enter');
    await terminal.shows(/✗ Denied by you: “another name”/);
    model.call('apply_patch', { patch: patch.replace('notes', 'other') });
    await terminal.shows(/Add other\.txt/);
    await terminal.type('y');
    await terminal.shows(/✓ Allowed once by you\.\n● apply_patch .*Done/);
    model.end();
    await terminal.shows(READY);
    expect(readFileSync(join(server.root, 'other.txt'), 'utf8')).toBe('hello\n');
  });

  test('queues messages while a turn runs, Escape interrupts, and Ctrl-C twice leaves', async () => {
    await using terminal = await chat();
    await terminal.shows(READY);
    await terminal.type('first');
    await terminal.press('Enter');
    model.say('An answer that');
    await terminal.shows(/An answer that/);
    await terminal.type('second');
    await terminal.press('Enter');
    await terminal.shows(/Queued: second/);
    // The request of the turn that is stopped may still be open.
    const second = model.asked();
    await terminal.press('Escape');
    await terminal.shows(/Stopped\n\n❯ second/);
    await second;
    model.say('Done with it.');
    model.end();
    await terminal.shows(/Done with it\.[\s\S]*Send a message/);
    await terminal.press('C-c');
    await terminal.shows(/Press Ctrl-C again to leave/);
    await terminal.press('C-c');
    const screen = await terminal.shows(/exit 0/);
    expect(screen).toMatch(/Continue with: parlance chat --session \w+/);
  });

  test('Ctrl-S sends a message that joins the turn, and Ctrl-X one that interrupts it', async () => {
    await using terminal = await chat();
    await terminal.shows(READY);
    await terminal.type('plan it');
    await terminal.press('Enter');
    model.say('I will plan it.');
    await terminal.shows(/I will plan it\.[\s\S]*Ctrl-S steers/);
    await terminal.type('use three steps');
    await terminal.press('C-s');
    await terminal.shows(/Joins the turn: use three steps/);
    model.call('update_plan', { steps: [{ step: 'One', status: 'pending' }] });
    await terminal.shows(/update_plan[\s\S]*\n\n❯ use three steps/);
    model.say('Three steps, then.');
    await terminal.shows(/❯ use three steps\n\nThree steps, then\./);
    await terminal.type('stop that');
    const asked = model.asked();
    await terminal.press('C-x');
    await terminal.shows(/Interrupted by a new message[\s\S]*❯ stop that/);
    await asked;
    model.say('Stopped it.');
    model.end();
    await terminal.shows(/Stopped it\.[\s\S]*Send a message/);
  });

  test('a question is answered in the field, but not by what was typed before it', async () => {
    await using terminal = await chat();
    await terminal.shows(READY);
    await terminal.type('set it up');
    await terminal.press('Enter');
    await terminal.shows(/❯ set it up[\s\S]*Ctrl-S steers/);
    await terminal.type('and hurry');
    const options = [{ label: 'SQLite' }, { label: 'PostgreSQL', description: 'a \u001b[31mserver' }];
    model.call('ask_user', {
      questions: [{ header: 'Database', question: 'Which one?', options, freeText: false }],
    });
    await terminal.shows(/\? Database: Which one\?\n {2}1\. SQLite\n {2}2\. PostgreSQL – a/);
    await terminal.press('Enter');
    await terminal.shows(/Queued: and hurry[\s\S]*Answer ❯/);
    await terminal.type('9');
    await terminal.press('Enter');
    await terminal.shows(/"9" is none of the options\./);
    await terminal.type('2');
    await terminal.press('Enter');
    await terminal.shows(/\? Database Which one\?\n {2}→ PostgreSQL/);
    model.say('It is PostgreSQL.');
    model.end();
    await terminal.shows(/It is PostgreSQL\./);
    model.say('I hurry.');
    model.end();
    await terminal.shows(/I hurry\.[\s\S]*Send a message/);
  });

  test('/rewind shows what it does, does it and undoes it', async () => {
    await using terminal = await chat();
    await terminal.shows(READY);
    await terminal.type('write it');
    await terminal.press('Enter');
    model.call('save_file', { path: 'rewound.txt', content: 'new\n' });
    await terminal.shows(/rewound\.txt[\s\S]*Allow/);
    await terminal.type('y');
    model.say('Written.');
    model.end();
    await terminal.shows(/Written\.[\s\S]*Send a message/);
    const enter = async (command: string) => {
      await terminal.type(command);
      await terminal.press('Enter');
    };
    await enter('/rewind');
    await terminal.shows(/Would restore rewound\.txt \(deleted\)/);
    await enter('/rewind now');
    await terminal.shows(/Rewound the conversation and 1 file\./);
    await enter('/rewind undo');
    await terminal.shows(/Undid the rewind of the conversation and 1 file\./);
  });

  test('shows the plan while the turn runs', async () => {
    await using terminal = await chat();
    await terminal.shows(READY);
    await terminal.type('plan it');
    await terminal.press('Enter');
    const steps = [
      { step: 'Read the code', status: 'completed' },
      { step: 'Change it', status: 'in_progress' },
      { step: 'Test it', status: 'pending' },
    ];
    model.call('update_plan', { steps });
    await terminal.shows(/Plan: 1 of 3 done\n {2}✓ Read the code\n {2}▸ Change it\n {2}○ Test it/);
    await terminal.resize(60, 14);
    await terminal.shows(/Plan: 1 of 3 done · Change it/);
    model.end();
    await terminal.shows(READY);
  });

  test('gives a message back that could not be sent', async () => {
    const away = await startTestServer(model.settings);
    await using terminal = await openTerminal({
      args: ['chat', '--url', away.http],
      cwd: home,
      env: { HOME: home },
    });
    await terminal.shows(READY);
    await away.stop();
    await terminal.type('an important message');
    await terminal.press('Enter');
    await terminal.shows(/✗ Cannot reach the server\.\n─+\n❯ an important message/);
  });

  test('does not give a message back that the server accepted before it was killed', async () => {
    const data = mkdtempSync(join(home, 'killed-'));
    const killed = await startProcess(data, model.settings);
    const { port } = new URL(killed.http);
    let sent = 0;
    const isFirst = (request: string) => request.includes('an accepted message') && sent++ === 0;
    const proxy = await cuttingProxy(killed.http, isFirst);
    await using terminal = await openTerminal({
      args: ['chat', '--url', proxy.http, '--session', 'killed'],
      cwd: home,
      env: { HOME: home },
    });
    await terminal.shows(READY);
    await terminal.type('an accepted message');
    await terminal.press('Enter');
    await terminal.shows(/Not connected|Reconnecting/);
    await killed.kill();
    // By then, sending it again has failed as often as it is tried.
    await until(() => proxy.refused() >= 7);
    expect(await terminal.screen()).not.toMatch(/─\n❯ an accepted message|Cannot reach/);
    await using server = await startProcess(data, { ...model.settings, PORT: port });
    proxy.restore();
    model.say('The answer.');
    model.end();
    const screen = await terminal.shows(/❯ an accepted message[\s\S]*The answer\.[\s\S]*Send a message/);
    expect(screen.match(/❯ an accepted message/g)).toHaveLength(1);
    const accepted = (await durableOf(server, 'killed')).filter(({ type }) => type === 'input.accepted');
    expect(accepted).toHaveLength(1);
    await proxy.stop();
  });

  test('has no colours with NO_COLOR', async () => {
    await using terminal = await openTerminal({
      args: ['chat'],
      cwd: server.root,
      env: { HOME: home, PARLANCE_URL: server.http, NO_COLOR: '1' },
    });
    await terminal.shows(READY);
    await terminal.type('hi');
    await terminal.press('Enter');
    model.say('**bold** and `code`');
    model.end();
    await terminal.shows(/bold and code[\s\S]*Send a message/);
    expect(await terminal.screen(true)).not.toContain('\x1b[');
  });

  test('keeps what is shown when the size changes', async () => {
    await using terminal = await chat();
    await terminal.shows(READY);
    await terminal.type('go');
    await terminal.press('Enter');
    model.say(
      'First paragraph, which is done.\n\nSecond one.\n\nA third paragraph that is streamed while the size changes',
    );
    await terminal.shows(/size changes/);
    await terminal.resize(40, 15);
    await terminal.shows(/─{39}\n❯/);
    model.say(' and goes on.');
    await terminal.shows(/goes on\./);
    await terminal.resize(100, 30);
    await terminal.shows(/─{99}\n❯/);
    model.end();
    await terminal.shows(READY);
    const all = await terminal.everything();
    for (const once of ['First paragraph', 'A third paragraph', 'Send a message', 'Parlance 0.1.0'])
      expect([once, all.split(once).length - 1]).toEqual([once, 1]);
  });

  test('edits several lines, pastes, and recalls earlier messages', async () => {
    await using terminal = await chat();
    await terminal.shows(READY);
    await terminal.paste('line one\nline two');
    await terminal.shows(/❯ line one\n {2}line two/);
    await terminal.press('M-Enter');
    await terminal.type('line 3\\');
    await terminal.press('Enter');
    await terminal.type('line four 日本');
    await terminal.shows(/ {2}line 3\n {2}line four 日本/);
    await terminal.press('Enter');
    model.say('ok');
    model.end();
    await terminal.shows(/❯ line one\n {2}line two\n {2}line 3\n {2}line four 日本\n\nok/);
    await terminal.shows(READY);
    await terminal.press('Up');
    await terminal.shows(/─\n❯ line one\n {2}line two/);
    await terminal.press('C-c');
    await terminal.shows(READY);
    expect(statSync(join(home, '.local/state/parlance/history.jsonl')).mode & 0o777).toBe(0o600);
  });

  test('attaches files by path', async () => {
    mkdirSync(join(server.root, 'docs'), { recursive: true });
    writeFileSync(join(server.root, 'docs', 'my notes.md'), '# Notes');
    await using terminal = await chat();
    await terminal.shows(READY);
    await terminal.type('read @docs/my');
    await terminal.shows(/docs\/my notes\.md/);
    await terminal.press('Tab');
    await terminal.shows(/❯ read @"docs\/my notes\.md"/);
    await terminal.press('Enter');
    await terminal.shows(/❯ read @"docs\/my notes\.md"\n {2}\[my notes\.md\]/);
    model.end();
    await terminal.shows(READY);
    await terminal.paste(`'${join(server.root, 'docs', 'my notes.md')}' `);
    await terminal.shows(/❯ @"\/.*my notes\.md"/s);
  });

  test('resumes a session by name, and another one from the list', async () => {
    for (const name of ['tea', 'coffee']) {
      await using terminal = await chat(['--session', `about-${name}`]);
      await terminal.shows(READY);
      await terminal.type(`talk about ${name}`);
      await terminal.press('Enter');
      model.say(`I like ${name}.`);
      model.end();
      await terminal.shows(new RegExp(`I like ${name}\\.[\\s\\S]*Send a message`));
      await terminal.press('C-d');
      await terminal.shows(/exit 0/);
    }
    await using terminal = await chat(['--continue']);
    await terminal.shows(/❯ talk about coffee\n\nI like coffee\./);
    await terminal.type('/sessions');
    await terminal.press('Enter');
    await terminal.shows(/Session:[\s\S]*talk about coffee[\s\S]*talk about tea/);
    await terminal.type('about-tea');
    await terminal.hides(/❯ talk about coffee +just now/);
    await terminal.press('Enter');
    await terminal.shows(/❯ talk about tea\n\nI like tea\./);
  });

  test('does not obey escape sequences of the model and of tools', async () => {
    await using terminal = await chat();
    await terminal.shows(READY);
    await terminal.type('go');
    await terminal.press('Enter');
    model.say('safe\x1b]0;hacked\x07 \x1b[2J\x1b[31mtext\x9b31m \x1b]52;c;aGk=\x07end\u202e.');
    model.end();
    const screen = await terminal.shows(/safe text end\./);
    expect(screen).toContain('❯ go');
    expect(await terminal.screen(true)).not.toContain('\x1b[31mtext');
  });

  test('has slash commands with a menu', async () => {
    await using terminal = await chat([], { rows: 45 });
    await terminal.shows(READY);
    await terminal.type('/approval auto');
    await terminal.shows(/auto-edit +Edit freely/);
    await terminal.press('Enter');
    await terminal.shows(/Approval mode: Edit freely\.[\s\S]*fake · auto-edit/);
    await terminal.type('/nothing like this');
    await terminal.press('Enter');
    await terminal.shows(/❯ \/nothing like this/);
    model.end();
    await terminal.shows(READY);
    await terminal.type('/help');
    await terminal.press('Enter');
    await terminal.shows(/Commands and keys[\s\S]*\/sessions/);
  });
});
