import { describe, expect, test } from 'bun:test';
import { parsePage } from './parse-page.ts';

const elements = (interactiveTree: unknown) => parsePage({ interactiveTree }, 5_000).elements;

describe('a page that a client sends as objects', () => {
  test.each<[string, unknown]>([
    ['a list', [{ id: 12, role: 'button', name: 'Search' }]],
    ['ids as text', [{ id: '12', role: 'button', name: 'Search' }]],
    ['other names for the fields', [{ elementId: 12, tag: 'BUTTON', label: 'Search' }]],
    ['an index', [{ index: 12, type: 'button', text: ' Search ' }]],
    ['one letter for each', [{ i: '12', r: 'btn', n: 'Search' }]],
    ['attributes', [{ tagName: 'button', attributes: { id: '12', 'aria-label': 'Search' } }]],
    [
      'attributes as pairs',
      [
        {
          tag: 'button',
          attributes: [
            ['id', '12'],
            ['aria-label', 'Search'],
          ],
        },
      ],
    ],
    ['attributes as objects', [{ tag: 'button', text: 'Search', attributes: [{ name: 'id', value: '12' }] }]],
    [
      'a tree',
      { role: 'main', children: [{ role: 'form', children: [{ id: 12, role: 'button', name: 'Search' }] }] },
    ],
    ['a record by number', { '12': { role: 'button', name: 'Search' } }],
    ['JSON inside JSON', '[{"id":12,"role":"button","name":"Search"}]'],
  ])('%s', (_, tree) => {
    expect(elements(tree)).toEqual([{ id: 12, role: 'button', name: 'Search', state: {} }]);
  });

  test('has values, states and options', () => {
    const tree = [
      { id: 1, tag: 'input', attributes: { type: 'email', value: 'a@b.org', required: '' } },
      { id: 2, role: 'checkbox', name: 'Terms', checked: true, disabled: true },
      {
        id: 3,
        tag: 'select',
        name: 'Colour',
        options: ['Red', { value: 'b', label: 'Blue', selected: true }],
      },
      { id: 4, tag: 'input', attributes: { type: 'password' }, value: 'hunter2' },
      { id: 5, role: 'tab', name: 'One', state: 'selected' },
    ];
    expect(elements(tree)).toMatchObject([
      { role: 'textbox', type: 'email', value: 'a@b.org', state: { required: true } },
      { role: 'checkbox', state: { checked: true, disabled: true } },
      { role: 'combobox', options: [{ value: 'Red' }, { value: 'b', text: 'Blue', selected: true }] },
      { value: '••••••••' },
      { role: 'tab', state: { selected: true } },
    ]);
  });

  test('hides invisible nodes, and of two with the same number uses the first', () => {
    expect(
      elements([
        { id: 1, role: 'button', name: 'a', hidden: true },
        { id: 2, role: 'button', name: 'b', visible: false, children: [{ id: 3, role: 'button' }] },
        { id: 4, role: 'button', name: 'c' },
        { id: 4, role: 'button', name: 'd' },
      ]).map(({ name }) => name),
    ).toEqual(['c']);
  });

  test.each<[string, unknown]>([
    ['nothing', null],
    ['a number', 7],
    ['words', 'just words'],
    ['lists of lists', [[[]], [null, undefined, 3, true]]],
    ['fields of the wrong kind', [{ id: {}, role: [], name: 7, children: 'x', attributes: 3, options: {} }]],
    ['names of prototypes', [{ id: 1, role: '__proto__', name: 'constructor', type: 'toString' }]],
  ])('does not fail on %s', (_, tree) => {
    expect(() => elements(tree)).not.toThrow();
  });

  test('may be nested without limit', () => {
    let tree: unknown = { id: 1, role: 'button', name: 'deep' };
    for (let depth = 0; depth < 40_000; depth++) tree = { children: [tree] };
    expect(elements(tree)).toHaveLength(1);
  });

  test('provides the text if there is no markup', () => {
    const tree = [{ role: 'heading', text: 'Lamps' }, 'only today', { id: 1, role: 'button', name: 'Buy' }];
    expect(parsePage({ semanticNodes: tree }, 1_000).text).toBe('Lamps\nonly today\nBuy');
  });
});

describe('of several forms of one page', () => {
  const tree = [{ id: 2, role: 'button', name: 'From the tree' }];

  test('the markup comes first', () => {
    const page = parsePage({ dom: '<button id="1">From the markup</button>', interactiveTree: tree }, 1_000);
    expect(page.elements.map(({ id }) => id)).toEqual([1]);
  });

  test('elements come from the tree if the markup has none, and text from the markup', () => {
    const page = parsePage({ interactiveTree: tree, skeletonDom: '<h1>Skeleton</h1>' }, 1_000);
    expect(page.elements.map(({ id }) => id)).toEqual([2]);
    expect(page.text).toBe('Skeleton');
  });

  test('a skeleton alone is enough', () => {
    expect(parsePage({ skeletonDom: '<button id="1">x</button>' }, 1_000).elements).toHaveLength(1);
  });
});
