import { describe, expect, test } from 'bun:test';
import { strToU8, zipSync } from 'fflate';
import { DOCUMENT_LIMITS, Unreadable } from './limits.ts';
import { officeText } from './office.ts';
import { documentKind, readDocument } from './read-document.ts';
import { excel, pdf, powerPoint, word } from './testing.ts';

const WORKER = new URL('./worker.ts', import.meta.url).href;

const read = (bytes: Uint8Array<ArrayBuffer>, kind: 'pdf' | 'docx' | 'pptx' | 'xlsx', limitMs?: number) =>
  readDocument(bytes, kind, WORKER, limitMs);

describe('the text of a document', () => {
  test('a PDF has its pages', async () => {
    const { text, note } = await read(pdf(['First page', 'Second page']), 'pdf');
    expect(text).toBe('[Page 1]\nFirst page\n\n[Page 2]\nSecond page');
    expect(note).toBeNull();
  });

  test('a Word document has its pages, tables and footnotes', async () => {
    const body =
      '<w:p><w:r><w:t>One</w:t><w:tab/><w:t>&amp; two</w:t></w:r></w:p>' +
      '<w:p><w:r><w:lastRenderedPageBreak/><w:t>Three</w:t></w:r><w:del><w:r><w:delText>gone</w:delText></w:r></w:del></w:p>' +
      '<w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>b</w:t></w:r></w:p></w:tc></w:tr></w:tbl>';
    const { text } = await read(
      word(body, '<w:footnote><w:p><w:r><w:t>Note</w:t></w:r></w:p></w:footnote>'),
      'docx',
    );
    expect(text).toBe('[Page 1]\nOne\t& two\n\n[Page 2]\nThree\na \tb \t\n\n[Footnotes]\nNote\n');
  });

  test('a presentation has its slides in the order of the presentation', async () => {
    const { text } = await read(powerPoint(['Shown last', 'Shown first'], [2, 1]), 'pptx');
    expect(text).toBe('[Slide 1]\nShown first\n\n[Slide 2]\nShown last\n');
  });

  test('a workbook has its sheets with numbers of rows, shared texts and dates', async () => {
    const rows =
      '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" t="inlineStr"><is><t>Right</t></is></c></row>' +
      '<row r="7"><c r="A7"><v>1.5</v></c><c r="B7" s="1"><v>45000</v></c><c r="C7" t="b"><v>1</v></c></row>';
    const { text } = await read(excel('Sales & more', rows, ['Left']), 'xlsx');
    expect(text).toBe('[Sheet Sales & more]\n1\tLeft\t\tRight\n7\t1.5\t2023-03-15\tTRUE\n');
  });

  test('a long text is cut with a note', async () => {
    const paragraph = `<w:p><w:r><w:t>${'word '.repeat(2_000)}</w:t></w:r></w:p>`;
    const { text, note } = await read(word(paragraph.repeat(30)), 'docx');
    expect(text.length).toBe(DOCUMENT_LIMITS.text);
    expect(note).toBe('Only the beginning of its text was added.');
  });
});

describe('a hostile document', () => {
  const refused = async (work: Promise<unknown>): Promise<string> => {
    const thrown = await work.then(
      () => null,
      (error: unknown) => error,
    );
    expect(thrown).toBeInstanceOf(Unreadable);
    return thrown instanceof Unreadable ? thrown.message : '';
  };

  test('a zip bomb is not unpacked', async () => {
    const zeros = new Uint8Array(DOCUMENT_LIMITS.unpacked + 1);
    const bomb = zipSync({ 'word/document.xml': [zeros, { level: 1 }] });
    expect(bomb.length).toBeLessThan(1_000_000);
    expect(await refused(read(new Uint8Array(bomb), 'docx'))).toBe('it is too large when unpacked.');
  });

  test('a part is no larger than its file says', () => {
    const zipped = zipSync({
      'word/document.xml': [strToU8(`<w:t>${'x'.repeat(100_000)}</w:t>`), { level: 9 }],
    });
    const view = new DataView(zipped.buffer);
    for (let at = 0; at < zipped.length - 4; at++)
      if (view.getUint32(at, true) === 0x02014b50) view.setUint32(at + 24, 50, true);
    try {
      expect(officeText(zipped, 'docx').toString().length).toBeLessThan(200);
    } catch (thrown) {
      expect(thrown).toBeInstanceOf(Unreadable);
    }
  });

  test('entities that it declares are not expanded', async () => {
    const bomb = `<!DOCTYPE x [<!ENTITY a "${'ha'.repeat(1_000)}"><!ENTITY b "&a;&a;&a;&a;">]>`;
    const { text } = await read(
      word('<w:p><w:r><w:t>Start &b;&b; end</w:t></w:r></w:p>', undefined, bomb),
      'docx',
    );
    expect(text).toContain('Start &b;&b; end');
  });

  test('is stopped after a while', async () => {
    const paragraph = `<w:p><w:r><w:t>${'word '.repeat(2_000)}</w:t></w:r></w:p>`;
    expect(await refused(read(word(paragraph.repeat(500)), 'docx', 0))).toBe('reading it takes too long.');
  });

  test('that is damaged, encrypted, of another kind or without text is refused with a reason', async () => {
    const damaged = new Uint8Array([...pdf(['x']).slice(0, 40), 1, 2, 3]);
    expect(await refused(read(damaged, 'pdf'))).toMatch(/damaged|no text/);
    expect(await refused(read(new Uint8Array([1, 2, 3]), 'docx'))).toBe('it is damaged.');
    expect(await refused(read(new Uint8Array([0xd0, 0xcf, 0x11, 0xe0]), 'xlsx'))).toMatch(
      /^it has a password/,
    );
    expect(await refused(read(word('<w:p/>'), 'pptx'))).toBe('it is no PowerPoint presentation.');
    expect(await refused(read(pdf(['']), 'pdf'))).toMatch(/^it has no text/);
  });
});

test('documents are told by the end of their names', () => {
  expect(['a.PDF', 'b.docx', 'c.xlsx', 'd.pptx', 'pdf', 'a.pdf.exe', 'x.csv'].map(documentKind)).toEqual([
    'pdf',
    'docx',
    'xlsx',
    'pptx',
    null,
    null,
    null,
  ]);
});
