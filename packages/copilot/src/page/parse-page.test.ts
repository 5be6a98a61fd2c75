import { describe, expect, test } from 'bun:test';
import { FIXTURES, type FixtureName, fixture, markup } from '../testing/fixtures/pages.ts';
import { elementOf, type PageElement } from './page.ts';
import { parsePage } from './parse-page.ts';
import { renderPage } from './render.ts';

const read = (dom: string, budget = 10_000) => parsePage({ dom }, budget);
const first = (dom: string): PageElement | undefined => read(dom).elements[0];

describe('the role of an element follows from its tag, type and role', () => {
  test.each([
    ['<button id="1">Go</button>', 'button'],
    ['<summary id="1">More</summary>', 'button'],
    ['<input id="1" type="submit">', 'button'],
    ['<a id="1" href="/">Home</a>', 'link'],
    ['<input id="1">', 'textbox'],
    ['<input id="1" type="EMAIL">', 'textbox'],
    ['<input id="1" type="search">', 'searchbox'],
    ['<input id="1" type="number">', 'spinbutton'],
    ['<input id="1" type="range">', 'slider'],
    ['<input id="1" type="checkbox">', 'checkbox'],
    ['<input id="1" type="radio">', 'radio'],
    ['<input id="1" list="cities">', 'combobox'],
    ['<textarea id="1"></textarea>', 'textbox'],
    ['<select id="1"></select>', 'combobox'],
    ['<select id="1" multiple></select>', 'listbox'],
    ['<select><option id="1">Red</option></select>', 'option'],
    ['<div id="1" role="tab">One</div>', 'tab'],
    ['<div id="1" role="  Switch other">One</div>', 'switch'],
    ['<button id="1" role="presentation">Go</button>', 'button'],
    ['<div id="1" contenteditable="true">draft</div>', 'textbox'],
    ['<div id="1" contenteditable="false">text</div>', 'generic'],
    ['<div id="1">clickable</div>', 'generic'],
  ])('%s is a %s', (dom, role) => {
    expect(first(dom)?.role).toBe(role);
  });
});

describe('the name is explicit, then the content, then a hint', () => {
  test.each<[FixtureName, number, string]>([
    ['labels', 1, 'Street and number'],
    ['labels', 2, 'Country (required)'],
    ['labels', 4, 'Phone'],
    ['labels', 5, 'Nickname'],
    ['labels', 6, 'Print'],
    ['labels', 7, 'Share this'],
    ['labels', 8, 'Save changes'],
    ['labels', 9, 'Go'],
    ['labels', 11, 'Café & bar'],
    ['labels', 12, 'Inner'],
    ['labels', 14, 'Custom'],
    ['form', 1, 'Full name'],
    ['form', 2, 'E-mail'],
    ['form', 6, 'I accept the terms'],
    ['form', 11, 'Reset'],
  ])('%s.html, element %d: %s', (name, id, expected) => {
    expect(elementOf(fixture(name), id)?.name).toBe(expected);
  });

  test('is one line of at most 200 characters', () => {
    const name = first(`<button id="1">${'long  name\n'.repeat(100)}</button>`)?.name ?? '';
    expect(name).toHaveLength(200);
    expect(name).toEndWith('…');
    expect(name).not.toContain('\n');
  });

  test('of an option is its text', () => {
    expect(
      read('<select><option id="1">Red<option id="2">Blue</select>').elements.map(({ name }) => name),
    ).toEqual(['Red', 'Blue']);
  });
});

describe('adjacent text of an element is its label', () => {
  test.each<[FixtureName, number, string | undefined]>([
    ['login', 1, 'User name'],
    ['login', 2, 'Password'],
    ['list', 1, 'Buy milk'],
    ['list', 4, 'Call Ada'],
    ['shop', 2, 'Red lamp £15.50 A tall lamp for the floor.'],
    ['table', 2, 'RE 7 10:32 11'],
    ['labels', 5, undefined],
  ])('%s.html, element %d: %s', (name, id, expected) => {
    expect(elementOf(fixture(name), id)?.label).toBe(expected);
  });
});

describe('values and states', () => {
  test.each([
    ['<input id="1" value="a &quot;b&quot;">', { value: 'a "b"' }],
    ['<input id="1" type="password" value="hunter2">', { value: '••••••••' }],
    ['<input id="1" type="password" value="">', { value: '' }],
    ['<textarea id="1">\nOne &amp;\n<b>two</b></textarea>', { value: 'One &\n<b>two</b>' }],
    ['<input id="1" type="checkbox">', { state: { checked: false } }],
    ['<input id="1" type="checkbox" checked>', { state: { checked: true } }],
    ['<div id="1" role="switch" aria-checked="true">x</div>', { state: { checked: true } }],
    ['<button id="1" disabled>x</button>', { state: { disabled: true as const } }],
    ['<button id="1" aria-disabled="true">x</button>', { state: { disabled: true as const } }],
    ['<fieldset disabled><p><input id="1"></fieldset>', { state: { disabled: true as const } }],
    ['<button id="1" aria-expanded="false">x</button>', { state: { expanded: false } }],
    ['<div id="1" role="tab" aria-selected="true">x</div>', { state: { selected: true } }],
    ['<button id="1" aria-pressed="true">x</button>', { state: { pressed: true } }],
    ['<input id="1" required readonly>', { state: { required: true as const, readonly: true as const } }],
    ['<a id="1" href="/a?b=1&amp;c=2">x</a>', { href: '/a?b=1&c=2' }],
  ])('%s', (dom, expected) => {
    expect(first(dom)).toMatchObject(expected);
  });

  test('a list has options, and its value is the chosen one', () => {
    expect(elementOf(fixture('form'), 3)?.options).toEqual([
      { value: '', text: 'Choose…' },
      { value: 'red', text: 'Red' },
      { value: 'blue', text: 'Blue' },
      { value: 'green', text: 'Green', disabled: true },
    ]);
    expect(elementOf(fixture('shop'), 4)?.value).toBe('Price');
    const options = '<option>x'.repeat(80);
    expect(first(`<select id="1">${options}</select>`)?.options).toHaveLength(50);
    expect(first('<select id="1"></select>')?.options).toEqual([]);
  });
});

describe('only addressable and visible elements are listed', () => {
  test.each([
    ['no id', '<button>x</button>'],
    ['an id that is a word', '<button id="b7">x</button>'],
    ['a number with a zero before it', '<button id="007">x</button>'],
    ['blanks around the number', '<button id=" 7 ">x</button>'],
    ['a negative number', '<button id="-7">x</button>'],
    ['hidden', '<button id="1" hidden>x</button>'],
    ['hidden from assistive technology', '<button id="1" aria-hidden="true">x</button>'],
    ['not displayed', '<button id="1" style="color: red; display: none">x</button>'],
    ['invisible', '<button id="1" style="visibility:hidden">x</button>'],
    ['in something hidden', '<div hidden><p><button id="1">x</button></p></div>'],
    ['in a closed dialog', '<dialog><button id="1">x</button></dialog>'],
    ['behind a modal dialog', '<div inert><button id="1">x</button></div>'],
    ['an input of type hidden', '<input type="hidden" id="1">'],
    ['in a comment', '<!-- <button id="1">x</button> -->'],
    ['in a script', '<script>"<button id=\\"1\\">x</button>"</script>'],
    ['in a style', '<style><button id="1">x</button></style>'],
    ['in noscript', '<noscript><button id="1">x</button></noscript>'],
    ['in a template', '<template><button id="1">x</button></template>'],
    ['in a drawing', '<svg><a id="1">x</a></svg>'],
    ['in the fallback of a frame', '<iframe><button id="1">x</button></iframe>'],
  ])('not with %s', (_, dom) => {
    const { elements, text } = read(`${dom}<p>after</p>`);
    expect(elements).toEqual([]);
    expect(text).toEndWith('after');
  });

  test('of two with the same number the first counts, even if it is hidden', () => {
    expect(
      read('<button id="1">a</button><button id="1">b</button>').elements.map(({ name }) => name),
    ).toEqual(['a']);
    expect(read('<button id="1" hidden>a</button><button id="1">b</button>').elements).toEqual([]);
    expect(
      read('<template><button id="1">a</button></template><button id="1">b</button>').elements,
    ).toHaveLength(1);
  });
});

describe('text is readable', () => {
  test.each([
    ['<p>one</p><p>two</p>', 'one\ntwo'],
    ['<p>one\n  two</p>', 'one two'],
    ['one<br>two', 'one\ntwo'],
    ['<pre>one\n  two</pre>', 'one\ntwo'],
    ['<b>bo</b>ld', 'bold'],
    ['<tr><td>a</td><td>b</td></tr><tr><td>c<td>d</tr>', 'a | b\nc | d'],
    ['<ul><li>a<li>b</ul>', 'a\nb'],
    ['<p>a &lt; b &amp;amp; c&nbsp;d</p>', 'a < b &amp; c d'],
    ['a < b', 'a < b'],
    ['&euro; &#8364; &#x20ac; &#128; &#0; &#x110000; &nothing;', '€ € € € \ufffd \ufffd &nothing;'],
    ['<![CDATA[a & b]]>', 'a & b'],
    ['<img alt="A cat"> sits', 'A cat sits'],
    ['a\u0000b\u200bc\u202ed', 'abcd'],
    ['<p>same</p><p>same</p>', 'same'],
    ['<p hidden>no</p><p>yes</p>', 'yes'],
    ['<select><option>no</select>yes', 'yes'],
    ['<textarea>no</textarea>yes', 'yes'],
  ])('%j', (dom, expected) => {
    expect(read(dom).text).toBe(expected);
  });

  test('text stays within its budget, and the page is marked as cut', () => {
    const page = read(
      '<p>many words on a line of text</p>'.replace('many', '$&').repeat(1).concat('<p>x y z</p>'),
      5,
    );
    expect(page.truncated).toBe(true);
    const long = read(
      Array.from({ length: 5_000 }, (_, line) => `<p>line ${line} of a long page</p>`).join(''),
      500,
    );
    expect(long.truncated).toBe(true);
    expect(long.text.length).toBeWithin(500, 2_500);
    expect(long.text).toStartWith('line 0 of a long page\nline 1');
  });

  test('all elements are listed, and a model is shown those that fit', () => {
    const buttons = Array.from({ length: 3_000 }, (_, id) => `<button id="${id}">Button ${id}</button>`).join(
      '',
    );
    const page = read(`${buttons}<p>end</p>`, 1_000);
    expect(page.elements).toHaveLength(3_000);
    expect(page.shown).toBeWithin(20, 200);
    expect(page.truncated).toBe(true);
    expect(renderPage(page)).toContain(`(${3_000 - page.shown} more elements are not shown)`);
    expect(renderPage(page).length).toBeLessThan(5_000);
  });
});

describe('no input makes it fail', () => {
  const nested = (tag: string, depth: number) =>
    ['<', '</'].map((mark) => `${mark}${tag}>`.repeat(depth)).join('deep');

  test.each([
    ['nothing', ''],
    ['a lone bracket', '<'],
    ['an open tag', '<button id="1"'],
    ['an open quote', '<button id="1" class="x>text</button>'],
    ['an open comment', 'a<!-- b'],
    ['an open script', 'a<script>b'],
    ['an open text area', '<textarea id="1">b'],
    ['end tags alone', '</div></p></button></x>'],
    ['a short comment', 'a<!-->b'],
    ['attribute soup', '<a "\' = == <b id=1 =x y= "z">t</a>'],
    ['null bytes', '<bu\u0000tton id="1">\u0000</bu\u0000tton>'],
    ['half a pair', '<button id="1" aria-label="\ud83d">\udc00</button>'],
    ['a huge attribute', `<img id="1" alt="${'x'.repeat(500_000)}" src="data:${'y'.repeat(400_000)}">`],
    ['a hundred thousand attributes', `<a ${'x=1 '.repeat(100_000)}id="1">t</a>`],
    ['deep divs', nested('div', 90_000)],
    ['deep spans', nested('span', 70_000)],
    ['deep numbered things', '<div id="1"><a id="2"><b id="3">'.repeat(20_000)],
    ['crossed tags', '<b><i></b></i>'.repeat(60_000)],
    [
      'end tags for what is far away',
      `${'<i>'.repeat(50_000)}<div>${'<b>'.repeat(50_000)}${'</i>'.repeat(80_000)}`,
    ],
    ['unclosed options', `<select id="1">${'<option>x'.repeat(50_000)}`],
  ])('%s', (_, dom) => {
    const page = parsePage({ dom, url: 'not an address', title: '\u0000' }, 2_000);
    expect(renderPage(page)).toContain('PAGE CONTENT');
    expect(page.text.isWellFormed()).toBe(true);
  });

  test('every prefix of every fixture', () => {
    for (const name of FIXTURES) {
      const html = markup(name);
      for (let end = 0; end < html.length; end += 7) read(html.slice(0, end));
    }
  });

  test('noise is left out and the rest is found', () => {
    const page = fixture('noise');
    expect(page.title).toBe('Noise & more');
    expect(page.elements.map(({ id, role, name }) => [id, role, name])).toEqual([
      [1, 'iframe', 'Map'],
      [2, 'img', 'Logo'],
      [3, 'link', 'Unquoted'],
      [4, 'button', 'Six < seven'],
      [11, 'button', 'Last'],
    ]);
    expect(page.text).toContain('One\nTwo\nThreeboldboth');
    expect(page.text.split('\n')).not.toContain('No');
    expect(page.text).not.toContain('scripts');
  });
});

test('the result is deterministic', () => {
  for (const name of FIXTURES) expect(fixture(name)).toEqual(fixture(name));
});

test('a title in the request overrides the title of the page', () => {
  expect(parsePage({ dom: '<title>One</title>', title: 'Two' }, 100).title).toBe('Two');
  expect(parsePage({ dom: '<title>One</title>' }, 100).title).toBe('One');
});
