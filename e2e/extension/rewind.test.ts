/** A turn that has changed five files: rewound in the panel, undone in the console, while somebody else changes one of them. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '@parlance/sdk';
import { buildConsole } from '../console/chromium.ts';
import { visible } from '../console/console.ts';
import { scriptedConversations } from '../conversations.ts';
import type { ScriptedModel } from '../scripted-model.ts';
import { type ServerProcess, startProcess } from '../server-process.ts';
import { NO_BROWSER } from './build.ts';
import { type Extension, openExtension } from './extension.ts';
import { pair, press } from './steps.ts';

const folder = mkdtempSync(join(tmpdir(), 'parlance-panel-rewind-'));
const NAMES = ['a', 'b', 'c', 'd', 'e'];
const at = (name: string) => join(folder, `${name}.ts`);
const state = () =>
  NAMES.map((name) => (existsSync(at(name)) ? readFileSync(at(name), 'utf8').trim() : null));
const PATCH = [
  '*** Begin Patch',
  ...NAMES.flatMap((name) => [`*** Update File: ${name}.ts`, '@@', '-before', '+after']),
  '*** End Patch',
].join('\n');

let model: ScriptedModel;
let server: ServerProcess;
let extension: Extension;

describe.skipIf(NO_BROWSER)('a turn that has changed five files', () => {
  beforeAll(async () => {
    model = scriptedConversations({
      'Change five files': [{ call: 'apply_patch', input: { patch: PATCH } }, { say: 'Changed.' }],
    });
    await buildConsole();
    const settings = { ...model.settings, TOOL_USE_APPROVAL_MODE: 'auto-edit' };
    [server, extension] = await Promise.all([startProcess(folder, settings), openExtension()]);
  });
  afterAll(async () => {
    await extension?.close();
    await server?.kill();
    model?.stop();
    rmSync(folder, { recursive: true });
  });

  test('is rewound in the panel and restored in the console, without what somebody else has changed', async () => {
    for (const name of NAMES) writeFileSync(at(name), 'before\n');
    const session = connect({ url: server.http }).session();
    await session.ask('Change five files');
    expect(state()).toEqual(NAMES.map(() => 'after'));
    writeFileSync(at('c'), 'by somebody else\n');

    const panel = await extension.panel();
    await pair(panel, server);
    await press(panel, 'Sessions');
    await panel.getByRole('button', { name: /Change five files/ }).click();
    await press(panel, 'Rewind');
    const dialog = panel.getByRole('dialog', { name: 'Rewind to before this message?' });
    await visible(dialog.getByText('it was changed since by somebody else'));
    await dialog.getByRole('button', { name: 'Rewind', exact: true }).click();
    await visible(panel.getByText('Rewound the conversation and 4 files.'));
    await visible(panel.getByText('Kept c.ts: it was changed since by somebody else.'));
    expect(state()).toEqual(['before', 'before', 'by somebody else', 'before', 'before']);

    // Somebody else is faster again.
    writeFileSync(at('e'), 'by somebody else, too\n');
    const page = await extension.open(`${server.http}/#/sessions/${session.id}`);
    await page.getByRole('button', { name: 'Undo the rewind' }).click();
    const undo = page.getByRole('dialog', { name: 'Undo this rewind?' });
    await visible(undo.getByText('it was changed since by somebody else'));
    await undo.getByRole('button', { name: 'Undo the rewind' }).click();
    await visible(page.getByText(/Undid the rewind of the conversation and 3 files/));
    expect(state()).toEqual(['after', 'after', 'by somebody else', 'after', 'by somebody else, too']);
    await visible(panel.getByRole('region', { name: 'Conversation' }).getByText('Changed.'));
    expect(extension.problems()).toEqual([]);
  });
});
