import { expect, test } from 'bun:test';
import { parseStoredFrames, withoutSaved, withSaved, withSent } from './composer.tsx';

const NONE = { sent: [], saved: [] };
const frame = (text: string) => ({ text, session: 's' });

test('the history has each text once, the last one first, and is bounded', () => {
  let kept = withSent(withSent(withSent(NONE, frame('a')), frame('b')), frame('a'));
  expect(kept.sent.map(({ text }) => text)).toEqual(['a', 'b']);
  for (let index = 0; index < 100; index++) kept = withSent(kept, frame(`${index}`));
  expect(kept.sent.length).toBe(30);
  expect(withSent(NONE, frame('x'.repeat(20_001)))).toEqual(NONE);
});

test('a saved frame replaces one of the same name, and is removed by it', () => {
  const once = withSaved(NONE, { ...frame('a'), name: 'greeting' });
  const twice = once && withSaved(once, { ...frame('b'), name: 'greeting' });
  expect(twice?.saved).toEqual([{ ...frame('b'), name: 'greeting' }]);
  expect(twice && withoutSaved(twice, 'greeting')).toEqual(NONE);
});

test('saved frames are bounded', () => {
  const saved = Array.from({ length: 50 }, (_, index) => ({ ...frame('a'), name: `${index}` }));
  expect(withSaved({ sent: [], saved }, { ...frame('a'), name: 'one more' })).toBeNull();
  expect(withSaved({ sent: [], saved }, { ...frame('b'), name: '7' })).not.toBeNull();
  expect(withSaved(NONE, { ...frame('x'.repeat(20_001)), name: 'long' })).toBeNull();
});

test('what is stored by something else is ignored', () => {
  for (const text of [
    null,
    '',
    'null',
    '[]',
    '7',
    '{"sent":{}}',
    '{"sent":[null,1,{"text":2}],"saved":[{}]}',
  ])
    expect(parseStoredFrames(text)).toEqual(NONE);
  expect(
    parseStoredFrames('{"sent":[{"text":"a","session":"s"}],"saved":[{"text":"a","session":"s"}]}'),
  ).toEqual({
    sent: [frame('a')],
    saved: [],
  });
});
