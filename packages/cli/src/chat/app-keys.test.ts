/** Keys, attachments and narrow screens of a conversation in a real terminal. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DurableEvent } from '@parlance/protocol';
import { type DictatedModel, dictatedModel } from '../../../../e2e/scripted-model.ts';
import { connect } from '../../../sdk/src/index.ts';
import { startTestServer, type TestServer } from '../../../server/src/testing/server.ts';
import { hasTmux, openTerminal, type Terminal, type TerminalOptions } from '../testing/tmux.ts';

let model: DictatedModel;
let server: TestServer;
let home: string;

beforeAll(async () => {
  model = dictatedModel();
  server = await startTestServer(model.settings);
  home = mkdtempSync(join(tmpdir(), 'parlance-keys-'));
});
afterAll(async () => {
  await server.stop();
  model.stop();
  rmSync(home, { recursive: true });
});

const chat = (args: readonly string[] = [], options: Partial<TerminalOptions> = {}) =>
  openTerminal({
    args: ['chat', ...args],
    cwd: server.root,
    env: { HOME: home, PARLANCE_URL: server.http },
    ...options,
  });

const READY = /Send a message/;
const patch = (name: string) => ({ patch: `*** Begin Patch\n*** Add File: ${name}\n+x\n*** End Patch` });

/** A longer pause is not that of a person who types on; the machine was busy. */
const MAX_PAUSE_MS = 800;

/** Presses the keys with this time between them. Returns the longest that a pause can have been. */
async function typed(terminal: Terminal, text: string, ms: number): Promise<number> {
  const began = performance.now();
  await terminal.type(text, ms);
  return performance.now() - began - (text.length - 1) * ms;
}

const inputsOf = async (session: string): Promise<DurableEvent<'input.accepted'>[]> => {
  const response = await fetch(`${server.http}/v1/sessions/${session}/events?limit=100`);
  const { events } = (await response.json()) as { events: DurableEvent[] };
  return events.filter((event) => event.type === 'input.accepted');
};

describe.skipIf(!hasTmux)('a conversation in the terminal', () => {
  test('allows always, and shows collapsed items, the last first', async () => {
    await using terminal = await chat();
    await terminal.shows(READY);
    await terminal.type('write files');
    await terminal.press('Enter');
    model.think('A long thought.');
    model.call('apply_patch', patch('first.txt'));
    await terminal.shows(/a Always[\s\S]*Always allow: apply_patch/);
    await terminal.type('a');
    await terminal.shows(/✓ Always allowed by you\./);
    model.call('apply_patch', patch('second.txt'));
    await terminal.shows(/Add second\.txt[\s\S]*│ A second\.txt/);
    model.end();
    await terminal.shows(READY);
    expect(existsSync(join(server.root, 'second.txt'))).toBe(true);
    await terminal.press('C-o');
    await terminal.shows(/Input\n[\s\S]*Add File: second\.txt[\s\S]*Output\n {2}Applied/);
    await terminal.press('C-o');
    await terminal.shows(/Input\n[\s\S]*Add File: first\.txt/);
    await terminal.press('C-o');
    await terminal.shows(/✻ Thinking\n {2}A long thought\./);
  });

  test.each([
    ['after', 'you should use ls instead', 50],
    ['after', 'and also hidden ones', 150],
    ['after', 'no, use ls', 300],
    ['after', 'every file', 200],
    ['while', 'yay any', 300],
    ['before', 'yes, but', 300],
  ])('begun %s the question arrives, “%s” with %d ms a key is a message', async (begun, text, ms) => {
    for (let attempt = 1; ; attempt++) {
      const session = `typed-${crypto.randomUUID()}`;
      await using terminal = await chat(['--session', session]);
      await terminal.shows(READY);
      await terminal.type('write a file');
      await terminal.press('Enter');
      await terminal.shows(/is working/);
      if (begun === 'before') await terminal.type(text.slice(0, 1));
      model.call('apply_patch', patch(`${session}.txt`));
      if (begun !== 'while') await terminal.shows(/y Allow once/);
      const pause = await typed(terminal, begun === 'before' ? text.slice(1) : text, ms);
      if (pause <= MAX_PAUSE_MS) {
        const screen = await terminal.shows(new RegExp(`y Allow once[\\s\\S]*❯ ${text}$`, 'm'));
        expect(screen).not.toContain('is chosen');
        // A lone letter answers later than everything that was typed before could.
        await terminal.press('C-u');
        await terminal.type('n');
        await terminal.shows(/Reason \(optional\)/);
        await terminal.press('Enter');
        await terminal.shows(/✗ Denied by you\./);
        expect(existsSync(join(server.root, `${session}.txt`))).toBe(false);
      }
      await connect({ url: server.http }).session(session).cancel();
      if (pause <= MAX_PAUSE_MS) return;
      if (attempt === 4) throw new Error('this machine is too slow to type');
    }
  });

  test('shows a lone letter as chosen: Escape takes it back, Enter confirms it, and so does a pause', async () => {
    await using terminal = await chat();
    await terminal.shows(READY);
    await terminal.type('write files');
    await terminal.press('Enter');
    model.call('apply_patch', patch('chosen.txt'));
    await terminal.shows(/y Allow once/);
    const question = /y Allow once[\s\S]*A letter, or ↑↓ and Enter\. Anything else is a message\./;
    // Until it is seen, also on a slow machine.
    for (let screen = ''; !screen.includes('is chosen'); ) {
      await terminal.type('n');
      screen = await terminal.shows(
        /❯ n Deny …\n[\s\S]*“Deny …” is chosen: Enter confirms it now, Esc takes it back\.|Reason/,
      );
      await terminal.shows(/Reason \(optional\)/);
      await terminal.press('Escape');
      await terminal.shows(question);
    }
    // At once, so that a slow machine does not answer first.
    await terminal.press('y', 'Escape');
    await terminal.paste('text');
    await terminal.shows(/❯ text$/m);
    await terminal.press('C-u', 'n', 'Enter');
    await terminal.shows(/Reason \(optional\)/);
    await terminal.press('Escape');
    await terminal.shows(question);
    expect(existsSync(join(server.root, 'chosen.txt'))).toBe(false);
    await terminal.type('y');
    await terminal.shows(/✓ Allowed once by you\.\n● apply_patch .*Done/);
    model.end();
    await terminal.shows(READY);
    expect(existsSync(join(server.root, 'chosen.txt'))).toBe(true);
  });

  test('an approval takes the place of the field: arrows and Enter answer it, and a message keeps it', async () => {
    await using terminal = await chat();
    await terminal.shows(READY);
    await terminal.type('write files');
    await terminal.press('Enter');
    model.call('apply_patch', patch('arrows.txt'));
    await terminal.shows(
      /─+\n {2}y Allow once\n {2}a Always\n {4}Always allow: [\s\S]* {2}n Deny …\n {2}e Explain\n/,
    );
    expect(await terminal.screen()).not.toMatch(/Send a message|^❯ $/m);
    // Enter alone may have been meant for a message.
    await terminal.press('Enter', 'Down', 'Down');
    await terminal.shows(/^❯ a Always$/m);
    await terminal.press('Escape');
    await terminal.shows(/^ {2}a Always$/m);
    await terminal.type('wait a moment');
    await terminal.shows(
      /y Allow once {3}a Always {3}n Deny … {3}e Explain\nCtrl-U empties the field to answer\n─+\n❯ wait a moment$/m,
    );
    await terminal.press('C-u', 'Up', 'Up');
    await terminal.shows(/^❯ n Deny …$/m);
    await terminal.press('Enter');
    await terminal.shows(/Reason \(optional\)/);
    await terminal.press('Escape', 'Down');
    await terminal.shows(/^❯ y Allow once$/m);
    await terminal.press('Enter');
    await terminal.shows(/✓ Allowed once by you\./);
    model.end();
    await terminal.shows(READY);
    expect(existsSync(join(server.root, 'arrows.txt'))).toBe(true);
  });

  test('takes a queued message back, to change or to drop it', async () => {
    await using terminal = await chat(['--session', 'queue']);
    await terminal.shows(READY);
    await terminal.type('first');
    await terminal.press('Enter');
    model.say('Working');
    await terminal.shows(/Working/);
    for (const text of ['second', 'third']) {
      await terminal.type(text);
      await terminal.press('Enter');
      await terminal.shows(new RegExp(`Queued: ${text}\\n↑ edits the last one`));
    }
    await terminal.press('Up');
    await terminal.shows(/Queued: second\n─+\n❯ third/);
    await terminal.type(' time lucky');
    await terminal.press('Enter');
    await terminal.shows(/Queued: third time lucky/);
    await terminal.press('Up');
    await terminal.shows(/❯ third time lucky/);
    await terminal.press('C-u');
    await terminal.shows(/Queued: second\n↑ edits/);
    model.end();
    await terminal.shows(/❯ second/);
    model.say('The second answer.');
    model.end();
    await terminal.shows(/The second answer\.[\s\S]*Send a message/);
    expect(await terminal.screen()).not.toContain('third');
    expect((await inputsOf('queue')).length).toBe(4);
  });

  test('stops with Ctrl-Z and continues with fg, with what was typed', async () => {
    await using terminal = await chat([], { isInShell: true });
    await terminal.shows(READY);
    await terminal.type('half a mess');
    await terminal.shows(/❯ half a mess/);
    await terminal.press('C-z');
    await terminal.shows(/Stopped[\s\S]*shell>$/m);
    await terminal.type('echo $((6 * 7)); fg');
    await terminal.press('Enter');
    await terminal.shows(/42[\s\S]*❯ half a mess/);
    await terminal.type('age');
    await terminal.shows(/❯ half a message/);
    await terminal.press('C-c', 'C-c');
    await terminal.shows(/shell>$/m);
  });

  test('attaches images by path, and explains why a file cannot be attached', async () => {
    const png = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    );
    writeFileSync(join(server.root, 'dot.png'), png);
    writeFileSync(join(server.root, 'program.bin'), Buffer.from([0, 255, 254]));
    await using terminal = await chat(['--session', 'images']);
    await terminal.shows(READY);
    await terminal.type('what is in @dot.png, and in @program.bin?');
    await terminal.press('Enter');
    await terminal.shows(/❯ what is in @dot\.png[\s\S]*\[image\]/);
    await terminal.shows(/“program\.bin” was not added: it is neither an image nor text/);
    model.end();
    await terminal.shows(READY);
    expect(await inputsOf('images')).toMatchObject([
      { parts: [{ type: 'text' }, { type: 'image', mime: 'image/png', data: png.toString('base64') }] },
    ]);
  });

  test('edits wide characters, and pastes hundreds of lines as one message', async () => {
    await using terminal = await chat(['--session', 'pasted'], { columns: 40, rows: 16 });
    await terminal.shows(READY);
    await terminal.type('日本語👩‍👩‍👧!');
    await terminal.shows(/❯ 日本語👩‍👩‍👧!/u);
    await terminal.press('Left', 'BSpace', 'BSpace');
    await terminal.type('x');
    await terminal.shows(/❯ 日本x!/);
    await terminal.press('C-c');
    await terminal.shows(READY);
    const lines = Array.from({ length: 300 }, (_, index) => `line ${index} ${'和'.repeat(30)}`);
    await terminal.paste(lines.join('\n'));
    await terminal.shows(/line 299/);
    await terminal.press('Enter');
    model.say('Read.');
    model.end();
    const screen = await terminal.shows(/Read\.[\s\S]*Send a message/);
    for (const line of screen.split('\n')) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(40);
    expect(await inputsOf('pasted')).toMatchObject([{ parts: [{ type: 'text', text: lines.join('\n') }] }]);
  });

  test('asks in forty columns', async () => {
    await using terminal = await chat([], { columns: 40, rows: 20 });
    await terminal.shows(READY);
    await terminal.type('run it');
    await terminal.press('Enter');
    const command = ['bash', '-c', `touch ${'long-name-'.repeat(12)}.txt`];
    model.call('shell', { command });
    const screen = await terminal.shows(/y Allow once[\s\S]*n Deny[\s\S]*e Explain/);
    const shown = screen.slice(screen.indexOf('$ ')).replace(/\s/g, '');
    expect(shown).toContain(`$bash-c'touch${'long-name-'.repeat(12)}.txt'`);
    await terminal.type('n');
    await terminal.shows(/Reason \(optional\)/);
    await terminal.press('Enter');
    await terminal.shows(/✗ Denied by you/);
    model.end();
    await terminal.shows(READY);
  });

  test.each([
    ['all', true],
    ['never', false],
  ])('answers by itself with --approve %s', async (approve, isAllowed) => {
    await using terminal = await chat(['--approve', approve]);
    await terminal.shows(READY);
    await terminal.type('write a file');
    await terminal.press('Enter');
    model.call('apply_patch', patch(`${approve}.txt`));
    await terminal.shows(isAllowed ? /✓ Allowed once by you/ : /✗ Denied by you/);
    model.end();
    await terminal.shows(READY);
    expect(existsSync(join(server.root, `${approve}.txt`))).toBe(isAllowed);
  });

  test('explains that a dumb terminal cannot show it', async () => {
    let screen = '';
    const child = Bun.spawn(['sh', join(import.meta.dir, '../../bin/parlance'), 'chat'], {
      cwd: server.root,
      env: { PATH: process.env.PATH ?? '', HOME: home, PARLANCE_URL: server.http, TERM: 'dumb' },
      terminal: {
        data(_terminal, bytes) {
          screen += new TextDecoder().decode(bytes);
        },
      },
    });
    expect(await child.exited).toBe(2);
    expect(screen).toContain('this terminal (TERM=dumb) cannot show a conversation: use -p');
  });
});
