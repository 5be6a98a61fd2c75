/** Project instructions: asked about in the chat, used after a person has accepted them, revoked in the administration. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { NO_BROWSER } from './chromium.ts';
import { removed, visible } from './console.ts';
import { DictatedChat } from './dictated-chat.ts';
import { layoutProblems } from './layout.ts';

let chat: DictatedChat;

describe.skipIf(NO_BROWSER)('project instructions', () => {
  beforeAll(async () => {
    chat = await DictatedChat.open();
  });
  afterAll(() => chat?.stop());
  afterEach(() => expect(chat.app.problems()).toEqual([]));

  test('are asked about before the model is, shown when used, asked about after a change, and revoked', async () => {
    const { page, model } = chat;
    const file = join(chat.app.server.root, 'AGENTS.md');
    writeFileSync(file, 'Answer in French.\n');
    await chat.begin();
    await chat.send('Hello');
    const question = page.getByRole('article', { name: 'Use AGENTS.md of this folder as instructions?' });
    await visible(question.getByText('Answer in French.'));
    expect(await layoutProblems(page)).toEqual([]);
    await question.getByRole('radio', { name: 'Use', exact: false }).first().check();
    await question.getByRole('button', { name: 'Answer' }).click();
    model.say('Bonjour.');
    model.end();
    await visible(chat.answer('Bonjour.'));
    await visible(page.getByText('Project instructions: AGENTS.md.'));
    await removed(chat.stopButton);

    writeFileSync(file, 'Answer in German.\n');
    await chat.send('Again');
    const changed = question.filter({ hasText: '+Answer in German.' });
    await visible(changed);
    await changed.getByRole('button', { name: 'Skip' }).click();
    model.say('Hello.');
    model.end();
    await visible(chat.answer('Hello.'));
    await visible(page.getByText('Declined as instructions: AGENTS.md.'));

    await page.goto(`${chat.app.server.http}/#/admin?section=instructions`);
    const decisions = page.getByRole('list', { name: 'Project instructions' }).getByRole('listitem');
    await visible(decisions.filter({ hasText: 'Declined by' }));
    await visible(decisions.filter({ hasText: 'Accepted by' }));
    await decisions.first().getByRole('button').click();
    await visible(page.getByText('No project instructions'));
  });

  test('a skill is completed after a slash, and the message reaches the agent', async () => {
    const { page, model } = chat;
    const folder = join(chat.app.server.data, 'skills/code-review');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'SKILL.md'), '---\nname: code-review\ndescription: Reviews code.\n---\nLook.');
    writeFileSync(join(chat.app.server.root, 'AGENTS.md'), '');
    await chat.begin();
    await chat.field.fill('/code');
    await visible(page.getByRole('option', { name: '/code-review' }));
    await page.keyboard.press('Enter');
    expect(await chat.field.inputValue()).toBe('/code-review ');
    await chat.field.pressSequentially('all of it');
    await page.keyboard.press('Enter');
    model.say('Reviewed.');
    model.end();
    await visible(chat.answer('Reviewed.'));
    await visible(page.getByText('/code-review all of it').last());
  });
});
