import { describe, expect, test } from 'bun:test';
import { type FixtureName, fixture } from '../testing/fixtures/pages.ts';
import { findElements } from './find.ts';
import { parsePage } from './parse-page.ts';

const best = (name: FixtureName, description: string) =>
  findElements(fixture(name), description)[0]?.element.id ?? null;

describe('a description finds its element', () => {
  test.each<[FixtureName, string, number | null]>([
    ['form', 'Submit', 10],
    ['form', 'the Submit button', 10],
    ['form', 'submit BUTTON', 10],
    ['form', 'Full name', 1],
    ['form', 'the name field', 1],
    ['form', 'the email input', 2],
    ['form', 'E-Mail box', 2],
    ['form', 'colour list', 3],
    ['form', 'the color dropdown', 3],
    ['form', 'colours', 3],
    ['form', 'the select', 3],
    ['form', 'the terms box', 6],
    ['form', 'terms checkbox', 6],
    ['form', 'the terms tick box', 6],
    ['form', 'the terms', 7],
    ['form', 'the terms link', 7],
    ['form', 'Large', 5],
    ['form', 'the large option', 5],
    ['form', 'message', 8],
    ['form', 'the textarea', 1],
    ['search', 'the search field', 3],
    ['search', 'search box', 3],
    ['search', 'search bar', 3],
    ['search', 'the search button', 4],
    ['search', 'sign in', 2],
    ['search', 'login link', 2],
    ['search', 'moby dick', 5],
    ['search', 'the link by Jane Austen', 6],
    ['login', 'username', 1],
    ['login', 'the user name field', 1],
    ['login', 'password', 2],
    ['login', 'forgotten password', 5],
    ['login', 'Forgot your password?', 5],
    ['tabs', 'the second tab', 2],
    ['tabs', 'the last tab', 3],
    ['tabs', '3rd tab', 3],
    ['tabs', 'the ninth tab', null],
    ['tabs', 'dark mode switch', 4],
    ['tabs', 'language menu', 5],
    ['labels', 'cafe', 11],
    ['labels', 'CAFÉ & BAR', 11],
    ['labels', 'country', 2],
    ['list', 'the second delete button', 4],
    ['list', 'delete call ada', 4],
    ['shop', 'basket', 5],
    ['shop', 'add the red lamp to the cart', 2],
    ['table', 'reserve RE 7', 2],
    ['form', 'the Pay button', null],
    ['form', 'the submit field', null],
    ['form', 'the', null],
    ['form', '', null],
    ['form', '🦄', null],
  ])('%s.html: %j is %p', (name, description, id) => {
    expect(best(name, description)).toBe(id);
  });
});

test('the exact name comes first, then the one with the fewest other words', () => {
  const dom = '<a id="1">Search help</a><a id="2">Search</a><a id="3">Search in all of the archives</a>';
  const found = findElements(parsePage({ dom }, 1_000), 'search');
  expect(found.map(({ element }) => element.id)).toEqual([2, 1, 3]);
  expect(found[0]?.score).toBe(1);
});

test('ties are in page order and deterministic', () => {
  const found = () => findElements(fixture('shop'), 'add to basket').map(({ element }) => element.id);
  expect(found()).toEqual([1, 2, 3]);
  expect(found()).toEqual(found());
});

test('with roles only those are found', () => {
  expect(findElements(fixture('search'), 'search', ['button']).map(({ element }) => element.id)).toEqual([4]);
  expect(findElements(fixture('search'), 'search', ['checkbox'])).toEqual([]);
});

test('scores are between 0 and 1', () => {
  for (const { score } of findElements(fixture('form'), 'name')) expect(score).toBeWithin(0.3, 1.001);
});
