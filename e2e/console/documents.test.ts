/** Documents as attachments: their text is read in a worker of the browser and sent with page references. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { excel, pdf, powerPoint, word } from '../../packages/ui/src/documents/testing.ts';
import { accessibilityProblems, prepare } from './axe.ts';
import { NO_BROWSER } from './chromium.ts';
import { removed, visible } from './console.ts';
import { DictatedChat } from './dictated-chat.ts';
import { layoutProblems } from './layout.ts';

let chat: DictatedChat;
let page: Page;

const attach = (files: Readonly<Record<string, Uint8Array>>) =>
  page.locator('input[type=file]').setInputFiles(
    Object.entries(files).map(([name, bytes]) => ({
      name,
      mimeType: 'application/octet-stream',
      buffer: Buffer.from(bytes),
    })),
  );

type FilePart = { readonly type: string; readonly name?: string; readonly data?: string };

/** The files of the only message, as text. */
async function sentFiles(): Promise<Record<string, string>> {
  const id = decodeURIComponent(page.url().split('/sessions/')[1] ?? '');
  const answer = await fetch(`${chat.app.server.http}/v1/sessions/${id}/events?format=json`, {
    headers: { accept: 'application/json' },
  });
  const text = await answer.text();
  const accepted = text.split('\n').find((line) => line.includes('input.accepted')) ?? text;
  const found = JSON.parse(accepted.replace(/^data: ?/, '')) as {
    parts?: FilePart[];
    events?: { type: string; parts: FilePart[] }[];
  };
  const parts = found.parts ?? found.events?.find(({ type }) => type === 'input.accepted')?.parts ?? [];
  return Object.fromEntries(
    parts
      .filter(({ type }) => type === 'file')
      .map(({ name = '', data = '' }) => [name, Buffer.from(data, 'base64').toString()]),
  );
}

describe.skipIf(NO_BROWSER)('documents', () => {
  beforeAll(async () => {
    chat = await DictatedChat.open();
    page = chat.page;
    await page.emulateMedia({ reducedMotion: 'reduce' });
  });
  afterAll(() => chat?.stop());
  afterEach(() => expect(chat.app.problems()).toEqual([]));

  test('PDF, Word, PowerPoint, Excel and CSV are sent as text with page references', async () => {
    await chat.begin();
    await attach({
      'report.pdf': pdf(['Revenue grew', 'Costs fell']),
      'letter.docx': word('<w:p><w:r><w:t>Dear all</w:t></w:r></w:p>'),
      'deck.pptx': powerPoint(['Agenda'], [1]),
      'table.xlsx': excel('Q3', '<row r="2"><c r="A2" t="s"><v>0</v></c></row>', ['North']),
      'rows.csv': new TextEncoder().encode('a,b\n1,2\n'),
    });
    await visible(page.getByRole('button', { name: 'Remove rows.csv' }));
    await chat.send('Summarise');
    chat.model.say('Done.');
    chat.model.end();
    await visible(chat.answer('Done.'));
    await removed(chat.stopButton);
    expect(await sentFiles()).toEqual({
      'report.pdf': '[Page 1]\nRevenue grew\n\n[Page 2]\nCosts fell',
      'letter.docx': '[Page 1]\nDear all\n',
      'deck.pptx': '[Slide 1]\nAgenda\n',
      'table.xlsx': '[Sheet Q3]\n2\tNorth\n',
      'rows.csv': 'a,b\n1,2\n',
    });
  });

  test('what cannot be read is refused with a reason, on every screen', async () => {
    await chat.begin();
    await attach({
      'broken.pdf': new TextEncoder().encode('%PDF-1.4\nnothing'),
      'old.doc': new Uint8Array([0xd0, 0xcf]),
      'fine.docx': word('<w:p><w:r><w:t>Fine</w:t></w:r></w:p>'),
    });
    await visible(page.getByText(/“broken\.pdf” was not added: it /));
    await visible(page.getByText('“old.doc” was not added: save it in a current format'));
    await visible(page.getByRole('button', { name: 'Remove fine.docx' }));
    await prepare(page);
    for (const width of [320, 768, 1_440, 2_560]) {
      await page.setViewportSize({ width, height: 900 });
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        expect([width, await accessibilityProblems(page, 'all')]).toEqual([width, []]);
      }
      expect([width, await layoutProblems(page)]).toEqual([width, []]);
    }
  });

  test('the worker that reads them can load and send nothing', async () => {
    const [worker = ''] = await Promise.all([
      page.waitForEvent('worker').then((opened) => opened.url()),
      attach({ 'more.docx': word('<w:p><w:r><w:t>More</w:t></w:r></w:p>') }),
    ]);
    await visible(page.getByRole('button', { name: 'Remove more.docx' }));
    const { headers } = await fetch(worker);
    expect(headers.get('content-security-policy')).toBe("default-src 'none'");
  });
});
