/** Deployed clients parse every action correctly, for any text. */
import { afterEach, describe, expect, test } from 'bun:test';
import { readAction } from '../packages/copilot/src/testing/deployed-client.ts';
import { startTestServer, type TestServer } from '../packages/server/src/testing/server.ts';
import { post } from './fake-browser.ts';
import { type Answer, type ScriptedModel, scriptedModel } from './scripted-model.ts';

let model: ScriptedModel | null = null;
let server: TestServer;
let token: string;

async function start(script?: Answer[]): Promise<void> {
  model = script ? scriptedModel((_request, count) => script[count - 1] ?? DONE) : null;
  server = await startTestServer(model ? { OPENAI_BASE_URL: model.url, MODEL: 'fake' } : {});
  token = await server.login('dev', 'dev-password');
}

afterEach(async () => {
  await server.stop();
  model?.stop();
});

const PLAN: Answer = { call: 'browser_plan', input: { steps: [{ description: 'Write', toolType: 'DOM' }] } };
const DONE: Answer = { call: 'browser_finish', input: { outcome: 'completed', message: 'Written.' } };
const act = (action: string): Answer => ({ call: 'browser_act', input: { thought: 'I write.', action } });

const PAGE = {
  url: 'https://notes.example/',
  dom: '<label>Note <input id="7"></label><select id="8" aria-label="Size"><option>Large "L"</option></select>',
};

type Data = Record<string, unknown>;

/** The responses up to the end of the task; every action is reported as done. */
async function answersTo(query: string, page: object = PAGE): Promise<Data[]> {
  const answers: Data[] = [];
  for (let more: object = {}; ; ) {
    const { data } = await post(server, token, { ...page, query, ...more });
    answers.push(data);
    if (data.action === 'finish()' || data.action === 'fail()' || !data.action) return answers;
    const { taskId, sessionId } = data;
    more = { taskId, sessionId, lastActionStatus: 'success' };
  }
}

const ALPHABET = [...'"\'`\\(),; nté你👋{}', '\n', '\t', '\r\n', '\u2028', ' and '];

/** Deterministic texts per seed (Mulberry32). */
function textsOf(seed: number, count: number): string[] {
  let state = seed;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const letter = () => ALPHABET[Math.floor(next() * ALPHABET.length)] ?? '';
  return Array.from({ length: count }, () =>
    Array.from({ length: 1 + Math.floor(next() * 8) }, letter).join(''),
  );
}

const quoteFor = (text: string) => ['"', "'", '`'].find((quote) => !text.includes(quote));

/** As a model writes it: as instructed, or with escapes if that is impossible. */
const written = (text: string): string => {
  const quote = quoteFor(text);
  return quote ? quote + text + quote : JSON.stringify(text);
};

describe('a text of a model', () => {
  test.each([1, 2, 3])('is parsed correctly: 40 texts of seed %d', async (seed) => {
    const texts = textsOf(seed, 40);
    await start([PLAN, ...texts.map((text) => act(`type(${written(text)})`)), DONE]);
    const answers = await answersTo('write it all down');
    expect(answers).toHaveLength(texts.length + 1);
    for (const [index, text] of texts.entries()) {
      const { action, thought, toolAction } = answers[index] ?? {};
      const { name, args } = readAction(String(action));
      expect(name).toBe('type');
      expect(args).toEqual([quoteFor(text) ? text : text.replaceAll('`', "'")]);
      expect(toolAction).toMatchObject({ toolName: 'type', parameters: { text: args[0] } });
      if (quoteFor(text)) expect(thought).toBe('I write.');
      else expect(thought).toContain('apostrophes');
    }
  });

  test('with escapes reaches the client without backslashes, also in the history', async () => {
    await start([PLAN, act('setValue(7, "say \\"hi\\"")'), DONE]);
    const [first] = await answersTo('write it down');
    expect(first?.action).toBe(`setValue(7, 'say "hi"')`);
    const history = await fetch(`${server.http}/api/session/${first?.sessionId}/messages`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const { messages } = (await history.json()) as { messages: { actionString?: string }[] };
    expect(messages.map(({ actionString }) => actionString)).toContain(`setValue(7, 'say "hi"')`);
  });
});

describe('a model that writes an unreadable action', () => {
  const promptText = (request: number): string => JSON.stringify(model?.requests[request]?.messages.at(-1));

  test('receives an error, and the client does not receive the action', async () => {
    const bad = ['scroll("down")', 'scroll(1)', 'evaluate("\\"a\\" + \'b\' + `c`")', 'click("7")'];
    await start([PLAN, ...bad.map(act), act('scroll(true)'), DONE]);
    const answers = await answersTo('write it down');
    expect(answers.map(({ action }) => action)).toEqual(['scroll(true)', 'finish()']);
    expect(promptText(2)).toContain('scroll(down?: true or false, pages?: number, index?: number)');
    expect(promptText(4)).toContain('all three quote characters');
  });

  test('is instructed to use raw text, a quote that does not occur in it, and no text for scroll', async () => {
    await start([PLAN, DONE]);
    await answersTo('write it down');
    const tools = JSON.stringify(model?.requests[0]?.tools);
    expect(tools).toContain('without escape sequences');
    expect(tools).toContain('scroll(true), scroll(false, 2)');
    expect(tools).not.toContain('scroll(\\\\\\"');
  });
});

describe('the offline model', () => {
  test('reports a text that had to be changed', async () => {
    await start();
    const [first] = await answersTo('type it\'s `a` "b" into the note field');
    expect(readAction(String(first?.action))).toEqual({ name: 'setValue', args: [7, `it's 'a' "b"`] });
    expect(first?.thought).toContain('apostrophes');
  });

  test.each<[string, string]>([
    ['scroll down', 'scroll(true)'],
    ['scroll up', 'scroll(false)'],
    ['scroll to the bottom', 'scroll(true, 100)'],
    ['scroll to the top', 'scroll(false, 100)'],
    ['type say "hi" into the note field', `setValue(7, 'say "hi"')`],
    ['type "it\'s C:\\new" into the note field', 'setValue(7, "it\'s C:\\new")'],
    ['select Large from the size list', `selectDropdown(8, 'Large "L"')`],
  ])('%s', async (query, action) => {
    await start();
    const [first] = await answersTo(query);
    expect(first?.action).toBe(action);
    expect(() => readAction(action)).not.toThrow();
  });
});

describe('actions of our own extension', () => {
  const OWN = ['clickAt(7, 3, 4)', 'drag(7, 1, 1, 7, -5, 9)', 'selectText("Note")', 'numberedScreenshot()'];

  test('are sent to a client that announces them, which the model is told', async () => {
    await start([PLAN, ...OWN.map(act), DONE]);
    const answers = await answersTo('draw', { ...PAGE, actionGrammar: 'extended' });
    expect(answers.map(({ action }) => action)).toEqual([...OWN, 'finish()']);
    expect(JSON.stringify(model?.requests[0])).toContain('This browser also executes clickAt');
  });

  test.each([undefined, 'contract', 7])(
    'are never sent to a client with actionGrammar %p',
    async (grammar) => {
      await start([PLAN, ...OWN.map(act), DONE]);
      const answers = await answersTo('draw', { ...PAGE, actionGrammar: grammar });
      expect(answers.map(({ action }) => action)).toEqual(['finish()']);
      const prompts = JSON.stringify(model?.requests.map(({ messages }) => messages));
      expect(prompts).not.toContain('This browser also executes');
      expect(prompts).toContain('This browser does not execute clickAt.');
    },
  );
});
