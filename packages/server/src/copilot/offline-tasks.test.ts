import { describe, expect, test } from 'bun:test';
import { printAction } from './action/print.ts';
import { type FixtureName, fixture } from './fixtures/pages.ts';
import { nextAction, planTask } from './offline-tasks.ts';
import type { Page } from './page/page.ts';

/** The actions of all plan steps on the current page. */
function actionsFor(query: string, page: Page): string[] {
  const plan = planTask(query, page);
  if ('question' in plan) return [`? ${plan.missing.join(', ')}`];
  return plan.steps.map(({ intent }) => {
    const next = nextAction(intent, page);
    return 'action' in next
      ? printAction(next.action)
      : 'answer' in next
        ? next.answer
        : `missing ${next.missing}`;
  });
}

describe('a request becomes actions', () => {
  test.each<[FixtureName, string, string[]]>([
    ['form', 'click the Submit button', ['click(10)']],
    ['form', 'Could you please click "Submit" for me?', ['click(10)']],
    ['form', 'press the submit button', ['click(10)']],
    ['form', 'select Blue from the colour list and submit', ['selectDropdown(3, "blue")', 'click(10)']],
    ['form', 'choose blue', ['selectDropdown(3, "blue")']],
    ['form', 'set the color to Red', ['selectDropdown(3, "red")']],
    ['form', 'check the terms box', ['check(6)']],
    ['form', 'tick the terms', ['check(6)']],
    ['form', 'accept the terms, then submit the form', ['check(6)', 'click(10)']],
    ['form', 'uncheck the terms box', ['uncheck(6)']],
    ['form', 'choose Small for the size', ['check(4)']],
    ['form', 'clear the message field', ['setValue(8, "")']],
    ['form', 'open the terms', ['click(7)']],
    ['form', 'write "Hi and bye, then go" into the message field', ['setValue(8, "Hi and bye, then go")']],
    ['form', 'type salt and pepper into the message field', ['setValue(8, "salt and pepper")']],
    [
      'form',
      'fill in the form with name Ada, email a@b.org',
      ['setValue(1, "Ada")', 'setValue(2, "a@b.org")'],
    ],
    ['form', 'Fill the full name with Ada. Then click submit.', ['setValue(1, "Ada")', 'click(10)']],
    [
      'form',
      'type Ada Lovelace into the full name field, enter ada@example.org in the email box and then choose Small',
      ['setValue(1, "Ada Lovelace")', 'setValue(2, "ada@example.org")', 'click(4)'],
    ],
    ['form', 'wait 3 seconds and scroll to the bottom', ['wait(3)', 'scroll(true, 100)']],
    ['form', 'press Enter', ['press("Enter")']],
    ['form', 'go back', ['goBack()']],
    ['form', 'reload the page', ['navigate("https://example.org/form")']],
    ['form', 'hover over the terms link', ['hover(7)']],
    ['search', 'type hello into the search field', ['setValue(3, "hello")']],
    ['search', 'search for SpaceX', ['setValue(3, "SpaceX")', 'click(4)']],
    ['search', 'search for cats and dogs', ['setValue(3, "cats and dogs")', 'click(4)']],
    ['form', 'search for SpaceX', ['search("SpaceX")']],
    ['search', 'search the web for bun', ['search("bun")']],
    ['search', 'go to example.com', ['navigate("https://example.com/")']],
    ['search', 'open https://example.com/a?b=c', ['navigate("https://example.com/a?b=c")']],
    ['search', 'go to localhost:3000', ['navigate("http://localhost:3000/")']],
    ['search', 'open example.org in a new tab', ['createTab("https://example.org/")']],
    ['search', 'open Emma', ['click(6)']],
    ['search', 'click the last link', ['click(6)']],
    ['search', 'log in', ['click(2)']],
    ['login', 'log in as ada with password x', ['setValue(1, "ada")', 'setValue(2, "x")', 'click(4)']],
    [
      'login',
      'sign in with username ada and password s3cret, please',
      ['setValue(1, "ada")', 'setValue(2, "s3cret")', 'click(4)'],
    ],
    ['pagination', 'go to the next page', ['click(5)']],
    ['pagination', 'previous page', ['click(1)']],
    ['pagination', 'go to page 3', ['click(4)']],
    ['tabs', 'open the second tab', ['click(2)']],
    ['tabs', 'click the Billing tab', ['click(3)']],
    ['tabs', 'turn on dark mode', ['check(4)']],
    ['dialog', 'close the dialog', ['click(4)']],
    ['dialog', 'click Delete', ['click(3)']],
    ['dialog', 'accept the dialog', ['acceptDialog()']],
    ['list', 'type Bread into the new item field and click Add', ['setValue(7, "Bread")', 'click(8)']],
    ['list', 'delete "Call Ada"', ['click(4)']],
    ['list', 'click the second delete button', ['click(4)']],
    ['list', 'check water the plants, uncheck call ada', ['check(5)', 'uncheck(3)']],
    ['shop', 'add the blue lamp to the cart', ['click(1)']],
    ['shop', 'sort by name', ['selectDropdown(4, "Name")']],
    ['table', 'reserve RE 7', ['click(2)']],
  ])('%s.html: %s', (name, query, actions) => {
    expect(actionsFor(query, fixture(name))).toEqual(actions);
  });
});

describe('a question is answered with text of the page', () => {
  test.each<[FixtureName, string, RegExp]>([
    ['shop', 'what is the price on this page?', /“Blue lamp – £12\.00”, “Red lamp – £15\.50”/],
    ['shop', 'what is the price of the red lamp?', /^The page says: “Red lamp – £15\.50”$/],
    ['shop', 'How much is the paper lantern?', /£7\.25/],
    ['shop', 'check the price of the blue lamp', /£12\.00/],
    ['table', 'when does RE 7 depart?', /10:32/],
    ['table', 'what is the contact email?', /trains@example\.org/],
    ['search', 'who wrote Emma?', /Jane Austen/],
    ['search', 'when was Moby-Dick written?', /1851”$/],
    ['search', 'how many links are there?', /4 links/],
    ['search', 'what is the title of this page?', /Library/],
    ['dialog', 'what does this page say?', /Delete 3 photos/],
    ['liar', 'what does the soup cost?', /€4\.50/],
  ])('%s.html: %s', (name, query, answer) => {
    const plan = planTask(query, fixture(name));
    const [step] = 'steps' in plan ? plan.steps : [];
    expect(step?.toolType).toBe('SERVER');
    expect(step && nextAction(step.intent, fixture(name))).toEqual({ answer: expect.stringMatching(answer) });
  });
});

describe('missing, unspecified and ambiguous things lead to a question', () => {
  test.each<[FixtureName, string, RegExp]>([
    ['form', 'click the Pay button', /cannot find “the Pay button”/],
    ['form', 'select Purple from the colour list', /“Purple” in the combobox “Colour”, which has .*“Blue”/],
    ['form', 'type x into the fax field', /cannot find “the fax field”/],
    ['form', 'what is the price?', /cannot find an answer/],
    ['form', 'type hello', /which field/],
    ['form', 'make me a sandwich', /do not know how to do “make me a sandwich”/],
    ['form', '', /What should I do/],
    ['form', '   ', /What should I do/],
    ['form', 'go to the next page', /a link to the next page/],
    ['form', 'open the second tab', /“the second tab”/],
    ['tabs', 'open the fifth tab', /“the fifth tab”/],
    ['tabs', 'click the hidden button', /cannot find/],
    ['login', 'log in', /the user name and the password/],
    ['login', 'log in as ada', /tell me the password/],
    ['search', 'log in as ada', /tell me the password/],
    ['form', 'log in', /a way to log in/],
    ['pagination', 'go to page 9', /page 9/],
    ['shop', 'click add to basket', /which “add to basket” is meant.*Blue lamp.*or.*Red lamp/],
    ['shop', 'add the paper lantern to the basket', /is disabled/],
    ['form', Array.from({ length: 12 }, () => 'scroll down').join(', '), /more than ten steps/],
  ])('%s.html: %s', (name, query, question) => {
    const plan = planTask(query, fixture(name));
    expect('question' in plan && plan.question).toMatch(question);
    expect('missing' in plan && plan.missing.length).toBeGreaterThan(0);
  });

  test('an element that is gone when its step comes is missing', () => {
    expect(nextAction({ kind: 'click', target: 'the Submit button' }, fixture('list'))).toEqual({
      missing: '“the Submit button”',
    });
    expect(nextAction({ kind: 'submit' }, fixture('tabs'))).toEqual({ missing: 'a button to submit with' });
  });

  test('a button that depends on the form is only resolved when its step comes', () => {
    const waiting = fixture('form', ['<button id="10"', '<button disabled id="10"']);
    expect('steps' in planTask('check the terms box and click Submit', waiting)).toBe(true);
    expect(nextAction({ kind: 'click', target: 'Submit' }, waiting)).toEqual({
      missing: expect.stringContaining('is disabled'),
    });
  });
});

describe('a list that opens', () => {
  const open = fixture(
    'tabs',
    ['aria-expanded="false"', 'aria-expanded="true"'],
    [
      'English</div>',
      'English</div><div role="option" id="7">German</div><div role="option" id="8">French</div>',
    ],
  );

  test('is opened first, then an option is chosen', () => {
    const plan = planTask('select German from the language list', fixture('tabs'));
    const intents = 'steps' in plan ? plan.steps.map(({ intent }) => intent) : [];
    expect(intents.map(({ kind }) => kind)).toEqual(['click', 'choose']);
    const [first, second] = intents;
    expect(first && nextAction(first, fixture('tabs'))).toMatchObject({ action: { name: 'click', id: 5 } });
    expect(second && nextAction(second, open)).toMatchObject({ action: { name: 'click', id: 7 } });
  });

  test('without such an option is not opened again', () => {
    expect(nextAction({ kind: 'choose', target: 'the language list', option: 'Danish' }, open)).toEqual({
      missing: '“Danish” in the combobox “Language”',
    });
  });
});
