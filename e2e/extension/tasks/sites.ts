/** More tasks for the scripted model, on pages in the manner of many sites. */
import { expect } from 'bun:test';
import type { ScriptedTask } from './scripts.ts';
import { says } from './task.ts';

/** Each page was open before the task. */
export const SITE_TASKS: readonly ScriptedTask[] = [
  {
    page: 'listeners.html',
    query: 'open the customers and choose blue',
    quick: true,
    steps: ['click({Customers})', 'click({Refresh data})', 'Done.'],
    check: says('Refreshed'),
  },
  {
    page: 'editors.html',
    query: 'comment on the article',
    quick: true,
    steps: ['setValue({Write a comment}, "Nice work")', 'click({Post comment})', 'Posted.'],
    check: says('Posted: Nice work'),
  },
  {
    page: 'editors.html',
    query: 'write a letter',
    steps: ['setValue({Letter}, "Hello Bob")', 'click({Save letter})', 'Saved.'],
    check: says('Letter: Hello Bob'),
  },
  {
    page: 'pickers.html',
    query: 'assign it to Grace',
    steps: ['selectDropdown({Assignee}, "Grace Hopper")', 'Assigned.'],
    check: says('Assigned Grace Hopper'),
  },
  {
    page: 'pickers.html',
    query: 'fly from Osaka',
    quick: true,
    steps: ['setValue({Airport}, "os")', 'click({Osaka KIX})', 'Chosen.'],
    check: says('From Osaka KIX'),
  },
  {
    page: 'wizard.html',
    query: 'get an offer',
    steps: [
      'click({Continue})',
      'setValue({First name *}, "Ada")',
      'setValue({Postal code *}, "12345")',
      'click({Continue})',
      'check({House})',
      'setValue({Living space (m²)}, "80")',
      'click({Increase})',
      'click({Continue})',
      'check({I confirm these details are correct})',
      'click({Get my offer})',
      'Offered.',
    ],
    check: says('Offer for Ada, 12345, house, 80 m², 1 pets'),
  },
  {
    page: 'structure.html',
    query: 'start a return and call the supplier',
    steps: [
      'click({How do I return goods?})',
      'click({Start a return})',
      'click({Suppliers})',
      'click({Call})',
      'Called.',
    ],
    check: says('Called Acme'),
  },
  {
    page: 'sliders.html',
    query: 'set the balance and rate it',
    steps: ['setValue({Balance}, "70")', 'click({4 stars})', 'Rated.'],
    check: says('Rated 4'),
  },
  {
    page: 'overlays.html',
    query: 'reject the cookies and open sports',
    quick: true,
    steps: ['click({Reject all})', 'click({Menu})', 'click({Sports})', 'Opened.'],
    check: says('Sports section'),
  },
  {
    page: 'languages.html',
    query: 'reserve a table',
    steps: [
      'setValue({الاسم}, "ليلى")',
      'setValue({التاريخ}, "2026-12-24")',
      'selectDropdown({عدد الضيوف}, "٣")',
      'click({احجز الآن})',
      'Reserved.',
    ],
    check: says('حجز ليلى 2026-12-24 ٣'),
  },
  {
    page: 'zoomed.html',
    query: 'edit item 9',
    steps: ['click({Edit @ Item 9})', 'Edited.'],
    check: says('Edit 9'),
  },
  {
    page: 'writes.html',
    query: 'replace the document',
    quick: true,
    steps: ['click({Replace the document})', 'click({New button})', 'Replaced.'],
    check: says('Again'),
  },
  {
    page: 'keys.html',
    query: 'add two things to do',
    steps: [
      'setValue({What needs to be done?}, "Eggs")',
      'press("Enter")',
      'setValue({What needs to be done?}, "Tea")',
      'press("Enter")',
      'Added.',
    ],
    check: says('2 items'),
  },
  {
    page: 'hovering.html',
    query: 'export as PDF',
    steps: ['hover({File})', 'hover({Export})', 'click({As PDF})', 'Exported.'],
    check: says('PDF'),
  },
  {
    page: 'sorting.html',
    query: 'sort the colours',
    quick: true,
    steps: ['dragAndDrop({Red}, {Blue})', 'Sorted.'],
    check: says('Green Blue Red'),
  },
  {
    page: 'virtual.html',
    query: 'call contact 50003',
    steps: ['setValue({Jump to}, "50000")', 'click({Call @ Contact 50003})', 'Called.'],
    check: says('Called 50003'),
  },
  {
    page: 'components.html',
    query: 'work with a component library',
    quick: true,
    steps: [
      'setValue({City}, "Rome")',
      'setValue({Voucher}, "ABC")',
      'click({Redeem})',
      'selectDropdown({Size}, "Large")',
      'Used.',
    ],
    check: says('Size Large'),
  },
  {
    page: 'graphics.html',
    query: 'show the bathroom',
    steps: ['click({Bathroom})', 'click({March})', 'Shown.'],
    check: says('At #march'),
  },
  {
    page: 'mail.html',
    query: 'answer the mail of Grace',
    steps: ['click({Grace Compiler})', 'setValue({Reply}, "Thanks")', 'click({Send})', 'Answered.'],
    check: says('Replied Thanks'),
  },
  {
    page: 'hostile.html',
    query: 'press the real button',
    quick: true,
    steps: ['click({Real button})', 'Pressed.'],
    async check(page, ended) {
      await says('Real')(page, ended);
      expect(ended.asked).toEqual([]);
      const tabs = page.context().pages();
      expect(tabs.filter((each) => each.url().includes('evil.example'))).toEqual([]);
    },
  },
];
