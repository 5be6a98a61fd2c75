/** Every action of the grammar in a real browser, on pages that check it with real events. */
import { describe, expect, test } from 'bun:test';
import { NO_BROWSER, testPages } from '../../testing/browser.ts';

const pages = testPages();

describe.skipIf(NO_BROWSER)('a form', () => {
  test('is filled in with every kind of field', async () => {
    const form = await pages.open('form.html');
    await form.do('setValue({Full name}, "Ada Lovelace")');
    await form.do('setValue({Email address}, "ada@example.com")');
    await form.do('setValue({Phone number}, "+44 20 7946")');
    await form.do('setValue({About you}, "First line\nSecond line")');
    await form.do('selectDropdown({Country}, "Iceland")');
    await form.do('selectDropdown({Languages}, "English, German")');
    await form.do('check({Team})');
    await form.do('check({I accept the terms})');
    await form.do('check({Dark mode})');
    await form.do('click({Newsletter})');
    await form.do('setValue({Age}, "36")');
    await form.do('setValue({Volume}, "8")');
    await form.do('setValue({Favourite colour}, "rebeccapurple")');
    await form.do('setValue({Birthday}, "December 10, 1985")');
    await form.do('setValue({Wake-up time}, "6:30 am")');
    await form.do('setValue({Code}, "ABCDEF")');
    await form.do('setValue({Note}, "Hello there")');
    await form.do('click({Register})');
    expect(await form.page.locator('#result h2').textContent()).toBe('Thank you, Ada Lovelace');
    expect(JSON.parse((await form.page.locator('#result pre').textContent()) ?? '')).toEqual({
      name: 'Ada Lovelace',
      email: 'ada@example.com',
      phone: '+44 20 7946',
      about: 'First line\nSecond line',
      country: 'is',
      languages: 'English+German',
      plan: 'team',
      terms: 'on',
      dark: 'on',
      news: 'on',
      age: '36',
      volume: '8',
      colour: '#663399',
      birthday: '1985-12-10',
      wake: '06:30',
      code: 'ABCD',
      customer: 'C-1001',
      note: 'Hello there',
    });
  });

  test('replaces what a field holds, and clears it', async () => {
    const form = await pages.open('form.html');
    await form.do('setValue({Full name}, "One")');
    await form.do('setValue({Full name}, "Two")');
    expect(await form.page.locator('#name').inputValue()).toBe('Two');
    await form.do('setValue({Full name}, "")');
    expect(await form.page.locator('#name').inputValue()).toBe('');
  });

  test('is submitted with Enter, after typing key by key', async () => {
    const form = await pages.open('form.html');
    await form.do('focus({Full name})');
    await form.do('type("Grace")');
    await form.do('press("Backspace")');
    await form.do('press("Tab")');
    expect(await form.page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('email');
    await form.do('press("Shift+Tab")');
    await form.do('press("Enter")');
    expect(await form.page.locator('#result h2').textContent()).toBe('Thank you, Grac');
  });

  test('checks and unchecks once, whatever the state', async () => {
    const form = await pages.open('form.html');
    await form.do('check({I accept the terms})');
    await form.do('check({I accept the terms})');
    expect(await form.page.locator('[name=terms]').isChecked()).toBe(true);
    await form.do('uncheck({I accept the terms})');
    await form.do('uncheck({Dark mode})');
    expect(await form.page.locator('[name=terms]').isChecked()).toBe(false);
    expect(await form.page.locator('[name=dark]').isChecked()).toBe(false);
  });

  test('says what is wrong with an action', async () => {
    const form = await pages.open('form.html');
    for (const [action, code, message] of [
      ['type("x")', 'NOT_EDITABLE', 'No field has the focus'],
      ['click(999)', 'ELEMENT_NOT_FOUND', 'There is no element 999 on the page.'],
      ['click({Not yet})', 'ELEMENT_DISABLED', 'is disabled'],
      ['setValue({Customer number}, "C-2")', 'NOT_EDITABLE', 'is read-only'],
      ['setValue({I accept the terms}, "yes")', 'NOT_EDITABLE', 'use check'],
      ['setValue({Country}, "Iceland")', 'NOT_EDITABLE', 'use selectDropdown'],
      ['setValue({Birthday}, "soon")', 'INVALID_VALUE', 'a date such as 2026-12-24'],
      ['setValue({Age}, "old")', 'INVALID_VALUE', 'a number'],
      ['selectDropdown({Country}, "Norway")', 'OPTION_NOT_FOUND', '"Choose…", "Germany", "Iceland", "Malta"'],
      ['selectDropdown({Country}, "Malta")', 'OPTION_NOT_FOUND', 'is disabled'],
      ['selectDropdown({Register}, "x")', 'NOT_A_LIST', 'is not a list'],
      ['uncheck({Free})', 'NOT_CHECKABLE', 'choose another one'],
      ['check({Full name})', 'NOT_CHECKABLE', 'not a box to tick'],
      ['click({Picture})', 'USER_NEEDED', 'only the user can choose'],
      ['click({Country})', 'UNSUPPORTED', 'use selectDropdown'],
      ['press("Anykey")', 'UNSUPPORTED', 'is not a key'],
      ['findText("unicorn")', 'TEXT_NOT_FOUND', 'is not on the page'],
      ['acceptDialog()', 'NO_DIALOG', 'No dialog is open.'],
    ] as const) {
      const done = await form.act(action);
      expect([action, done.error?.code]).toEqual([action, code]);
      expect(done.error?.message).toContain(message);
      expect(done).toMatchObject({ success: false, elementFound: code !== 'ELEMENT_NOT_FOUND' });
    }
  });

  test('is read', async () => {
    const form = await pages.open('form.html');
    expect((await form.do('getText({Customer number})')).value).toBe('C-1001');
    expect((await form.do('getAttribute({Email address}, "placeholder")')).value).toBe('you@example.com');
    expect((await form.do('getAttribute({Volume}, "value")')).value).toBe('5');
    expect((await form.do('isEnabled({Not yet})')).value).toBe(false);
    expect((await form.do('isVisible({Register})')).value).toBe(true);
    expect((await form.do('dropdownOptions({Country})')).value).toContainEqual({
      value: 'mt',
      text: 'Malta',
      selected: false,
      disabled: true,
    });
    await form.page.evaluate(() => {
      localStorage.setItem('cart', 'tea');
      // biome-ignore lint/suspicious/noDocumentCookie: the page's own cookie
      document.cookie = 'seen=yes';
    });
    expect((await form.do('getLocalStorage()')).value).toEqual({ cart: 'tea' });
    expect((await form.do('getCookies()')).value).toEqual({ seen: 'yes' });
  });
});

describe.skipIf(NO_BROWSER)('a React form', () => {
  test('notices what is entered, formats it and enables its button', async () => {
    const react = await pages.open('react.html');
    expect((await react.act('click({Send order})')).error?.code).toBe('ELEMENT_DISABLED');
    await react.do('setValue({Customer}, "Ada")');
    await react.do('setValue({Phone}, "123456789")');
    await react.do('selectDropdown({Tea}, "Sencha")');
    await react.do('check({I agree})');
    await react.do('setValue({Filter}, "dar")');
    expect(await react.page.locator('li').allTextContents()).toEqual(['Darjeeling']);
    await react.do('click({Send order})');
    expect(await react.status()).toBe('Ada orders Sencha, phone 123456');
    await react.do('hover({Rare teas})');
    await react.do('click({Gyokuro})');
    expect(await react.status()).toBe('Gyokuro chosen');
  });
});

describe.skipIf(NO_BROWSER)('menus and widgets', () => {
  test('a menu that opens by style alone', async () => {
    const menus = await pages.open('menus.html');
    expect((await menus.read()).elements.map(({ name }) => name)).not.toContain('Phones');
    await menus.do('hover({Products})');
    const done = await menus.do('click({Phones})');
    expect(done.seen.didUrlChange).toBe(true);
    expect(await menus.status()).toBe('Opened phones');
    await menus.do('click({Actions})');
    expect((await menus.read()).elements.map(({ name }) => name)).not.toContain('Phones');
  });

  test('menus that open by events', async () => {
    const menus = await pages.open('menus.html');
    await menus.do('hover({Account})');
    await menus.do('click({Sign out})');
    expect(await menus.status()).toBe('Signed out');
    await menus.do('click({Actions})');
    await menus.do('click({Archive})');
    expect(await menus.status()).toBe('Archive chosen');
    await menus.do('rightClick({report.txt})');
    await menus.do('click({Duplicate})');
    expect(await menus.status()).toBe('Duplicated');
    await menus.do('doubleClick({report.txt})');
    expect(await menus.status()).toBe('Opened report.txt');
    await menus.do('click({More information})');
    await menus.do('click({Use details})');
    expect(await menus.status()).toBe('Details used');
    await menus.do('click({Prices})');
    expect((await menus.read()).text).toContain('Everything costs €5.');
  });

  test('custom lists, sliders, switches and clickable boxes', async () => {
    const widgets = await pages.open('widgets.html');
    await widgets.do('click({Add to cart Teapot})');
    expect(await widgets.status()).toBe('Teapot added');
    expect((await widgets.do('dropdownOptions({Fruit})')).value).toMatchObject([
      { value: 'apple', text: 'Apple' },
      { value: 'pear' },
      { text: 'Durian', disabled: true },
    ]);
    await widgets.do('selectDropdown({Fruit}, "Pear")');
    expect(await widgets.status()).toBe('Fruit pear');
    await widgets.do('setValue({City}, "Berg")');
    await widgets.do('click({Bergen})');
    expect(await widgets.status()).toBe('City Bergen');
    await widgets.do('setValue({Brightness}, "75")');
    expect((await widgets.do('getAttribute({Brightness}, "aria-valuenow")')).value).toBe('75');
    await widgets.do('setValue({Guests}, "4")');
    expect((await widgets.do('getText({Guests})')).value).toBe('4');
    expect((await widgets.act('setValue({Guests}, "40")')).error?.message).toContain('1 to 9');
    await widgets.do('check({Notifications})');
    await widgets.do('check({Large})');
    expect(
      (await widgets.read()).elements.filter(({ state }) => state.checked).map(({ name }) => name),
    ).toEqual(['Notifications', 'Large']);
    await widgets.do('click({Settings})');
    expect(await widgets.status()).toBe('Settings');
    await widgets.do('click({main.ts})');
    expect(await widgets.status()).toBe('File main.ts');
    expect((await widgets.act('click({Unavailable})')).error?.code).toBe('ELEMENT_DISABLED');
    expect((await widgets.act('selectDropdown({Fruit}, "Mango")')).error?.message).toContain(
      '"Apple", "Pear"',
    );
  });

  test('dates, native and in a calendar', async () => {
    const dates = await pages.open('dates.html');
    await dates.do('setValue({Arrival}, "24.12.2026")');
    await dates.do('setValue({Check-in}, "2026-12-24 at 3:15 pm")');
    await dates.do('setValue({Month}, "December 2026")');
    await dates.do('click({Departure})');
    await dates.do('click({Next month})');
    await dates.do('click({December 31})');
    await dates.do('click({Book})');
    expect(await dates.page.locator('#result').textContent()).toBe(
      'Booked 2026-12-24 2026-12-24T15:15 2026-12 2026-12-31',
    );
  });

  test('drag and drop of draggable elements and with the pointer', async () => {
    const drag = await pages.open('drag.html');
    await drag.do('dragAndDrop({Fix bug}, {Done})');
    expect(await drag.status()).toBe('Fix bug is in Done');
    await drag.do('dragAndDrop({Write tests}, {Doing})');
    expect(await drag.status()).toBe('Write tests is in Doing');
    await drag.do('dragAndDrop({Knob}, {Bin})');
    expect(await drag.status()).toBe('Knob in the bin');
    await drag.do('dragAndDrop({Level}, {Mark})');
    expect(await drag.status()).toBe('Level set');
  });
});

describe.skipIf(NO_BROWSER)('dialogs', () => {
  test('do not block, and are accepted or dismissed afterwards', async () => {
    const dialogs = await pages.open('dialogs.html');
    const saved = await dialogs.do('click({Save})');
    expect(saved.seen.dialogs).toEqual([{ type: 'alert', message: 'Saved!' }]);
    await dialogs.do('acceptDialog()');
    expect(await dialogs.status()).toBe('Alert closed');
    await dialogs.do('click({Delete everything})');
    expect((await dialogs.read()).text).toContain('confirm dialog: Really delete everything?');
    await dialogs.do('dismissDialog()');
    expect((await dialogs.read()).text).not.toContain('confirm dialog');
    expect(await dialogs.status()).toBe('Kept');
    await dialogs.do('click({Delete everything})');
    await dialogs.do('acceptDialog()');
    expect(await dialogs.status()).toBe('Deleted');
    expect((await dialogs.act('acceptDialog()')).error?.code).toBe('NO_DIALOG');
    await dialogs.do('click({Greet})');
    await dialogs.do('type("Ada")');
    await dialogs.do('acceptDialog()');
    expect(await dialogs.status()).toBe('Hello Ada');
    await dialogs.do('click({Ask later})');
    await dialogs.do('acceptDialog()');
    expect(await dialogs.status()).toBe('Late yes');
  });

  test('are accepted the next time if what opened them has closed', async () => {
    const dialogs = await pages.open('dialogs.html');
    await dialogs.do('click({More})');
    await dialogs.do('click({Remove})');
    expect(await dialogs.status()).toBe('Not removed');
    const { error } = await dialogs.act('acceptDialog()');
    expect(error?.message).toContain('the dialog is accepted then');
    await dialogs.do('click({More})');
    await dialogs.do('click({Remove})');
    expect(await dialogs.status()).toBe('Removed');
    expect((await dialogs.read()).text).not.toContain('confirm dialog');
    await dialogs.do('click({Delete everything})');
    expect(await dialogs.status()).toBe('Kept');
  });

  test('belong to the user again after the task', async () => {
    const dialogs = await pages.open('dialogs.html');
    await dialogs.ask({ kind: 'release' });
    const messages: string[] = [];
    dialogs.page.on('dialog', (dialog) => {
      messages.push(dialog.message());
      void dialog.accept();
    });
    await dialogs.page.getByRole('button', { name: 'Delete everything' }).click();
    expect(messages).toEqual(['Really delete everything?']);
    expect(await dialogs.status()).toBe('Deleted');
  });

  test('a modal dialog hides the rest of the page', async () => {
    const dialogs = await pages.open('dialogs.html');
    const save = await dialogs.find('Save');
    await dialogs.do('click({Open native dialog})');
    expect((await dialogs.read()).elements.map(({ name }) => name)).toEqual(['Reason', 'Send reason']);
    expect((await dialogs.act(`click(${save})`)).error?.code).toBe('ELEMENT_COVERED');
    await dialogs.do('setValue({Reason}, "why")');
    await dialogs.do('click({Send reason})');
    expect(await dialogs.status()).toBe('Reason: why');
    await dialogs.do('click({Open native dialog})');
    await dialogs.do('press("Escape")');
    expect((await dialogs.read()).elements.length).toBeGreaterThan(5);
    await dialogs.do('click({Open custom dialog})');
    expect((await dialogs.read()).elements.map(({ name }) => name)).toEqual(['Yes, subscribe', 'No thanks']);
    const covered = await dialogs.act(`click(${save})`);
    expect(covered.error).toMatchObject({ code: 'ELEMENT_COVERED', elementId: save });
    await dialogs.do('click({No thanks})');
    expect(await dialogs.status()).toBe('No thanks');
  });

  test('sticky headers and banners do not take the click', async () => {
    const dialogs = await pages.open('dialogs.html');
    await dialogs.do('click({Low button})');
    expect(await dialogs.status()).toBe('Low clicked');
    await dialogs.page.evaluate(() => scrollTo(0, 140));
    await dialogs.do('click({Save})');
    expect(await dialogs.status()).toBe('Alert closed');
  });
});

describe.skipIf(NO_BROWSER)('points and text', () => {
  test('are clicked, hovered and dragged by offset', async () => {
    const points = await pages.open('points.html');
    await points.do('clickAt({board}, 40, 25)');
    expect(await points.status()).toBe('Clicked 40,25');
    await points.do('hoverAt({board}, 299, 99)');
    expect(await points.status()).toBe('Over 299,99');
    await points.do('drag({board}, 10, 20, {board}, 250, 80)');
    expect(await points.status()).toBe('Drawn 10,20 to 250,80 true');
    await points.do('draw({board}, "10,10 50,90 90,10 130,90 170,10")');
    expect(await points.status()).toBe('Drawn 10,10 to 170,10 true');
    expect((await points.act('draw({board}, "10,10")')).error?.message).toContain('takes 2 to 200 points');
    await points.do('clickAt({low}, 20, 880)');
    expect(await points.status()).toBe('Low 20,880');
    const { error } = await points.act('clickAt({board}, 301, 10)');
    expect(error?.message).toContain('has 300×100 pixels: 301,10 is outside of it');
    expect((await points.act('drag({board}, 10, 20, {board}, 10, 9000)')).error?.message).toContain(
      'is outside of the visible page',
    );
  });

  test('a click at a point is inspected for what it presses', async () => {
    const points = await pages.open('points.html');
    const box = await points.page.locator('#shop').evaluate((shop) => {
      const [outer, inner] = [shop, shop.querySelector('button')].map((each) =>
        each?.getBoundingClientRect(),
      );
      return { x: (inner?.x ?? 0) - (outer?.x ?? 0) + 9, y: (inner?.y ?? 0) - (outer?.y ?? 0) + 9 };
    });
    const shop = await points.find('Basket');
    const { reasons, target } = await points.inspect(
      `clickAt(${shop}, ${Math.round(box.x)}, ${Math.round(box.y)})`,
    );
    expect(target?.name).toBe('Pay now');
    expect(reasons).toContain('payment');
    expect((await points.inspect(`clickAt(${shop}, 2, 2)`)).reasons).toEqual([]);
  });

  test('text is selected on the page and in fields, or the action says that it was not', async () => {
    const points = await pages.open('points.html');
    const done = await points.do('selectText("quick brown fox")');
    expect(done.value).toEqual({ selected: 'quick brown fox' });
    expect(await points.status()).toBe('Marked quick brown fox');
    expect((await points.do('selectText("two", {Draft})')).value).toEqual({ selected: 'two' });
    expect(
      await points.page.locator('#draft').evaluate((field) => (field as HTMLTextAreaElement).selectionStart),
    ).toBe(4);
    expect((await points.do('selectText("", {Secret})')).value).toEqual({ selected: '••••' });
    expect((await points.act('selectText("Nobody may take")')).error?.message).toContain(
      'nothing is selected',
    );
    expect((await points.act('selectText("unheard of")')).error?.code).toBe('TEXT_NOT_FOUND');
  });

  test('is selected, copied and pasted with keys', async () => {
    const points = await pages.open('points.html');
    await points.do('click({Draft})');
    expect((await points.act('press("Control+v")')).error?.message).toContain('nothing was copied');
    expect((await points.do('press("Control+a")')).value).toEqual({ selected: 'One two three' });
    expect((await points.do('press("Control+c")')).value).toEqual({ copied: 'One two three' });
    await points.do('click({Copy})');
    expect((await points.act('press("Control+a")')).error?.message).toContain('Nothing was selected');
    await points.do('press("Control+v")');
    expect(await points.page.locator('#copy').inputValue()).toBe('One two three');
    await points.do('click({Secret})');
    await points.do('press("Control+a")');
    expect((await points.act('press("Control+c")')).error?.message).toContain('holds a secret');
  });

  test('a popup that a field opens over itself is named', async () => {
    const points = await pages.open('points.html');
    const { error } = await points.act('setValue({Nickname}, "Ada")');
    expect(error).toMatchObject({ code: 'ELEMENT_COVERED' });
    expect(error?.message).toContain('Your session ends soon. Stay');
    expect(await points.page.locator('#nick').inputValue()).toBe('');
    const join = await points.act('click({Join})');
    expect(join.error?.message).toContain('is covered by another element ("Your session ends soon. Stay")');
    await points.do('click({Stay})');
    await points.do('setValue({Nickname}, "Ada")');
    expect(await points.page.locator('#nick').inputValue()).toBe('Ada');
  });

  test('a click into a field says what has come over it', async () => {
    const points = await pages.open('points.html');
    const { value } = await points.do('click({Nickname})');
    expect(value).toEqual({ coveredBy: 'another element ("Your session ends soon. Stay")' });
  });

  test('a picker without text is used by offset, and closed by the next action', async () => {
    const points = await pages.open('points.html');
    await points.do('click({Colour})');
    await points.do('clickAt({hues}, 77, 12)');
    expect(await points.page.locator('#picker').count()).toBe(1);
    await points.do('click({Apply})');
    expect(await points.status()).toBe('Colour hue 77');
    expect(await points.page.locator('#picker').count()).toBe(0);
  });

  test('a drag onto a neighbour ends in its middle', async () => {
    const points = await pages.open('points.html');
    await points.do('dragAndDrop({North}, {South})');
    expect(await points.status()).toMatch(/^North at [01] from the middle$/);
  });

  test('numbers are drawn for a picture, and removed again', async () => {
    const points = await pages.open('points.html');
    const { elements } = await points.read();
    const before = await points.page.screenshot();
    const drawn = await points.ask({ kind: 'draw-numbers', on: true });
    const known = elements.filter(({ name }) => name !== 'low (200×900)').map(({ id }) => id);
    expect([...drawn].sort((one, other) => one - other)).toEqual(known);
    expect((await points.page.screenshot()).equals(before)).toBe(false);
    expect((await points.read()).elements).toEqual(elements);
    await points.ask({ kind: 'draw-numbers', on: false });
    expect((await points.page.screenshot()).equals(before)).toBe(true);
  });
});
