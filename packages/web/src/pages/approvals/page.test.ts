import { expect, test } from 'bun:test';
import type { ActivityEvent, Approval } from '@parlance/sdk';
import { withActivity, withList, without } from './page.tsx';

const waiting = (id: string) => ({ id, session: 's', owner: 'dev', tool: 'shell' }) as unknown as Approval;
const happened = (event: object) =>
  ({ session: 's', owner: 'dev', seq: 9, at: 7, ...event }) as ActivityEvent;

test('lists pending approvals in the order of their requests', () => {
  const inbox = withList(withList([], [waiting('a')]), [waiting('b'), waiting('a')]);
  expect(inbox.map(({ id, state }) => `${id} ${state.status}`)).toEqual(['a pending', 'b pending']);
});

test('shows who answered elsewhere, and keeps the card after the list drops it', () => {
  const answered = happened({
    type: 'approval.answered',
    approval: 'a',
    answer: 'deny',
    by: 'uma',
    dialect: 'agentloop',
    reason: 'no',
  });
  const inbox = withList(withActivity(withList([], [waiting('a'), waiting('b')]), answered), [waiting('b')]);
  expect(inbox[0]?.state).toMatchObject({ answer: 'deny', by: 'uma', dialect: 'agentloop', reason: 'no' });
  expect(inbox[1]?.state).toEqual({ status: 'pending' });
  expect(without(inbox, 'a').map(({ id }) => String(id))).toEqual(['b']);
});

test('an approval settled while disconnected has lapsed', () => {
  expect(withList(withList([], [waiting('a')]), [])[0]?.state).toEqual({ status: 'lapsed' });
});

test('adds explanations and ignores those of other approvals', () => {
  const explained = (approval: string) =>
    happened({ type: 'approval.explained', approval, text: 'It lists.' });
  const inbox = withList([], [waiting('a')]);
  expect(withActivity(inbox, explained('a'))[0]?.explanations).toEqual(['It lists.']);
  expect(withActivity(inbox, explained('z'))).toBe(inbox);
});
