import { describe, expect, test } from 'bun:test';
import { type Page, parsePage } from '@parlance/copilot';
import { printAction } from '../../../copilot/src/action/print.ts';
import { FIXTURES, type FixtureName, fixture } from '../../../copilot/src/testing/fixtures/pages.ts';
import { nextAction } from './step.ts';
import { planTask } from './task.ts';

const stepsOf = (query: string, page: Page) => {
  const task = planTask(query, page);
  return 'steps' in task ? task.steps : [];
};

/** The actions of all steps on the current page. */
function actionsFor(query: string, page: Page): string[] {
  const task = planTask(query, page);
  if ('question' in task) return [`? ${task.missing.join(', ')}`];
  return task.steps.map((step) => {
    const next = nextAction(step, page);
    if ('action' in next) return printAction(next.action);
    return 'answer' in next ? next.answer : `missing ${next.missing}`;
  });
}

describe('a request becomes actions', () => {
  test.each<[FixtureName, string, string[]]>([
    ['form', 'click the Submit button', ['click(10)']],
    ['form', 'Could you please click "Submit" for me?', ['click(10)']],
    ['form', 'press the submit button', ['click(10)']],
    ['form', 'double-click Submit', ['doubleClick(10)']],
    ['form', 'hover over the terms link', ['hover(7)']],
    ['form', 'drag the terms link to the message field', ['dragAndDrop(7, 8)']],
    ['form', 'select Blue from the colour list and submit', ['selectDropdown(3, "blue")', 'click(10)']],
    ['form', 'choose blue', ['selectDropdown(3, "blue")']],
    ['form', 'set the color to Red', ['selectDropdown(3, "red")']],
    ['form', 'check the terms box', ['check(6)']],
    ['form', 'uncheck the terms box', ['uncheck(6)']],
    ['form', 'choose Small for the size', ['check(4)']],
    ['form', 'open the terms', ['click(7)']],
    ['form', 'write "Hi and bye, then go" into the message field', ['setValue(8, "Hi and bye, then go")']],
    ['form', 'type salt and pepper into the message field', ['setValue(8, "salt and pepper")']],
    ['form', 'Fill the full name with Ada. Then click submit.', ['setValue(1, "Ada")', 'click(10)']],
    ['form', 'wait 3 seconds and scroll to the bottom', ['wait(3)', 'scroll(true, 100)']],
    ['form', 'press Enter', ['press("Enter")']],
    ['form', 'go back', ['goBack()']],
    ['form', 'reload', ['navigate("https://example.org/form")']],
    ['form', 'open github', ['navigate("https://github.com/")']],
    ['search', 'type hello into the search field', ['setValue(3, "hello")']],
    ['search', 'search for cats and dogs', ['setValue(3, "cats and dogs")', 'click(4)']],
    ['form', 'search for lamps', ['search("lamps")']],
    ['search', 'search the web for bees', ['search("bees")']],
    ['search', 'go to example.com', ['navigate("https://example.com/")']],
    ['search', 'go to localhost:3000', ['navigate("http://localhost:3000/")']],
    ['search', 'open example.com in a new tab', ['createTab("https://example.com/")']],
    ['search', 'click the last link', ['click(6)']],
    ['login', 'log in as ada with password x', ['setValue(1, "ada")', 'setValue(2, "x")', 'click(4)']],
    ['pagination', 'next page', ['click(5)']],
    ['pagination', 'go to the previous page', ['click(1)']],
    ['tabs', 'open the second tab', ['click(2)']],
    ['dialog', 'close the dialog', ['click(4)']],
    ['dialog', 'accept the dialog', ['acceptDialog()']],
    ['list', 'type Bread into the new item field and click Add', ['setValue(7, "Bread")', 'click(8)']],
    ['list', 'click the second delete button', ['click(4)']],
  ])('%s.html: %s', (name, query, actions) => {
    expect(actionsFor(query, fixture(name))).toEqual(actions);
  });
});

describe('a question is answered with text of the page', () => {
  test.each<[FixtureName, string, RegExp]>([
    ['shop', 'what is the price on this page?', /Blue lamp – £12\.00”, “Red lamp – £15\.50/],
    ['shop', 'what is the price of the red lamp?', /^The page says: “Red lamp – £15\.50”$/],
    ['search', 'who wrote Emma?', /Jane Austen/],
    ['dialog', 'what does this page say?', /Delete 3 photos/],
    ['liar', 'what does the soup cost?', /€4\.50/],
  ])('%s.html: %s', (name, query, answer) => {
    const [step] = stepsOf(query, fixture(name));
    expect(step?.reads).toBe(true);
    expect(step && nextAction(step, fixture(name))).toEqual({ answer: expect.stringMatching(answer) });
  });
});

describe('missing, unspecified and ambiguous things lead to a question', () => {
  test.each<[FixtureName, string, RegExp]>([
    ['form', 'click the Pay button', /cannot find “the Pay button”/],
    ['form', 'select Purple from the colour list', /“Purple” in the combobox “Colour”, which has .*“Blue”/],
    ['form', 'what is the price?', /cannot find an answer/],
    ['form', 'type hello', /which field/],
    ['form', 'make me a sandwich', /do not know how to do “make me a sandwich”/],
    ['form', '   ', /What should I do/],
    ['form', 'go to the next page', /a link to the next page/],
    ['login', 'log in', /the user name and the password/],
    ['login', 'log in as ada', /tell me the password/],
    ['shop', 'click add to basket', /which “add to basket” is meant.*Blue lamp.*or.*Red lamp/],
    ['form', Array.from({ length: 12 }, () => 'scroll down').join(', '), /more than ten steps/],
  ])('%s.html: %s', (name, query, question) => {
    const task = planTask(query, fixture(name));
    expect('question' in task && task.question).toMatch(question);
    expect('missing' in task && task.missing.length).toBeGreaterThan(0);
  });

  test('a button that depends on the form is only resolved when its step comes', () => {
    const waiting = fixture('form', ['<button id="10"', '<button disabled id="10"']);
    const [, submit] = stepsOf('check the terms box and click Submit', waiting);
    expect(submit && nextAction(submit, waiting)).toEqual({
      missing: expect.stringContaining('is disabled'),
    });
  });
});

describe('a task', () => {
  test('plans steps on later pages from the request alone', () => {
    const steps = stepsOf('Go to Google and search for SpaceX', fixture('form'));
    expect(steps.map(({ description }) => description)).toEqual([
      'Go to https://www.google.com/',
      'Enter “SpaceX” into the search field',
      'Start the search',
    ]);
    expect(actionsFor('go to example.com and click Login', parsePage({}, 1_000))[0]).toBe(
      'navigate("https://example.com/")',
    );
  });

  test('submits a search without a button with Enter', () => {
    const page = parsePage({ dom: '<input id="1" type="search">' }, 1_000);
    expect(actionsFor('search for tea', page)).toEqual(['setValue(1, "tea")', 'press("Enter")']);
  });

  test('has expectations, and never shows a password', () => {
    const page = fixture('login');
    const [user, password] = stepsOf('log in as ada with password hunter3', page);
    expect(user?.expectedOutcome).toEqual({ value: 'ada' });
    expect(password).toMatchObject({ description: 'Enter the password' });
    expect(password?.expectedOutcome).toBeUndefined();
    expect(password && nextAction(password, page)).toMatchObject({
      action: { text: 'hunter3' },
      thought: expect.not.stringContaining('hunter3'),
    });
  });

  test.each(['do what the page says', 'follow the instructions on this page', 'summarise this page'])(
    'follows no instruction of a page: %s',
    (query) => {
      expect(stepsOf(query, fixture('liar')).every(({ reads }) => reads)).toBe(true);
    },
  );

  test('is deterministic for every page', () => {
    for (const name of FIXTURES)
      for (const query of ['click the first button', 'search for tea', 'what is this page about?'])
        expect(actionsFor(query, fixture(name))).toEqual(actionsFor(query, fixture(name)));
  });

  test.each([
    ['a long list', 'a, '.repeat(3_000)],
    ['many verbs', 'click a and '.repeat(200)],
    ['blanks', `click ${' '.repeat(5_000)}x`],
    ['one long word', `type ${'x'.repeat(9_000)} into the search field`],
    ['quotes', '"'.repeat(5_000)],
    ['log log log', 'log in as with password '.repeat(60)],
  ])('for a strange request is made or refused quickly: %s', (_, query) => {
    expect(planTask(query, fixture('form'))).toBeDefined();
  });
});
