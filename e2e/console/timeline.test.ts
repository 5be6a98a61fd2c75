/** Tools for debugging clients: the timeline of a session, and the playground. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Locator, Page } from 'playwright-core';
import { until } from '../../packages/server/src/testing/until.ts';
import { NO_BROWSER } from './chromium.ts';
import { type Console, chooseOption, openConsole, removed, submitInput, titled, visible } from './console.ts';
import { everyScreen } from './every-screen.ts';

let app: Console;
let page: Page;

/** In the same tab, like a link. */
const goTo = (path: string) => page.goto(`${app.server.http}/#${path}`);

const event = (page: Page, type: string) =>
  page.getByRole('article', { name: new RegExp(`^Event \\d+: ${type}$`) });
const frame = (page: Page, words: string) =>
  page.getByRole('article', { name: new RegExp(`^Frame \\d+ ${words}$`) });

/** Scrolls up from the end until it is in the document, as often as needed: only visible rows are. */
const SCROLL_UP = `(async () => {
  const list = document.querySelector('.entries');
  if (!list) return;
  const isFirst = list.scrollTop <= 0;
  list.scrollTop = isFirst ? list.scrollHeight : list.scrollTop - list.clientHeight / 2;
  await new Promise((resolve) => setTimeout(resolve, 50));
})()`;

async function reveal(entry: Locator): Promise<void> {
  await until(async () => {
    if ((await entry.count()) > 0) return true;
    await page.evaluate(SCROLL_UP);
  });
  await visible(entry.first());
}

/** Events and frames are tabs where there is no room for both. */
async function showTab(name: 'Events' | 'Frames'): Promise<void> {
  const tab = page.getByRole('tab', { name });
  if (await tab.isVisible()) await tab.click();
}

async function openFilters(): Promise<void> {
  const button = page.getByRole('button', { name: 'Filters', expanded: false });
  if (await button.isVisible()) await button.click();
}

describe.skipIf(NO_BROWSER)('timeline and playground', () => {
  beforeAll(async () => {
    app = await openConsole();
    page = await app.open();
  });
  afterAll(() => app?.stop());
  afterEach(() => expect(app.problems()).toEqual([]));

  test('it starts with the list of sessions, and names the one that is chosen', async () => {
    await submitInput(app.server, 'first', 'Water the plants');
    await submitInput(app.server, 'second', 'Feed the cat');
    await goTo('/timeline');
    const sessions = page.getByRole('list', { name: 'Sessions' });
    await visible(sessions.getByRole('link', { name: 'Feed the cat' }));
    await page.locator('#main').getByRole('searchbox', { name: 'Search sessions' }).fill('plants');
    await removed(sessions.getByRole('link', { name: 'Feed the cat' }));
    await sessions.getByRole('link', { name: 'Water the plants' }).click();
    await page.waitForURL(/#\/timeline\/first$/);
    await visible(page.getByRole('heading', { name: 'Timeline: Water the plants', exact: true }));
    await titled(page, 'Timeline: Water the plants · Parlance');
    await page.locator('#main').getByRole('link', { name: 'Chat' }).click();
    await page.waitForURL(/#\/sessions\/first$/);
    await goTo('/timeline/no-such-session');
    await page.getByRole('link', { name: 'Choose another session' }).click();
    await visible(sessions.getByRole('link', { name: 'Feed the cat' }));
    app.problems(); // the browser reports the response
  });

  test('a turn is a waterfall of steps and calls, two can be compared, and messages lead to it', async () => {
    for (const text of ['echo one', 'echo two and then count to 3'])
      await submitInput(app.server, 'measured', text);
    await goTo('/sessions/measured');
    const ends = page.locator('.turn-end-line');
    await until(async () => (await ends.count()) === 2);
    await ends.first().getByTitle('Show in the timeline').click();
    await page.waitForURL(/#\/timeline\/measured\?turn=/);
    const turn = page.getByRole('region', { name: 'Turn' });
    await visible(turn.getByRole('caption').filter({ hasText: 'echo one' }));
    await visible(turn.getByRole('row', { name: /^Step 1 / }));
    const call = turn.getByRole('row', { name: /^echo / });
    await visible(call);
    // Without clients there are no frames.
    expect(await page.getByRole('heading', { name: /^Frames/ }).count()).toBe(0);
    expect(await page.getByRole('tab').count()).toBe(0);
    await call.getByRole('button', { name: 'echo' }).click();
    await visible(event(page, 'call.requested').first());
    await until(async () => (await page.evaluate('document.activeElement?.dataset.entry')) !== undefined);
    await chooseOption(turn.getByLabel('Compare with'), '2. echo two and then count to 3');
    await visible(turn.getByRole('columnheader', { name: 'Difference' }));
    expect(await turn.getByRole('caption').count()).toBe(3);
    await everyScreen(page, 'timeline-compare');
    await chooseOption(turn.getByLabel('Compare with'), 'nothing');
    await everyScreen(page, 'timeline-turn');
    await page.goBack();
    await page.getByTitle('Show in the timeline').first().click();
    await page.waitForURL(/#\/timeline\/measured\?event=/);
    await visible(turn.getByRole('caption').filter({ hasText: 'echo one' }));
    await reveal(event(page, 'input.accepted').first());
  });

  test('past events and live frames are shown together and can be filtered', async () => {
    await submitInput(app.server, 'watched', 'hello');
    await goTo('/timeline/watched');
    await visible(event(page, 'session.created'));
    await visible(event(page, 'turn.ended'));

    const [one, other] = [
      await app.server.connect('/agentloop?session=watched'),
      await app.server.connect('/broadcast?session=watched'),
    ];
    await visible(
      page
        .locator('#main')
        .getByText(/agentloop/)
        .first(),
    );
    const content = [{ type: 'input_text', text: 'echo hello' }];
    one.send({
      id: 'm',
      type: 'user_input',
      payload: { input: [{ type: 'message', role: 'user', content }] },
    });
    await showTab('Frames');
    await reveal(frame(page, 'to agentloop: agent_finished'));
    await reveal(frame(page, 'to broadcast: agent_message'));
    await reveal(frame(page, 'from agentloop: user_input'));

    await openFilters();
    await chooseOption(page.getByLabel('Dialect'), 'broadcast');
    await removed(frame(page, 'from agentloop: user_input'));
    await reveal(frame(page, 'to broadcast: agent_message'));
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await showTab('Events');
    await chooseOption(page.getByLabel('Event type'), 'input.accepted');
    await removed(event(page, 'session.created'));
    await reveal(event(page, 'input.accepted'));
    await page.getByRole('button', { name: 'Clear filters' }).click();

    // The exact frame, expanded.
    await showTab('Frames');
    const sent = frame(page, 'from agentloop: user_input');
    // Frames that arrive meanwhile can move it out of view again.
    await until(async () => {
      await reveal(sent);
      const click = sent.getByRole('button').first().click({ timeout: 1_000 });
      return click.then(
        () => true,
        () => false,
      );
    });
    await visible(sent.getByText('"echo hello"'));
    other.close();
  });

  test('pausing stops updates, and resuming shows the missed ones', async () => {
    await submitInput(app.server, 'paused', 'hello');
    await goTo('/timeline/paused');
    await visible(event(page, 'turn.ended'));
    await page.getByRole('button', { name: 'Pause' }).click();
    const chat = await app.openBeside(page, '/sessions/paused');
    await submitInput(app.server, 'paused', 'hello once more');
    await visible(chat.locator('.said').getByText('hello once more'));
    expect(await page.getByText('hello once more').count()).toBe(0);
    await page.getByRole('button', { name: 'Resume' }).click();
    await visible(event(page, 'input.accepted').nth(1));
    await chat.close();
  });

  test("two dialects side by side on one session: each shows the other's messages in its own frames", async () => {
    await goTo('/playground?session=played&left=agentloop&right=broadcast');
    const [left, right] = [
      page.getByRole('region', { name: 'First pane: agentloop' }),
      page.getByRole('region', { name: 'Second pane: broadcast' }),
    ];
    for (const pane of [left, right]) {
      await pane.getByRole('button', { name: 'Connect', exact: true }).click();
      await visible(pane.getByText(/^connected as/));
    }
    await chooseOption(left.getByLabel('Insert'), 'user_input: Send a message');
    await left.getByRole('button', { name: 'Send' }).click();
    await visible(left.getByRole('article', { name: /received: agent_finished$/ }));
    // The answer may have moved it out of view.
    await left.locator('.entries').evaluate((list) => Object.assign(list, { scrollTop: 0 }));
    await visible(left.getByRole('article', { name: /sent: user_input$/ }));
    const message = right.getByRole('article', { name: /received: agent_message$/ });
    await message.getByRole('button').first().click();
    await visible(message.getByText(/1 2 3 4 5/).last());
  });

  test('invalid JSON is reported, and can be sent as it is', async () => {
    await goTo('/');
    // Changing the address twice at once would not reload the page.
    await page.getByRole('region', { name: /pane:/ }).first().waitFor({ state: 'detached' });
    await goTo('/playground?session=broken&left=agentloop&right=none');
    const pane = page.getByRole('region', { name: 'First pane: agentloop' });
    await pane.getByRole('button', { name: 'Connect', exact: true }).click();
    await visible(pane.getByText(/^connected as/));
    await pane.getByRole('textbox', { name: 'Frame to send' }).fill('{"type": ');
    await visible(pane.getByText(/^Not JSON/));
    await pane.getByRole('button', { name: 'Send as is' }).click();
    await visible(pane.getByRole('article', { name: /received: error$/ }));
  });
});
