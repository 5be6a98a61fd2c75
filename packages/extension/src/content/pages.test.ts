/** Pages that change, scroll, load, navigate, or consist of several documents. */
import { describe, expect, test } from 'bun:test';
import { NO_BROWSER, testPages } from '../../testing/browser.ts';

const pages = testPages();

/** The page loads its first stories with a request. */
async function openFeed() {
  const feed = await pages.open('scroll.html');
  await feed.page.getByText('Story 10', { exact: true }).waitFor();
  return feed;
}

describe.skipIf(NO_BROWSER)('scrolling', () => {
  test('the page, until it has loaded more', async () => {
    const feed = await openFeed();
    expect((await feed.read()).text).not.toContain('Story 15');
    const done = await feed.do('scroll(true, 5)');
    expect(done.value).toMatchObject({ atStart: false });
    expect(done.seen).toMatchObject({ didNetworkOccur: true, didDomMutate: true });
    await feed.do('click({Open Story 15})');
    expect(await feed.status()).toBe('Opened Story 15');
    expect((await feed.do('scroll(false, 100)')).value).toMatchObject({ atStart: true });
  });

  test('a container, by one of its elements', async () => {
    const feed = await pages.open('scroll.html');
    const done = await feed.do('scroll(true, 2, {Country 1})');
    expect(done.value).toMatchObject({ moved: 360, atStart: false });
    await feed.do('click({Country 57})');
    expect(await feed.status()).toBe('Country 57');
  });

  test('a virtual list', async () => {
    const feed = await pages.open('scroll.html');
    await feed.do('scroll(true, 3, {Row 1})');
    expect((await feed.read()).elements.map(({ name }) => name)).not.toContain('Row 1');
    await feed.do('click({Row 19})');
    expect(await feed.status()).toBe('Row 19');
  });

  test('to a text', async () => {
    const feed = await openFeed();
    expect((await feed.do('findText("story 10")')).value).toEqual({ found: 1, context: 'Story 10' });
    expect(await feed.page.evaluate(() => scrollY)).toBeGreaterThan(500);
  });
});

describe.skipIf(NO_BROWSER)('documents in documents', () => {
  test('frames of the same origin are part of the page, others are not', async () => {
    const frames = await pages.open('frames.html');
    const { elements, text } = await frames.read();
    expect(elements.map(({ name }) => name)).toEqual([
      'Outer button',
      'Your email',
      'Join newsletter',
      'Leave newsletter',
      'Deep button',
    ]);
    expect(text).toContain('frame of another site: http://localhost');
    expect(text).not.toContain('advert');
    await frames.do('setValue({Your email}, "ada@example.com")');
    await frames.do('click({Join newsletter})');
    expect((await frames.read()).text).toContain('Joined as ada@example.com');
    await frames.do('click({Deep button})');
    expect((await frames.read()).elements.at(-1)?.name).toBe('Deep clicked');
    await frames.do('click({Leave newsletter})');
    await frames.do('acceptDialog()');
    expect((await frames.read()).text).toContain('Left');
  });

  test('shadow roots and slots are part of the page', async () => {
    const shadow = await pages.open('shadow.html');
    for (const [action, status] of [
      ['click({Slotted action})', 'Slotted action'],
      ['click({Shadow button})', 'Shadow clicked'],
      ['selectDropdown({Deep option}, "Two")', 'Deep Two'],
      ['setValue({City}, "Bern")', 'City Bern'],
    ] as const) {
      await shadow.do(action);
      expect(await shadow.status()).toBe(status);
    }
  });
});

describe.skipIf(NO_BROWSER)('a page that changes', () => {
  test('is waited for while it loads', async () => {
    const slow = await pages.open('slow.html');
    const done = await slow.do('click({Load report})');
    expect(done.seen).toMatchObject({ didNetworkOccur: true, didDomMutate: true });
    expect((await slow.read()).text).toContain('Sales rose by 12 percent.');
    await slow.do('click({Print report})');
    expect(await slow.status()).toBe('Printed');
  });

  test('keeps its numbers, also for elements that it renders again', async () => {
    const slow = await pages.open('slow.html');
    const before = await slow.read();
    const restless = await slow.find('Restless button');
    await slow.do('wait(0.7)');
    const after = await slow.read();
    expect(after.elements.map(({ id, name }) => [id, name])).toEqual(
      before.elements.map(({ id, name }) => [id, name]),
    );
    await slow.do('wait(0.7)');
    await slow.do(`click(${restless})`);
    expect(await slow.status()).toBe('Caught');
  });

  test('reports an element that is gone', async () => {
    const slow = await pages.open('slow.html');
    const id = await slow.find('Replace me');
    await slow.do(`click(${id})`);
    const { error, elementFound } = await slow.act(`click(${id})`);
    expect({ error, elementFound }).toMatchObject({
      error: { code: 'ELEMENT_NOT_FOUND', elementId: id },
      elementFound: false,
    });
    expect(error?.message).toContain('no longer on the page');
  });

  test('does not take another row for one that is gone', async () => {
    const table = await pages.open('table.html');
    await table.do('setValue({Filter}, "Grace")');
    const id = await table.find('Delete Grace Hopper');
    await table.page.locator('#filter').fill('Alan');
    expect((await table.act(`click(${id})`)).error?.code).toBe('ELEMENT_NOT_FOUND');
    await table.page.locator('#filter').fill('Hopper');
    await table.do(`click(${id})`);
    await table.do('acceptDialog()');
    await table.page.locator('#filter').fill('');
    expect(await table.page.locator('#rows').innerText()).not.toContain('Grace');
  });

  test('navigates without loading', async () => {
    const spa = await pages.open('spa.html');
    const done = await spa.do('click({New note})');
    expect(done.seen).toMatchObject({ didUrlChange: true });
    expect(done.previousUrl).not.toBe(done.seen.url);
    await spa.do('setValue({Title}, "Tea")');
    await spa.do('setValue({Text}, "Buy Assam")');
    await spa.do('click({Save note})');
    const { title, text } = await spa.read();
    expect([title, text]).toEqual(['Tea', 'Tea\nBuy Assam\nAll notes']);
    await spa.do('click({All notes})');
    expect((await spa.read()).elements.map(({ name }) => name)).toEqual([
      'Groceries',
      'Ideas',
      'Tea',
      'New note',
    ]);
  });

  test('opens tabs through the background worker', async () => {
    const shop = await pages.open('shop.html');
    const link = await shop.do('click({About us})');
    expect(link.seen.openedUrls).toEqual([expect.stringMatching(/\/shop-about\.html$/)]);
    expect(link.seen.didUrlChange).toBe(false);
  });

  test('renders a table again after each action', async () => {
    const table = await pages.open('table.html');
    await table.do('click({Ship Grace Hopper})');
    expect((await table.read()).text).toContain('Grace Hopper | €27 | shipped');
    await table.do('click({Delete Alan Turing})');
    expect((await table.read()).text).toContain('Alan Turing');
    await table.do('acceptDialog()');
    expect((await table.read()).text).not.toContain('Alan Turing');
    await table.do('setValue({Filter}, "knuth")');
    expect((await table.read()).text).toContain('Donald Knuth');
    expect((await table.read()).text).not.toContain('Ada');
  });
});
