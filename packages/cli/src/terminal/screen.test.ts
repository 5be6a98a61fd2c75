import { expect, test } from 'bun:test';
import { Screen } from './screen.ts';

const ESCAPE = String.fromCharCode(27);
const SEQUENCE = new RegExp(`${ESCAPE}\\[(\\??[\\d;]*)([A-Za-z])|\\r|\\n|[^${ESCAPE}\\r\\n]`, 'gu');

/** A terminal without scrolling regions: what the screen shows after the output. */
class Page {
  columns = 20;
  rows = 8;
  written = '';
  readonly #lines: string[] = [''];
  #row = 0;
  #column = 0;

  write(text: string): void {
    this.written += text;
    for (const [part, number = '', name] of text.matchAll(SEQUENCE)) this.#apply(part, number, name);
  }

  get lines(): string[] {
    return this.#lines.map((line) => line.trimEnd());
  }

  get cursor() {
    return { row: this.#row, column: this.#column };
  }

  #apply(part: string, number: string, name: string | undefined): void {
    const count = Number(number) || 1;
    if (part === '\r') this.#column = 0;
    else if (part === '\n') {
      this.#row++;
      if (this.#row === this.#lines.length) this.#lines.push('');
    } else if (name === 'A') this.#row -= count;
    else if (name === 'C') this.#column += count;
    else if (name === 'K') this.#put(this.#line.slice(0, this.#column));
    else if (name === 'J') {
      this.#put(this.#line.slice(0, this.#column));
      this.#lines.length = this.#row + 1;
    } else if (name === undefined) {
      this.#put(
        this.#line.padEnd(this.#column).slice(0, this.#column) + part + this.#line.slice(this.#column + 1),
      );
      this.#column++;
    }
  }

  get #line(): string {
    return this.#lines[this.#row] ?? '';
  }

  #put(line: string): void {
    this.#lines[this.#row] = line;
  }
}

test('final lines stay above the redrawn lines', () => {
  const page = new Page();
  const screen = new Screen(page);
  screen.draw(['welcome'], { lines: ['> '], cursor: { row: 0, column: 2 } });
  expect([page.lines, page.cursor]).toEqual([['welcome', '>'], { row: 1, column: 2 }]);
  screen.draw([], { lines: ['working', '> a'], cursor: { row: 1, column: 3 } });
  expect(page.lines).toEqual(['welcome', 'working', '> a']);
  screen.draw(['answer', ''], { lines: ['> a'], cursor: { row: 0, column: 3 } });
  expect([page.lines, page.cursor]).toEqual([['welcome', 'answer', '', '> a'], { row: 3, column: 3 }]);
  screen.close(['bye']);
  expect([page.lines, page.cursor]).toEqual([['welcome', 'answer', '', 'bye', ''], { row: 4, column: 0 }]);
});

test('only lines that differ are written, in one synchronized update', () => {
  const page = new Page();
  const screen = new Screen(page);
  screen.draw([], { lines: ['one', 'two', 'three'], cursor: null });
  page.written = '';
  screen.draw([], { lines: ['one', 'TWO', 'three'], cursor: null });
  expect(page.written).toContain('TWO');
  expect(page.written).not.toMatch(/one|three/);
  expect(page.written).toStartWith('\x1b[?2026h');
  expect(page.written).toEndWith('\x1b[?2026l');
  page.written = '';
  screen.draw([], { lines: ['one', 'TWO', 'three'], cursor: null });
  expect(page.written).toBe('');
});

test('live lines never fill the terminal: the last ones are shown', () => {
  const page = new Page();
  const lines = Array.from({ length: 30 }, (_, row) => `line ${row}`);
  new Screen(page).draw([], { lines, cursor: { row: 29, column: 1 } });
  expect(page.lines).toEqual(lines.slice(-7));
});

test('live lines are never wider than the terminal', () => {
  const page = new Page();
  new Screen(page).draw([], { lines: ['x'.repeat(50), '安'.repeat(30)], cursor: null });
  expect(page.lines).toEqual([`${'x'.repeat(19)}…`, `${'安'.repeat(9)}…`]);
});

test('random updates produce the expected screen', () => {
  const page = new Page();
  const screen = new Screen(page);
  const printed: string[] = [];
  let seed = 3;
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed % below;
  };
  for (let round = 0; round < 500; round++) {
    const final = Array.from({ length: random(3) }, () => `final ${round}`);
    const lines = Array.from({ length: 1 + random(6) }, () => `live ${random(3)}`);
    const cursor = random(2) === 0 ? null : { row: random(lines.length), column: random(5) };
    screen.draw(final, { lines, cursor });
    printed.push(...final);
    const expected = [...printed, ...lines];
    expect(page.lines.slice(0, expected.length)).toEqual(expected);
    expect(page.lines.slice(expected.length).join('')).toBe('');
    if (cursor) expect(page.cursor).toEqual({ row: printed.length + cursor.row, column: cursor.column });
  }
});
