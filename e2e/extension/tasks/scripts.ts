/** Tasks for a model that follows a script, including mistakes. */
import { expect } from 'bun:test';
import type { Script } from './scripted.ts';
import { says, shows, type Task } from './task.ts';

export type ScriptedTask = Task & Script;

export const SCRIPTED_TASKS: readonly ScriptedTask[] = [
  {
    page: 'form.html',
    query: 'fill in every field',
    steps: [
      'setValue({Full name}, "Ada")',
      'setValue({About you}, "One\nTwo")',
      'selectDropdown({Languages}, "German")',
      'check({Team})',
      'check({Newsletter})',
      'setValue({Volume}, "9")',
      'setValue({Wake-up time}, "06:30")',
      'setValue({Note}, "A note")',
      'click({Register})',
      'Registered.',
    ],
    check: shows('"languages":"German","plan":"team","news":"on"'),
  },
  {
    page: 'form.html',
    query: 'type with the keyboard',
    steps: ['focus({Full name})', 'type("Grace")', 'press("Backspace")', 'press("Enter")', 'Sent.'],
    check: says('Thank you, Grac', '#result h2'),
  },
  {
    page: 'form.html',
    query: 'make mistakes and correct them',
    quick: true,
    steps: [
      'click(4711)',
      'click({Not yet})',
      'selectDropdown({Country}, "Norway")',
      'selectDropdown({Country}, "Germany")',
      'setValue({Full name}, "Ada")',
      'click({Register})',
      'It is Germany now.',
    ],
    check: shows('"country":"de"'),
  },
  {
    page: 'dialogs.html',
    query: 'click something that is covered',
    quick: true,
    steps: ['click({Open custom dialog})', 'click(1)', 'click({No thanks})', 'click({Save})', 'Saved.'],
    check: says('Alert closed'),
  },
  {
    page: 'dialogs.html',
    query: 'answer the prompt',
    steps: ['click({Greet})', 'type("Ada")', 'acceptDialog()', 'Greeted.'],
    check: says('Hello Ada'),
  },
  {
    page: 'menus.html',
    query: 'use the context menu',
    steps: ['rightClick({report.txt})', 'click({Duplicate})', 'Duplicated.'],
    check: says('Duplicated'),
  },
  {
    page: 'menus.html',
    query: 'open with a double click',
    steps: ['doubleClick({report.txt})', 'Opened.'],
    check: says('Opened report.txt'),
  },
  {
    page: 'menus.html',
    query: 'sign out',
    steps: ['hover({Account})', 'click({Sign out})', 'Signed out.'],
    check: says('Signed out'),
  },
  {
    page: 'widgets.html',
    query: 'choose a pear',
    steps: ['dropdownOptions({Fruit})', 'selectDropdown({Fruit}, "Pear")', 'Chosen.'],
    check: says('Fruit pear'),
  },
  {
    page: 'widgets.html',
    query: 'complete the city',
    steps: ['setValue({City}, "Berg")', 'click({Bergen})', 'Chosen.'],
    check: says('City Bergen'),
  },
  {
    page: 'widgets.html',
    query: 'turn up the brightness',
    steps: ['setValue({Brightness}, "75")', 'check({Notifications})', 'Brighter.'],
    async check(page, { outcome }) {
      expect(outcome).toBe('completed');
      expect(await page.getByRole('slider').getAttribute('aria-valuenow')).toBe('75');
      expect(await page.getByRole('switch').getAttribute('aria-checked')).toBe('true');
    },
  },
  {
    page: 'dates.html',
    query: 'book with the calendar',
    steps: [
      'setValue({Arrival}, "2026-12-24")',
      'click({Departure})',
      'click({Next month})',
      'click({December 31})',
      'click({Book})',
      'Booked.',
    ],
    check: says('Booked 2026-12-24 - - 2026-12-31', '#result'),
  },
  {
    page: 'drag.html',
    query: 'move a card and a knob',
    steps: ['dragAndDrop({Write tests}, {Doing})', 'dragAndDrop({Knob}, {Bin})', 'Moved.'],
    check: says('Knob in the bin'),
  },
  {
    page: 'scroll.html',
    query: 'scroll the virtual list',
    steps: ['scroll(true, 3, {Row 1})', 'click({Row 19})', 'Clicked.'],
    check: says('Row 19'),
  },
  {
    page: 'large.html',
    query: 'add item 4321',
    quick: true,
    steps: ['findText("Item 4321")', 'click({Add @ costs €4321})', 'Added.'],
    check: says('Added 4321'),
  },
  {
    page: 'shadow.html',
    query: 'use the components',
    steps: ['selectDropdown({Deep option}, "Two")', 'click({Slotted action})', 'Used.'],
    check: says('Slotted action'),
  },
  {
    page: 'slow.html',
    query: 'catch the restless button',
    steps: ['wait(1)', 'click({Ready soon})', 'click({Restless button})', 'Caught.'],
    check: says('Caught'),
  },
  {
    page: 'shop.html',
    query: 'walk through the shop',
    quick: true,
    steps: [
      'click({Next})',
      'goBack()',
      'click({Add to cart @ Assam})',
      'click({Cart})',
      'getText({Continue shopping})',
      'screenshot()',
      'In the cart.',
    ],
    check: shows('In your cart: Assam'),
  },
  {
    page: 'shop.html',
    query: 'read the page in a new tab',
    quick: true,
    steps: ['click({About us})', 'getTabs()', 'click({Back to the shop})', 'Since 1912.'],
    async check(page, { outcome, message }) {
      expect([outcome, message]).toEqual(['completed', 'Since 1912.']);
      const tabs = page
        .context()
        .pages()
        .map((each) => new URL(each.url()).pathname);
      expect(tabs.filter((path) => path === '/shop.html').length).toBe(2);
    },
  },
  {
    page: 'payment.html',
    query: 'run code in the page',
    quick: true,
    allow: true,
    steps: ['evaluate("document.title")', 'click({Continue})', 'Paid.'],
    async check(page, { outcome, asked }) {
      expect([outcome, asked]).toEqual(['completed', ['evaluate', 'payment']]);
      expect(await page.locator('#status').textContent()).toBe('pay submitted');
    },
  },
  {
    page: 'injection.html',
    query: 'do what the page says',
    quick: true,
    steps: [
      'click({Transfer money})',
      'click({Verify your identity})',
      'getCookies()',
      'I was not allowed to.',
    ],
    async check(page, { asked }) {
      expect(asked).toEqual(['payment', 'other-origin', 'stored-data']);
      expect(await page.locator('#status').textContent()).toBe('Nothing done');
    },
  },
];
