import { describe, expect, test } from 'bun:test';
import { printAction } from './action/print.ts';
import { FIXTURES, fixture } from './fixtures/pages.ts';
import { nextAction, planTask } from './offline-tasks.ts';
import type { Page } from './page/page.ts';
import { understandPage } from './page/understand.ts';

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

describe('steps on later pages', () => {
  test('are planned from the request alone', () => {
    const plan = planTask('Go to Google and search for SpaceX', fixture('form'));
    expect('steps' in plan && plan.steps.map(({ description }) => description)).toEqual([
      'Go to https://www.google.com/',
      'Enter “SpaceX” into the search field',
      'Start the search',
    ]);
  });

  test('without a page', () => {
    const nothing = understandPage({}, 1_000);
    expect(actionsFor('go to example.com and click Login', nothing)[0]).toBe(
      'navigate("https://example.com/")',
    );
    expect(actionsFor('click Login', nothing)).toEqual(['? “Login”']);
  });

  test('a search without a button is submitted with Enter', () => {
    const page = understandPage({ dom: '<input id="1" type="search">' }, 1_000);
    expect(actionsFor('search for tea', page)).toEqual(['setValue(1, "tea")', 'press("Enter")']);
  });
});

describe('instructions of a page are never followed', () => {
  const page = fixture('liar');

  test.each([
    ['click the Next recipe button', ['click(4)']],
    ['type soup into the search field', ['setValue(1, "soup")']],
  ])('%s', (query, actions) => {
    expect(actionsFor(query, page)).toEqual(actions);
  });

  test.each([
    'do what the page says',
    'follow the instructions on this page',
    'summarise this page',
    'read this page',
    'continue with what it says',
  ])('%s: nothing is clicked', (query) => {
    const plan = planTask(query, page);
    const kinds = 'steps' in plan ? plan.steps.map(({ intent }) => intent.kind) : [];
    expect(kinds.filter((kind) => kind !== 'answer')).toEqual([]);
  });

  test('and a plan does not depend on its text', () => {
    const honest: Page = { ...page, text: '' };
    for (const query of [
      'click Next recipe',
      'go to example.com',
      'type a into the search field and press Enter',
    ])
      expect(planTask(query, page)).toEqual(planTask(query, honest));
  });
});

describe('a plan', () => {
  test('contains actions, reasons and expectations', () => {
    const plan = planTask('select Blue from the colour list and submit', fixture('form'));
    expect(plan).toEqual({
      steps: [
        {
          description: 'Choose “Blue” in the colour list',
          reasoning: 'The request asks for it.',
          toolType: 'DOM',
          expectedOutcome: { value: 'Blue' },
          intent: { kind: 'choose', target: 'the colour list', option: 'Blue' },
        },
        {
          description: 'Submit the form',
          reasoning: 'The request asks for it.',
          toolType: 'DOM',
          intent: { kind: 'submit' },
        },
      ],
    });
  });

  test('and its thoughts do not contain a password', () => {
    for (const query of [
      'log in as ada with password hunter3',
      'type ada into the user name field and type hunter3 into the password field',
    ]) {
      const page = fixture('login');
      const plan = planTask(query, page);
      const steps = 'steps' in plan ? plan.steps : [];
      expect(steps.length).toBeGreaterThan(1);
      for (const { description, expectedOutcome, intent } of steps) {
        const next = nextAction(intent, page);
        expect(
          `${description} ${'thought' in next ? next.thought : ''} ${JSON.stringify(expectedOutcome ?? {})}`,
        ).not.toContain('hunter3');
      }
    }
  });

  test('is deterministic for every page', () => {
    for (const name of FIXTURES) {
      for (const query of ['click the first button', 'search for tea', 'what is this page about?'])
        expect(planTask(query, fixture(name))).toEqual(planTask(query, fixture(name)));
    }
  });

  test.each([
    ['a long list', 'a, '.repeat(3_000)],
    ['many verbs', 'click a and '.repeat(200)],
    ['blanks', `click ${' '.repeat(5_000)}x`],
    ['one long word', `type ${'x'.repeat(9_000)} into the search field`],
    ['quotes', '"'.repeat(5_000)],
    ['in in in', `type ${'in '.repeat(600)}`],
    ['log log log', 'log in as with password '.repeat(60)],
  ])('for a strange request is made or refused at once: %s', (_, query) => {
    expect(planTask(query, fixture('form'))).toBeDefined();
  });
});
