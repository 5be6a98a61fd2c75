/** The text of Word, PowerPoint and Excel files: zip files with XML parts, of which only those with text are unpacked. */
import { type Unzipped, unzipSync } from 'fflate';
import { Parser } from 'htmlparser2';
import { DOCUMENT_LIMITS, DocumentText, Unreadable } from './limits.ts';

export type OfficeKind = 'docx' | 'pptx' | 'xlsx';

const WANTED: Readonly<Record<OfficeKind, RegExp>> = {
  docx: /^word\/(?:document\d*|footnotes)\.xml$/,
  pptx: /^ppt\/(?:presentation\.xml|_rels\/presentation\.xml\.rels|slides\/slide\d+\.xml)$/,
  xlsx: /^xl\/(?:workbook\.xml|_rels\/workbook\.xml\.rels|sharedStrings\.xml|styles\.xml|worksheets\/[\w-]+\.xml)$/,
};

/** Throws `Unreadable`. */
export function officeText(bytes: Uint8Array, kind: OfficeKind): DocumentText {
  const parts = unpacked(bytes, WANTED[kind]);
  const text = new DocumentText();
  if (kind === 'docx') readWord(parts, text);
  else if (kind === 'pptx') readSlides(parts, text);
  else readSheets(parts, text);
  return text;
}

/** Sizes are checked as the file states them, and a part that is larger than it states is cut there. */
function unpacked(bytes: Uint8Array, wanted: RegExp): Unzipped {
  // Encrypted files and those of old versions.
  if (bytes[0] === 0xd0 && bytes[1] === 0xcf)
    throw new Unreadable('it has a password, or the format of an old version. Save it again without.');
  let [total, count] = [0, 0];
  try {
    return unzipSync(bytes, {
      filter({ name, originalSize }) {
        if (++count > DOCUMENT_LIMITS.parts) throw new Unreadable('it has too many parts.');
        if (!wanted.test(name)) return false;
        total += originalSize;
        if (total > DOCUMENT_LIMITS.unpacked) throw new Unreadable('it is too large when unpacked.');
        return true;
      },
    });
  } catch (thrown) {
    if (thrown instanceof Unreadable) throw thrown;
    throw new Unreadable('it is damaged.', { cause: thrown });
  }
}

type Handlers = {
  readonly open?: (name: string, attributes: Readonly<Record<string, string>>) => void;
  readonly text?: (text: string) => void;
  readonly close?: (name: string) => void;
};

const localName = (name: string): string => name.slice(name.indexOf(':') + 1);

/** Names come without their prefix. Entities that a file declares are not expanded. */
function readXml(parts: Unzipped, path: string, { open, text, close }: Handlers): void {
  const bytes = parts[path];
  if (!bytes) return;
  const parser = new Parser(
    {
      onopentag: (name, attributes) => open?.(localName(name), attributes),
      ontext: (data) => text?.(data),
      onclosetag: (name) => close?.(localName(name)),
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.write(new TextDecoder().decode(bytes));
  parser.end();
}

// Word: paragraphs, tables with a tab between cells, and the pages as Word has last laid them out.

function readWord(parts: Unzipped, text: DocumentText): void {
  const path = Object.keys(parts).find((name) => name.startsWith('word/document'));
  if (path === undefined) throw new Unreadable('it is no Word document.');
  let [page, cells] = [1, 0];
  let isText = false;
  const nextPage = () => text.begin(`Page ${++page}`);
  text.begin('Page 1');
  for (const one of [path, 'word/footnotes.xml']) {
    if (one === 'word/footnotes.xml' && parts[one]) text.begin('Footnotes');
    readXml(parts, one, {
      open(name, attributes) {
        if (name === 't') isText = true;
        else if (name === 'tc') cells++;
        else if (name === 'tab') text.add('\t');
        else if (name === 'lastRenderedPageBreak') nextPage();
        else if (name === 'br' && attributes['w:type'] !== 'page') text.add('\n');
      },
      text: (data) => isText && text.add(data),
      close(name) {
        if (name === 't') isText = false;
        else if (name === 'p') cells > 0 ? text.add(' ') : text.add('\n');
        else if (name === 'tr') text.endLine();
        else if (name === 'tc') {
          cells--;
          text.add('\t');
        }
      },
    });
  }
}

// PowerPoint: the texts of the slides, in their order.

function readSlides(parts: Unzipped, text: DocumentText): void {
  const targets = relations(parts, 'ppt/_rels/presentation.xml.rels', 'ppt/');
  const slides: string[] = [];
  readXml(parts, 'ppt/presentation.xml', {
    open(name, attributes) {
      const target = name === 'sldId' ? targets.get(attributes['r:id'] ?? '') : undefined;
      if (target !== undefined) slides.push(target);
    },
  });
  if (!parts['ppt/presentation.xml']) throw new Unreadable('it is no PowerPoint presentation.');
  for (const [index, slide] of firstOf(slides, text, 'slides').entries()) {
    text.begin(`Slide ${index + 1}`);
    let isText = false;
    readXml(parts, slide, {
      open(name) {
        if (name === 't') isText = true;
        else if (name === 'br') text.add('\n');
      },
      text: (data) => isText && text.add(data),
      close(name) {
        if (name === 't') isText = false;
        else if (name === 'p') text.endLine();
      },
    });
  }
}

// Excel: a line for each row, beginning with its number.

function readSheets(parts: Unzipped, text: DocumentText): void {
  if (!parts['xl/workbook.xml']) throw new Unreadable('it is no Excel workbook.');
  const targets = relations(parts, 'xl/_rels/workbook.xml.rels', 'xl/');
  const sheets: { readonly name: string; readonly path: string }[] = [];
  let is1904 = false;
  readXml(parts, 'xl/workbook.xml', {
    open(name, attributes) {
      if (name === 'workbookPr') is1904 = /^(?:1|true)$/.test(attributes.date1904 ?? '');
      const path = name === 'sheet' ? targets.get(attributes['r:id'] ?? '') : undefined;
      if (path !== undefined) sheets.push({ name: attributes.name ?? '', path });
    },
  });
  const strings = sharedStrings(parts);
  const dates = dateStyles(parts);
  for (const { name, path } of firstOf(sheets, text, 'sheets')) {
    text.begin(`Sheet ${name.slice(0, 100)}`);
    readSheet(parts, path, {
      text,
      shownValue(type, value, style) {
        if (type === 's') return strings[Number(value)] ?? '';
        if (type === 'b') return value === '1' ? 'TRUE' : 'FALSE';
        return type === 'n' && dates.has(style) ? dateText(Number(value), is1904) : value;
      },
    });
  }
}

type SheetReader = {
  readonly text: DocumentText;
  readonly shownValue: (type: string, value: string, style: number) => string;
};

function readSheet(parts: Unzipped, path: string, { text, shownValue }: SheetReader): void {
  let row = 0;
  let cells: string[] = [];
  let [column, type, style, value, isValue] = [0, 'n', 0, '', false];
  readXml(parts, path, {
    open(name, attributes) {
      if (name === 'row') {
        row = Number(attributes.r ?? row + 1) || row + 1;
        cells = [];
        column = 0;
      } else if (name === 'c') {
        column = columnOf(attributes.r) ?? column + 1;
        type = attributes.t ?? 'n';
        style = Number(attributes.s ?? 0);
        value = '';
      } else if (name === 'v' || name === 't') isValue = true;
    },
    text(data) {
      if (isValue) value += data;
    },
    close(name) {
      if (name === 'v' || name === 't') isValue = false;
      else if (name === 'c' && value !== '') {
        if (column > DOCUMENT_LIMITS.columns) {
          text.note ??= `Only the first ${DOCUMENT_LIMITS.columns} columns were added.`;
          return;
        }
        while (cells.length < column - 1) cells.push('');
        cells[column - 1] = shownValue(type, value, style).replace(/[\t\r\n]+/g, ' ');
      } else if (name === 'row' && cells.length > 0 && !text.isFull) {
        text.add(`${row}\t${cells.join('\t')}`);
        text.endLine();
      }
    },
  });
}

/** `C7` is in column 3. */
function columnOf(reference: string | undefined): number | undefined {
  const letters = /^[A-Z]{1,3}/.exec(reference ?? '')?.[0];
  if (letters === undefined) return undefined;
  return [...letters].reduce((column, letter) => column * 26 + letter.charCodeAt(0) - 64, 0);
}

function sharedStrings(parts: Unzipped): readonly string[] {
  const strings: string[] = [];
  let [text, isText, phonetic] = ['', false, 0];
  readXml(parts, 'xl/sharedStrings.xml', {
    open(name) {
      if (name === 'si') text = '';
      else if (name === 't') isText = true;
      else if (name === 'rPh') phonetic++;
    },
    text(data) {
      if (isText && phonetic === 0) text += data;
    },
    close(name) {
      if (name === 'si') strings.push(text);
      else if (name === 't') isText = false;
      else if (name === 'rPh') phonetic--;
    },
  });
  return strings;
}

/** Built-in formats of dates and times. */
const isBuiltInDate = (id: number): boolean => (id >= 14 && id <= 22) || (id >= 45 && id <= 47);

/** The styles of cells whose number is a date. */
function dateStyles(parts: Unzipped): ReadonlySet<number> {
  const formats = new Set<number>();
  const styles = new Set<number>();
  let [isCell, index] = [false, 0];
  readXml(parts, 'xl/styles.xml', {
    open(name, attributes) {
      if (name === 'numFmt') {
        const code = (attributes.formatCode ?? '').replace(/"[^"]*"|\[[^\]]*\]|\\./g, '');
        if (/[dmyhs]/i.test(code)) formats.add(Number(attributes.numFmtId));
      } else if (name === 'cellXfs') isCell = true;
      else if (name === 'xf' && isCell) {
        const id = Number(attributes.numFmtId ?? 0);
        if (isBuiltInDate(id) || formats.has(id)) styles.add(index);
        index++;
      }
    },
    close(name) {
      if (name === 'cellXfs') isCell = false;
    },
  });
  return styles;
}

const DAY_MS = 86_400_000;

function dateText(serial: number, is1904: boolean): string {
  const date = new Date(Math.round((serial - (is1904 ? 24_107 : 25_569)) * DAY_MS));
  if (Number.isNaN(date.getTime())) return String(serial);
  const [day = '', time = ''] = date.toISOString().split('T');
  return Number.isInteger(serial) ? day : `${serial < 1 ? '' : `${day} `}${time.slice(0, 8)}`;
}

// What parts of a file refer to, and how many of them are read.

function relations(parts: Unzipped, path: string, folder: string): ReadonlyMap<string, string> {
  const targets = new Map<string, string>();
  readXml(parts, path, {
    open(name, { Id = '', Target = '' }) {
      if (name !== 'Relationship') return;
      targets.set(Id, Target.startsWith('/') ? Target.slice(1) : `${folder}${Target}`);
    },
  });
  return targets;
}

function firstOf<Part>(parts: readonly Part[], text: DocumentText, what: string): readonly Part[] {
  if (parts.length > DOCUMENT_LIMITS.pages)
    text.note = `Only the first ${DOCUMENT_LIMITS.pages} ${what} were added.`;
  return parts.slice(0, DOCUMENT_LIMITS.pages);
}
