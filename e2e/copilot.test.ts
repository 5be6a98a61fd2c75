import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startTestServer, type TestServer } from '../packages/server/src/testing/server.ts';
import { browse, post, type Run, type Site } from './fake-browser.ts';
import { dialog, form, list, login, misleading, search, tabs } from './sites.ts';

let server: TestServer;
let token: string;
beforeAll(async () => {
  server = await startTestServer();
  token = await server.login('dev', 'dev-password');
});
afterAll(() => server.stop());

/** The plan, its steps and the status match the returned action. */
function agrees({ bodies }: Run): void {
  for (const { data } of bodies) {
    const plan = data.plan as { steps: { status: string }[]; currentStepIndex: number } | undefined;
    if (!plan) continue;
    const statuses = plan.steps.map((step) => step.status);
    const active = statuses.indexOf('active');
    if (data.action === 'finish()') expect(statuses.every((status) => status === 'completed')).toBe(true);
    else if (data.action === 'fail()') expect(statuses[plan.currentStepIndex]).toBe('failed');
    else if (data.action) expect(active).toBe(plan.currentStepIndex);
  }
}

describe('the offline model executes', () => {
  const tasks: [string, Site, string[]][] = [
    ['click the Submit button', form, ['click(4)', 'finish()']],
    ['type Ada into the name field', form, ['setValue(1, "Ada")', 'finish()']],
    ['enter Ada as your name and submit', form, ['setValue(1, "Ada")', 'click(4)', 'finish()']],
    ['enter Ada in the name field and submit', form, ['setValue(1, "Ada")', 'click(4)', 'finish()']],
    [
      'select Blue from the colour list and submit',
      form,
      ['selectDropdown(2, "blue")', 'click(4)', 'finish()'],
    ],
    ['check the terms box', form, ['check(3)', 'finish()']],
    [
      'type Ada into the name field, check the terms box and submit',
      form,
      ['setValue(1, "Ada")', 'check(3)', 'click(4)', 'finish()'],
    ],
    ['type hello into the search field', search, ['setValue(1, "hello")', 'finish()']],
    ['search for SpaceX', search, ['setValue(1, "SpaceX")', 'click(2)', 'finish()']],
    ['click the Search button', search, ['click(2)', 'fail()']],
    [
      'log in as ada with password secret',
      login,
      ['setValue(1, "ada")', 'setValue(2, "secret")', 'click(3)', 'finish()'],
    ],
    ['go to the next page', list, ['click(2)', 'finish()']],
    ['click Next', list, ['click(2)', 'finish()']],
    ['what is the price on this page?', list, ['finish()']],
    ['how much does the kettle cost?', list, ['finish()']],
    ['click the Details tab', tabs, ['click(2)', 'finish()']],
    ['open the second tab', tabs, ['click(2)', 'finish()']],
    ['click Accept all', dialog, ['click(1)', 'finish()']],
    ['close the dialog', dialog, ['click(2)', 'finish()']],
    ['go to example.com', form, ['navigate("https://example.com/")', 'finish()']],
    ['click Read more', misleading, ['click(3)', 'finish()']],
  ];
  for (const [query, site, expected] of tasks) {
    test(`${query} (${site.url})`, async () => {
      const run = await browse(server, token, { site, query });
      expect(run.actions).toEqual(expected);
      agrees(run);
    });
  }

  test('a question, answered from the page', async () => {
    const { last } = await browse(server, token, { site: list, query: 'what is the price on this page?' });
    expect(last.data.thought).toContain('$21.00');
  });

  test('no instructions of a page', async () => {
    const { state } = await browse(server, token, { site: misleading, query: 'what does this page say?' });
    expect(state.notes.transferred).toBeUndefined();
    expect(state.values[2]).toBeUndefined();
  });
});

describe('an impossible task ends with a question or a reason', () => {
  test('an element that is not on the page leads to a question, and the answer is used', async () => {
    const asked = await browse(server, token, { site: form, query: 'click the Rocket button' });
    expect(asked.last.data.status).toBe('needs_user_input');
    expect(asked.last.data.userQuestion).toBeString();
    expect(asked.last.userQuestion).toBe(asked.last.data.userQuestion);
    const answered = await browse(server, token, {
      site: form,
      query: 'click the Rocket button',
      answers: ['click the Submit button'],
    });
    expect(answered.actions).toEqual(['click(4)', 'finish()']);
  });

  test('a quoted text is entered with its line breaks and spaces', async () => {
    const page = (text: string) => ({
      url: form.url,
      dom: `<textarea id="4" aria-label="Notes">${text}</textarea>`,
    });
    const text = 'line one\nline  two';
    const query = `please set\nthe notes  to "${text}"`;
    const { data } = await post(server, token, { ...page(''), query });
    expect(data.action).toBe(`setValue(4, "${text}")`);
    const ended = await post(server, token, { ...page(text), query, taskId: data.taskId });
    expect(ended.data.action).toBe('finish()');
  });

  test('an action that the browser cannot execute fails with the reason', async () => {
    const broken: Site = { ...form, breaks: () => 'Element is covered by another one.' };
    const run = await browse(server, token, { site: broken, query: 'click the Submit button' });
    expect(run.actions.at(-1)).toBe('fail()');
    expect(run.last.data).toMatchObject({ status: 'failed', verification: { success: false } });
    agrees(run);
  });

  test('an unchanged page is not clicked forever', async () => {
    const dead: Site = { ...form, breaks: () => null };
    const run = await browse(server, token, { site: dead, query: 'click the Submit button' });
    expect(run.actions).toEqual(['click(4)', 'fail()']);
    const { taskId, sessionId } = run.last.data;
    const again = await post(server, token, { taskId, sessionId, query: 'click the Submit button' });
    expect(again.data).toMatchObject({ status: 'failed', action: 'finish()' });
  });
});
