/** Pages sent as a tree of controls, without the text of the page. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startTestServer, type TestServer } from '../packages/server/src/testing/server.ts';
import { post } from './fake-browser.ts';
import { type Answer, scriptedModel } from './scripted-model.ts';

let server: TestServer;
let token: string;
beforeAll(async () => {
  server = await startTestServer();
  token = await server.login('dev', 'dev-password');
});
afterAll(() => server.stop());

const url = 'https://shop.example/';
const TREE = [
  { i: 1, r: 'inp', n: 'Name', v: '' },
  { i: 4, r: 'btn', n: 'Submit' },
];
const DOM = '<h1>Lamps</h1><p>The blue lamp costs $21.00.</p><button id="4">Submit</button>';
const SEMANTIC = { domMode: 'semantic', url, interactiveTree: TREE };
const PLAIN = { url, interactiveTree: TREE };

type Data = Record<string, unknown>;

/** Sends this page until the end; every action is reported as done, and the page never changes. */
async function run(query: string, page: object, report: object = { lastActionStatus: 'success' }) {
  const actions: unknown[] = [];
  for (let more: object = {}; ; ) {
    const { data } = await post(server, token, { query, ...page, ...more });
    actions.push(data.action ?? data.status);
    if (!data.action || data.action === 'finish()' || data.action === 'fail()') return { actions, data };
    more = { taskId: data.taskId, sessionId: data.sessionId, ...report };
  }
}

describe.each<[string, object]>([
  ['with domMode', SEMANTIC],
  ['without', PLAIN],
])('a tree that stays the same, %s', (_name, page) => {
  test("does not prove that the action failed: the client's report decides", async () => {
    const clicked = await run('click the Submit button', page);
    expect(clicked.actions).toEqual(['click(4)', 'finish()']);
    expect(clicked.data.verification).toMatchObject({ success: true });
    const filled = await run('type Ada into the name field and submit', page);
    expect(filled.actions).toEqual(['setValue(1, "Ada")', 'click(4)', 'finish()']);
  });

  test('is not a failure if the client reports nothing', async () => {
    expect((await run('click the Submit button', page, {})).actions).toEqual(['click(4)', 'finish()']);
  });

  test('is a failure if the client reports one', async () => {
    const lastActionError = { message: 'It is covered.', code: 'ELEMENT_COVERED', action: 'click(4)' };
    const { actions, data } = await run('click the Submit button', page, {
      lastActionStatus: 'failure',
      lastActionError,
    });
    expect(actions.at(-1)).toBe('fail()');
    expect(data.verification).toMatchObject({ success: false });
  });
});

test('a changed value is visible in a tree as well', async () => {
  const { data } = await post(server, token, { query: 'type Ada into the name field', ...PLAIN });
  const interactiveTree = [{ i: 1, r: 'inp', n: 'Name', v: 'Bob' }, TREE[1]];
  const next = { taskId: data.taskId, query: 'go on', url, interactiveTree, lastActionStatus: 'success' };
  expect((await post(server, token, next)).data.verification).toMatchObject({ success: false });
});

describe('a question about the text of the page', () => {
  const query = 'what is the price on this page?';
  const asked = () => post(server, token, { query, ...SEMANTIC });

  test('is answered with needs_full_dom, at the top level and without an action', async () => {
    const body = await asked();
    const wanted = {
      status: 'needs_full_dom',
      requestedDomMode: 'full',
      needsFullDomReason: expect.any(String),
      taskId: expect.any(String),
      sessionId: expect.any(String),
    };
    expect(body).toMatchObject({ success: true, ...wanted, data: wanted });
    expect(Object.keys({ ...body, ...body.data })).not.toContain('action');
  });

  test.each(['with', 'without'])('continues with the dom and %s the id of the task', async (named) => {
    const { taskId, sessionId } = (await asked()).data;
    const ids = named === 'with' ? { taskId, sessionId } : { sessionId };
    const { data } = await post(server, token, { query, url, domMode: 'full', dom: DOM, ...ids });
    expect(data).toMatchObject({ taskId, action: 'finish()', status: 'completed' });
    expect(data.thought).toContain('$21.00');
    const history = await fetch(`${server.http}/api/session/${sessionId}/messages`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const { messages } = (await history.json()) as { messages: Data[] };
    expect(messages.filter(({ role }) => role === 'user')).toHaveLength(1);
    expect(messages.map(({ sequenceNumber }) => sequenceNumber)).toEqual(messages.map((_, index) => index));
  });

  const SHELL = '<html><head></head><body><div></div></body></html>';
  const sessions = async () => {
    const response = await fetch(`${server.http}/api/session?limit=100`, {
      headers: { authorization: `Bearer ${token}` },
    });
    return ((await response.json()) as { data: { pagination: { total: number } } }).data.pagination.total;
  };

  test.each([
    ['the page', DOM, { action: 'finish()', status: 'completed' }],
    ['an empty document', SHELL, { action: 'fail()', status: 'failed' }],
  ])('continues with %s, without any id, in the same tab', async (_name, dom, expected) => {
    const tab = { tabId: Math.floor(Math.random() * 1e9) };
    const { taskId, sessionId } = (await post(server, token, { query, ...SEMANTIC, ...tab })).data;
    const count = await sessions();
    const again = { query, url, dom, domMode: 'full' };
    const { data } = await post(server, token, { ...again, ...tab });
    expect(data).toMatchObject({ taskId, sessionId, ...expected });
    expect(await sessions()).toBe(count);
    // It has been answered: another call is another task.
    expect((await post(server, token, { ...again, ...tab })).data.taskId).not.toBe(taskId);
  });

  test('says that the text is missing if the client sends an empty document', async () => {
    const { taskId, sessionId } = (await asked()).data;
    const { data } = await post(server, token, { query, url, dom: SHELL, taskId, sessionId });
    expect(data).toMatchObject({ taskId, action: 'fail()' });
    expect(data.thought).toContain('did not send the text of the page');
  });

  test('is not continued from another tab, page or query', async () => {
    for (const other of [{ tabId: 2 }, { url: 'https://other.example/' }, { query: 'what does it cost?' }]) {
      const { taskId } = (await post(server, token, { query, ...SEMANTIC, tabId: 1 })).data;
      const { data } = await post(server, token, { query, url, dom: DOM, tabId: 1, ...other });
      expect(data.taskId).not.toBe(taskId);
    }
  });

  test('ends if a client sends the tree again', async () => {
    const { taskId, sessionId } = (await asked()).data;
    const { data } = await post(server, token, { query, ...SEMANTIC, taskId, sessionId });
    expect(data.status).not.toBe('needs_full_dom');
    expect(data.action).toBe('fail()');
  });

  test('after an action is requested when it is needed', async () => {
    const { actions, data } = await run(`click Submit and then tell me the price`, SEMANTIC);
    expect(actions).toEqual(['click(4)', 'needs_full_dom']);
    const ended = await post(server, token, { query, url, dom: DOM, taskId: data.taskId });
    expect(ended.data.thought).toContain('$21.00');
  });

  test('is never requested from a client without domMode, or with another one', async () => {
    for (const page of [PLAIN, { ...PLAIN, domMode: 'hybrid' }, { url, dom: DOM, domMode: 'semantic' }]) {
      const { status } = (await post(server, token, { query, ...page })).data;
      expect(status).not.toBe('needs_full_dom');
    }
  });
});

test('a model that sees images gets a picture of a page whose text is missing', async () => {
  let step = 0;
  const answers: Answer[] = [
    { call: 'browser_read', input: { reason: 'I need the price.' } },
    { call: 'browser_act', input: { thought: 'I look at it.', action: 'screenshot()' } },
    { call: 'browser_finish', input: { outcome: 'completed', message: '$21.00' } },
  ];
  const model = scriptedModel(() => answers[step++] ?? { say: 'done' });
  const other = await startTestServer({ OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'key', MODEL: 'fake' });
  try {
    const bearer = await other.login('dev', 'dev-password');
    const query = 'what is the price?';
    const first = await post(other, bearer, { query, ...SEMANTIC });
    expect(first.data.status).toBe('needs_full_dom');
    const dom = '<html><head/><body><div/></body></html>';
    const second = await post(other, bearer, { query, url, dom });
    const wanted = { action: 'screenshot()', needsScreenshot: true, taskId: first.data.taskId };
    expect(second).toMatchObject({ needsScreenshot: true, data: wanted });
    expect(JSON.stringify(model.requests.at(-1)?.messages.at(-1))).toContain('screenshot()');
    const { taskId, sessionId } = second.data;
    const third = await post(other, bearer, {
      ...{ query, url, dom, taskId, sessionId, lastActionStatus: 'success' },
      screenshot: 'iVBORw0KGgo=',
    });
    expect(third.data).toMatchObject({ action: 'finish()', thought: '$21.00' });
    expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain('iVBORw0KGgo=');
  } finally {
    await other.stop();
    model.stop();
  }
});

describe('a select whose options are bare text in HTML', () => {
  const dom =
    '<label for="12">Colour</label><select name="c" id="12">Red Sky Blue Green </select><button id="4">Go</button>';

  test.each([
    ['select Blue from the colour list', 'selectDropdown(12, "Blue")'],
    ['select sky blue from the colour list', 'selectDropdown(12, "Sky Blue")'],
    ['set the colour to Green', 'selectDropdown(12, "Green")'],
  ])('is used by the offline model: %s', async (query, action) => {
    const { actions } = await run(query, { url, dom });
    expect(actions).toEqual([action, 'finish()']);
  });

  test('has no other options', async () => {
    const { data } = await run('select Pink from the colour list', { url, dom });
    expect(data.status).toBe('needs_user_input');
  });
});

describe('a select is operated with selectDropdown, in any representation', () => {
  const forms: [string, object, string?][] = [
    ['options in v, with bars', { r: 'select', n: 'Colour', v: 'Red|Green|Blue' }],
    ['options in v, with commas', { r: 'select', n: 'Colour', v: 'Red, Green, Blue' }],
    ['options in v, line by line', { r: 'combobox', n: 'Colour', v: 'Red\nGreen\nBlue' }],
    ['options in v, as a list', { r: 'sel', n: 'Colour', v: ['Red', 'Green', 'Blue'] }],
    ['options in v, run together', { r: 'select', n: 'Colour', v: 'Red Green Blue' }],
    ['options in the text', { role: 'select', name: 'Colour', text: 'Red\n  Green\n  Blue' }],
    ['options in the text, run together', { role: 'select', name: 'Colour', text: 'Red Green Blue' }],
    ['options in its only text', { r: 'select', n: 'Colour: Red Green Blue' }],
    ['only the chosen option in v', { r: 'select', n: 'Colour', v: 'Red' }],
    ['no options', { tag: 'select', name: 'Colour' }],
    [
      'options as children',
      {
        r: 'select',
        n: 'Colour',
        children: [
          { i: 7, r: 'option', n: 'Red' },
          { i: 8, r: 'option', n: 'Blue' },
        ],
      },
    ],
    [
      'options as children with values',
      { tag: 'select', name: 'Colour', children: [{ tag: 'option', text: 'Blue', value: 'b' }] },
      'b',
    ],
    [
      'options in groups',
      { tag: 'select', name: 'Colour', children: [{ tag: 'optgroup', children: ['Red', 'Blue'] }] },
    ],
    [
      'a combobox with options as children',
      { role: 'combobox', name: 'Colour', children: [{ role: 'option', name: 'Blue' }] },
    ],
    ['a combobox with its options run together', { role: 'combobox', name: 'Colour', text: 'Red Blue' }],
    ['a combobox with only the chosen option', { r: 'combobox', n: 'Colour', v: 'Red' }],
    [
      'a combobox with options in c',
      {
        r: 'combobox',
        n: 'Colour',
        c: [
          { i: 21, r: 'option', n: 'Red' },
          { i: 22, r: 'option', n: 'Blue' },
        ],
      },
    ],
    ['an options field', { role: 'combobox', name: 'Colour', options: ['Red', 'Blue'] }],
  ];
  const queries = ['select Blue from the colour list', 'set the colour to Blue', 'choose blue in colour'];

  test.each(forms)('%s', async (_name, list, option = 'Blue') => {
    const interactiveTree = [
      { i: 4, r: 'btn', n: 'Submit' },
      { i: 2, id: 2, ...list },
    ];
    for (const query of queries) {
      const { actions } = await run(query, { url, interactiveTree });
      const [first] = actions;
      expect(['Blue', 'blue', option].map((each) => `selectDropdown(2, "${each}")`)).toContain(String(first));
      expect(actions.at(-1)).toBe('finish()');
    }
    const { actions } = await run(queries[0] ?? '', { url, interactiveTree });
    expect(actions).toEqual([`selectDropdown(2, "${option}")`, 'finish()']);
  });

  test('but a combobox that is a text field is typed into', async () => {
    const fields = [
      { placeholder: 'City' },
      { v: 'Oslo', tag: 'input' },
      { v: 'Oslo', attributes: { type: 'text' } },
      {},
    ];
    for (const field of fields) {
      const interactiveTree = [{ i: 2, r: 'combobox', n: 'City', ...field }];
      const { data } = await post(server, token, { query: 'type Rome into City', url, interactiveTree });
      expect(data.action).toBe('setValue(2, "Rome")');
    }
  });

  test('as markup', async () => {
    const dom = '<label>Colour <select id="2"><option>Red<option value="b">Blue</select></label>';
    const { data } = await post(server, token, { query: queries[0], url, dom });
    expect(data.action).toBe('selectDropdown(2, "b")');
  });

  test('and a model that clicks it receives an error', async () => {
    const script: Answer[] = [
      { call: 'browser_plan', input: { steps: [{ description: 'Choose' }] } },
      { call: 'browser_act', input: { thought: 'I open it.', action: 'click(2)' } },
      { call: 'browser_act', input: { thought: 'I choose.', action: 'selectDropdown(2, "Blue")' } },
    ];
    const model = scriptedModel((_request, count) => script[count - 1] ?? { say: 'Done.' });
    const other = await startTestServer({ OPENAI_BASE_URL: model.url, MODEL: 'fake' });
    const bearer = await other.login('dev', 'dev-password');
    const interactiveTree = [{ i: 2, r: 'select', n: 'Colour', v: 'Red|Blue' }];
    const { data } = await post(other, bearer, { query: 'choose blue', url, interactiveTree });
    expect(data.action).toBe('selectDropdown(2, "Blue")');
    expect(JSON.stringify(model.requests[2]?.messages.at(-1))).toContain('use selectDropdown');
    await other.stop();
    model.stop();
  });

  const options = [
    { i: 21, r: 'option', n: 'Red' },
    { i: 22, r: 'option', n: 'Blue' },
  ];
  const pages: [string, object][] = [
    [
      'markup',
      {
        dom: '<select id="2" aria-label="Colour"><option id="21">Red</option><option id="22">Blue</option></select>',
      },
    ],
    ['a tree', { interactiveTree: [{ i: 2, r: 'select', n: 'Colour', children: options }] }],
  ];
  test.each(pages)('and its options are not clicked: %s', async (_name, page) => {
    for (const query of ['click Blue', 'click the Blue option', 'click on Blue in Colour']) {
      const { actions } = await run(query, { url, ...page });
      expect(actions).toEqual(['selectDropdown(2, "Blue")', 'finish()']);
    }
    const { data } = await post(server, token, { query: 'click Colour', url, ...page });
    expect(data.userQuestion).toBe('I need to know which option of the combobox “Colour” to choose.');
  });
});
