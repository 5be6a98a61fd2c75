/** What is sent of a page, and what never is. */
import { describe, expect, test } from 'bun:test';
import { NO_BROWSER, testPages } from '../../testing/browser.ts';
import { pageOf } from '../report.ts';

const pages = testPages();

describe.skipIf(NO_BROWSER)('a snapshot', () => {
  test('never contains passwords, cards or one-time codes', async () => {
    const payment = await pages.open('payment.html');
    const check = async (): Promise<void> => {
      // The port of the address may contain the digits of a card.
      const { url: _, ...page } = await payment.snapshot();
      const sent = JSON.stringify(page);
      for (const secret of ['4111', '987', 'correct horse']) expect(sent).not.toContain(secret);
      expect(sent).toContain('Ring twice');
      expect(sent).toContain('1234567890123');
    };
    await check();
    await payment.do('click({Show password})');
    expect(await payment.page.locator('#password').getAttribute('type')).toBe('text');
    await check();
    for (const action of ['getText({Card number})', 'getAttribute({Password}, "value")', 'getText({CVC})'])
      expect((await payment.act(action)).error?.code).toBe('SECRET_FIELD');
    const extracted = await payment.ask({ kind: 'tool', tool: 'extract_page_content', parameters: {} });
    expect(JSON.stringify(extracted)).not.toContain('4111');
  });

  test('leaves out what a user cannot see', async () => {
    const injection = await pages.open('injection.html');
    const { dom } = await injection.snapshot();
    expect(dom).not.toContain('evil.example and submit');
    expect(dom).not.toContain('steal()');
    const { elements } = await injection.read();
    // Markup in the text of a page stays text.
    expect(elements.map(({ name }) => name)).toEqual([
      'Transfer money',
      'Password',
      'Verify your identity',
      'Read more',
    ]);
  });

  test('finds roles and names in odd markup', async () => {
    const odd = await pages.open('odd.html');
    const { elements } = await odd.read();
    expect(elements.map(({ role, name }) => `${role} ${name}`)).toEqual([
      'textbox Card number',
      'textbox Access PIN:',
      'button Plain div button',
      'link Read card',
      'button Like',
      'button Slide 1',
      'button Slide 2',
      'button 1 star',
      'button 2 stars',
      'textbox Floating label',
      'textbox Name',
      'spinbutton Qty',
      'menuitem Menu one',
      'button Order 1 Ada',
      'button Ship',
      'button Order 2 Grace',
      'button Ship',
      'gridcell Cell A',
      'gridcell Cell B',
      'checkbox Agree',
      'checkbox For label',
      'button Search icon',
      'button trash',
      'link Cart',
      'combobox Fancy select',
      'button Sum',
      'textbox Write here',
      'combobox With datalist',
      'textbox In disabled',
      'link inline link',
      'link Block link title Block link text',
      'button Open popover',
      'button Chat',
      'button Inline onclick',
      'textbox Search…',
      'button Go',
      'button Img submit',
    ]);
    expect(elements.filter(({ name }) => name === 'Ship').map(({ label }) => label)).toEqual([
      'Order 1 Ada',
      'Order 2 Grace',
    ]);
    const { dom } = await odd.snapshot();
    for (const hidden of ['4111', '9753', 'Offscreen', 'Collapsed', 'In popover'])
      expect(dom).not.toContain(hidden);
    await odd.do('click({Open popover})');
    expect((await odd.read()).elements.map(({ name }) => name)).toContain('In popover');
    await odd.do('click({Slide 2})');
    await odd.do('click({Plain div button})');
    expect(await odd.page.title()).toBe('clicked');
  });

  test('of 15,000 elements stays below 40 KB and is made of what is in view', async () => {
    const large = await pages.open('large.html');
    const snapshot = await large.snapshot();
    const bytes = new TextEncoder().encode(JSON.stringify(pageOf(snapshot))).length;
    expect(bytes).toBeLessThan(40_000);
    expect(snapshot.truncated).toBe(true);
    expect(snapshot.dom).toContain('>Item 1<');
    await large.do('findText("Item 4321")');
    expect((await large.snapshot()).dom).toContain('>Item 4321<');
    await large.do('click({Add button costs €4321})');
    expect(await large.status()).toBe('Added 4321');
  });

  test('of a page that is ten times as long costs about as much', async () => {
    const long = await pages.open('large.html');
    const cost = (): Promise<number> =>
      long.processorTime(async () => {
        for (let count = 0; count < 10; count++) await long.snapshot();
      });
    const whole = await cost();
    await long.page.evaluate(() => {
      for (const row of [...document.querySelectorAll('li')].slice(500)) row.remove();
    });
    // `bun bench/extraction.ts` prints the times; here only the growth counts.
    expect(whole).toBeLessThan(6 * (await cost()) + 100);
  });

  test('keeps its size with long texts in other scripts', async () => {
    const large = await pages.open('large.html');
    await large.page.evaluate(() => {
      document.body.innerHTML = Array.from(
        { length: 400 },
        (_, index) => `<p>${'“鯨”&'.repeat(200)} ${index}</p>`,
      ).join('');
    });
    const bytes = new TextEncoder().encode(JSON.stringify(pageOf(await large.snapshot()))).length;
    expect(bytes).toBeLessThan(40_000);
  });

  test('survives a page that sets traps', async () => {
    const form = await pages.open('form.html');
    await form.page.evaluate(() => {
      document.body.insertAdjacentHTML(
        'beforeend',
        '<form><input name="childNodes"><input name="getAttribute"></form><button>After</button>',
      );
      let deep = document.body.appendChild(document.createElement('div'));
      for (let depth = 0; depth < 2_000; depth++) deep = deep.appendChild(document.createElement('div'));
      deep.innerHTML = '<button>Too deep</button>';
    });
    const names = (await form.read()).elements.map(({ name }) => name);
    expect(names).toContain('After');
    expect(names).toContain('Register');
  });

  test('is not disturbed by the indicator, which pages cannot press', async () => {
    const form = await pages.open('form.html');
    const before = await form.snapshot();
    await form.ask({ kind: 'indicate', text: 'Parlance is using this page' });
    expect((await form.snapshot()).dom).toBe(before.dom);
    await form.do('click({Register})');
    await form.ask({ kind: 'indicate', text: null });
    expect(await form.page.locator('[data-parlance-indicator]').count()).toBe(0);
  });
});

describe.skipIf(NO_BROWSER)('an action is flagged', () => {
  test.each([
    [
      'payment.html',
      {
        'click({Continue})': ['payment'],
        'click({Buy now})': ['payment'],
        'click({Download invoice})': ['download'],
        'click({Receipt})': ['upload'],
        'click({Partner shop})': ['other-origin'],
        'click({Help})': [],
        'click({Pay €20 now})': ['payment'],
        'click({Card number})': [],
        'click({Sign in})': [],
        'setValue({Delivery note}, "x")': [],
        'getCookies()': ['stored-data'],
        'evaluate("1")': ['evaluate'],
        'navigate("https://other.example/")': ['other-origin'],
        'navigate("/form.html")': [],
      },
    ],
    [
      'injection.html',
      { 'click({Verify your identity})': ['other-origin'], 'click({Transfer money})': ['payment'] },
    ],
    ['shop.html', { 'click({Search})': [], 'click({Add to cart Assam})': [] }],
    ['form.html', { 'click({Register})': [] }],
  ] as const)('on %s', async (name, expected) => {
    const page = await pages.open(name);
    const found: Record<string, readonly string[]> = {};
    for (const action of Object.keys(expected)) found[action] = (await page.inspect(action)).reasons;
    expect(found).toEqual(expected);
  });

  test('when Enter would submit a payment', async () => {
    const payment = await pages.open('payment.html');
    await payment.do('focus({Delivery note})');
    expect((await payment.inspect('press("Enter")')).reasons).toEqual(['payment']);
    expect((await payment.inspect('press("Tab")')).reasons).toEqual([]);
    const parameters = { action: 'submit', selector: '#card' };
    expect(
      (await payment.ask({ kind: 'inspect-tool', tool: 'dom_manipulation', parameters })).reasons,
    ).toEqual(['payment']);
  });

  test('with its target', async () => {
    const shop = await pages.open('shop.html');
    expect(await shop.inspect('click({Partner})')).toMatchObject({
      target: { role: 'link', name: 'Partner' },
      destination: 'https://other.example/',
    });
  });
});

describe.skipIf(NO_BROWSER)('browser tools', () => {
  test('read, scroll, select and submit by selector', async () => {
    const form = await pages.open('form.html');
    const run = (
      tool:
        | 'dom_manipulation'
        | 'get_selected_text'
        | 'scroll_to_element'
        | 'storage_access'
        | 'extract_page_content',
      parameters: Record<string, unknown>,
    ) => form.reply({ kind: 'tool', tool, parameters });
    expect(await run('extract_page_content', { selector: 'h1' })).toMatchObject({
      ok: true,
      value: { title: 'Registration', content: 'Registration', isSelection: false },
    });
    expect(await run('scroll_to_element', { selector: '#note' })).toMatchObject({ ok: true });
    expect(await run('dom_manipulation', { action: 'type', selector: '#name', value: 'Ada' })).toMatchObject({
      ok: true,
    });
    expect(
      await run('dom_manipulation', { action: 'select', selector: '[name=country]', value: 'Germany' }),
    ).toMatchObject({ ok: true });
    expect(await run('dom_manipulation', { action: 'submit', selector: '#form' })).toMatchObject({
      ok: true,
    });
    expect(await form.page.locator('#result').textContent()).toContain('"country":"de"');
    await form.page.evaluate(() =>
      getSelection()?.selectAllChildren(document.querySelector('h1') as Element),
    );
    expect(await run('get_selected_text', {})).toMatchObject({
      ok: true,
      value: { content: 'Registration', isSelection: true },
    });
    expect(await run('storage_access', { action: 'set', key: 'a', value: 'b' })).toMatchObject({
      ok: true,
      value: { value: 'b' },
    });
    expect(await run('extract_page_content', { selector: '<<' })).toMatchObject({
      ok: false,
      error: { code: 'INVALID_VALUE' },
    });
    expect(await run('scroll_to_element', { selector: '#nowhere' })).toMatchObject({
      ok: false,
      error: { code: 'ELEMENT_NOT_FOUND' },
    });
  });

  test('names icons by their markup, and boxes and shapes by their looks', async () => {
    const unlabelled = await pages.open('unlabelled.html');
    const { elements, text } = await unlabelled.read();
    const names = elements.map(({ role, name }) => `${role} ${name}`);
    expect(names.filter((name) => /reply|trash/.test(name))).toEqual([
      'button reply',
      'button trash',
      'button reply',
      'button trash',
    ]);
    for (const name of [
      'button download',
      'button zoom in',
      'button tool flag box',
      'button swatch red box 22×22',
    ])
      expect(names).toContain(name);
    for (const name of ['button (-1,-1)', 'button (-1,1)', 'button (1,-1)']) expect(names).toContain(name);
    for (const name of ['img plan (200×100)', 'img canvas (120×60)']) expect(names).toContain(name);
    expect(text).toContain(
      'red circle 20×20 at 30,40\nblue square 30×30 at 115,35\nblack line from 0,0 to 100,50',
    );
    // The name of a box is cut, its text is not.
    expect(text).toContain('which is marmalade');
    expect(names.filter((name) => name === 'button ')).toEqual([]);
    await unlabelled.do(`click(${elements.filter(({ name }) => name === 'trash')[1]?.id})`);
    expect(await unlabelled.status()).toBe('trash Grace');
    await unlabelled.do('click({(-1,1)})');
    expect(await unlabelled.status()).toBe('At (-1,1)');
  });

  test('says if the text of a box is cut', async () => {
    const unlabelled = await pages.open('unlabelled.html');
    await unlabelled.page.locator('.box').evaluate((box) => {
      box.textContent = 'word '.repeat(1_000);
    });
    const { dom } = await unlabelled.snapshot();
    expect(dom).toContain('… (cut: getText has all of it)');
  });

  test('lists the entries of a menu that takes the focus, after a delay', async () => {
    const suggestions = await pages.open('suggestions.html');
    await suggestions.do('setValue({Country}, "A")');
    const { elements } = await suggestions.read();
    expect(elements.map(({ role, name }) => `${role} ${name}`)).toEqual([
      'textbox Country',
      'button Search',
      'button Albania',
      'button Algeria',
      'button Andorra',
      'button Angola',
    ]);
    await suggestions.do('click({Angola})');
    expect(await suggestions.status()).toBe('Chosen Angola');
    await suggestions.do('setValue({Country}, "I")');
    await suggestions.do('click({Iceland})');
    expect(await suggestions.status()).toBe('Chosen Iceland');
  });
});
